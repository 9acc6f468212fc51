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
#include "lang/EmitKernel.h"
#include "dialect/tile/TileDialect.h"
#include "lang/EmitOperators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include <limits>

using namespace mlir;
using namespace tegula::lang;
namespace tile = tegula::tile;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What a value is in the dialect: one op result, or max, sum and accumulator
/// of a state. Of a tile: the axes that the result has; others have extent 1.
struct Emitted {
  SmallVector<Value, 3> parts;
  SmallVector<int64_t, 4> axes;
};

class ProgramEmitter {
public:
  ProgramEmitter(const Item &item, OpBuilder &builder,
                 const LocationMap &locations, const KernelValues &values)
      : item(item), program(*item.program), b(builder), locations(locations),
        values(values) {}

  void run();

private:
  using Known = DenseMap<const Term *, Emitted>;

  // Statements.
  void emitGrid();
  void emitBlock(const std::vector<Statement> &statements);
  void emitStatement(const Statement &s);
  void emitStore(const Statement &s);
  void emitAtomic(const Statement &s);
  void emitFor(const Statement &s);
  void emitBody(const Statement &s, Value index, ValueRange carried,
                SmallVectorImpl<Value> &next);
  void emitIf(const Statement &s);
  void emitPrint(const Statement &s);
  Value storeMask(const Statement &s);

  // Values.
  const Emitted &emit(const Term &v);
  Emitted compute(const Term &v);
  Value emitScalar(const Term &v) { return emit(v).parts[0]; }
  /// With all axes.
  Value emitTile(const Term &v);
  void appendParts(const Term &v, SmallVectorImpl<Value> &parts);
  void define(const Term &local, ValueRange &parts);
  Emitted whole(const Term &v, Value value);
  Emitted emitConstant(const Term &v);
  Emitted emitOperator(const Term &v);
  Value emitOp(const Term &v, ValueRange args);
  Emitted emitLoad(const Term &v);
  Value loadBox(const Term &v);
  Value gather(const Term &v);
  Value lookUp(const Term &v);
  Value usedLanes(const Term &where, const Place &place);
  Value readBool(ElemType elem, Value memory);
  Value writeBool(ElemType elem, Value value);
  Emitted emitReduce(const Term &v);
  Emitted emitCombine(const Term &v);
  Emitted emitDot(const Term &v);
  Emitted emitState(const Term &v);
  Emitted emitOnlineSoftmax(const Term &v);
  Value visibleScores(const Term &v, Value scores);
  Emitted emitMerge(const Term &v);
  Emitted emitPartial(const Term &v);
  tile::FinishOp finish(const Term &state);

  // Places and bounds.
  SmallVector<Value> scalarIndices(const Place &place);
  SmallVector<Value> tileIndices(const Place &place);
  /// base + lane, as a tile of rank 1.
  Value lanes(const Term *base, int64_t count);
  /// Which lanes of a tile of `shape` are inside the bound of an axis.
  Value inBound(const Bound &bound, unsigned axis, ArrayRef<int64_t> shape);
  Value both(Value a, Value b);
  /// `tile` with `neutral` in the lanes past the bound of an axis.
  Value neutralise(Value tile, const Bound &bound, unsigned axis,
                   Value neutral);

  // Types and small ops.
  RankedTensorType tileType(ArrayRef<int64_t> shape, ElemType elem);
  Type typeOf(const TileType &type);
  void typesOf(const TileType &type, SmallVectorImpl<Type> &types);
  Value splat(Value scalar, ArrayRef<int64_t> shape);
  Value spread(Value tile, ArrayRef<int64_t> axes, ArrayRef<int64_t> shape);
  Value constant(int64_t value) {
    return ops().constant(b.getI64Type(), value);
  }
  OperatorEmitter ops() { return OperatorEmitter(b, loc); }

  /// Runs `body` with the builder, place and known values of a region.
  template <typename Body> void inRegion(Block *block, Body body) {
    OpBuilder::InsertionGuard guard(b);
    Location saved = loc;
    b.setInsertionPointToEnd(block);
    known.emplace_back();
    body();
    known.pop_back();
    loc = saved;
  }

  const Item &item;
  const Program &program;
  OpBuilder &b;
  const LocationMap &locations;
  const KernelValues &values;
  Location loc = UnknownLoc::get(b.getContext());
  std::vector<Known> known = std::vector<Known>(1); ///< by nested region
  SmallVector<Value> coordinates;
};

} // namespace

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

static SmallVector<int64_t, 4> allAxes(unsigned rank) {
  return llvm::to_vector<4>(llvm::seq<int64_t>(0, rank));
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
  if (isFloat(v.type.elem))
    return ops().emitFloat(v.op, args);
  SmallVector<IntegerFacts> facts;
  for (const Term *arg : v.args) {
    const Term *scalar = arg->kind == Term::Splat ? arg->args[0] : arg;
    facts.push_back(
        {scalar->isConstant() ? std::optional(scalar->integer) : std::nullopt,
         arg->nonNegative, arg->bits < integerBits(arg->type.elem)});
  }
  return ops().emitInteger(v.op, args, facts);
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

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Indices of an element, or of a box's first.
SmallVector<Value> ProgramEmitter::scalarIndices(const Place &place) {
  SmallVector<Value> indices;
  for (const Place::Axis &axis : place.axes)
    indices.push_back(emitScalar(*axis.index));
  return indices;
}

/// A scalar for a scalar index, else a tile of the place's shape.
SmallVector<Value> ProgramEmitter::tileIndices(const Place &place) {
  SmallVector<Value> indices;
  ArrayRef<int64_t> shape = place.type.shape;
  for (const Place::Axis &axis : place.axes) {
    if (axis.tileAxis >= 0) {
      Value lane = lanes(axis.index, shape[axis.tileAxis]);
      indices.push_back(spread(lane, {int64_t(axis.tileAxis)}, shape));
    } else if (axis.index->type.isScalar()) {
      indices.push_back(emitScalar(*axis.index));
    } else { // index tiles have the first axes
      indices.push_back(spread(emitTile(*axis.index),
                               allAxes(axis.index->type.rank()), shape));
    }
  }
  return indices;
}

/// Bools are bytes in memory.
Value ProgramEmitter::readBool(ElemType elem, Value memory) {
  if (elem != ElemType::Bool)
    return memory;
  Value zero = ops().constant(memory.getType(), int64_t(0));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, memory, zero);
}

Value ProgramEmitter::writeBool(ElemType elem, Value value) {
  if (elem != ElemType::Bool)
    return value;
  return ops().emitConvert(value, ElemType::Bool, ElemType::I8);
}

Emitted ProgramEmitter::emitLoad(const Term &v) {
  switch (v.place->kind) {
  case Place::Element:
    return {{lookUp(v)}, {}};
  case Place::Slices:
    return whole(v, loadBox(v));
  case Place::Gather:
    return whole(v, gather(v));
  }
  llvm_unreachable("all kinds are handled");
}

Value ProgramEmitter::lookUp(const Term &v) {
  const Place &place = *v.place;
  Value table = values.tensors[place.tensor];
  Type memory = cast<MemRefType>(table.getType()).getElementType();
  Value element =
      readBool(v.type.elem, tile::LookupOp::create(b, loc, memory, table,
                                                   scalarIndices(place)));
  if (v.args.size() < 2)
    return element;
  return arith::SelectOp::create(b, loc, emitScalar(*v.args[1]), element,
                                 emitScalar(*v.args[0]));
}

/// The `where` of a load, whose own bounds count where the place has none.
Value ProgramEmitter::usedLanes(const Term &where, const Place &place) {
  ArrayRef<int64_t> shape = place.type.shape;
  if (where.type.isScalar())
    return splat(emitScalar(where), shape);
  Value used = emitTile(where);
  for (auto [axis, bound] : llvm::enumerate(where.type.bounds))
    if (bound && !place.type.bounds[axis])
      used = both(used, inBound(bound, axis, shape));
  return used;
}

Value ProgramEmitter::loadBox(const Term &v) {
  const Place &place = *v.place;
  Value memory = values.tensors[place.tensor];
  SmallVector<int64_t> axes;
  for (auto [axis, index] : llvm::enumerate(place.axes))
    if (index.tileAxis >= 0)
      axes.push_back(axis);
  auto type = RankedTensorType::get(
      place.type.shape, cast<MemRefType>(memory.getType()).getElementType());
  Value box =
      readBool(v.type.elem, tile::LoadOp::create(b, loc, type, memory,
                                                 scalarIndices(place), axes));
  if (v.args.empty())
    return box;
  // Past memory's extent a load gives 0, which may be the fill already.
  Value fill = emitScalar(*v.args[0]);
  bool isZero = v.args[0]->isConstant() && v.args[0]->integer == 0 &&
                v.args[0]->real == 0 && !std::signbit(v.args[0]->real);
  Value kept;
  for (auto [axis, bound] : llvm::enumerate(place.type.bounds))
    if (bound && (!isZero || (place.boundByValue >> axis & 1)))
      kept = both(kept, inBound(bound, axis, place.type.shape));
  if (v.args.size() > 1)
    kept = both(kept, usedLanes(*v.args[1], place));
  if (!kept)
    return box;
  return arith::SelectOp::create(b, loc, kept, box,
                                 splat(fill, place.type.shape));
}

Value ProgramEmitter::gather(const Term &v) {
  const Place &place = *v.place;
  ArrayRef<int64_t> shape = place.type.shape;
  Value memory = values.tensors[place.tensor], mask;
  for (auto [axis, bound] : llvm::enumerate(place.type.bounds))
    if (bound)
      mask = both(mask, inBound(bound, axis, shape));
  for (const Place::Axis &axis : place.axes) {
    // A slice that begins before its axis has lanes outside, which are 0.
    if (axis.tileAxis < 0 || axis.index->nonNegative)
      continue;
    Value lane = lanes(axis.index, shape[axis.tileAxis]);
    Value inside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, lane,
                              ops().constant(lane.getType(), int64_t(0)));
    mask = both(mask, spread(inside, {int64_t(axis.tileAxis)}, shape));
  }
  Value fill;
  if (!v.args.empty())
    fill = writeBool(v.type.elem, emitScalar(*v.args[0]));
  if (v.args.size() > 1)
    mask = both(mask, usedLanes(*v.args[1], place));
  auto type = RankedTensorType::get(
      shape, cast<MemRefType>(memory.getType()).getElementType());
  return readBool(v.type.elem, tile::GatherOp::create(b, loc, type, memory,
                                                      tileIndices(place), mask,
                                                      mask ? fill : Value()));
}

//===----------------------------------------------------------------------===//
// Reductions and products
//===----------------------------------------------------------------------===//

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
  unsigned lhsZero = lhs->zeroPast >> 1 & 1, rhsZero = rhs->zeroPast & 1;
  Value x = emitTile(*lhs);
  Value y = emitTile(transposed ? *rhs->args[0] : *rhs);
  if (inner) { // a zero on one side only would let through what is not finite
    auto zeroed = [&](Value operand, unsigned axis) {
      Type element = cast<RankedTensorType>(operand.getType()).getElementType();
      Value zero = isa<FloatType>(element)
                       ? ops().constant(element, 0.0)
                       : ops().constant(element, int64_t(0));
      return neutralise(operand, inner, axis, zero);
    };
    if (!lhsZero)
      x = zeroed(x, 1);
    if (!rhsZero)
      y = zeroed(y, transposed ? 1 : 0);
  }
  Value acc = v.args.size() > 2 ? emitTile(*v.args[2]) : Value();
  return whole(
      v, tile::DotOp::create(b, loc, typeOf(v.type), x, y, acc, transposed));
}

//===----------------------------------------------------------------------===//
// Softmax states
//===----------------------------------------------------------------------===//

Emitted ProgramEmitter::emitState(const Term &v) {
  auto rows = tileType(v.type.shape[0], v.type.elem);
  return {{ops().constant(rows, -infinity), ops().constant(rows, 0.0),
           ops().constant(typeOf(v.type), 0.0)},
          {}};
}

/// Hidden scores become -inf: those that `keep` hides, and keys past their
/// bound.
Value ProgramEmitter::visibleScores(const Term &v, Value scores) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(scores.getType()).getShape();
  Value keep;
  if (const Term *written = v.args[3])
    keep = written->type.isScalar() ? splat(emitScalar(*written), shape)
                                    : emitTile(*written);
  if (v.keys)
    keep = both(keep, inBound(v.keys, 1, shape));
  if (!keep)
    return scores;
  return arith::SelectOp::create(b, loc, keep, scores,
                                 ops().constant(scores.getType(), -infinity));
}

Emitted ProgramEmitter::emitOnlineSoftmax(const Term &v) {
  Emitted state = emit(*v.args[0]);
  Value scores = visibleScores(v, emitTile(*v.args[1]));
  auto softmax = tile::OnlineSoftmaxOp::create(
      b, loc, scores, state.parts[0], state.parts[1], llvm::APFloat(1.0), 0);
  Value rescaled =
      tile::ScaleRowsOp::create(b, loc, state.parts[2], softmax.getRescale());
  Value weights = softmax.getWeights();
  if (const Term *weight = v.args[4]) {
    Value factor = weight->type.isScalar()
                       ? splat(emitScalar(*weight), weight->type.shape)
                       : emitTile(*weight);
    weights = arith::MulFOp::create(b, loc, weights, factor);
  }
  const Term &second = *v.args[2];
  if (second.type.elem != v.type.elem)
    weights = ops().emitConvert(weights, v.type.elem, second.type.elem);
  Value vTile = emitTile(second);
  // A weight of 0 does not silence what is not finite.
  if (v.keys && !(second.type.bounds[0] && (second.zeroPast & 1)))
    vTile = neutralise(
        vTile, v.keys, 0,
        ops().constant(elementType(second.type.elem, b.getContext()), 0.0));
  Value acc = tile::DotOp::create(b, loc, rescaled.getType(), weights, vTile,
                                  rescaled, /*transpose_b=*/false);
  return {{softmax.getNewMax(), softmax.getNewSum(), acc}, {}};
}

Emitted ProgramEmitter::emitMerge(const Term &v) {
  Emitted x = emit(*v.args[0]), y = emit(*v.args[1]);
  auto merged = tile::MergeOp::create(b, loc, x.parts[0], x.parts[1],
                                      x.parts[2], y.parts[0], y.parts[1],
                                      y.parts[2], b.getF64FloatAttr(1.0));
  return {{merged.getMax(), merged.getSum(), merged.getAcc()}, {}};
}

/// With the lse as maximum the sum is 1, and 0 where no key was seen.
Emitted ProgramEmitter::emitPartial(const Term &v) {
  Value output = emitTile(*v.args[0]), lse = emitTile(*v.args[1]);
  Type rows = lse.getType();
  Value none = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, lse,
                                     ops().constant(rows, -infinity));
  Value sum = arith::SelectOp::create(b, loc, none, ops().constant(rows, 0.0),
                                      ops().constant(rows, 1.0));
  return {{lse, sum, output}, {}};
}

/// One op gives both output and lse, where both are asked for in one block.
tile::FinishOp ProgramEmitter::finish(const Term &state) {
  Emitted parts = emit(state);
  for (Operation *user : parts.parts[1].getUsers())
    if (auto op = dyn_cast<tile::FinishOp>(user))
      if (op->getBlock() == b.getInsertionBlock() &&
          op.getAcc() == parts.parts[2] && op.getMax() == parts.parts[0])
        return op;
  return tile::FinishOp::create(b, loc, parts.parts[0], parts.parts[1],
                                parts.parts[2], b.getF64FloatAttr(1.0));
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void ProgramEmitter::emitGrid() {
  SmallVector<Value> extents;
  for (const Program::Axis &axis : program.grid)
    extents.push_back(emitScalar(*axis.extent));
  if (extents.empty()) // one program
    extents.push_back(constant(1));
  SmallVector<Type> types(extents.size(), b.getI64Type());
  auto id = tile::ProgramIdOp::create(b, loc, types, extents);
  llvm::append_range(coordinates, id.getResults());
}

void ProgramEmitter::emitBlock(const std::vector<Statement> &statements) {
  for (const Statement &s : statements)
    emitStatement(s);
}

void ProgramEmitter::emitStatement(const Statement &s) {
  loc = locations.get(s.range);
  switch (s.kind) {
  case Statement::Compute:
    emit(*s.value);
    return;
  case Statement::Store:
    return emitStore(s);
  case Statement::Atomic:
    return emitAtomic(s);
  case Statement::For:
    return emitFor(s);
  case Statement::If:
    return emitIf(s);
  case Statement::Print:
    return emitPrint(s);
  case Statement::Assert:
    tile::AssertOp::create(b, loc,
                           s.condition->type.isTile()
                               ? emitTile(*s.condition)
                               : emitScalar(*s.condition),
                           s.text);
    return;
  }
}

/// Which lanes are written, or null where all are. Memory drops what is past
/// its extent.
Value ProgramEmitter::storeMask(const Statement &s) {
  const TileType &place = s.place->type;
  Value mask;
  for (unsigned axis = 0; axis < place.rank(); ++axis) {
    const Bound &own = place.bounds[axis];
    if (own && (s.place->boundByValue >> axis & 1))
      mask = both(mask, inBound(own, axis, place.shape));
    Bound last = own;
    for (const Term *tile : {s.value, s.condition}) {
      if (!tile || tile->type.isScalar() || !tile->type.bounds[axis] ||
          tile->type.bounds[axis] == last)
        continue;
      last = tile->type.bounds[axis];
      mask = both(mask, inBound(last, axis, place.shape));
    }
  }
  if (!s.condition)
    return mask;
  return both(mask, emitTile(*s.condition));
}

void ProgramEmitter::emitStore(const Statement &s) {
  const Place &place = *s.place;
  Value memory = values.tensors[place.tensor];
  bool isElement = place.kind == Place::Element;
  Value value = writeBool(s.value->type.elem, isElement ? emitScalar(*s.value)
                                                        : emitTile(*s.value));
  if (isElement) {
    Value mask = s.condition ? emitScalar(*s.condition) : Value();
    tile::ScatterOp::create(b, loc, value, memory, scalarIndices(place), mask);
    return;
  }
  Value mask = storeMask(s);
  if (place.kind == Place::Gather) {
    tile::ScatterOp::create(b, loc, value, memory, tileIndices(place), mask);
    return;
  }
  SmallVector<int64_t> axes;
  for (auto [axis, index] : llvm::enumerate(place.axes))
    if (index.tileAxis >= 0)
      axes.push_back(axis);
  tile::StoreOp::create(b, loc, value, memory, scalarIndices(place),
                        b.getDenseI64ArrayAttr(axes), mask);
}

void ProgramEmitter::emitAtomic(const Statement &s) {
  const Place &place = *s.place;
  Value memory = values.tensors[place.tensor];
  if (place.kind == Place::Element) {
    Value mask = s.condition ? emitScalar(*s.condition) : Value();
    tile::AtomicAddOp::create(b, loc, emitScalar(*s.value), memory,
                              scalarIndices(place), mask);
    return;
  }
  Value value = emitTile(*s.value);
  tile::AtomicAddOp::create(b, loc, value, memory, tileIndices(place),
                            storeMask(s));
}

/// The body of a loop: the values that it carries on.
void ProgramEmitter::emitBody(const Statement &s, Value index,
                              ValueRange carried,
                              SmallVectorImpl<Value> &next) {
  ValueRange indexPart = index;
  define(*s.index, indexPart);
  for (const Statement::Carried &c : s.carried)
    define(*c.entry, carried);
  emitBlock(s.body);
  for (const Statement::Carried &c : s.carried)
    appendParts(*c.next, next);
}

void ProgramEmitter::emitFor(const Statement &s) {
  SmallVector<Value> inits;
  for (const Statement::Carried &c : s.carried)
    appendParts(*c.init, inits);
  Value first = emitScalar(*s.first), end = emitScalar(*s.end);
  ValueRange results;
  if (s.step->isConstant()) {
    auto loop = tile::ForBlocksOp::create(
        b, loc, first, end, s.step->integer, inits,
        [&](OpBuilder &inner, Location, Value index, ValueRange carried) {
          SmallVector<Value> next;
          OpBuilder::InsertionGuard guard(b);
          inRegion(inner.getInsertionBlock(),
                   [&] { emitBody(s, index, carried, next); });
          inner.setInsertionPointToEnd(inner.getInsertionBlock());
          return next;
        });
    results = loop.getResults();
  } else { // a step below 1 makes no steps
    Value step = emitScalar(*s.step), one = constant(1);
    Value runs = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, step,
                                       constant(0));
    end = arith::SelectOp::create(b, loc, runs, end, first);
    step = arith::MaxSIOp::create(b, loc, step, one);
    auto loop = scf::ForOp::create(
        b, loc, first, end, step, inits,
        [&](OpBuilder &inner, Location at, Value index, ValueRange carried) {
          SmallVector<Value> next;
          inRegion(inner.getInsertionBlock(),
                   [&] { emitBody(s, index, carried, next); });
          inner.setInsertionPointToEnd(inner.getInsertionBlock());
          scf::YieldOp::create(inner, at, next);
        });
    results = loop.getResults();
  }
  for (const Statement::Carried &c : s.carried)
    define(*c.after, results);
}

void ProgramEmitter::emitIf(const Statement &s) {
  SmallVector<Type> types;
  for (const Statement::Carried &c : s.carried)
    typesOf(c.after->type, types);
  bool hasElse = !types.empty() || !s.otherwise.empty();
  auto branch =
      scf::IfOp::create(b, loc, types, emitScalar(*s.condition), hasElse);
  for (bool isElse : {false, true}) {
    if (isElse && !hasElse)
      continue;
    Block *block = isElse ? branch.elseBlock() : branch.thenBlock();
    // Without results the builder has made the terminator.
    if (!block->empty())
      block->back().erase();
    inRegion(block, [&] {
      emitBlock(isElse ? s.otherwise : s.body);
      SmallVector<Value> given;
      for (const Statement::Carried &c : s.carried)
        appendParts(isElse ? *c.other : *c.next, given);
      scf::YieldOp::create(b, loc, given);
    });
  }
  ValueRange results = branch.getResults();
  for (const Statement::Carried &c : s.carried)
    define(*c.after, results);
}

void ProgramEmitter::emitPrint(const Statement &s) {
  SmallVector<Value> printed;
  for (const Term *value : s.args)
    appendParts(*value, printed);
  tile::PrintOp::create(b, loc, s.text, printed);
}
