//===- ExecuteShared.h - what CPU and GPU execution share -------*- C++ -*-===//
//
// Private to Execute.cpp and ExecuteCuda.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Arguments.h"
#include "tools/tegula/Problem.h"

namespace tegula::tool {

/// A failed status of the runtime with its exit code.
llvm::Error statusError(const rt::Status &status);

/// Sets every argument of the item's signature; `dataOf` gives the address of
/// tensor number n.
llvm::Error setArguments(Problem &problem, rt::Arguments &arguments,
                         llvm::function_ref<void *(unsigned)> dataOf);

/// The tensors that the item reads and writes in place.
std::vector<unsigned> tensorsInPlace(const lang::Item &item);

/// Whether a run of the item prints.
bool isTalking(const lang::Item &item);

} // namespace tegula::tool
