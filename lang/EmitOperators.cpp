//===- EmitOperators.cpp - operators on scalars and tiles -----------------===//
//
// One op each where arith has it; the few that need more have a function.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitOperators.h"
#include "dialect/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tegula::lang;
namespace tile = tegula::tile;

Type tegula::lang::elementType(ElemType elem, MLIRContext *context) {
  switch (elem) {
  case ElemType::Bool:
    return IntegerType::get(context, 1);
  case ElemType::F16:
    return Float16Type::get(context);
  case ElemType::BF16:
    return BFloat16Type::get(context);
  case ElemType::F32:
    return Float32Type::get(context);
  case ElemType::F64:
    return Float64Type::get(context);
  default:
    return IntegerType::get(context, integerBits(elem));
  }
}

static TypedAttr splatOf(Type type, Attribute element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return DenseElementsAttr::get(shaped, element);
  return cast<TypedAttr>(element);
}

Value OperatorEmitter::constant(TypedAttr value) {
  if (!known)
    return arith::ConstantOp::create(b, loc, value);
  Value &emitted = (*known)[value];
  if (!emitted)
    emitted = arith::ConstantOp::create(b, loc, value);
  return emitted;
}

Value OperatorEmitter::constant(Type like, double value) {
  return constant(
      splatOf(like, b.getFloatAttr(getElementTypeOrSelf(like), value)));
}

Value OperatorEmitter::constant(Type like, int64_t value) {
  Type element = getElementTypeOrSelf(like);
  Attribute attr = element.isInteger(1)
                       ? Attribute(b.getIntegerAttr(element, value != 0))
                       : b.getIntegerAttr(element, value);
  return constant(splatOf(like, attr));
}

/// The type of `like` with another element type.
static Type withElement(Type like, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(like))
    return shaped.clone(element);
  return element;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Value OperatorEmitter::emitFloat(Op op, ValueRange args) {
  Value x = args.front(), y = args.back();
  switch (op) {
  case Op::Neg:
    return arith::NegFOp::create(b, loc, x);
  case Op::Add:
    return arith::AddFOp::create(b, loc, x, y);
  case Op::Sub:
    return arith::SubFOp::create(b, loc, x, y);
  case Op::Mul:
    return arith::MulFOp::create(b, loc, x, y);
  case Op::Div:
    return arith::DivFOp::create(b, loc, x, y);
  case Op::Min:
    return arith::MinimumFOp::create(b, loc, x, y);
  case Op::Max:
    return arith::MaximumFOp::create(b, loc, x, y);
  case Op::Abs:
    return math::AbsFOp::create(b, loc, x);
  case Op::Exp:
    return math::ExpOp::create(b, loc, x);
  case Op::Exp2:
    return math::Exp2Op::create(b, loc, x);
  case Op::Log:
    return math::LogOp::create(b, loc, x);
  case Op::Log2:
    return math::Log2Op::create(b, loc, x);
  case Op::Tanh:
    return math::TanhOp::create(b, loc, x);
  case Op::Sqrt:
    return math::SqrtOp::create(b, loc, x);
  case Op::Rsqrt:
    return math::RsqrtOp::create(b, loc, x);
  case Op::Pow:
    return math::PowFOp::create(b, loc, x, y);
  default:
    llvm_unreachable("no operator on floats");
  }
}

Value OperatorEmitter::emitBool(Op op, ValueRange args) {
  Value x = args.front(), y = args.back();
  if (op == Op::And)
    return arith::AndIOp::create(b, loc, x, y);
  if (op == Op::Or)
    return arith::OrIOp::create(b, loc, x, y);
  return arith::XOrIOp::create(b, loc, x, constant(x.getType(), int64_t(1)));
}

Value OperatorEmitter::emitRandom(ValueRange args, Type element) {
  return tile::RandomOp::create(b, loc, withElement(args[0].getType(), element),
                                args[0], args[1], args[2], args[3], args[4]);
}

Value OperatorEmitter::emitComparison(Op op, Value x, Value y) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static constexpr F floats[] = {F::OEQ, F::UNE, F::OLT,
                                 F::OLE, F::OGT, F::OGE};
  static constexpr I integers[] = {I::eq,  I::ne,  I::slt,
                                   I::sle, I::sgt, I::sge};
  int which = int(op) - int(Op::Eq);
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return arith::CmpFOp::create(b, loc, floats[which], x, y);
  return arith::CmpIOp::create(b, loc, integers[which], x, y);
}

Value OperatorEmitter::emitInteger(Op op, ValueRange args,
                                   ArrayRef<IntegerOperand> operands) {
  Value x = args.front(), y = args.back();
  switch (op) {
  case Op::Neg:
    return arith::SubIOp::create(b, loc, constant(x.getType(), int64_t(0)), x);
  case Op::BitNot:
    return arith::XOrIOp::create(b, loc, x, constant(x.getType(), int64_t(-1)));
  case Op::Add:
    return arith::AddIOp::create(b, loc, x, y);
  case Op::Sub:
    return arith::SubIOp::create(b, loc, x, y);
  case Op::Mul:
    return arith::MulIOp::create(b, loc, x, y);
  case Op::Div:
  case Op::Rem:
  case Op::CeilDiv:
    return emitDivision(op, x, y, operands[0], operands[1]);
  case Op::Shl:
  case Op::Shr:
    return emitShift(op, x, y, operands[1]);
  case Op::BitAnd:
    return arith::AndIOp::create(b, loc, x, y);
  case Op::BitXor:
    return arith::XOrIOp::create(b, loc, x, y);
  case Op::BitOr:
    return arith::OrIOp::create(b, loc, x, y);
  case Op::Min:
    return arith::MinSIOp::create(b, loc, x, y);
  case Op::Max:
    return arith::MaxSIOp::create(b, loc, x, y);
  case Op::Abs:
    return math::AbsIOp::create(b, loc, x);
  default:
    llvm_unreachable("no operator on integers");
  }
}

/// Rounds down (up for ceildiv), and is 0 where the divisor is. A divisor of 0,
/// or of -1 where the quotient may not fit, is replaced by 1.
Value OperatorEmitter::emitDivision(Op op, Value x, Value y,
                                    const IntegerOperand &dividend,
                                    const IntegerOperand &divisor) {
  Type type = y.getType();
  auto equals = [&](int64_t value) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y,
                                 constant(type, value));
  };
  auto choose = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  };
  Value isZero, isMinusOne, safe = y;
  if (!divisor.constant) {
    isZero = equals(0);
    safe = choose(isZero, constant(type, int64_t(1)), safe);
  }
  bool mayBeMinusOne =
      divisor.constant ? *divisor.constant == -1 : !divisor.range.nonNegative;
  bool mayBeLeast =
      dividend.range.bits >= getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (mayBeMinusOne && mayBeLeast) {
    isMinusOne = equals(-1);
    safe = choose(isMinusOne, constant(type, int64_t(1)), safe);
  }
  bool truncates =
      dividend.range.nonNegative &&
      (divisor.constant ? *divisor.constant > 0 : divisor.range.nonNegative);
  Value quotient;
  if (op == Op::CeilDiv)
    quotient = arith::CeilDivSIOp::create(b, loc, x, safe);
  else if (op == Op::Rem && truncates)
    quotient = arith::RemSIOp::create(b, loc, x, safe);
  else if (truncates)
    quotient = arith::DivSIOp::create(b, loc, x, safe);
  else
    quotient = arith::FloorDivSIOp::create(b, loc, x, safe);
  if (op == Op::Rem) { // 0 where the divisor was replaced by 1
    if (truncates)
      return quotient;
    return arith::SubIOp::create(b, loc, x,
                                 arith::MulIOp::create(b, loc, quotient, safe));
  }
  Value zero = isZero || isMinusOne ? constant(type, int64_t(0)) : Value();
  if (isMinusOne)
    quotient =
        choose(isMinusOne, arith::SubIOp::create(b, loc, zero, x), quotient);
  return isZero ? choose(isZero, zero, quotient) : quotient;
}

/// An amount outside the width gives 0, or the sign.
Value OperatorEmitter::emitShift(Op op, Value x, Value by,
                                 const IntegerOperand &amount) {
  Type type = x.getType();
  int64_t width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  bool inWidth =
      amount.constant && *amount.constant >= 0 && *amount.constant < width;
  if (op == Op::Shr) {
    if (!inWidth)
      by = arith::MinUIOp::create(b, loc, by, constant(type, width - 1));
    return arith::ShRSIOp::create(b, loc, x, by);
  }
  if (inWidth)
    return arith::ShLIOp::create(b, loc, x, by);
  Value zero = constant(type, int64_t(0));
  Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, by,
                                     constant(type, width));
  by = arith::SelectOp::create(b, loc, fits, by, zero);
  return arith::SelectOp::create(b, loc, fits,
                                 arith::ShLIOp::create(b, loc, x, by), zero);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value OperatorEmitter::emitConvert(Value value, ElemType from, ElemType to) {
  if (from == to)
    return value;
  Type target = withElement(value.getType(), elementType(to, b.getContext()));
  unsigned width =
      getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  unsigned targetWidth = getElementTypeOrSelf(target).getIntOrFloatBitWidth();
  Type single = withElement(value.getType(), b.getF32Type());
  bool narrow = to == ElemType::F16 || to == ElemType::BF16;
  if (isFloat(from) && isFloat(to)) {
    if (width < 32 && narrow) { // from one 16-bit type to the other
      value = arith::ExtFOp::create(b, loc, single, value);
      width = 32;
    }
    if (width < targetWidth)
      return arith::ExtFOp::create(b, loc, target, value);
    return arith::TruncFOp::create(b, loc, target, value);
  }
  if (isFloat(to)) {
    Type wide = narrow ? single : target;
    bool isUnsigned = from == ElemType::Bool || from == ElemType::U8;
    value = isUnsigned ? Value(arith::UIToFPOp::create(b, loc, wide, value))
                       : Value(arith::SIToFPOp::create(b, loc, wide, value));
    return narrow ? Value(arith::TruncFOp::create(b, loc, target, value))
                  : value;
  }
  if (isFloat(from)) {
    if (width < 32)
      value = arith::ExtFOp::create(b, loc, single, value);
    ElemType computed = integerBits(to) == 64 ? ElemType::I64 : ElemType::I32;
    return emitConvert(emitSaturate(value, to, computed), computed, to);
  }
  if (width > targetWidth)
    return arith::TruncIOp::create(b, loc, target, value);
  if (width == targetWidth) // i8 and u8
    return value;
  if (from == ElemType::Bool || from == ElemType::U8)
    return arith::ExtUIOp::create(b, loc, target, value);
  return arith::ExtSIOp::create(b, loc, target, value);
}

Value OperatorEmitter::emitSaturate(Value value, ElemType to,
                                    ElemType computed) {
  Type type = value.getType();
  unsigned bits = integerBits(to);
  Type integers = withElement(type, elementType(computed, b.getContext()));
  int64_t high =
      to == ElemType::U8 ? 255 : int64_t((uint64_t(1) << (bits - 1)) - 1);
  int64_t low = to == ElemType::U8 ? 0 : -high - 1;
  // double(high) may round up to 2^63, which is too high as well.
  Value tooLow = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE, value,
                                       constant(type, double(low)));
  Value tooHigh = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE,
                                        value, constant(type, double(high)));
  Value unusable = arith::OrIOp::create(b, loc, tooHigh, tooLow);
  Value isNaN =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  unusable = arith::OrIOp::create(b, loc, unusable, isNaN);
  Value safe =
      arith::SelectOp::create(b, loc, unusable, constant(type, 0.0), value);
  Value result = arith::FPToSIOp::create(b, loc, integers, safe);
  result = arith::SelectOp::create(b, loc, tooHigh, constant(integers, high),
                                   result);
  return arith::SelectOp::create(b, loc, tooLow, constant(integers, low),
                                 result);
}
