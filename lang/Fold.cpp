//===- Fold.cpp - constant folding ----------------------------------------===//
//
// The value of an operator whose operands are constants. Integers wrap at 64
// bits; floats fold in double and round once where they are emitted.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaImpl.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <limits>

using namespace tegula::lang;

static int64_t wrap(uint64_t value) { return int64_t(value); }

static int64_t floorDiv(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (b == -1)
    return wrap(-uint64_t(a));
  int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t foldInteger(Op op, int64_t a, int64_t b) {
  uint64_t ua = uint64_t(a), ub = uint64_t(b);
  bool inWidth = ub < 64;
  switch (op) {
  case Op::Neg:
    return wrap(-ua);
  case Op::BitNot:
    return ~a;
  case Op::Add:
    return wrap(ua + ub);
  case Op::Sub:
    return wrap(ua - ub);
  case Op::Mul:
    return wrap(ua * ub);
  case Op::Div:
    return floorDiv(a, b);
  case Op::Rem:
    return b == 0 ? 0 : wrap(ua - uint64_t(floorDiv(a, b)) * ub);
  case Op::CeilDiv:
    return wrap(uint64_t(floorDiv(a, b)) + (b != 0 && b != -1 && a % b != 0));
  case Op::Shl:
    return inWidth ? wrap(ua << ub) : 0;
  case Op::Shr:
    return a >> (inWidth ? b : 63);
  case Op::BitAnd:
    return a & b;
  case Op::BitXor:
    return a ^ b;
  case Op::BitOr:
    return a | b;
  case Op::Min:
    return std::min(a, b);
  case Op::Max:
    return std::max(a, b);
  case Op::Abs:
    return a < 0 ? wrap(-ua) : a;
  default:
    return 0;
  }
}

static double foldReal(Op op, double a, double b) {
  switch (op) {
  case Op::Neg:
    return -a;
  case Op::Add:
    return a + b;
  case Op::Sub:
    return a - b;
  case Op::Mul:
    return a * b;
  case Op::Div:
    return a / b;
  case Op::Min:
    return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
  case Op::Max:
    return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
  case Op::Abs:
    return std::fabs(a);
  case Op::Exp:
    return std::exp(a);
  case Op::Exp2:
    return std::exp2(a);
  case Op::Log:
    return std::log(a);
  case Op::Log2:
    return std::log2(a);
  case Op::Tanh:
    return std::tanh(a);
  case Op::Sqrt:
    return std::sqrt(a);
  case Op::Rsqrt:
    return 1.0 / std::sqrt(a);
  case Op::Pow:
    return std::pow(a, b);
  default:
    return 0;
  }
}

template <typename T> static bool compare(Op op, T a, T b) {
  switch (op) {
  case Op::Eq:
    return a == b;
  case Op::Ne:
    return a != b;
  case Op::Lt:
    return a < b;
  case Op::Le:
    return a <= b;
  case Op::Gt:
    return a > b;
  default:
    return a >= b;
  }
}

/// Keeps the low bits that `type` has, with its sign.
static int64_t wrapTo(ElemType type, int64_t value) {
  unsigned bits = integerBits(type);
  if (bits == 64)
    return value;
  uint64_t low = uint64_t(value) & ((uint64_t(1) << bits) - 1);
  bool negative = type != ElemType::U8 && (low >> (bits - 1)) != 0;
  return wrap(negative ? low - (uint64_t(1) << bits) : low);
}

static int64_t saturateTo(ElemType type, double value) {
  unsigned bits = integerBits(type);
  bool isSigned = type != ElemType::U8;
  int64_t high = isSigned ? int64_t((uint64_t(1) << (bits - 1)) - 1) : 255;
  int64_t low = isSigned ? -high - 1 : 0;
  if (std::isnan(value))
    return 0;
  if (value >= double(high)) // double(INT64_MAX) is 2^63
    return high;
  return value <= double(low) ? low : int64_t(value);
}

/// Rounds to f16 or bf16; other types keep the value until it is emitted.
static double roundTo(ElemType type, double value) {
  if (type != ElemType::F16 && type != ElemType::BF16)
    return value;
  llvm::APFloat rounded(value);
  bool losesInfo;
  rounded.convert(type == ElemType::F16 ? llvm::APFloat::IEEEhalf()
                                        : llvm::APFloat::BFloat(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.convertToDouble();
}

static void foldConvert(Expr &e) {
  const Expr &from = *e.args[0];
  if (isFloat(e.castType))
    e.real = roundTo(e.castType,
                     isFloat(from.type) ? from.real : double(from.integer));
  else
    e.integer = isFloat(from.type) ? saturateTo(e.castType, from.real)
                                   : wrapTo(e.castType, from.integer);
}

bool tegula::lang::foldOperator(Expr &e) {
  const Expr &a = *e.args[0];
  const Expr &b = *e.args.back();
  bool floats = isFloat(a.type);
  if (e.op == Op::Convert)
    foldConvert(e);
  else if (isComparison(e.op))
    e.integer = floats ? compare(e.op, a.real, b.real)
                       : compare(e.op, a.integer, b.integer);
  else if (e.op == Op::Not)
    e.integer = !a.integer;
  else if (e.type == ElemType::Bool || e.op == Op::Select || e.op == Op::Random)
    return false; // logic is folded where it is made
  else if (floats)
    e.real = foldReal(e.op, a.real, b.real);
  else
    e.integer = foldInteger(e.op, a.integer, b.integer);
  return true;
}
