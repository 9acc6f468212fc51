//===- EmitKernel.cpp - a tile program to the tile dialect ----------------===//
//
// One function a kind of value. A value is emitted where it is first needed, or
// where its statement stands, and once in a block.
//
// Lanes past a bound: a reduction, product or softmax gets a select with its
// neutral element, a store gets a mask, and neither where memory's zero or the
// store's own limit does it already.
//
// A tile with axes of extent 1 that came from `row` or `col` is kept without
// them until an operation needs them, so that index code stays of rank 1 and
// becomes one broadcast.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitKernelImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace tegula::lang;
namespace tile = tegula::tile;

/// One op for each constant, at the begin of the kernel.
static void uniqueConstants(Block &body) {
  DenseMap<std::pair<Attribute, Type>, Operation *> first;
  Operation *last = nullptr;
  SmallVector<arith::ConstantOp> constants;
  body.walk([&](arith::ConstantOp op) { constants.push_back(op); });
  for (arith::ConstantOp op : constants) {
    Operation *&kept = first[{op.getValue(), op.getType()}];
    if (kept) {
      op.replaceAllUsesWith(kept->getResult(0));
      op.erase();
      continue;
    }
    kept = op;
    if (last)
      op->moveAfter(last);
    else
      op->moveBefore(&body, body.begin());
    last = op;
  }
}

void tegula::lang::emitProgram(const Item &item, OpBuilder &builder,
                               const LocationMap &locations,
                               const KernelValues &values) {
  Block &body = *builder.getInsertionBlock();
  ProgramEmitter(item, builder, locations, values).run();
  uniqueConstants(body);
  // Index code of one place is often that of the next; lets may be unused.
  IRRewriter rewriter(builder);
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, body.getParentOp());
  builder.setInsertionPointToEnd(&body);
}

void ProgramEmitter::run() {
  loc = locations.get(item.range);
  emitGrid();
  emitBlock(program.body);
}

//===----------------------------------------------------------------------===//
// Types and small ops
//===----------------------------------------------------------------------===//

RankedTensorType ProgramEmitter::tileType(ArrayRef<int64_t> shape,
                                          ElemType elem) {
  return RankedTensorType::get(shape, elementType(elem, b.getContext()));
}

Type ProgramEmitter::typeOf(const TileType &type) {
  if (type.isScalar())
    return elementType(type.elem, b.getContext());
  return tileType(type.shape, type.elem);
}

/// The types of a value's parts.
void ProgramEmitter::typesOf(const TileType &type,
                             SmallVectorImpl<Type> &types) {
  if (type.isState)
    types.append(2, tileType(type.shape[0], type.elem));
  types.push_back(typeOf(type));
}

Value ProgramEmitter::splat(Value scalar, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, scalar.getType());
  Attribute value;
  if (matchPattern(scalar, m_Constant(&value)))
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(type, value));
  return tensor::SplatOp::create(b, loc, type, scalar);
}

/// `tile`, whose axes are `axes` of the result, repeated to `shape`.
Value ProgramEmitter::spread(Value tile, ArrayRef<int64_t> axes,
                             ArrayRef<int64_t> shape) {
  auto from = cast<RankedTensorType>(tile.getType());
  if (from.getShape() == shape)
    return tile;
  return tile::BroadcastOp::create(
      b, loc, RankedTensorType::get(shape, from.getElementType()), tile, axes);
}

Emitted ProgramEmitter::whole(const Term &v, Value value) {
  return {{value}, allAxes(v.type.rank())};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Emitted &ProgramEmitter::emit(const Term &v) {
  for (Known &region : llvm::reverse(known)) {
    auto found = region.find(&v);
    if (found != region.end())
      return found->second;
  }
  Location saved = loc;
  loc = locations.get(v.range);
  Emitted emitted = compute(v);
  loc = saved;
  return known.back()[&v] = std::move(emitted);
}

Value ProgramEmitter::emitTile(const Term &v) {
  Emitted emitted = emit(v);
  return spread(emitted.parts[0], emitted.axes, v.type.shape);
}

void ProgramEmitter::appendParts(const Term &v, SmallVectorImpl<Value> &parts) {
  if (v.type.isTile())
    parts.push_back(emitTile(v));
  else
    llvm::append_range(parts, Emitted(emit(v)).parts);
}

/// Takes the parts of `local` off the front of `parts`.
void ProgramEmitter::define(const Term &local, ValueRange &parts) {
  unsigned count = local.type.isState ? 3 : 1;
  Emitted &emitted = known.back()[&local];
  emitted.parts.assign(parts.begin(), parts.begin() + count);
  emitted.axes = allAxes(local.type.rank());
  parts = parts.drop_front(count);
}

Emitted ProgramEmitter::compute(const Term &v) {
  switch (v.kind) {
  case Term::Constant:
    return emitConstant(v);
  case Term::Dim:
    return {{values.dims[v.number]}, {}};
  case Term::Scalar:
    return {{values.scalars[v.number]}, {}};
  case Term::Coordinate:
    return {{coordinates[v.number]}, {}};
  case Term::Local:
    llvm_unreachable("internal: a value is used outside its region");
  case Term::Load:
    return emitLoad(v);
  case Term::Operator:
    return emitOperator(v);
  case Term::Iota:
    return whole(v, tile::IotaOp::create(b, loc, typeOf(v.type)));
  case Term::Splat:
    return whole(v, splat(emitScalar(*v.args[0]), v.type.shape));
  case Term::Spread:
    return {{emitTile(*v.args[0])}, {int64_t(v.axis)}};
  case Term::Broadcast: {
    Emitted from = emit(*v.args[0]);
    return whole(v, spread(from.parts[0], from.axes, v.type.shape));
  }
  case Term::Transpose:
    return whole(v, tile::TransposeOp::create(b, loc, typeOf(v.type),
                                              emitTile(*v.args[0]),
                                              v.permutation));
  case Term::Reshape:
    return whole(v, tile::ReshapeOp::create(b, loc, typeOf(v.type),
                                            emitTile(*v.args[0])));
  case Term::Reduce:
    return emitReduce(v);
  case Term::CumSum:
    return whole(v, tile::CumsumOp::create(b, loc, typeOf(v.type),
                                           emitTile(*v.args[0]),
                                           b.getI64IntegerAttr(v.axis)));
  case Term::Combine:
    return emitCombine(v);
  case Term::Dot:
    return emitDot(v);
  case Term::State:
    return emitState(v);
  case Term::OnlineSoftmax:
    return emitOnlineSoftmax(v);
  case Term::Merge:
    return emitMerge(v);
  case Term::Partial:
    return emitPartial(v);
  case Term::Finish:
    return whole(v, finish(*v.args[0]).getOutput());
  case Term::Lse:
    return whole(v, finish(*v.args[0]).getLse());
  case Term::RowMax:
    return whole(v, rowMax(*v.args[0]));
  case Term::RowSum:
    return whole(v, emit(*v.args[0]).parts[1]);
  }
  llvm_unreachable("all kinds are handled");
}

Emitted ProgramEmitter::emitConstant(const Term &v) {
  Type type = typeOf(v.type);
  return {{isFloat(v.type.elem) ? ops().constant(type, v.real)
                                : ops().constant(type, v.integer)},
          {}};
}

Emitted ProgramEmitter::emitOperator(const Term &v) {
  SmallVector<Emitted> operands;
  for (const Term *arg : v.args)
    operands.push_back(emit(*arg));
  // Where all tiles lack the same axes, so does the result.
  const Emitted *first = nullptr;
  bool alike = true;
  for (auto [operand, arg] : llvm::zip(operands, v.args)) {
    if (arg->type.isScalar())
      continue;
    if (!first)
      first = &operand;
    alike &= operand.axes == first->axes;
    for (int64_t axis : operand.axes)
      alike &= arg->type.shape[axis] == v.type.shape[axis];
  }
  if (!first) {
    SmallVector<Value> args;
    for (const Emitted &operand : operands)
      args.push_back(operand.parts[0]);
    return {{emitOp(v, args)}, {}};
  }
  SmallVector<int64_t, 4> axes = alike ? first->axes : allAxes(v.type.rank());
  SmallVector<int64_t> shape;
  for (int64_t axis : axes)
    shape.push_back(v.type.shape[axis]);
  SmallVector<Value> args;
  for (auto [operand, arg] : llvm::zip(operands, v.args)) {
    bool isScalarCondition = v.op == tegula::lang::Op::Select && args.empty();
    if (!arg->type.isScalar())
      args.push_back(alike ? operand.parts[0]
                           : spread(operand.parts[0], operand.axes, shape));
    else if (isScalarCondition)
      args.push_back(operand.parts[0]);
    else
      args.push_back(splat(operand.parts[0], shape));
  }
  return {{emitOp(v, args)}, axes};
}

Value ProgramEmitter::emitOp(const Term &v, ValueRange args) {
  const TileType &operand = v.args[0]->type;
  if (v.op == tegula::lang::Op::Convert)
    return ops().emitConvert(args[0], operand.elem, v.type.elem);
  if (v.op == tegula::lang::Op::Select)
    return arith::SelectOp::create(b, loc, args[0], args[1], args[2]);
  if (isComparison(v.op))
    return ops().emitComparison(v.op, args[0], args[1]);
  if (v.type.elem == ElemType::Bool)
    return ops().emitBool(v.op, args);
  if (v.op == tegula::lang::Op::Random)
    return ops().emitRandom(args, elementType(v.type.elem, b.getContext()));
  if (isFloat(v.type.elem))
    return ops().emitFloat(v.op, args);
  SmallVector<IntegerOperand> operands;
  for (const Term *arg : v.args) {
    const Term *scalar = arg->kind == Term::Splat ? arg->args[0] : arg;
    operands.push_back(
        {scalar->isConstant() ? std::optional(scalar->integer) : std::nullopt,
         arg->values});
  }
  return ops().emitInteger(v.op, args, operands);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

Value ProgramEmitter::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

Value ProgramEmitter::lanes(const Term *base, int64_t count) {
  Value lane = tile::IotaOp::create(b, loc, tileType(count, ElemType::I32));
  lane = ops().emitConvert(lane, ElemType::I32, ElemType::I64);
  if (base->isConstant() && base->integer == 0)
    return lane;
  return arith::AddIOp::create(b, loc, splat(emitScalar(*base), count), lane);
}

Value ProgramEmitter::inBound(const Bound &bound, unsigned axis,
                              ArrayRef<int64_t> shape) {
  int64_t count = shape[axis];
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                       lanes(bound.base, count),
                                       splat(emitScalar(*bound.end), count));
  return spread(inside, {int64_t(axis)}, shape);
}

Value ProgramEmitter::neutralise(Value tile, const Bound &bound, unsigned axis,
                                 Value neutral) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tile.getType()).getShape();
  return arith::SelectOp::create(b, loc, inBound(bound, axis, shape), tile,
                                 splat(neutral, shape));
}
