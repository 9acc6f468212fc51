// tegula-cpu-fuse-elementwise: trees of elementwise tile code -> one linalg.generic each.
//
// In: arith and math on tiles, tile.mask, tile.map, tile.iota, tile.broadcast, tile.transpose, tile.reduce, tile.combine, splats. Out:
// linalg.generic and linalg.fill. The one idea: a tile that one elementwise user alone reads needs no memory; it becomes scalar code of that
// user, at the place that an affine map tells.
#include "passes/cpu/CpuPasses.h"
#include "passes/cpu/AxisFold.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace tegula {
#define GEN_PASS_DEF_CPUFUSEELEMENTWISEPASS
#include "passes/cpu/CpuPasses.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;
using utils::IteratorType;

namespace {

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// A tile whose elements are all the same: a constant, or a repeated scalar.
bool isSplat(Operation *op) {
  DenseElementsAttr constant;
  return isa<tensor::SplatOp>(op) || (matchPattern(op, m_Constant(&constant)) && constant.isSplat() && isTile(op->getResult(0)));
}

/// One tile of elements, each computed from at most one element of each operand.
bool isElementwise(Operation *op) {
  if (op->getNumResults() != 1 || !isTile(op->getResult(0)))
    return false;
  return isSplat(op) || isa<MaskOp, MapOp, IotaOp, BroadcastOp, TransposeOp>(op) || OpTrait::hasElementwiseMappableTraits(op);
}

/// Whether an element costs less than to read it from memory.
bool isCheap(Operation *op) { return isSplat(op) || isa<IotaOp>(op); }

/// The place in a tile operand that element `map(x)` of the result of an elementwise op needs, of places x in a loop nest.
AffineMap operandMap(Operation *op, AffineMap map) {
  SmallVector<AffineExpr> exprs;
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [axis, size] : llvm::zip_equal(broadcast.getAxes(), broadcast.getTile().getType().getShape()))
      exprs.push_back(size == 1 ? getAffineConstantExpr(0, map.getContext()) : map.getResult(axis));
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    exprs.resize(map.getNumResults());
    for (auto [axis, from] : llvm::enumerate(transpose.getPermutation()))
      exprs[from] = map.getResult(axis);
  } else {
    return map;
  }
  return AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
}

/// Of an input of a tile.map: one of rank 1 gives one value a row.
AffineMap inputMap(Value input, AffineMap map) {
  auto type = dyn_cast<RankedTensorType>(input.getType());
  return type && type.getRank() < map.getNumResults() ? map.getSubMap({0}) : map;
}

/// The element of a splat as scalar code.
Value splatElement(OpBuilder &b, Operation *op) {
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return splat.getInput();
  DenseElementsAttr constant;
  matchPattern(op, m_Constant(&constant));
  return arith::ConstantOp::create(b, op->getLoc(), cast<TypedAttr>(constant.getSplatValue<Attribute>()));
}

/// Clones a one-block region with its arguments replaced; returns the yielded value.
Value inlineRegion(OpBuilder &b, Region &region, ValueRange arguments) {
  IRMapping map;
  map.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator())
    b.clone(op, map);
  return map.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

/// A tile at the places of a loop nest.
using Access = std::pair<Value, AffineMap>;

/// The loop nest of one tile: what it reads, and the scalar code of an element.
class LoopNest {
public:
  /// `root` is elementwise, tile.reduce or tile.combine.
  explicit LoopNest(Operation *root) : root(root), b(root->getLoc(), root), fold(AxisFold::of(root)) {
    domain = cast<RankedTensorType>(fold ? fold->tile().getType() : root->getResult(0).getType());
    if (!fold) {
      collectOperands(root, identity());
      return;
    }
    collect(fold->tile(), identity());
    // Some input has to say how long the rows are.
    AffineExpr along = b.getAffineDimExpr(fold->axis());
    if (llvm::any_of(inputs, [&](const Access &input) { return llvm::is_contained(input.second.getResults(), along); }))
      return;
    inputs = {{fold->tile(), identity()}};
    inlined.clear();
  }

  /// Replaces the root. Adds what else it erases to `gone`; returns how many ops were inlined.
  unsigned build(llvm::DenseSet<Operation *> &gone) {
    SmallVector<Value> values, outputs;
    SmallVector<AffineMap> maps;
    SmallVector<IteratorType> iterators(domain.getRank(), IteratorType::parallel);
    for (auto [value, map] : inputs) {
      values.push_back(value);
      maps.push_back(map);
    }
    if (fold) {
      iterators[fold->axis()] = IteratorType::reduction;
      outputs = fold->start(b);
      maps.append(outputs.size(), identity().dropResult(fold->axis()));
    } else {
      outputs = {elementwiseOutput()};
      maps.push_back(identity());
    }
    auto generic = linalg::GenericOp::create(b, ValueRange(outputs).getTypes(), values, outputs, maps, iterators,
                                             [&](OpBuilder &nested, Location loc, ValueRange arguments) {
                                               ImplicitLocOpBuilder inner(loc, nested);
                                               linalg::YieldOp::create(inner, element(inner, arguments));
                                             });
    Value result = generic.getResults().back();
    if (!isTile(root->getResult(0)))
      result = tensor::ExtractOp::create(b, result, ValueRange());
    root->getResult(0).replaceAllUsesWith(result);
    root->erase();
    for (Operation *op : inlined)
      if (op->use_empty()) {
        gone.insert(op);
        op->erase();
      }
    return inlined.size();
  }

private:
  AffineMap identity() { return b.getMultiDimIdentityMap(domain.getRank()); }

  /// Decides whether `value` is computed in the nest or read by it.
  void collect(Value value, AffineMap map) {
    if (!isTile(value) || llvm::is_contained(inputs, Access(value, map)))
      return;
    Operation *op = value.getDefiningOp();
    if (!op || !isElementwise(op))
      return read(value, map);
    // Cheap ones are repeated in each user, and so is the way to another place; the rest must have no other user, and not move into a loop.
    bool isOwn = value.hasOneUse() && op->getBlock() == root->getBlock();
    if (isa<BroadcastOp>(op) || (isa<TransposeOp>(op) && !isOwn))
      collectRepeated(op->getOperand(0), operandMap(op, map));
    else if (isOwn || isCheap(op))
      collectOperands(op, map);
    else
      return read(value, map);
    note(op);
  }

  /// Of an element that the nest may need many times.
  void collectRepeated(Value value, AffineMap map) {
    Operation *op = value.getDefiningOp();
    if (op && isCheap(op))
      return note(op);
    read(value, map);
  }

  void collectOperands(Operation *op, AffineMap map) {
    if (isCheap(op))
      return;
    if (isa<BroadcastOp>(op))
      return collectRepeated(op->getOperand(0), operandMap(op, map));
    for (Value operand : op->getOperands())
      collect(operand, inputMap(operand, operandMap(op, map)));
  }

  /// Users stand before what they read, so that erasing in this order leaves no use.
  void note(Operation *op) {
    if (!llvm::is_contained(inlined, op))
      inlined.insert(inlined.begin(), op);
  }

  void read(Value value, AffineMap map) {
    if (!llvm::is_contained(inputs, Access(value, map)))
      inputs.emplace_back(value, map);
  }

  /// The scalar code of the whole nest: what it yields.
  SmallVector<Value> element(ImplicitLocOpBuilder &inner, ValueRange arguments) {
    scalars.clear();
    for (auto [input, argument] : llvm::zip(inputs, arguments))
      scalars[input] = argument;
    if (!fold)
      return {emit(inner, root, identity())};
    Value x = at(inner, fold->tile(), identity());
    inner.setLoc(root->getLoc());
    return fold->step(inner, arguments.drop_front(inputs.size()), x);
  }

  /// The scalar at a place of `value`, which is an input, inlined, or a scalar already.
  Value at(ImplicitLocOpBuilder &inner, Value value, AffineMap map) {
    if (!isTile(value))
      return value;
    Value &known = scalars[Access(value, map)];
    if (known)
      return known;
    Value result = emit(inner, value.getDefiningOp(), map);
    return scalars[Access(value, map)] = result;
  }

  /// `start` + the index along an axis of a place, as an integer of `type`.
  Value index(ImplicitLocOpBuilder &inner, AffineMap map, int64_t axis, Type type, Value start = {}) {
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(axis));
    Value i = dim ? linalg::IndexOp::create(inner, dim.getPosition()).getResult() : arith::ConstantIndexOp::create(inner, 0).getResult();
    i = arith::IndexCastOp::create(inner, type, i);
    return start ? arith::AddIOp::create(inner, start, i).getResult() : i;
  }

  /// The scalar code of one element of an elementwise op.
  Value emit(ImplicitLocOpBuilder &inner, Operation *op, AffineMap map) {
    inner.setLoc(op->getLoc());
    Type type = getElementTypeOrSelf(op->getResult(0).getType());
    if (isSplat(op))
      return splatElement(inner, op);
    if (isa<IotaOp>(op))
      return index(inner, map, 0, type);
    AffineMap from = operandMap(op, map);
    if (isa<BroadcastOp, TransposeOp>(op))
      return at(inner, op->getOperand(0), from);
    Type i64 = inner.getI64Type();
    if (auto mask = dyn_cast<MaskOp>(op))
      return inlineRegion(inner, mask.getBody(), {index(inner, map, 0, i64, mask.getRows()), index(inner, map, 1, i64, mask.getCols())});
    if (auto code = dyn_cast<MapOp>(op)) {
      SmallVector<Value> arguments;
      for (Value input : code.getInputs())
        arguments.push_back(at(inner, input, inputMap(input, from)));
      arguments.push_back(index(inner, map, 0, i64, code.getRows()));
      if (Value cols = code.getCols())
        arguments.push_back(index(inner, map, 1, i64, cols));
      return inlineRegion(inner, code.getBody(), arguments);
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(at(inner, operand, from));
    OperationState state(op->getLoc(), op->getName(), operands, type);
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return inner.create(state)->getResult(0);
  }

  /// Where the result goes: over an input of its type, if bufferization finds that free. Over what a loop carries only on the way back to
  /// it.
  Value elementwiseOutput() {
    Value best;
    for (auto [input, map] : inputs) {
      if (input.getType() != domain || !map.isIdentity())
        continue;
      auto argument = dyn_cast<BlockArgument>(input);
      if (argument && isCarriedTo(root->getResult(0), argument))
        return input;
      if (!argument && !best)
        best = input;
    }
    return best ? best : tensor::EmptyOp::create(b, domain.getShape(), domain.getElementType()).getResult();
  }

  /// Whether `value`, or what is computed in its place, is the next value of a loop's `argument`.
  static bool isCarriedTo(Value value, BlockArgument argument) {
    return llvm::any_of(value.getUses(), [&](OpOperand &use) {
      if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()->getParentOp()); loop && isa<scf::YieldOp>(use.getOwner()))
        return argument == loop.getRegionIterArg(use.getOperandNumber());
      auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
      return generic && generic.isDpsInit(&use) && isCarriedTo(generic.getTiedOpResult(&use), argument);
    });
  }

  Operation *root;
  ImplicitLocOpBuilder b;
  std::optional<AxisFold> fold;
  RankedTensorType domain;
  SmallVector<Access> inputs;
  SmallVector<Operation *> inlined;
  DenseMap<Access, Value> scalars; ///< of the element that is being emitted
};

/// A splat that loops, branches or other ops use: filled anew at each use, since the buffer may be written.
void fillAtUses(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    ImplicitLocOpBuilder b(op->getLoc(), use.getOwner());
    Value empty = tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
    use.set(linalg::FillOp::create(b, splatElement(b, op), empty).getResult(0));
  }
  op->erase();
}

/// Moves an elementwise op whose operands do not change in the loops around it before them.
void hoist(Operation *op) {
  if (!isPure(op) || isa<BroadcastOp>(op))
    return;
  while (auto loop = dyn_cast<scf::ForOp>(op->getParentOp())) {
    if (!llvm::all_of(op->getOperands(), [&](Value operand) { return loop.isDefinedOutsideOfLoop(operand); }) || op->getNumRegions() != 0)
      return;
    op->moveBefore(loop);
  }
}

struct CpuFuseElementwisePass : tegula::impl::CpuFuseElementwisePassBase<CpuFuseElementwisePass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops, splats;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<linalg::LinalgOp>(op))
        return WalkResult::skip();
      if (isSplat(op))
        splats.push_back(op);
      else if (isElementwise(op) || isa<ReduceOp, CombineOp>(op))
        ops.push_back(op);
      return isa<MaskOp, MapOp, CombineOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    llvm::for_each(ops, hoist);
    // Users first: what is left of their producers has a user of another kind, or several.
    llvm::DenseSet<Operation *> gone;
    for (Operation *op : llvm::reverse(ops)) {
      if (gone.contains(op))
        continue;
      if (isOpTriviallyDead(op)) {
        op->erase();
        continue;
      }
      ++nests;
      inlined += LoopNest(op).build(gone);
    }
    llvm::erase_if(splats, [&](Operation *op) { return gone.contains(op); });
    for (Operation *op : splats)
      fillAtUses(op);
  }
};

} // namespace
