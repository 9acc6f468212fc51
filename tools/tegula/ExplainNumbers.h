//===- ExplainNumbers.h - facts of an explanation as text -------*- C++ -*-===//
//
// What its text and its picture both say.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Explanation.h"

namespace tegula::tool {

/// "1.23 G": three digits and a decimal prefix.
std::string shortNumber(double value, llvm::StringRef unit = "");
std::string bytesText(double bytes);
std::string timeText(double milliseconds);
/// "49.2 %".
std::string shareText(int64_t part, int64_t whole);
/// "B=1 H=8 ...".
std::string problemText(const Explanation &explanation);

/// What a part of shared memory is for.
struct SharedBuffer {
  std::string name;
  int64_t slots, bytes;
};
std::vector<SharedBuffer> sharedBuffers(const Explanation &explanation);

/// Warpgroups that do the same.
struct RoleFacts {
  std::string name;
  int64_t count, threads; ///< of each
  /// Of a thread; nothing where ptxas has not said.
  std::optional<int64_t> registers;
};
std::vector<RoleFacts> roles(const Explanation &explanation);

} // namespace tegula::tool
