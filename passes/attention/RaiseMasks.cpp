// tegula-raise-masks: index code on tiles -> scalar code of one element.
//
// In: a tile program whose masks and scores are elementwise code on `tile.iota`, as a person writes it. Out: tile.mask and tile.map regions, as
// tegula-decompose writes them. The one idea: an element of such a tile is a function of its row and column, so the tile code read at one
// element is the region; `base + iota` is the element's index itself.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tegula {
#define GEN_PASS_DEF_RAISEMASKSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// Where an element stands along one axis of a tile: at the root's row, at its column, or at 0 of an axis of extent 1.
enum class Axis { Row, Column, Zero };
using Place = SmallVector<Axis, 2>;

bool isElementwise(Operation *op) {
  return op && op->hasTrait<OpTrait::Elementwise>() && isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && op->getNumResults() == 1;
}

/// The place of a broadcast's operand, for the place of its result.
Place operandPlace(BroadcastOp op, const Place &place) {
  auto from = cast<RankedTensorType>(op.getTile().getType());
  Place result;
  for (auto [axis, extent] : llvm::zip(op.getAxes(), from.getShape()))
    result.push_back(extent == 1 ? Axis::Zero : place[axis]);
  return result;
}

Place operandPlace(TransposeOp op, const Place &place) {
  Place result(place.size());
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    result[from] = place[to];
  return result;
}

/// What a tile's elements depend on.
enum class Kind {
  Uniform, ///< nothing: one value
  Indexed, ///< where they stand, and tables
  Other,   ///< other tiles
};

/// Memory that the kernel does not write, so that a read of it may move.
bool isTable(Value memory) {
  auto argument = dyn_cast<BlockArgument>(memory);
  auto kernel = argument ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp()) : KernelOp();
  auto role = kernel ? kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.role") : StringAttr();
  return kernel && (!role || role.getValue() == "in");
}

class Kinds {
public:
  Kind of(Value value) {
    auto [it, isNew] = known.try_emplace(value, Kind::Other);
    if (!isNew)
      return it->second;
    Kind kind = compute(value.getDefiningOp());
    return known[value] = kind;
  }

private:
  Kind compute(Operation *op) {
    if (!op)
      return Kind::Other;
    if (isa<tensor::SplatOp>(op) || matchPattern(op, m_Constant()))
      return !isa<arith::ConstantOp>(op) || isa<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue()) ? Kind::Uniform : Kind::Other;
    if (isa<IotaOp>(op))
      return Kind::Indexed;
    if (auto gather = dyn_cast<GatherOp>(op); gather && (gather.getMask() || !isTable(gather.getMemory())))
      return Kind::Other;
    if (!isElementwise(op) && !isa<BroadcastOp, TransposeOp, GatherOp>(op))
      return Kind::Other;
    Kind kind = isa<GatherOp>(op) ? Kind::Indexed : Kind::Uniform;
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        kind = std::max(kind, of(operand));
    return kind;
  }

  DenseMap<Value, Kind> known;
};

/// `base + iota` along one axis, in either order, with the lanes widened or not.
struct IndexSum {
  Value base; ///< a scalar, of the sum's type
  Axis axis;
};

std::optional<Axis> laneAxis(Value value, const Place &place) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<IotaOp>(op))
    return place[0];
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op))
    return laneAxis(broadcast.getTile(), operandPlace(broadcast, place));
  if (auto transpose = dyn_cast_or_null<TransposeOp>(op))
    return laneAxis(transpose.getTile(), operandPlace(transpose, place));
  if (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op)) // lanes are not negative
    return laneAxis(op->getOperand(0), place);
  return std::nullopt;
}

/// The scalar of a uniform tile, where it is one value of the program.
Value scalarOf(Value value) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return splat.getInput();
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return scalarOf(broadcast.getTile());
  return {};
}

std::optional<IndexSum> matchIndexSum(Value value, const Place &place) {
  auto sum = value.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return std::nullopt;
  for (auto [lanes, base] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
    if (std::optional<Axis> axis = laneAxis(lanes, place); axis && *axis != Axis::Zero)
      if (Value scalar = scalarOf(base))
        return IndexSum{scalar, *axis};
  return std::nullopt;
}

/// The op's only index-free tile operand is `input` (null in a mask); everything else becomes scalar code.
class Raiser {
public:
  Raiser(Kinds &kinds, Operation *root) : kinds(kinds), b(root), loc(root->getLoc()) {}

  /// The tile in place of the i1 tile `value`; null where it is nothing to raise.
  Value mask(Value value) {
    findBases(value, {Axis::Row, Axis::Column});
    auto mask = MaskOp::create(b, loc, cast<RankedTensorType>(value.getType()), rowBase(), columnBase());
    fill(mask.getBody(), value, {});
    return mask;
  }

  /// The tile in place of `value`, a function of indices and of the tile `scores`.
  Value score(Value value, Value scores) {
    findBases(value, {Axis::Row, Axis::Column});
    auto map = MapOp::create(b, loc, cast<RankedTensorType>(value.getType()), scores, rowBase(), columnBase());
    fill(map.getBody(), value, scores);
    return map;
  }

private:
  /// Takes the first sum of a scalar and lanes on each axis as that axis' index.
  void findBases(Value value, const Place &place) {
    if (kinds.of(value) == Kind::Uniform || !seen.insert(value).second)
      return;
    if (std::optional<IndexSum> sum = matchIndexSum(value, place)) {
      Value &base = sum->axis == Axis::Row ? bases[0] : bases[1];
      if (!base)
        base = sum->base;
      return;
    }
    Operation *op = value.getDefiningOp();
    if (!op)
      return;
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      return findBases(broadcast.getTile(), operandPlace(broadcast, place));
    if (auto transpose = dyn_cast<TransposeOp>(op))
      return findBases(transpose.getTile(), operandPlace(transpose, place));
    if (isElementwise(op) || isa<GatherOp>(op))
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          findBases(operand, place);
  }

  Value wide(Value base) {
    if (!base)
      return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    return base.getType().isInteger(64) ? base : arith::ExtSIOp::create(b, loc, b.getI64Type(), base).getResult();
  }
  Value rowBase() { return wideBases[0] = wide(bases[0]); }
  Value columnBase() { return wideBases[1] = wide(bases[1]); }

  void fill(Region &region, Value value, Value scores) {
    Type i64 = b.getI64Type();
    SmallVector<Type> types;
    if (scores)
      types.push_back(cast<RankedTensorType>(scores.getType()).getElementType());
    types.append({i64, i64});
    Block *body = b.createBlock(&region, {}, types, SmallVector<Location>(types.size(), loc));
    indices[0] = body->getArgument(types.size() - 2);
    indices[1] = body->getArgument(types.size() - 1);
    if (scores)
      emitted[{scores, 0}] = body->getArgument(0);
    this->scores = scores;
    YieldOp::create(b, loc, ValueRange{emit(value, {Axis::Row, Axis::Column})});
  }

  static unsigned key(const Place &place) {
    unsigned key = 0;
    for (Axis axis : place)
      key = key * 4 + 1 + static_cast<unsigned>(axis);
    return key;
  }

  /// The element of `value` at `place`, as scalar code.
  Value emit(Value value, const Place &place) {
    if (value == scores)
      return emitted.lookup({scores, 0});
    auto [it, isNew] = emitted.try_emplace({value, key(place)}, Value());
    if (!isNew)
      return it->second;
    Value result = compute(value, place);
    return emitted[{value, key(place)}] = result;
  }

  Value compute(Value value, const Place &place) {
    Type type = cast<RankedTensorType>(value.getType()).getElementType();
    Operation *op = value.getDefiningOp();
    if (std::optional<IndexSum> sum = matchIndexSum(value, place))
      if (unsigned axis = sum->axis == Axis::Row ? 0 : 1; sum->base == bases[axis])
        return narrow(indices[axis], type, op->getLoc());
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return arith::ConstantOp::create(b, op->getLoc(), cast<TypedAttr>(cast<SplatElementsAttr>(constant.getValue()).getSplatValue<Attribute>()));
    if (auto splat = dyn_cast<tensor::SplatOp>(op))
      return splat.getInput();
    if (isa<IotaOp>(op)) {
      if (place[0] == Axis::Zero)
        return arith::ConstantOp::create(b, op->getLoc(), b.getIntegerAttr(type, 0));
      unsigned axis = place[0] == Axis::Row ? 0 : 1;
      Value lane = bases[axis] ? arith::SubIOp::create(b, op->getLoc(), indices[axis], wideBases[axis]).getResult() : indices[axis];
      return narrow(lane, type, op->getLoc());
    }
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      return emit(broadcast.getTile(), operandPlace(broadcast, place));
    if (auto transpose = dyn_cast<TransposeOp>(op))
      return emit(transpose.getTile(), operandPlace(transpose, place));
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<RankedTensorType>(operand.getType()) ? emit(operand, place) : operand);
    if (isa<GatherOp>(op))
      return LookupOp::create(b, op->getLoc(), operands[0], ValueRange(operands).drop_front());
    OperationState state(op->getLoc(), op->getName(), operands, {type}, op->getAttrs());
    return b.create(state)->getResult(0);
  }

  Value narrow(Value index, Type type, Location at) {
    return type.isInteger(64) ? index : arith::TruncIOp::create(b, at, type, index).getResult();
  }

  Kinds &kinds;
  OpBuilder b;
  Location loc;
  Value bases[2], wideBases[2], indices[2], scores;
  DenseSet<Value> seen;
  DenseMap<std::pair<Value, unsigned>, Value> emitted;
};

bool isMatrix(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 2;
}

/// The tile of which an elementwise tree is a function besides indices: null where there is none, or more than one, or where no index plays a part.
class ScoreTree {
public:
  explicit ScoreTree(Kinds &kinds) : kinds(kinds) {}

  Value inputOf(Operation *root) {
    visit(root->getResult(0), /*isRoot=*/true);
    return usesIndices && inputs.size() == 1 ? inputs.front() : Value();
  }

private:
  /// Whether the tree under `value` uses indices: such a tree is walked into, any other tile is an input.
  bool usesIndex(Value value) {
    Operation *op = value.getDefiningOp();
    if (kinds.of(value) == Kind::Indexed)
      return true;
    return isElementwise(op) && isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType()) &&
           llvm::any_of(op->getOperands(), [&](Value operand) { return isMatrix(operand) && usesIndex(operand); });
  }

  void visit(Value value, bool isRoot) {
    if (kinds.of(value) == Kind::Uniform)
      return;
    if (kinds.of(value) == Kind::Indexed) {
      usesIndices = true;
      return;
    }
    if (isElementwise(value.getDefiningOp()) && (isRoot || usesIndex(value) || readsOnlyInputs(value))) {
      for (Value operand : value.getDefiningOp()->getOperands())
        visit(operand, false);
      return;
    }
    if (!llvm::is_contained(inputs, value))
      inputs.push_back(value);
  }

  /// Compares and the like of an input, as in `s > 0 ? s : s * slope[j]`.
  bool readsOnlyInputs(Value value) { return !isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType()); }

  Kinds &kinds;
  SmallVector<Value, 2> inputs;
  bool usesIndices = false;
};

struct RaiseMasksPass : tegula::impl::RaiseMasksPassBase<RaiseMasksPass> {
  void runOnOperation() override {
    Kinds kinds;
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (!op->getParentOfType<MaskOp>() && !op->getParentOfType<MapOp>() && isElementwise(op) && isMatrix(op->getResult(0)))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (auto select = dyn_cast<arith::SelectOp>(op); select && isMatrix(select.getCondition()) &&
                                                       kinds.of(select.getCondition()) == Kind::Indexed && kinds.of(select.getTrueValue()) == Kind::Other &&
                                                       kinds.of(select.getFalseValue()) == Kind::Uniform) {
        select.getConditionMutable().assign(Raiser(kinds, op).mask(select.getCondition()));
        ++masks;
      }
    // Roots first, so that each tree is raised whole.
    for (Operation *op : llvm::reverse(ops)) {
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      if (op->use_empty() || !isa<FloatType>(type.getElementType()) || kinds.of(op->getResult(0)) != Kind::Other)
        continue;
      Value input = ScoreTree(kinds).inputOf(op);
      if (!input || input.getType() != type)
        continue;
      op->getResult(0).replaceAllUsesWith(Raiser(kinds, op).score(op->getResult(0), input));
      ++scores;
    }
    eraseDead();
  }

private:
  /// The tile code that regions now stand for.
  void eraseDead() {
    SmallVector<Operation *> ops; // what an op holds comes after it, and goes before it
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType()))
        ops.push_back(op);
    });
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
  }
};

} // namespace
