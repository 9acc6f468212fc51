//===- PrintKernel.h - a tile program as source text ------------*- C++ -*-===//
//
// The way back from the `tile` dialect to a `kernel` item: what the stage
// `kernel` shows. Its text, compiled, makes the program that it was printed
// from, so a user can start from an `attention` item and go on by hand.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_PRINTKERNEL_H
#define TEGULA_LANG_PRINTKERNEL_H

#include "dialect/tile/TileDialect.h"
#include "llvm/Support/raw_ostream.h"

namespace tegula::lang {

/// Prints `kernel`, as tegula-decompose leaves it. Fails with an error on the
/// operation that the language has no words for.
llvm::LogicalResult printKernel(tile::KernelOp kernel, llvm::raw_ostream &os);

} // namespace tegula::lang

#endif
