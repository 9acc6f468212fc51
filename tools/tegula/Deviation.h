//===- Deviation.h - how far numbers are from others ------------*- C++ -*-===//
//
// The measures of the reference: roundings, and errors of one element and of
// all.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Tensor.h"

#include <cmath>
#include <limits>

namespace tegula::tool {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Half an ulp of 1 in `type`.
inline double unitRoundoff(ElementType type) {
  switch (type) {
  case ElementType::f16:
    return 0x1p-11;
  case ElementType::bf16:
    return 0x1p-8;
  case ElementType::f64:
    return 0x1p-53;
  default:
    return 0x1p-24;
  }
}

/// The size of an error; what is no number where it should be one is infinite.
inline double errorOf(double value, double expected) {
  if (value == expected || (std::isnan(value) && std::isnan(expected)))
    return 0;
  double error = std::fabs(value - expected);
  return std::isnan(error) ? infinity : error;
}

/// Sums of squares behind a relative L2 error.
struct L2 {
  double error = 0, size = 0;
  void add(double difference, double expected) {
    if (std::isfinite(difference) && std::isfinite(expected)) {
      error += difference * difference;
      size += expected * expected;
    }
  }
  double relative() const { return size > 0 ? std::sqrt(error / size) : 0; }
};

} // namespace tegula::tool
