// tegula-cpu-fuse-elementwise: trees of elementwise tile code -> one linalg.generic each.
//
// In: arith and math on tiles, tile.mask, tile.map, tile.broadcast, tile.reduce, splats. Out: linalg.generic and linalg.fill. The one
// idea: a tile that one elementwise user alone reads needs no memory; it becomes scalar code of that user.
#include "passes/cpu/CpuPasses.h"

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

/// One tile of elements, each computed from the elements at its place (or, for a broadcast, from one value of its row).
bool isElementwise(Operation *op) {
  if (op->getNumResults() != 1 || !isTile(op->getResult(0)))
    return false;
  return isSplat(op) || isa<MaskOp, MapOp, BroadcastOp>(op) || OpTrait::hasElementwiseMappableTraits(op);
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

/// The loop nest of one tile: what it reads, and the scalar code of an element.
class LoopNest {
public:
  /// `root` is elementwise, or a tile.reduce.
  explicit LoopNest(Operation *root) : root(root), b(root->getLoc(), root) {
    auto reduce = dyn_cast<ReduceOp>(root);
    domain = reduce ? reduce.getTile().getType() : cast<RankedTensorType>(root->getResult(0).getType());
    if (!reduce) {
      collectOperands(root);
      return;
    }
    collect(reduce.getTile());
    // Some input has to say how long the rows are.
    if (llvm::any_of(inputMaps, [](AffineMap map) { return map.isIdentity(); }))
      return;
    inputs = {reduce.getTile()};
    inputMaps = {identity()};
    inlined.clear();
  }

  /// Replaces the root. Adds what else it erases to `gone`; returns how many ops were inlined.
  unsigned build(llvm::DenseSet<Operation *> &gone) {
    auto reduce = dyn_cast<ReduceOp>(root);
    SmallVector<AffineMap> maps = inputMaps;
    SmallVector<IteratorType> iterators(domain.getRank(), IteratorType::parallel);
    if (reduce)
      iterators.back() = IteratorType::reduction;
    maps.push_back(reduce ? rowMap() : identity());
    Value output = reduce ? reduceStart(reduce) : elementwiseOutput();
    auto generic = linalg::GenericOp::create(
        b, output.getType(), inputs, output, maps, iterators, [&](OpBuilder &nested, Location loc, ValueRange arguments) {
          ImplicitLocOpBuilder inner(loc, nested);
          IRMapping scalars;
          scalars.map(inputs, arguments.drop_back());
          Value result;
          if (!reduce)
            result = emit(inner, root, scalars);
          else if (Value x = element(inner, reduce.getTile(), scalars); reduce.getKind() == ReduceKind::Add)
            result = arith::AddFOp::create(inner, arguments.back(), x);
          else
            result = arith::MaxNumFOp::create(inner, arguments.back(), x);
          linalg::YieldOp::create(inner, result);
        });
    root->getResult(0).replaceAllUsesWith(generic.getResult(0));
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
  AffineMap rowMap() { return AffineMap::get(domain.getRank(), 0, b.getAffineDimExpr(0)); }

  /// Decides whether `value` is computed in the nest or read by it.
  void collect(Value value) {
    if (!isTile(value) || llvm::is_contained(inputs, value))
      return;
    Operation *op = value.getDefiningOp();
    if (op && isElementwise(op)) {
      // Cheap ones are repeated in each user; the rest must have no other user, and not move into a loop.
      if (isSplat(op))
        return note(op);
      if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
        read(broadcast.getTile(), rowMap());
        return note(op);
      }
      if (value.hasOneUse() && op->getBlock() == root->getBlock()) {
        collectOperands(op);
        return note(op);
      }
    }
    read(value, identity());
  }

  void collectOperands(Operation *op) {
    if (isSplat(op))
      return;
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      return read(broadcast.getTile(), rowMap());
    for (Value operand : op->getOperands())
      if (auto tile = dyn_cast<RankedTensorType>(operand.getType()); tile && tile.getRank() < domain.getRank())
        read(operand, rowMap()); // one value a row of a tile.map
      else
        collect(operand);
  }

  /// Users stand before what they read, so that erasing in this order leaves no use.
  void note(Operation *op) {
    if (!llvm::is_contained(inlined, op))
      inlined.insert(inlined.begin(), op);
  }

  void read(Value value, AffineMap map) {
    if (llvm::is_contained(inputs, value))
      return;
    inputs.push_back(value);
    inputMaps.push_back(map);
  }

  /// The scalar at the current place of `value`, which is an input, inlined, or a scalar already.
  Value element(ImplicitLocOpBuilder &inner, Value value, IRMapping &scalars) {
    if (!isTile(value))
      return value;
    if (Value known = scalars.lookupOrNull(value))
      return known;
    Value result = emit(inner, value.getDefiningOp(), scalars);
    scalars.map(value, result);
    return result;
  }

  Value index(ImplicitLocOpBuilder &inner, int64_t dim, Value start) {
    Value i = arith::IndexCastOp::create(inner, inner.getI64Type(), linalg::IndexOp::create(inner, dim));
    return arith::AddIOp::create(inner, start, i);
  }

  /// The scalar code of one element of an elementwise op.
  Value emit(ImplicitLocOpBuilder &inner, Operation *op, IRMapping &scalars) {
    inner.setLoc(op->getLoc());
    if (isSplat(op))
      return splatElement(inner, op);
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      return scalars.lookup(broadcast.getTile());
    if (auto mask = dyn_cast<MaskOp>(op))
      return inlineRegion(inner, mask.getBody(), {index(inner, 0, mask.getRows()), index(inner, 1, mask.getCols())});
    if (auto map = dyn_cast<MapOp>(op)) {
      SmallVector<Value> arguments;
      for (Value input : map.getInputs())
        arguments.push_back(element(inner, input, scalars));
      arguments.push_back(index(inner, 0, map.getRows()));
      if (Value cols = map.getCols())
        arguments.push_back(index(inner, 1, cols));
      return inlineRegion(inner, map.getBody(), arguments);
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(element(inner, operand, scalars));
    OperationState state(op->getLoc(), op->getName(), operands, getElementTypeOrSelf(op->getResult(0).getType()));
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return inner.create(state)->getResult(0);
  }

  /// Where the result goes: over an input of its type, if bufferization finds that free. Over what a loop carries only on the way back to
  /// it.
  Value elementwiseOutput() {
    Value best;
    for (auto [input, map] : llvm::zip_equal(inputs, inputMaps)) {
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

  Value reduceStart(ReduceOp reduce) {
    auto type = cast<RankedTensorType>(reduce.getResult().getType());
    auto element = cast<FloatType>(type.getElementType());
    // NaN is the identity of maxnum: a row of NaNs alone stays NaN.
    APFloat start =
        reduce.getKind() == ReduceKind::Add ? APFloat::getZero(element.getFloatSemantics()) : APFloat::getNaN(element.getFloatSemantics());
    Value scalar = arith::ConstantOp::create(b, b.getFloatAttr(element, start));
    Value empty = tensor::EmptyOp::create(b, type.getShape(), element);
    return linalg::FillOp::create(b, scalar, empty).getResult(0);
  }

  Operation *root;
  ImplicitLocOpBuilder b;
  RankedTensorType domain;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> inputMaps;
  SmallVector<Operation *> inlined;
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
      else if (isElementwise(op) || isa<ReduceOp>(op))
        ops.push_back(op);
      return isa<MaskOp, MapOp>(op) ? WalkResult::skip() : WalkResult::advance();
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
