//===- IntegerRange.h - what is known of an integer's size ------*- C++ -*-===//
//
// Bits and sign of integer expressions, so that emission knows which divisions
// need no guard and which conversions change nothing.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_INTEGERRANGE_H
#define TEGULA_LANG_INTEGERRANGE_H

#include "lang/Op.h"
#include "lang/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace tegula::lang {

struct IntegerRange {
  /// Bits that hold the value with its sign.
  unsigned bits = 64;
  bool nonNegative = false;

  /// A dim, at most 2^29, or a position below one.
  static IntegerRange ofDim() { return {31, true}; }
  static IntegerRange ofConstant(int64_t value);
  /// Of any value of an integer type.
  static IntegerRange ofType(ElemType type);
  /// Of the exact result.
  static IntegerRange ofOperator(Op op, llvm::ArrayRef<IntegerRange> args);
  /// Of the value in `type`, where a larger one wraps.
  IntegerRange wrapped(ElemType type) const;
};

} // namespace tegula::lang

#endif
