//===- Arithmetic.h - the language's integers, one at a time ----*- C++ -*-===//
//
// What operators and conversions give, written from the language's definition
// and shared by all that judges the compiler: the dense reference and the
// interpreter of the random tests. The compiler has its own.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lang/Op.h"
#include "lang/Types.h"

#include <cstdint>

namespace tegula::tool {

/// The low bits of an integer, as a value of `type`.
int64_t wrapTo(lang::ElemType type, __int128 value);

/// Truncates to an integer of `type`, the nearest one where there is none that
/// large; NaN gives 0.
int64_t saturateTo(lang::ElemType type, double value);

/// Rounds to f16 or bf16; other types keep the value.
double roundTo16Bits(lang::ElemType type, double value);

/// An operator of two integers of `type`; of one, which is `a`.
int64_t applyToIntegers(lang::Op op, lang::ElemType type, int64_t a,
                        int64_t b = 0);

/// A comparison of integers or floats.
template <typename T> bool compare(lang::Op op, T a, T b) {
  switch (op) {
  case lang::Op::Eq:
    return a == b;
  case lang::Op::Ne:
    return a != b;
  case lang::Op::Lt:
    return a < b;
  case lang::Op::Le:
    return a <= b;
  case lang::Op::Gt:
    return a > b;
  default:
    return a >= b;
  }
}

} // namespace tegula::tool
