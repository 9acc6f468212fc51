//===- EmitReductions.cpp - reductions and products of tiles --------------===//
//
// Lanes past a bound take no part: they hold the element that changes nothing.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitKernelImpl.h"

using namespace mlir;
using namespace tegula::lang;
namespace tile = tegula::tile;

/// The element that changes no result of the reduction.
static Value neutralOf(TileReduction reduction, ElemType elem,
                       OperatorEmitter ops, MLIRContext *context) {
  Type type = elementType(elem, context);
  unsigned bits = isInteger(elem) ? integerBits(elem) : 64;
  int64_t least = -int64_t((uint64_t(1) << (bits - 1)) - 1) - 1;
  switch (reduction) {
  case TileReduction::Sum:
    return isFloat(elem) ? ops.constant(type, 0.0)
                         : ops.constant(type, int64_t(0));
  case TileReduction::Min:
    return isFloat(elem) ? ops.constant(type, infinity)
                         : ops.constant(type, -(least + 1));
  case TileReduction::Max:
  case TileReduction::ArgMax:
    return isFloat(elem) ? ops.constant(type, -infinity)
                         : ops.constant(type, least);
  case TileReduction::Any:
    return ops.constant(type, int64_t(0));
  case TileReduction::All:
    return ops.constant(type, int64_t(1));
  }
  llvm_unreachable("all reductions are handled");
}

static tile::ReduceKind kindOf(TileReduction reduction) {
  switch (reduction) {
  case TileReduction::Sum:
    return tile::ReduceKind::Add;
  case TileReduction::Min:
    return tile::ReduceKind::Minimum;
  case TileReduction::Max:
    return tile::ReduceKind::Maximum;
  case TileReduction::ArgMax:
    return tile::ReduceKind::Argmax;
  case TileReduction::Any:
    return tile::ReduceKind::Or;
  case TileReduction::All:
    return tile::ReduceKind::And;
  }
  llvm_unreachable("all reductions are handled");
}

Emitted ProgramEmitter::emitReduce(const Term &v) {
  const Term &from = *v.args[0];
  Value operand = emitTile(from);
  const Bound &bound = from.type.bounds[v.axis];
  bool zeroIsNeutral =
      v.reduction == TileReduction::Sum || v.reduction == TileReduction::Any;
  if (bound && !(zeroIsNeutral && (from.zeroPast >> v.axis & 1)))
    operand = neutralise(
        operand, bound, v.axis,
        neutralOf(v.reduction, from.type.elem, ops(), b.getContext()));
  return whole(
      v, tile::ReduceOp::create(b, loc, kindOf(v.reduction), operand, v.axis));
}

Emitted ProgramEmitter::emitCombine(const Term &v) {
  const Term &from = *v.args[0];
  Value operand = emitTile(from), init = emitScalar(*v.args[1]);
  if (const Bound &bound = from.type.bounds[v.axis])
    operand = neutralise(operand, bound, v.axis, init);
  auto op = tile::CombineOp::create(b, loc, typeOf(v.type), operand, init,
                                    b.getI64IntegerAttr(v.axis));
  Block *body;
  {
    OpBuilder::InsertionGuard guard(b);
    body = b.createBlock(&op.getBody(), {}, {init.getType(), init.getType()},
                         {loc, loc});
  }
  inRegion(body, [&] {
    ValueRange arguments = body->getArguments();
    for (const Term *parameter : v.parameters)
      define(*parameter, arguments);
    tile::YieldOp::create(b, loc, ValueRange{emitScalar(*v.result)});
  });
  return whole(v, op.getResult());
}

Emitted ProgramEmitter::emitDot(const Term &v) {
  const Term *lhs = v.args[0], *rhs = v.args[1];
  bool transposed = rhs->kind == Term::Transpose;
  Bound inner = lhs->type.bounds[1];
  if (!inner)
    inner = rhs->type.bounds[0];
  // A zero on one side only would let through what is not finite.
  auto silenced = [&](const Term &operand, unsigned axis, bool isZero) {
    Value tile = emitTile(operand);
    if (!inner || isZero)
      return tile;
    Type element = cast<RankedTensorType>(tile.getType()).getElementType();
    Value zero = isa<FloatType>(element) ? ops().constant(element, 0.0)
                                         : ops().constant(element, int64_t(0));
    return neutralise(tile, inner, axis, zero);
  };
  Value x = silenced(*lhs, 1, lhs->zeroPast >> 1 & 1);
  Value y = silenced(transposed ? *rhs->args[0] : *rhs, transposed ? 1 : 0,
                     rhs->zeroPast & 1);
  Value acc = v.args.size() > 2 ? emitTile(*v.args[2]) : Value();
  return whole(
      v, tile::DotOp::create(b, loc, typeOf(v.type), x, y, acc, transposed));
}
