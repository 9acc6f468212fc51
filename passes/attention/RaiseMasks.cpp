// tegula-raise-masks: index code on tiles -> scalar code of one element.
//
// In: a tile program whose masks and scores are elementwise code on `tile.iota`, as a person writes it. Out: tile.mask and tile.map regions, as
// tegula-decompose writes them. The one idea: an element of such a tile is a function of its row and column, so the tile code read at one
// element is the region; `base + iota` is the element's index itself.
#include "passes/Passes.h"

#include "dialect/tile/ElementLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/SaveAndRestore.h"

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
  return op && op->hasTrait<OpTrait::Elementwise>() && isa<arith::ArithDialect, math::MathDialect, TileDialect>(op->getDialect()) &&
         op->getNumResults() == 1;
}

/// Whether a gather reads a table, at indices as they are.
bool isTableRead(Operation *op) {
  auto gather = dyn_cast<GatherOp>(op);
  return gather && !gather.getMask() && KernelOp::isTable(gather.getMemory());
}

/// A loop that folds elementwise code into the one tile that it carries, as `x = x || c`: an element of its result is the same loop over scalars.
/// Null: `op` is none.
ForBlocksOp elementLoop(Operation *op) {
  auto loop = dyn_cast_or_null<ForBlocksOp>(op);
  if (!loop || loop.getIterArgs().size() != 1 || !isa<RankedTensorType>(loop.getIterArgs()[0].getType()))
    return {};
  BlockArgument carried = loop.getIterArgs()[0];
  Operation *fold = loop.getBody().front().getTerminator()->getOperand(0).getDefiningOp();
  if (!carried.hasOneUse() || !isElementwise(fold) || fold != *carried.user_begin() || fold->getParentOp() != loop)
    return {};
  bool isElementCode = llvm::all_of(loop.getBody().front().without_terminator(), [](Operation &inner) {
    auto lookup = dyn_cast<LookupOp>(inner);
    return isTableRead(&inner) || elementLoop(&inner) || (lookup && KernelOp::isTable(lookup.getTable())) ||
           (inner.getNumRegions() == 0 && inner.getNumResults() == 1 && isMemoryEffectFree(&inner) &&
            (isElementwise(&inner) || isa<BroadcastOp, TransposeOp, IotaOp, tensor::SplatOp, arith::ConstantOp>(inner)));
  });
  return isElementCode ? loop : ForBlocksOp();
}

/// The tiles of which an element of the op's result is a function.
SmallVector<Value> tileOperands(Operation *op) {
  llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
  if (ForBlocksOp loop = elementLoop(op))
    getUsedValuesDefinedAbove(loop->getRegions(), operands);
  return llvm::filter_to_vector(operands, [](Value operand) { return isa<RankedTensorType>(operand.getType()); });
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

class Kinds {
public:
  Kind of(Value value) {
    auto [it, isNew] = known.try_emplace(value, Kind::Other);
    if (!isNew)
      return it->second;
    auto argument = dyn_cast<BlockArgument>(value);
    ForBlocksOp loop = argument ? elementLoop(argument.getOwner()->getParentOp()) : ForBlocksOp();
    Kind kind = loop ? of(loop.getResult(0)) : compute(value.getDefiningOp());
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
    if (!isElementwise(op) && !isa<BroadcastOp, TransposeOp>(op) && !isTableRead(op) && !elementLoop(op))
      return Kind::Other;
    Kind kind = isa<GatherOp, ForBlocksOp>(op) ? Kind::Indexed : Kind::Uniform;
    for (Value operand : tileOperands(op))
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

/// Where the first element of a tile stands. Null: not known.
struct Origin {
  Value row, column;
};

/// Finds where a tile of scores stands, or what elementwise code makes of it, from where the operands of its product were loaded.
class Origins {
public:
  std::optional<Origin> of(Value value) {
    auto [it, isNew] = known.try_emplace(value, std::nullopt);
    if (!isNew)
      return it->second;
    std::optional<Origin> origin = compute(value.getDefiningOp());
    return known[value] = origin;
  }

private:
  static Value firstIndex(Value tile) {
    auto load = tile.getDefiningOp<LoadOp>();
    return load ? load.getIndices()[load.getAxes().front()] : Value();
  }

  std::optional<Origin> compute(Operation *op) {
    if (auto dot = dyn_cast_or_null<DotOp>(op)) {
      Value row = firstIndex(dot.getLhs()), column = firstIndex(dot.getRhs());
      return dot.getTransposeB() && row && column ? std::optional(Origin{row, column}) : std::nullopt;
    }
    if (auto softmax = dyn_cast_or_null<OnlineSoftmaxOp>(op))
      return of(softmax.getScores());
    if (!isElementwise(op) && !elementLoop(op))
      return std::nullopt;
    for (Value operand : tileOperands(op))
      if (std::optional<Origin> origin = of(operand))
        return origin;
    return std::nullopt;
  }

  DenseMap<Value, std::optional<Origin>> known;
};

/// Reads tile code at one element, as scalar code in the region of one op.
class Raiser {
public:
  /// The new op stands ahead of `root`. Without an `origin`, the first sum of a scalar and lanes on an axis is that axis' index.
  Raiser(Kinds &kinds, Operation *root, std::optional<Origin> origin) : kinds(kinds), b(root), loc(root->getLoc()), isPlaced(origin) {
    if (origin)
      bases[0] = origin->row, bases[1] = origin->column;
  }

  /// The tile in place of the i1 tile `value`.
  Value mask(Value value) {
    findBases(value, {Axis::Row, Axis::Column});
    auto mask = MaskOp::create(b, loc, cast<RankedTensorType>(value.getType()), wideBase(0), wideBase(1));
    fill(mask.getBody(), value, {});
    return mask;
  }

  /// The tile in place of `value`, a function of indices and of the tiles `inputs`.
  Value map(Value value, ValueRange inputs) {
    auto type = cast<RankedTensorType>(value.getType());
    findBases(value, wholePlace(type));
    Value rows = wideBase(0), columns = type.getRank() == 2 ? wideBase(1) : Value();
    auto map = MapOp::create(b, loc, type, inputs, rows, columns);
    fill(map.getBody(), value, inputs);
    return map;
  }

private:
  static Place wholePlace(RankedTensorType type) { return Place(ArrayRef<Axis>{Axis::Row, Axis::Column}.take_front(type.getRank())); }

  /// Takes the first sum of a scalar and lanes on each axis as that axis' index.
  void findBases(Value value, const Place &place) {
    if (isPlaced || kinds.of(value) == Kind::Uniform || !seen.insert(value).second)
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
    if (ForBlocksOp loop = elementLoop(op))
      return findBases(loop.getBody().front().getTerminator()->getOperand(0), place);
    if (isElementwise(op) || isa<GatherOp>(op))
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          findBases(operand, place);
  }

  Value wideBase(unsigned axis) {
    Value &base = bases[axis];
    if (base && matchPattern(base, m_Zero()))
      base = {};
    if (!base)
      return wideBases[axis] = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    return wideBases[axis] = base.getType().isInteger(64) ? base : arith::ExtSIOp::create(b, loc, b.getI64Type(), base).getResult();
  }

  void fill(Region &region, Value value, ValueRange inputs) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<Type> types = llvm::map_to_vector(inputs, [](Value input) { return getElementTypeOrSelf(input); });
    types.append(type.getRank(), b.getI64Type());
    Block *body = b.createBlock(&region, {}, types, SmallVector<Location>(types.size(), loc));
    for (auto [input, argument] : llvm::zip(inputs, body->getArguments()))
      elements[input] = argument;
    for (auto [axis, argument] : llvm::enumerate(body->getArguments().take_back(type.getRank())))
      indices[axis] = argument;
    YieldOp::create(b, loc, ValueRange{emit(value, wholePlace(type))});
  }

  static unsigned key(const Place &place) {
    unsigned key = 0;
    for (Axis axis : place)
      key = key * 4 + 1 + static_cast<unsigned>(axis);
    return key;
  }

  /// The element of `value` at `place`, as scalar code.
  Value emit(Value value, const Place &place) {
    if (Value element = elements.lookup(value))
      return element;
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
    if (std::optional<Axis> axis = laneAxis(value, place); axis && *axis != Axis::Zero && !bases[*axis == Axis::Row ? 0 : 1])
      return narrow(indices[*axis == Axis::Row ? 0 : 1], type, op->getLoc());
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return arith::ConstantOp::create(b, op->getLoc(), cast<TypedAttr>(cast<SplatElementsAttr>(constant.getValue()).getSplatValue<Attribute>()));
    if (auto splat = dyn_cast<tensor::SplatOp>(op))
      return sink(splat.getInput());
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
    if (ForBlocksOp loop = elementLoop(op))
      return emitLoop(loop, place);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<RankedTensorType>(operand.getType()) ? emit(operand, place) : sink(operand));
    if (isa<GatherOp>(op))
      return LookupOp::create(b, op->getLoc(), operands[0], ValueRange(operands).drop_front());
    OperationState state(op->getLoc(), op->getName(), operands, {type}, op->getAttrs());
    return b.create(state)->getResult(0);
  }

  Value emitLoop(ForBlocksOp from, const Place &place) {
    Location at = from.getLoc();
    Value lower = sink(from.getLower()), upper = sink(from.getUpper()), init = emit(from.getInits()[0], place);
    Value step = arith::ConstantOp::create(b, at, b.getI64IntegerAttr(from.getStep()));
    auto loop = scf::ForOp::create(b, at, lower, upper, step, init);
    {
      OpBuilder::InsertionGuard guard(b);
      llvm::SaveAndRestore forget(emitted); // what stands inside is not to be read behind the loop
      b.setInsertionPointToStart(loop.getBody());
      emitted[{from.getInductionVar(), 0}] = loop.getInductionVar();
      emitted[{from.getIterArgs()[0], key(place)}] = loop.getRegionIterArg(0);
      scf::YieldOp::create(b, at, emit(from.getBody().front().getTerminator()->getOperand(0), place));
    }
    hoistElementCode(loop);
    return loop.getResult(0);
  }

  /// A scalar that only element code reads is a part of it, and so is what a loop of it computes.
  Value sink(Value scalar) {
    if (Value sunk = emitted.lookup({scalar, 0}))
      return sunk;
    Operation *op = scalar.getDefiningOp();
    if (!op || !(isElementCode(op) || elementLoop(op->getParentOp())))
      return scalar;
    IRMapping map;
    for (Value operand : op->getOperands())
      map.map(operand, sink(operand));
    return emitted[{scalar, 0}] = b.clone(*op, map)->getResult(0);
  }

  static bool isElementCode(Operation *op) {
    auto lookup = dyn_cast<LookupOp>(op);
    if (op->getNumRegions() != 0 || op->getNumResults() != 1 || isa<RankedTensorType>(op->getResult(0).getType()) ||
        op->hasTrait<OpTrait::ConstantLike>() || !(isMemoryEffectFree(op) || (lookup && KernelOp::isTable(lookup.getTable()))))
      return false;
    return llvm::all_of(op->getUsers(), [](Operation *user) { return isa<tensor::SplatOp, GatherOp>(user) || isElementCode(user); });
  }

  Value narrow(Value index, Type type, Location at) { return type.isInteger(64) ? index : arith::TruncIOp::create(b, at, type, index).getResult(); }

  Kinds &kinds;
  OpBuilder b;
  Location loc;
  bool isPlaced;
  Value bases[2], wideBases[2], indices[2];
  DenseSet<Value> seen;
  DenseMap<Value, Value> elements; ///< of inputs
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

/// The tiles of which an elementwise tree is a function besides indices, and of which the whole tree is one function of an element.
class WholeTree {
public:
  explicit WholeTree(Kinds &kinds) : kinds(kinds) {}

  SmallVector<Value> inputsOf(Value root) {
    visit(root);
    return inputs.takeVector();
  }

  /// Whether there is a tree above its inputs. A masked tile is an input: what is visible stays apart from what an element is.
  static bool isInner(Value value) {
    auto select = value.getDefiningOp<arith::SelectOp>();
    return (isElementwise(value.getDefiningOp()) || elementLoop(value.getDefiningOp())) && !(select && select.getCondition().getDefiningOp<MaskOp>());
  }

private:
  void visit(Value value) {
    if (!isa<RankedTensorType>(value.getType()) || kinds.of(value) != Kind::Other)
      return;
    if (auto rows = value.getDefiningOp<BroadcastOp>(); rows && rows.getAxes() == ArrayRef<int64_t>{0} && isMatrix(value) &&
                                                        !isMatrix(rows.getTile()) &&
                                                        rows.getTile().getType().getDimSize(0) == rows.getType().getDimSize(0))
      return visit(rows.getTile());
    if (!isInner(value)) {
      inputs.insert(value);
      return;
    }
    for (Value operand : tileOperands(value.getDefiningOp()))
      visit(operand);
  }

  Kinds &kinds;
  llvm::SetVector<Value> inputs;
};

/// A product with a finite constant above 0, which tegula-fold-scale takes into the softmax.
bool isScaledProduct(Value scores) {
  auto product = scores.getDefiningOp<arith::MulFOp>();
  if (!product)
    return false;
  for (auto [dot, factor] : {std::pair(product.getLhs(), product.getRhs()), std::pair(product.getRhs(), product.getLhs())}) {
    SplatElementsAttr splat;
    if (dot.getDefiningOp<DotOp>() && matchPattern(factor, m_Constant(&splat))) {
      APFloat value = splat.getSplatValue<APFloat>();
      return value.isFinite() && !value.isNegative() && !value.isZero();
    }
  }
  return false;
}

/// Below the rounding or widening that a store or a product asks for.
Value unconverted(Value tile) {
  Operation *op = tile.getDefiningOp();
  return isa_and_nonnull<arith::TruncFOp, arith::ExtFOp, arith::ExtUIOp>(op) ? op->getOperand(0) : tile;
}

struct RaiseMasksPass : tegula::impl::RaiseMasksPassBase<RaiseMasksPass> {
  void runOnOperation() override {
    joinHidden();
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (!op->getParentOfType<MaskOp>() && !op->getParentOfType<MapOp>() && isElementwise(op) && isMatrix(op->getResult(0)))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (auto select = dyn_cast<arith::SelectOp>(op);
          select && isMatrix(select.getCondition()) && kinds.of(select.getCondition()) == Kind::Indexed &&
          kinds.of(select.getTrueValue()) == Kind::Other && kinds.of(select.getFalseValue()) == Kind::Uniform) {
        Raiser raiser(kinds, op, origins.of(select.getTrueValue()));
        select.getConditionMutable().assign(raiser.mask(select.getCondition()));
        ++masks;
      }
    raiseAttention();
    // Roots first, so that each tree is raised whole.
    for (Operation *op : llvm::reverse(ops)) {
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      if (op->use_empty() || !isa<FloatType>(type.getElementType()) || kinds.of(op->getResult(0)) != Kind::Other)
        continue;
      Value input = ScoreTree(kinds).inputOf(op);
      if (input && input.getType() == type)
        raise(op->getResult(0), {input}, std::nullopt);
    }
    eraseDead();
  }

private:
  /// Scores or weights that their mask hides, and the bound of the keys again where they are read, are hidden once, and weights before they are
  /// rounded.
  void joinHidden() {
    SmallVector<arith::SelectOp> zeros, infinities;
    getOperation()->walk([&](arith::SelectOp select) {
      if (!isMatrix(select.getCondition()) || kinds.of(select.getCondition()) != Kind::Indexed)
        return;
      if (matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
        zeros.push_back(select);
      else if (matchPattern(select.getFalseValue(), m_NegInfFloat()))
        infinities.push_back(select);
    });
    for (ArrayRef<arith::SelectOp> selects : {zeros, infinities}) {
      HiddenTiles hidden;
      for (arith::SelectOp select : selects)
        if (Value joined = hide(select.getTrueValue(), select, hidden); joined != select)
          select.replaceAllUsesWith(joined);
    }
  }

  /// A tile and a condition -> the tile where the condition holds.
  using HiddenTiles = DenseMap<std::pair<Value, Value>, Value>;

  /// `tile` where the condition of `outer` holds, else its constant: the condition meets the one that this constant in `tile` comes from.
  Value hide(Value tile, arith::SelectOp outer, HiddenTiles &hidden) {
    Value condition = outer.getCondition();
    if (Value known = hidden.lookup({tile, condition}); known && known.getParentBlock() == outer->getBlock())
      return known;
    OpBuilder b(outer);
    Location loc = outer.getLoc();
    Operation *op = tile.getDefiningOp();
    auto select = dyn_cast_or_null<arith::SelectOp>(op);
    Value result;
    bool isZero = matchPattern(outer.getFalseValue(), m_AnyZeroFloat());
    auto isHidden = [&](Value value) { return isZero ? matchPattern(value, m_AnyZeroFloat()) : matchPattern(value, m_NegInfFloat()); };
    if (auto round = dyn_cast_or_null<arith::TruncFOp>(op); round && isZero) {
      result = arith::TruncFOp::create(b, loc, tile.getType(), hide(round.getIn(), outer, hidden));
    } else if (select && kinds.of(select.getCondition()) == Kind::Indexed && isHidden(select.getFalseValue())) {
      Value both = arith::AndIOp::create(b, loc, select.getCondition(), condition);
      result = arith::SelectOp::create(b, loc, both, select.getTrueValue(), select.getFalseValue());
    } else if (Value weights = isZero ? weightsOf(select) : Value()) { // weights == 0 ? 0 : weights * factor
      IRMapping map;
      map.map(weights, hide(weights, outer, hidden));
      for (Operation *part : {select.getCondition().getDefiningOp(), select.getFalseValue().getDefiningOp(), op})
        result = b.clone(*part, map)->getResult(0);
    } else if (tile == outer.getTrueValue()) {
      result = outer;
    } else {
      Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(tile.getType()));
      result = arith::SelectOp::create(b, loc, condition, tile, none);
    }
    return hidden[{tile, condition}] = result;
  }

  /// The weights in `weights == 0 ? 0 : weights * factor`; else null.
  static Value weightsOf(arith::SelectOp select) {
    auto isNone = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
    auto product = select ? select.getFalseValue().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
    bool isWeighted = isNone && product && isNone.getPredicate() == arith::CmpFPredicate::OEQ && matchPattern(isNone.getRhs(), m_AnyZeroFloat()) &&
                      matchPattern(select.getTrueValue(), m_AnyZeroFloat()) && product.getLhs() == isNone.getLhs();
    return isWeighted ? isNone.getLhs() : Value();
  }

  /// In a loop over products of loaded tiles: scores, weights, and what is stored of the result are functions of an element, with indices or without.
  void raiseAttention() {
    SmallVector<std::pair<Value, Origin>> roots;
    SmallVector<StoreOp> stores;
    auto add = [&](Value tile) {
      if (std::optional<Origin> origin = origins.of(tile))
        roots.push_back({tile, *origin});
    };
    getOperation()->walk([&](Operation *op) {
      if (auto select = dyn_cast<arith::SelectOp>(op); select && select.getCondition().getDefiningOp<MaskOp>()) {
        bool isFolded = llvm::any_of(select->getUsers(), llvm::IsaPred<OnlineSoftmaxOp>) && isScaledProduct(select.getTrueValue());
        if (!isFolded)
          add(select.getTrueValue());
      } else if (auto dot = dyn_cast<DotOp>(op); dot && dot.getAcc()) {
        add(unconverted(dot.getLhs()));
      } else if (auto store = dyn_cast<StoreOp>(op)) {
        stores.push_back(store);
      }
    });
    if (roots.empty())
      return;
    for (StoreOp store : stores) {
      ArrayRef<int64_t> axes = store.getAxes();
      if (axes.size() <= 2)
        roots.push_back({unconverted(store.getTile()), Origin{store.getIndices()[axes.front()], store.getIndices()[axes.back()]}});
    }
    for (auto [tile, origin] : roots)
      if (WholeTree::isInner(tile) && kinds.of(tile) == Kind::Other)
        raise(tile, WholeTree(kinds).inputsOf(tile), origin);
  }

  void raise(Value tile, ValueRange inputs, std::optional<Origin> origin) {
    Raiser raiser(kinds, tile.getDefiningOp(), origin);
    tile.replaceAllUsesWith(raiser.map(tile, inputs));
    ++scores;
  }

  /// The code that regions now stand for.
  void eraseDead() {
    SmallVector<Operation *> ops; // what an op holds comes after it, and goes before it
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumResults() == 1)
        ops.push_back(op);
    });
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
  }

  Kinds kinds;
  Origins origins;
};

} // namespace
