//===- Arithmetic.cpp - the language's integers, one at a time ------------===//
//
// Computed in 128 bits, where nothing overflows, and wrapped at the end.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Arithmetic.h"
#include "tools/tegula/FloatBits.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tegula;
using lang::ElemType;
using lang::Op;

int64_t tegula::tool::wrapTo(ElemType type, __int128 value) {
  unsigned unused = 64 - lang::integerBits(type);
  uint64_t top = static_cast<uint64_t>(value) << unused;
  return type == ElemType::U8 ? static_cast<int64_t>(top >> unused)
                              : static_cast<int64_t>(top) >> unused;
}

int64_t tegula::tool::saturateTo(ElemType type, double value) {
  if (std::isnan(value))
    return 0;
  bool isSigned = type != ElemType::U8;
  int valueBits = static_cast<int>(lang::integerBits(type)) - isSigned;
  double low = isSigned ? -std::ldexp(1.0, valueBits) : 0;
  if (value >= std::ldexp(1.0, valueBits))
    return std::numeric_limits<int64_t>::max() >> (63 - valueBits);
  return static_cast<int64_t>(std::max(value, low));
}

double tegula::tool::roundTo16Bits(ElemType type, double value) {
  return type == ElemType::F16    ? doubleFromF16(f16FromDouble(value))
         : type == ElemType::BF16 ? doubleFromBf16(bf16FromDouble(value))
                                  : value;
}

/// Rounded down; 0 where the divisor is.
static __int128 floorDiv(__int128 a, __int128 b) {
  if (b == 0)
    return 0;
  __int128 quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static __int128 exactly(Op op, int bits, __int128 a, __int128 b) {
  switch (op) {
  case Op::Neg:
    return -a;
  case Op::BitNot:
    return ~a;
  case Op::Abs:
    return a < 0 ? -a : a;
  case Op::Add:
    return a + b;
  case Op::Sub:
    return a - b;
  case Op::Mul:
    return a * b;
  case Op::Div:
    return floorDiv(a, b);
  case Op::Rem:
    return b == 0 ? 0 : a - floorDiv(a, b) * b;
  case Op::CeilDiv:
    return -floorDiv(-a, b);
  case Op::Shl:
    return b < 0 || b >= bits ? 0 : a << static_cast<int>(b);
  case Op::Shr:
    return a >> (b < 0 || b >= bits ? bits - 1 : static_cast<int>(b));
  case Op::BitAnd:
  case Op::And:
    return a & b;
  case Op::BitOr:
  case Op::Or:
    return a | b;
  case Op::BitXor:
    return a ^ b;
  case Op::Min:
    return std::min(a, b);
  case Op::Max:
    return std::max(a, b);
  default:
    llvm_unreachable("no operator of integers");
  }
}

int64_t tegula::tool::applyToIntegers(Op op, ElemType type, int64_t a,
                                      int64_t b) {
  return wrapTo(type,
                exactly(op, static_cast<int>(lang::integerBits(type)), a, b));
}
