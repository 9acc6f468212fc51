//===- Packing.h - how many query heads share a tile's rows -----*- C++ -*-===//
//
// The one rule, which compiler and launch follow. No dependencies.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <algorithm>
#include <cstdint>

namespace tegula {

/// The largest shift: a tile's rows are those of 64 heads at most, so that the
/// rows of a warpgroup start with the same head.
inline constexpr int64_t mostPacking = 6;

/// The shift s by which rows of 2^s query heads share a tile of `rows` rows,
/// for `queries` positions, `heads` query heads and `keyHeads` key heads: all
/// heads of a key head, in the next power of two, where that makes an eighth
/// fewer tiles than a head at a time; else 0. Extents are at most 2^29.
inline int64_t packingShift(int64_t queries, int64_t heads, int64_t keyHeads,
                            int64_t rows) {
  int64_t group = keyHeads > 0 ? heads / keyHeads : 0, shift = 0;
  while (shift < mostPacking && (int64_t(1) << shift) < group)
    ++shift;
  auto ceilDiv = [](int64_t x, int64_t y) { return (x + y - 1) / y; };
  int64_t apart = ceilDiv(queries, rows) * group,
          together = ceilDiv(queries << shift, rows) *
                     ceilDiv(group, int64_t(1) << shift);
  return together * 8 < apart * 7 ? shift : 0;
}

} // namespace tegula
