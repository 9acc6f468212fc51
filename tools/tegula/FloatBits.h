//===- FloatBits.h - 16-bit floats in software ------------------*- C++ -*-===//
//
// f16 and bf16 as bit patterns, converted from and to double with one rounding
// (to nearest, ties to even), subnormals, infinities and NaN included. Written
// out so that the numbers are the same on every machine.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tegula::tool {

/// Rounds `value` to a binary float with `fraction` stored bits and `exponent`
/// exponent bits (sum 15) and returns its 16 bits.
inline uint16_t roundTo16(double value, int fraction, int exponent) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  auto sign = static_cast<uint16_t>((bits >> 63) << 15);
  int bias = (1 << (exponent - 1)) - 1;
  uint16_t infinity = static_cast<uint16_t>(((1 << exponent) - 1) << fraction);
  if (std::isnan(value))
    return sign | infinity | static_cast<uint16_t>(1 << (fraction - 1));
  if (std::isinf(value))
    return sign | infinity;
  if (value == 0)
    return sign;
  uint64_t result;
  if (int lead = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
      lead >= 1 - bias) {
    // A normal number: move the exponent to the new bias and drop the low bits;
    // a carry out of the fraction lands in the next exponent or in infinity.
    int drop = 52 - fraction;
    uint64_t whole = (static_cast<uint64_t>(lead + bias) << 52) |
                     (bits & ((uint64_t(1) << 52) - 1));
    whole += (uint64_t(1) << (drop - 1)) - 1 + ((whole >> drop) & 1);
    result = whole >> drop;
  } else {
    // A subnormal counts in units of the smallest one.
    double scaled = std::ldexp(std::fabs(value), bias - 1 + fraction);
    double whole = std::floor(scaled);
    result = static_cast<uint64_t>(whole);
    if (double rest = scaled - whole; rest > 0.5 || (rest == 0.5 && result & 1))
      ++result;
  }
  return sign | (result >= infinity ? infinity : static_cast<uint16_t>(result));
}

inline double widenFrom16(uint16_t bits, int fraction, int exponent) {
  int bias = (1 << (exponent - 1)) - 1;
  int field = (bits >> fraction) & ((1 << exponent) - 1);
  int low = bits & ((1 << fraction) - 1);
  double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (field == (1 << exponent) - 1)
    return low ? std::nan("") : sign * HUGE_VAL;
  if (field == 0)
    return sign * std::ldexp(low, 1 - bias - fraction);
  return sign * std::ldexp(low + (1 << fraction), field - bias - fraction);
}

inline uint16_t f16FromDouble(double value) { return roundTo16(value, 10, 5); }
inline uint16_t bf16FromDouble(double value) { return roundTo16(value, 7, 8); }
inline double doubleFromF16(uint16_t bits) { return widenFrom16(bits, 10, 5); }
inline double doubleFromBf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

} // namespace tegula::tool
