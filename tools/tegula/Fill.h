//===- Fill.h - tensors filled from a seed ----------------------*- C++ -*-===//
//
// Values for tensors that the command line does not give. They depend on the
// seed, the tensor's name and the logical index only: not on the layout, the
// machine, its math library or the number of threads.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Tensor.h"
#include "llvm/ADT/StringRef.h"

namespace tegula::tool {

/// What a declaration says about a tensor's values.
struct FillRule {
  uint64_t seed = 0;
  /// Non-decreasing along the last axis.
  bool sorted = false;
  /// Integers are drawn from low..high (half open), floats with a range too;
  /// floats without one are near to a normal distribution of deviation 1 (a sum
  /// of four uniform numbers, so at most 3.47 in size).
  bool hasRange = false;
  double low = 0, high = 0;
};

/// Fills `tensor`, called `name`; bools are fair coins.
void fillTensor(Tensor &tensor, llvm::StringRef name, const FillRule &rule);

/// 64 random bits for `counter` in the stream `key` (SplitMix64).
uint64_t randomBits(uint64_t key, uint64_t counter);

/// The stream of a tensor.
uint64_t streamKey(uint64_t seed, llvm::StringRef name);

} // namespace tegula::tool
