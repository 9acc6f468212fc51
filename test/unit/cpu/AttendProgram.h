// A hand-written tile program of attention, at any tile size, and the dense loops that it is compared with.
#pragma once

#include "test/unit/cpu/HostTensor.h"

namespace tegula::test {

struct AttendShape {
  int64_t batch = 1, heads = 1, groups = 1, queries = 1, keys = 1;
};

struct AttendProgram {
  std::string type = "f64"; // of q, k, v and o
  int64_t blockM = 16, blockN = 16, headDim = 8, valueDim = 8;
  bool causal = false;

  /// The text of `tile.kernel @attend`: q, k, v -> o, lse. Scale 1/sqrt(headDim); causal is aligned at the last query and key.
  std::string text() const;
};

/// Dense attention in double: fills `output` and `lse` from q, k and v.
void denseAttention(const AttendShape &shape, bool causal, const HostTensor &q, const HostTensor &k, const HostTensor &v, HostTensor &output,
                    HostTensor &lse);

} // namespace tegula::test
