//===- AheadOfTime.h - an item as files for a C program ---------*- C++ -*-===//
#pragma once

#include "codegen/Compiler.h"
#include "llvm/Support/Error.h"

namespace tegula::tool {

/// Compiles the request's item for use without the compiler and writes it into
/// `folder`: NAME.cubin, NAME.ptx and NAME.json (its manifest), the same of the
/// direct kernel as NAME.direct.* where the other has conditions, of the packed
/// one as NAME.packed.* where it is better for some launches, and with `debug`,
/// of the one that checks their claims, as NAME.claims.*; and NAME.h and NAME.c,
/// which embed them all. All files or none. Gives the times of the
/// preferred kernel's stages; with `time`, those of all are printed.
llvm::Expected<std::vector<StageTime>> writeAheadOfTime(CompileRequest request,
                                                        llvm::StringRef folder,
                                                        bool time,
                                                        bool debug = false);

} // namespace tegula::tool
