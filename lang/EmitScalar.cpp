//===- EmitScalar.cpp - typed expressions to scalar ops -------------------===//
//
// Leaves, and what the types of attention items ask of operators: one integer
// type and one float type, into which narrow ones widen where they are read.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitScalar.h"
#include "dialect/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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

Value ScalarEmitter::integerConstant(int64_t value, Location loc) {
  return ops(loc).constant(builder.getI64Type(), value);
}

Value ScalarEmitter::realConstant(double value, Location loc) {
  return ops(loc).constant(accumulator(), value);
}

Value ScalarEmitter::boolConstant(bool value, Location loc) {
  return ops(loc).constant(builder.getI1Type(), int64_t(value));
}

/// The type that values of `elem` compute in.
ElemType ScalarEmitter::computeType(ElemType elem) const {
  return elem == ElemType::Bool ? elem
         : isFloat(elem)        ? item.accumulator
                                : ElemType::I64;
}

Value ScalarEmitter::emitScalar(const Expr &e, Location loc) {
  Value &emitted = known.scalars[e.number];
  if (emitted)
    return emitted;
  ElemType elem = item.scalars[e.number].type;
  return emitted = ops(loc).emitConvert(values.scalars[e.number], elem,
                                        computeType(elem));
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
  if (elem == ElemType::Bool)
    return ops(loc).emitComparison(
        Op::Ne, element, ops(loc).constant(element.getType(), int64_t(0)));
  return ops(loc).emitConvert(element, elem, computeType(elem));
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
  case Op::And:
  case Op::Or:
    return ops(loc).emitBool(e.op, args);
  case Op::Select:
    return arith::SelectOp::create(builder, loc, args[0], args[1], args[2]);
  case Op::Convert:
    return emitConvert(e, args[0], loc);
  case Op::Random:
    return ops(loc).emitRandom(args, accumulator());
  default:
    break;
  }
  if (isComparison(e.op))
    return ops(loc).emitComparison(e.op, args[0], args[1]);
  return isFloat(e.type) ? ops(loc).emitFloat(e.op, args)
                         : emitInteger(e, args, loc);
}

Value ScalarEmitter::emitInteger(const Expr &e, ValueRange args, Location loc) {
  SmallVector<IntegerOperand> operands;
  for (const Expr *arg : e.args)
    operands.push_back(
        {arg->isConstant() ? std::optional(arg->integer) : std::nullopt,
         rangeOf(*arg)});
  return ops(loc).emitInteger(e.op, args, operands);
}

/// Of any i64 where nothing is known.
IntegerRange ScalarEmitter::rangeOf(const Expr &e, unsigned fuel) const {
  if (fuel == 0)
    return {};
  switch (e.kind) {
  case Expr::Constant:
    return IntegerRange::ofConstant(e.integer);
  case Expr::Index:
  case Expr::Dim:
  case Expr::Variable:
    return IntegerRange::ofDim();
  case Expr::Scalar:
    return IntegerRange::ofType(item.scalars[e.number].type);
  case Expr::Lookup:
    return IntegerRange::ofType(item.tensors[e.number].elem);
  case Expr::Let:
    return rangeOf(*item.lets[e.number].value, fuel - 1);
  case Expr::Score:
  case Expr::Row:
  case Expr::Bounded:
    return {};
  case Expr::Operator:
    break;
  }
  if (e.op == Op::Convert)
    return IntegerRange::ofType(e.castType);
  SmallVector<IntegerRange, 3> args;
  for (const Expr *arg : e.args)
    args.push_back(isInteger(arg->type) ? rangeOf(*arg, fuel - 1)
                                        : IntegerRange());
  return IntegerRange::ofOperator(e.op, args).wrapped(ElemType::I64);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value ScalarEmitter::emitConvert(const Expr &e, Value value, Location loc) {
  ElemType from = computeType(e.args[0]->type), target = e.castType;
  ElemType result = computeType(target);
  if (isFloat(from) && isInteger(target))
    return ops(loc).emitConvert(ops(loc).emitConvert(value, from, target),
                                target, result);
  value = ops(loc).emitConvert(value, from, result);
  bool keeps =
      from == ElemType::Bool ||
      (isFloat(target) ? target != ElemType::F16 && target != ElemType::BF16
                       : target != ElemType::U8 &&
                             rangeOf(*e.args[0]).bits <= integerBits(target));
  if (keeps)
    return value;
  value = ops(loc).emitConvert(value, result, target);
  return ops(loc).emitConvert(value, target, result);
}
