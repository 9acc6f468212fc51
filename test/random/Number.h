//===- Number.h - numbers that know what rounding did to them ---*- C++ -*-===//
//
// Arithmetic of the language on single numbers: integers wrap in their type,
// floats are doubles with a bound on how far a computation in their type may be
// away. What hangs on a difference within that bound is unknown.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lang/Op.h"
#include "lang/Types.h"
#include "llvm/ADT/ArrayRef.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace tegula::generated {

using lang::ElemType;
using lang::Op;

struct Number {
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  int64_t integer = 0; ///< also bools
  double real = 0;
  /// A float is within this of what a program computes; infinite for what is
  /// unknown, integers and bools included.
  double error = 0;

  bool isKnown() const { return error < infinity; }
  static Number unknown() { return {0, 0, infinity}; }
  static Number ofInteger(int64_t value) { return {value, 0, 0}; }
  static Number ofReal(double value, double error = 0) {
    return {0, value, error};
  }
};

/// The type that values of `elem` are computed in.
ElemType computeType(ElemType elem);

/// A result rounded to `elem`, on top of the error that it has.
Number rounded(Number value, ElemType elem);

/// `op` of operands that have the type `elem`.
Number apply(Op op, ElemType elem, llvm::ArrayRef<Number> args);

Number convert(Number value, ElemType from, ElemType to);

/// The sum of products, or of numbers where `b` is empty, in any order.
Number sum(ElemType elem, llvm::ArrayRef<Number> a,
           llvm::ArrayRef<Number> b = {});

/// What Min (or Max) of nothing is.
Number identity(Op op, ElemType elem);

} // namespace tegula::generated
