//===- EmitScalar.cpp - typed expressions to scalar ops -------------------===//
//
// Operators that the language defines everywhere and arith does not (division
// by zero, shifts outside the width, float to integer) get a select each, and
// none where the operand is a constant that needs none.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitScalar.h"
#include "lang/EmitOperators.h"
#include "dialect/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tegula::lang;

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

Location LocationMap::get(llvm::SMRange range) const {
  unsigned buffer =
      range.isValid() ? sources.FindBufferContainingLoc(range.Start) : 0;
  if (!buffer)
    return UnknownLoc::get(&context);
  auto [line, column] = sources.getLineAndColumn(range.Start, buffer);
  auto [endLine, endColumn] = sources.getLineAndColumn(range.End, buffer);
  auto file = StringAttr::get(
      &context, sources.getMemoryBuffer(buffer)->getBufferIdentifier());
  return FileLineColRange::get(file, line, column, endLine, endColumn);
}

std::string LocationMap::place(llvm::SMRange range) const {
  unsigned buffer =
      range.isValid() ? sources.FindBufferContainingLoc(range.Start) : 0;
  if (!buffer)
    return "";
  auto [line, column] = sources.getLineAndColumn(range.Start, buffer);
  return (sources.getMemoryBuffer(buffer)->getBufferIdentifier() + ":" +
          Twine(line) + ":" + Twine(column))
      .str();
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

FloatType ScalarEmitter::accumulator() const {
  return item.accumulator == ElemType::F64 ? FloatType(builder.getF64Type())
                                           : FloatType(builder.getF32Type());
}

Value ScalarEmitter::constant(TypedAttr value, Location loc) {
  Value &emitted = known.constants[value];
  if (!emitted)
    emitted = arith::ConstantOp::create(builder, loc, value);
  return emitted;
}

Value ScalarEmitter::integerConstant(int64_t value, Location loc) {
  return constant(builder.getI64IntegerAttr(value), loc);
}

Value ScalarEmitter::realConstant(double value, Location loc) {
  return constant(builder.getFloatAttr(accumulator(), value), loc);
}

Value ScalarEmitter::boolConstant(bool value, Location loc) {
  return constant(builder.getBoolAttr(value), loc);
}

/// A float of any type as the accumulator type.
Value ScalarEmitter::fitFloat(Value value, Location loc) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = accumulator().getWidth();
  if (from < to)
    return arith::ExtFOp::create(builder, loc, accumulator(), value);
  if (from > to)
    return arith::TruncFOp::create(builder, loc, accumulator(), value);
  return value;
}

/// An integer of any width as i64.
Value ScalarEmitter::fitInteger(Value value, bool isSigned, Location loc) {
  Type i64 = builder.getI64Type();
  if (value.getType() == i64)
    return value;
  return isSigned ? Value(arith::ExtSIOp::create(builder, loc, i64, value))
                  : Value(arith::ExtUIOp::create(builder, loc, i64, value));
}

Value ScalarEmitter::emitScalar(const Expr &e, Location loc) {
  Value &emitted = known.scalars[e.number];
  if (emitted)
    return emitted;
  Value raw = values.scalars[e.number];
  if (e.type == ElemType::Bool)
    return emitted = raw;
  return emitted = isFloat(e.type) ? fitFloat(raw, loc)
                                   : fitInteger(raw, /*isSigned=*/true, loc);
}

Value ScalarEmitter::emitLookup(const Expr &e, Location loc) {
  SmallVector<Value> at;
  for (const Expr *index : e.args)
    at.push_back(emit(*index));
  Value table = values.tensors[e.number];
  Value element = tile::LookupOp::create(
      builder, loc, cast<MemRefType>(table.getType()).getElementType(), table,
      at);
  ElemType elem = item.tensors[e.number].elem;
  if (elem == ElemType::Bool) {
    Value zero = constant(builder.getI8IntegerAttr(0), loc);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                 element, zero);
  }
  return isFloat(elem) ? fitFloat(element, loc)
                       : fitInteger(element, elem != ElemType::U8, loc);
}

Value ScalarEmitter::emit(const Expr &e) {
  Location loc = locations.get(e.range);
  switch (e.kind) {
  case Expr::Constant:
    return isFloat(e.type)            ? realConstant(e.real, loc)
           : e.type == ElemType::Bool ? boolConstant(e.integer, loc)
                                      : integerConstant(e.integer, loc);
  case Expr::Index: // j or e comes last
    return indices[std::min(int(e.index), 4)];
  case Expr::Score:
    return score;
  case Expr::Row:
    return row[int(e.row)];
  case Expr::Variable:
    return variables.lookup(e.number);
  case Expr::Dim:
    return values.dims[e.number];
  case Expr::Scalar:
    return emitScalar(e, loc);
  case Expr::Let:
    return emitLet(e);
  case Expr::Lookup:
    return emitLookup(e, loc);
  case Expr::Operator:
    return emitOperator(e, loc);
  case Expr::Bounded:
    return emitBounded(e, loc);
  }
  llvm_unreachable("all kinds are handled");
}

Value ScalarEmitter::emitLet(const Expr &e) {
  if (Value emitted = known.lets.lookup(e.number))
    return emitted;
  Value value = emit(*item.lets[e.number].value);
  known.lets[e.number] = value;
  return value;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Value ScalarEmitter::emitOperator(const Expr &e, Location loc) {
  SmallVector<Value> args;
  for (const Expr *arg : e.args)
    args.push_back(emit(*arg));
  switch (e.op) {
  case Op::Not:
    return arith::XOrIOp::create(builder, loc, args[0],
                                 boolConstant(true, loc));
  case Op::And:
    return arith::AndIOp::create(builder, loc, args[0], args[1]);
  case Op::Or:
    return arith::OrIOp::create(builder, loc, args[0], args[1]);
  case Op::Select:
    return arith::SelectOp::create(builder, loc, args[0], args[1], args[2]);
  case Op::Convert:
    return emitConvert(e, args[0], loc);
  case Op::Random:
    return emitRandom(args, loc);
  default:
    break;
  }
  OperatorEmitter operators(builder, loc);
  if (isComparison(e.op))
    return operators.emitComparison(e.op, args[0], args[1]);
  return isFloat(e.type) ? operators.emitFloat(e.op, args)
                         : emitInteger(e, args, loc);
}

Value ScalarEmitter::negate(Value value, Location loc) {
  return arith::SubIOp::create(builder, loc, integerConstant(0, loc), value);
}

Value ScalarEmitter::emitInteger(const Expr &e, ValueRange args, Location loc) {
  Value a = args.front(), b = args.back();
  switch (e.op) {
  case Op::Neg:
    return negate(a, loc);
  case Op::BitNot:
    return arith::XOrIOp::create(builder, loc, a, integerConstant(-1, loc));
  case Op::Add:
    return arith::AddIOp::create(builder, loc, a, b);
  case Op::Sub:
    return arith::SubIOp::create(builder, loc, a, b);
  case Op::Mul:
    return arith::MulIOp::create(builder, loc, a, b);
  case Op::Div:
  case Op::Rem:
  case Op::CeilDiv:
    return emitDivision(e.op, *e.args[0], *e.args[1], a, b, loc);
  case Op::Shl:
  case Op::Shr:
    return emitShift(e.op, *e.args[1], a, b, loc);
  case Op::BitAnd:
    return arith::AndIOp::create(builder, loc, a, b);
  case Op::BitXor:
    return arith::XOrIOp::create(builder, loc, a, b);
  case Op::BitOr:
    return arith::OrIOp::create(builder, loc, a, b);
  case Op::Min:
    return arith::MinSIOp::create(builder, loc, a, b);
  case Op::Max:
    return arith::MaxSIOp::create(builder, loc, a, b);
  case Op::Abs:
    return math::AbsIOp::create(builder, loc, a);
  default:
    llvm_unreachable("no operator on integers");
  }
}

/// Bits that hold the value with its sign, 64 where nothing is known.
unsigned ScalarEmitter::bits(const Expr &e, unsigned fuel) const {
  if (fuel == 0)
    return 64;
  auto arg = [&](int i) { return bits(*e.args[i], fuel - 1); };
  switch (e.kind) {
  case Expr::Constant:
    return e.integer == INT64_MIN
               ? 64
               : 2 + llvm::Log2_64(uint64_t(std::abs(e.integer)) | 1);
  case Expr::Index:
  case Expr::Dim:
  case Expr::Variable:
    return 31; // dims are at most 2^29
  case Expr::Scalar:
    return integerBits(item.scalars[e.number].type);
  case Expr::Lookup:
    return integerBits(item.tensors[e.number].elem) + 1;
  case Expr::Let:
    return bits(*item.lets[e.number].value, fuel - 1);
  case Expr::Score:
  case Expr::Row:
  case Expr::Bounded:
    return 64;
  case Expr::Operator:
    break;
  }
  unsigned result = 64;
  switch (e.op) {
  case Op::Neg:
  case Op::Abs:
    result = arg(0) + 1;
    break;
  case Op::Add:
  case Op::Sub:
    result = std::max(arg(0), arg(1)) + 1;
    break;
  case Op::Mul:
    result = arg(0) + arg(1);
    break;
  case Op::Div:
  case Op::CeilDiv:
    result = arg(0) + 1;
    break;
  case Op::Rem:
  case Op::Min:
  case Op::Max:
    result = std::max(arg(0), arg(1));
    break;
  case Op::Select:
    result = std::max(arg(1), arg(2));
    break;
  case Op::Convert:
    result = integerBits(e.castType) + 1;
    break;
  default:
    break;
  }
  return std::min(result, 64u);
}

/// Floored division or remainder. A divisor that may be 0 is replaced by 1
/// where it is, and so is -1 where the dividend may be the smallest integer,
/// whose quotient does not fit.
Value ScalarEmitter::emitDivision(Op op, const Expr &dividend,
                                  const Expr &divisor, Value a, Value b,
                                  Location loc) {
  if (op == Op::CeilDiv)
    a = negate(a, loc);
  bool isConstant = divisor.isConstant();
  bool mayOverflow = (!isConstant || divisor.integer == -1) &&
                     bits(dividend) + (op == Op::CeilDiv) >= 64;
  auto equals = [&](int64_t value) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, b,
                                 integerConstant(value, loc));
  };
  Value safe = b, isZero, isMinusOne;
  if (!isConstant) {
    isZero = equals(0);
    safe = arith::SelectOp::create(builder, loc, isZero,
                                   integerConstant(1, loc), safe);
  }
  if (mayOverflow) {
    isMinusOne = equals(-1);
    safe = arith::SelectOp::create(builder, loc, isMinusOne,
                                   integerConstant(1, loc), safe);
  }
  Value quotient = arith::FloorDivSIOp::create(builder, loc, a, safe);
  if (op == Op::Rem) { // 0 where the divisor was replaced by 1
    Value whole = arith::MulIOp::create(builder, loc, quotient, safe);
    return arith::SubIOp::create(builder, loc, a, whole);
  }
  if (isMinusOne)
    quotient = arith::SelectOp::create(builder, loc, isMinusOne, negate(a, loc),
                                       quotient);
  if (isZero)
    quotient = arith::SelectOp::create(builder, loc, isZero,
                                       integerConstant(0, loc), quotient);
  return op == Op::CeilDiv ? negate(quotient, loc) : quotient;
}

/// A shift by an amount outside 0..64 gives 0, or the sign.
Value ScalarEmitter::emitShift(Op op, const Expr &amount, Value a, Value b,
                               Location loc) {
  if (op == Op::Shr) {
    bool inWidth = amount.isConstant() && uint64_t(amount.integer) < 64;
    Value by = inWidth ? b
                       : Value(arith::MinUIOp::create(
                             builder, loc, b, integerConstant(63, loc)));
    return arith::ShRSIOp::create(builder, loc, a, by);
  }
  if (amount.isConstant() && uint64_t(amount.integer) < 64)
    return arith::ShLIOp::create(builder, loc, a, b);
  Value zero = integerConstant(0, loc);
  Value inWidth = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        b, integerConstant(64, loc));
  Value by = arith::SelectOp::create(builder, loc, inWidth, b, zero);
  Value shifted = arith::ShLIOp::create(builder, loc, a, by);
  return arith::SelectOp::create(builder, loc, inWidth, shifted, zero);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value ScalarEmitter::roundTo(ElemType type, Value value, Location loc) {
  if (type != ElemType::F16 && type != ElemType::BF16)
    return value;
  Type narrow = type == ElemType::F16 ? Type(builder.getF16Type())
                                      : Type(builder.getBF16Type());
  value = arith::TruncFOp::create(builder, loc, narrow, value);
  return arith::ExtFOp::create(builder, loc, accumulator(), value);
}

Value ScalarEmitter::emitConvert(const Expr &e, Value value, Location loc) {
  ElemType from = e.args[0]->type, target = e.castType;
  if (isFloat(target)) {
    if (from == ElemType::Bool)
      return arith::UIToFPOp::create(builder, loc, accumulator(), value);
    if (!isFloat(from))
      value = arith::SIToFPOp::create(builder, loc, accumulator(), value);
    return roundTo(target, value, loc);
  }
  if (isFloat(from))
    return emitSaturate(target, value, loc);
  if (from == ElemType::Bool)
    return fitInteger(value, /*isSigned=*/false, loc);
  unsigned width = integerBits(target);
  bool isSigned = target != ElemType::U8;
  if (width == 64 || (isSigned && bits(*e.args[0]) <= width))
    return value;
  value = arith::TruncIOp::create(builder, loc, builder.getIntegerType(width),
                                  value);
  return fitInteger(value, isSigned, loc);
}

/// Float to integer: truncates, saturates, and NaN gives 0.
Value ScalarEmitter::emitSaturate(ElemType target, Value value, Location loc) {
  unsigned width = integerBits(target);
  bool isSigned = target != ElemType::U8;
  int64_t high = isSigned ? int64_t((uint64_t(1) << (width - 1)) - 1) : 255;
  int64_t low = isSigned ? -high - 1 : 0;
  // The first float beyond the range, exact in every float type.
  Value above =
      realConstant(std::ldexp(1.0, isSigned ? width - 1 : width), loc);
  Value below = realConstant(double(low), loc);
  Value tooHigh = OperatorEmitter(builder, loc).emitComparison(Op::Ge, value, above);
  Value tooLow = OperatorEmitter(builder, loc).emitComparison(Op::Le, value, below);
  Value isNumber = OperatorEmitter(builder, loc).emitComparison(Op::Eq, value, value);
  Value outside = arith::OrIOp::create(builder, loc, tooHigh, tooLow);
  Value unusable =
      arith::XOrIOp::create(builder, loc, isNumber, boolConstant(true, loc));
  unusable = arith::OrIOp::create(builder, loc, outside, unusable);
  Value safe = arith::SelectOp::create(builder, loc, unusable,
                                       realConstant(0.0, loc), value);
  Value result =
      arith::FPToSIOp::create(builder, loc, builder.getI64Type(), safe);
  result = arith::SelectOp::create(builder, loc, tooHigh,
                                   integerConstant(high, loc), result);
  return arith::SelectOp::create(builder, loc, tooLow,
                                 integerConstant(low, loc), result);
}
