//===- FatalErrorGuard.h - LLVM's fatal errors as results -------*- C++ -*-===//
//
// LLVM ends the process when an instruction cannot be selected. Inside a guard
// such an end becomes a message, so that a program that compiles at run time
// survives it.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_CODEGEN_FATALERRORGUARD_H
#define TEGULA_CODEGEN_FATALERRORGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace tegula {

/// Runs `work` and returns true. Where LLVM reports a fatal error on this
/// thread meanwhile, the rest of `work` is skipped, `message` is set and the
/// result is false; what `work` built inside LLVM must then be leaked, as its
/// frames were left without clean-up.
bool runGuarded(llvm::function_ref<void()> work, std::string &message);

} // namespace tegula

#endif // TEGULA_CODEGEN_FATALERRORGUARD_H
