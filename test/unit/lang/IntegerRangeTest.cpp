//===- IntegerRangeTest.cpp - sizes of integers ---------------------------===//
//
// A range has to hold every result: of small operands all are tried.
//
//===----------------------------------------------------------------------===//
#include "lang/IntegerRange.h"
#include "gtest/gtest.h"

using namespace tegula::lang;

namespace {

bool holds(IntegerRange range, int64_t value) {
  return !(range.nonNegative && value < 0) &&
         IntegerRange::ofConstant(value).bits <= range.bits;
}

int64_t floored(int64_t x, int64_t y) {
  return y == 0 ? 0 : x / y - (x % y != 0 && (x < 0) != (y < 0));
}

int64_t apply(Op op, int64_t x, int64_t y) {
  switch (op) {
  case Op::Add:
    return x + y;
  case Op::Sub:
    return x - y;
  case Op::Mul:
    return x * y;
  case Op::Div:
    return floored(x, y);
  case Op::CeilDiv:
    return -floored(-x, y);
  case Op::Rem:
    return y == 0 ? 0 : x - floored(x, y) * y;
  case Op::Min:
    return std::min(x, y);
  default:
    return std::max(x, y);
  }
}

TEST(IntegerRange, HoldsResults) {
  for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::CeilDiv, Op::Rem,
                Op::Min, Op::Max})
    for (int64_t x = -17; x <= 17; ++x)
      for (int64_t y = -17; y <= 17; ++y) {
        IntegerRange range = IntegerRange::ofOperator(
            op, {IntegerRange::ofConstant(x), IntegerRange::ofConstant(y)});
        EXPECT_TRUE(holds(range, apply(op, x, y)))
            << opSpelling(op).str() << " of " << x << " and " << y;
      }
  EXPECT_TRUE(holds(
      IntegerRange::ofOperator(Op::Neg, IntegerRange::ofConstant(INT64_MIN)),
      INT64_MAX));
}

TEST(IntegerRange, Wraps) {
  IntegerRange byte = IntegerRange::ofType(ElemType::U8);
  EXPECT_EQ(byte.bits, 9u);
  EXPECT_TRUE(byte.nonNegative);
  IntegerRange sum = IntegerRange::ofOperator(Op::Add, {byte, byte});
  EXPECT_EQ(sum.wrapped(ElemType::I32).bits, 10u);
  EXPECT_TRUE(sum.wrapped(ElemType::I32).nonNegative);
  EXPECT_EQ(sum.wrapped(ElemType::I8).bits, 8u);
  EXPECT_FALSE(sum.wrapped(ElemType::I8).nonNegative);
}

} // namespace
