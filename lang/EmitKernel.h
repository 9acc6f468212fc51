//===- EmitKernel.h - a tile program to the tile dialect --------*- C++ -*-===//
//
// The body of a `kernel` item as ops of the tile dialect, arith and scf.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_EMITKERNEL_H
#define TEGULA_LANG_EMITKERNEL_H

#include "lang/EmitScalar.h"
#include "lang/Program.h"

namespace tegula::lang {

/// Emits the program of `item` at the builder's place in its kernel, all but
/// the terminator.
void emitProgram(const Item &item, mlir::OpBuilder &builder,
                 const LocationMap &locations, const KernelValues &values);

} // namespace tegula::lang

#endif
