// A hand-written tile program of attention, at any tile size.
#pragma once

#include <cstdint>
#include <string>

namespace tegula::test {

struct AttendProgram {
  std::string type = "f64"; // of q, k, v and o
  int64_t blockM = 16, blockN = 16, headDim = 8, valueDim = 8;
  bool causal = false;

  /// The text of `tile.kernel @attend`: q, k, v -> o, lse. Scale 1/sqrt(headDim); causal is aligned at the last query and key.
  std::string text() const;
};

} // namespace tegula::test
