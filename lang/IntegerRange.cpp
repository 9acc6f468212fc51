//===- IntegerRange.cpp - what is known of an integer's size --------------===//
//
// One rule an operator.
//
//===----------------------------------------------------------------------===//
#include "lang/IntegerRange.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstdlib>

using namespace tegula::lang;

IntegerRange IntegerRange::ofConstant(int64_t value) {
  if (value == INT64_MIN)
    return {64, false};
  return {2 + llvm::Log2_64(uint64_t(std::abs(value)) | 1), value >= 0};
}

IntegerRange IntegerRange::ofType(ElemType type) {
  bool isUnsigned = type == ElemType::U8;
  return {integerBits(type) + isUnsigned, isUnsigned};
}

IntegerRange IntegerRange::ofOperator(Op op,
                                      llvm::ArrayRef<IntegerRange> args) {
  constexpr IntegerRange unknown{~0u, false};
  bool allNonNegative = llvm::all_of(
      args, [](const IntegerRange &arg) { return arg.nonNegative; });
  const IntegerRange &x = args.front(), &y = args.back();
  unsigned larger = std::max(x.bits, y.bits);
  switch (op) {
  case Op::Abs:
    return {x.bits + 1, true};
  case Op::Neg:
    return {x.bits + 1, false};
  case Op::Add:
    return {larger + 1, allNonNegative};
  case Op::Sub:
    return {larger + 1, false};
  case Op::Mul:
    return {x.bits + y.bits, allNonNegative};
  case Op::Div:
  case Op::CeilDiv:
    return {x.bits + !allNonNegative, allNonNegative};
  case Op::Rem:
    return {allNonNegative ? std::min(x.bits, y.bits) : y.bits, y.nonNegative};
  case Op::Min:
    return {larger, allNonNegative};
  case Op::Max:
    return {larger, x.nonNegative || y.nonNegative};
  case Op::Select: { // the condition comes first
    const IntegerRange &yes = args[1];
    return {std::max(yes.bits, y.bits), yes.nonNegative && y.nonNegative};
  }
  default:
    return unknown;
  }
}

IntegerRange IntegerRange::wrapped(ElemType type) const {
  IntegerRange all = ofType(type);
  return bits <= all.bits ? *this : all;
}
