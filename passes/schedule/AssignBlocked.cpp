// tegula-assign-blocked: layouts for the tiles of a program that is no attention loop.
//
// In: a tile program and its number of threads. Out: the same program, each tile with a `#warp.blocked` encoding. The one idea: what elementwise code ties
// together shares a layout; the largest tiles choose, and layouts flow along reductions, broadcasts and transpositions, as these move no data.
#include "passes/Passes.h"
#include "passes/schedule/BlockedLayouts.h"
#include "passes/schedule/ExpandElements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"

namespace tegula {
#define GEN_PASS_DEF_ASSIGNBLOCKEDPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

RankedTensorType tileType(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// A layout that follows from another: axis a of `from` is axis `axes[a]` of `to`, or none of it.
struct Link {
  Value from, to;
  SmallVector<int64_t> axes;
  bool isTransposed = false; ///< another axis becomes the fast one
};

SmallVector<int64_t> inverse(ArrayRef<int64_t> axes) {
  SmallVector<int64_t> result(axes.size());
  for (auto [from, to] : llvm::enumerate(axes))
    result[to] = from;
  return result;
}

SmallVector<int64_t> axesWithout(int64_t axis, int64_t rank) {
  SmallVector<int64_t> axes;
  for (int64_t a = 0; a < rank; ++a)
    axes.push_back(a == axis ? -1 : a < axis ? a : a - 1);
  return axes;
}

std::optional<std::pair<Value, int64_t>> reducedAxis(Operation *op) {
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return std::pair(reduce.getTile(), reduce.getReducedAxis());
  if (auto combine = dyn_cast<tile::CombineOp>(op))
    return std::pair(combine.getTile(), static_cast<int64_t>(combine.getAxis()));
  if (auto sums = dyn_cast<tile::CumsumOp>(op))
    return std::pair(sums.getTile(), static_cast<int64_t>(sums.getAxis()));
  return std::nullopt;
}

/// Which layout flows where through `op`; the first link's `to` is what the op makes or takes.
SmallVector<Link> linksOf(Operation *op) {
  if (auto reduced = reducedAxis(op); reduced && !isa<tile::CumsumOp>(op))
    return {{reduced->first, op->getResult(0), axesWithout(reduced->second, tileType(reduced->first).getRank())}};
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    SmallVector<int64_t> axes(broadcast.getResult().getType().getRank(), -1);
    for (auto [axis, at] : llvm::enumerate(broadcast.getAxes()))
      if (broadcast.getTile().getType().getDimSize(axis) == broadcast.getResult().getType().getDimSize(at))
        axes[at] = axis;
    return {{broadcast.getResult(), broadcast.getTile(), axes}};
  }
  if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    SmallVector<int64_t> axes(transpose.getPermutation());
    return {{transpose.getTile(), transpose.getResult(), inverse(axes), true}, {transpose.getResult(), transpose.getTile(), axes, true}};
  }
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    if (auto axes = renamedAxes(reshape))
      return {{reshape.getTile(), reshape.getResult(), *axes}};
  return {};
}

/// Tiles that share a layout, and what is known of each set.
class LayoutClasses {
public:
  explicit LayoutClasses(tile::KernelOp kernel) {
    kernel->walk([&](Operation *op) {
      for (Value result : op->getResults())
        number(result);
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          number(argument);
    });
    kernel->walk([&](Operation *op) { tie(op); });
  }

  unsigned of(Value value) {
    unsigned id = ids.lookup(value);
    while (parents[id] != id)
      id = parents[id] = parents[parents[id]];
    return id;
  }

  ArrayRef<Value> values() const { return all; }

private:
  void number(Value value) {
    if (!tileType(value))
      return;
    ids[value] = all.size();
    parents.push_back(all.size());
    all.push_back(value);
  }

  void tie(Value a, Value b) {
    if (tileType(a) && tileType(b))
      parents[of(a)] = of(b);
  }

  void tieAll(ValueRange a, ValueRange b) {
    for (auto [x, y] : llvm::zip(a, b))
      tie(x, y);
  }

  void tie(Operation *op) {
    if (auto loop = dyn_cast<tile::ForBlocksOp>(op)) {
      tieAll(loop.getInits(), loop.getIterArgs());
      tieAll(loop.getIterArgs(), loop.getResults());
      tieAll(loop.getBody().front().getTerminator()->getOperands(), loop.getResults());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      tieAll(loop.getInits(), loop.getRegionIterArgs());
      tieAll(loop.getRegionIterArgs(), loop.getResults());
      tieAll(loop.getYieldedValues(), loop.getResults());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (Region &region : branch->getRegions())
        if (!region.empty())
          tieAll(region.front().getTerminator()->getOperands(), branch.getResults());
    } else if (auto dot = dyn_cast<tile::DotOp>(op)) {
      if (dot.getAcc())
        tie(dot.getAcc(), dot.getResult());
    } else if (isTied(op)) {
      SmallVector<Value> tiles;
      for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()), SmallVector<Value>(op->getResults())))
        if (tileType(value))
          tiles.push_back(value);
      for (Value tile : tiles)
        tie(tile, tiles.front());
    }
  }

  /// Elementwise on all its tiles, memory accesses with their masks and indices.
  static bool isTied(Operation *op) {
    return op->hasTrait<OpTrait::Elementwise>() || isa<tile::LoadOp, tile::StoreOp, tile::GatherOp, tile::ScatterOp, tile::AtomicAddOp, tile::CumsumOp>(op);
  }

  SmallVector<Value> all;
  SmallVector<unsigned> parents;
  DenseMap<Value, unsigned> ids;
};

struct AssignBlockedPass : tegula::impl::AssignBlockedPassBase<AssignBlockedPass> {
  void runOnOperation() override {
    auto schedule = getOperation()->getAttrOfType<tile::ProgramAttr>("schedule");
    if (!schedule)
      return;
    threads = schedule.getThreads();
    if (failed(refuse()) || failed(expandElements(getOperation())))
      return signalPassFailure();
    cloneConstants();
    LayoutClasses tiles(getOperation());
    choose(tiles);
    for (Value value : tiles.values())
      setLayout(value, assigned.lookup(tiles.of(value)));
    meetLinks();
    addFences();
    convertDots();
  }

private:
  /// What has no instruction, or is not known here.
  LogicalResult refuse() {
    auto result = getOperation()->walk([&](Operation *op) -> WalkResult {
      if (auto dot = dyn_cast<tile::DotOp>(op); dot && dot.getLhs().getType().getElementType().isF64())
        return op->emitError("a dot of f64 runs on the CPU target only; use `--target cpu`, or f32, bf16 or f16");
      bool isDouble = op->getNumResults() == 1 && getElementTypeOrSelf(op->getResult(0).getType()).isF64();
      if (isDouble && isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::TanhOp, math::RsqrtOp, math::PowFOp>(op))
        return op->emitError("`") << op->getName().stripDialect() << "` of f64 runs on the CPU target only; use `--target cpu`, or f32";
      if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && tileType(constant) && !isa<SplatElementsAttr>(constant.getValue()))
        return op->emitError("expected a tile of one constant, but got ") << constant.getValue();
      if (auto add = dyn_cast<tile::AtomicAddOp>(op))
        if (Type element = getElementTypeOrSelf(add.getValue()); element.getIntOrFloatBitWidth() < 16 || element.isInteger(16))
          return op->emitError("the GPU adds atomically to i32, i64, f16, bf16, f32 and f64, but got ") << element;
      if (isa<tile::AttentionOp, tile::OnlineSoftmaxOp, tile::ScaleRowsOp, tile::MergeOp, tile::FinishOp>(op))
        return op->emitOpError("internal: expected only expanded tile code");
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Constants, splats and lane numbers cost nothing to make: one for each use, so that they tie nothing together.
  void cloneConstants() {
    SmallVector<Operation *> cheap;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::ConstantOp, tensor::SplatOp, tile::IotaOp>(op) && tileType(op->getResult(0)))
        cheap.push_back(op);
    });
    for (Operation *op : cheap) {
      for (OpOperand &use : llvm::make_early_inc_range(op->getUses()))
        use.set(OpBuilder(use.getOwner()).clone(*op)->getResult(0));
      op->erase();
    }
  }

  void choose(LayoutClasses &tiles) {
    SmallVector<Link> links;
    llvm::DenseSet<unsigned> products;
    getOperation()->walk([&](Operation *op) {
      if (auto load = dyn_cast<tile::LoadOp>(op))
        inMemory.insert(tiles.of(load.getTile()));
      else if (auto store = dyn_cast<tile::StoreOp>(op))
        inMemory.insert(tiles.of(store.getTile()));
      llvm::append_range(links, linksOf(op));
      if (auto dot = dyn_cast<tile::DotOp>(op))
        products.insert(tiles.of(dot.getResult()));
    });
    SmallVector<Value> order(tiles.values());
    auto size = [&](Value value) { return std::pair(products.contains(tiles.of(value)), tileType(value).getNumElements()); };
    std::stable_sort(order.begin(), order.end(), [&](Value a, Value b) { return size(a) > size(b); });
    for (Value value : order) {
      unsigned id = tiles.of(value);
      if (assigned.contains(id))
        continue;
      assigned[id] = products.contains(id) ? productLayout(value, id, tiles) : plainLayout(value, id, tiles);
      follow(links, tiles);
    }
  }

  /// Gives what follows from the layouts that are known.
  void follow(ArrayRef<Link> links, LayoutClasses &tiles) {
    bool changed = true;
    while (changed) {
      changed = false;
      for (const Link &link : links) {
        if (!tileType(link.to) || (link.isTransposed && inMemory.contains(tiles.of(link.to)))) // memory says which axis is fast
          continue;
        warp::BlockedAttr from = assigned.lookup(tiles.of(link.from));
        if (from && assigned.try_emplace(tiles.of(link.to), from.mapAxes(link.axes)).second)
          changed = true;
      }
    }
  }

  warp::BlockedAttr productLayout(Value value, unsigned id, LayoutClasses &tiles) {
    bool wholeRows = false;
    getOperation()->walk([&](Operation *op) {
      if (auto reduced = reducedAxis(op); reduced && tiles.of(reduced->first) == id)
        wholeRows |= reduced->second == 1;
    });
    return chooseProduct(&getContext(), tileType(value).getShape(), threads, wholeRows);
  }

  warp::BlockedAttr plainLayout(Value value, unsigned id, LayoutClasses &tiles) {
    BlockedHints hints;
    hints.threads = threads;
    bool alongFast = false, alongOther = false;
    SmallVector<int64_t> reducedAxes;
    auto meetMemory = [&](Value tile, Value memory, ArrayRef<int64_t> axes) {
      if (tiles.of(tile) != id)
        return;
      auto type = cast<MemRefType>(memory.getType());
      int64_t bytes = std::max(1u, type.getElementTypeBitWidth() / 8);
      hints.elements = std::max(hints.fastAxis < 0 ? 0 : hints.elements, 16 / bytes);
      auto last = llvm::find(axes, type.getRank() - 1);
      hints.fastAxis = last == axes.end() ? static_cast<int64_t>(axes.size()) - 1 : last - axes.begin();
    };
    getOperation()->walk([&](Operation *op) {
      if (auto load = dyn_cast<tile::LoadOp>(op))
        meetMemory(load.getTile(), load.getMemory(), load.getAxes());
      else if (auto store = dyn_cast<tile::StoreOp>(op))
        meetMemory(store.getTile(), store.getMemory(), store.getAxes());
      else if (auto reduced = reducedAxis(op); reduced && tiles.of(reduced->first) == id)
        reducedAxes.push_back(reduced->second);
    });
    RankedTensorType type = tileType(value);
    int64_t fast = hints.fastAxis < 0 ? type.getRank() - 1 : hints.fastAxis;
    for (int64_t axis : reducedAxes)
      (axis == fast ? alongFast : alongOther) = true;
    hints.fastAxisMeets = alongFast || !alongOther;
    return chooseBlocked(&getContext(), type.getShape(), hints);
  }

  void setLayout(Value value, warp::BlockedAttr layout) {
    RankedTensorType type = tileType(value);
    value.setType(RankedTensorType::get(type.getShape(), type.getElementType(), layout));
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(tileType(value)));
    ++layouts;
  }

  static warp::BlockedAttr layoutOf(Value value) { return cast<warp::BlockedAttr>(tileType(value).getEncoding()); }

  static RankedTensorType withLayout(Value value, warp::BlockedAttr layout) {
    return RankedTensorType::get(tileType(value).getShape(), tileType(value).getElementType(), layout);
  }

  /// Puts a conversion where the layout that an op makes or takes is not the one that was assigned.
  void meetLinks() {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      SmallVector<Link> links = linksOf(op);
      if (links.empty() || !tileType(links.front().to))
        continue;
      auto &[from, to, axes, isTransposed] = links.front();
      warp::BlockedAttr derived = layoutOf(from).mapAxes(axes);
      if (derived == layoutOf(to))
        continue;
      ++conversions;
      if (to.getDefiningOp() == op) {
        OpBuilder b(&getContext());
        b.setInsertionPointAfter(op);
        RankedTensorType wanted = tileType(to);
        to.setType(withLayout(to, derived));
        auto convert = warp::ConvertOp::create(b, op->getLoc(), wanted, to);
        to.replaceAllUsesExcept(convert.getResult(), convert);
      } else {
        OpBuilder b(op);
        op->setOperand(0, warp::ConvertOp::create(b, op->getLoc(), withLayout(to, derived), to));
      }
    }
  }

  void convertDots() {
    SmallVector<tile::DotOp> dots;
    getOperation()->walk([&](tile::DotOp dot) { dots.push_back(dot); });
    for (tile::DotOp dot : dots) {
      OpBuilder b(dot);
      Value lhs = fromMemory(dot, dot.getLhs(), b), rhs = fromMemory(dot, dot.getRhs(), b);
      auto result = warp::DotOp::create(b, dot.getLoc(), dot.getType(), lhs, rhs, dot.getAcc(), dot.getTransposeB());
      dot.replaceAllUsesWith(result.getResult());
      dot.erase();
    }
    getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isa<tile::LoadOp, tile::TransposeOp>(op) && op->use_empty())
        op->erase();
    });
  }

  /// The operand as a tile of global memory, if it is loaded for this op alone and nothing is written meanwhile; else itself.
  static Value fromMemory(tile::DotOp dot, Value operand, OpBuilder &b) {
    auto transpose = operand.getDefiningOp<tile::TransposeOp>();
    auto load = (transpose ? transpose.getTile() : operand).getDefiningOp<tile::LoadOp>();
    if (!load || !operand.hasOneUse() || !load->hasOneUse() || load->getBlock() != dot->getBlock())
      return operand;
    for (Operation *op = load->getNextNode(); op != dot; op = op->getNextNode())
      if (op->getNumRegions() > 0 || isa<tile::StoreOp, tile::ScatterOp, tile::AtomicAddOp, warp::FenceOp>(op))
        return operand;
    SmallVector<int64_t> axes(load.getAxes());
    if (transpose)
      std::swap(axes[0], axes[1]);
    RankedTensorType tile = tileType(operand);
    auto type = warp::GlobalType::get(b.getContext(), tile.getDimSize(0), tile.getDimSize(1), tile.getElementType());
    return warp::GlobalOp::create(b, dot.getLoc(), type, load.getMemory(), load.getIndices(), b.getDenseI64ArrayAttr(axes), /*shift=*/Value(), /*end=*/Value());
  }

  /// Before each access of memory that is written, but for the first: another thread may have written the element, or may yet read what is written.
  void addFences() {
    llvm::MapVector<Value, SmallVector<Operation *>> accesses;
    getOperation()->walk([&](Operation *op) {
      if (isa<tile::LoadOp, tile::StoreOp, tile::GatherOp, tile::ScatterOp, tile::AtomicAddOp, tile::LookupOp>(op))
        accesses[*llvm::find_if(op->getOperands(), [](Value operand) { return isa<MemRefType>(operand.getType()); })].push_back(op);
    });
    llvm::SetVector<Operation *> fenced;
    for (auto &[memory, ops] : accesses) {
      bool written = llvm::any_of(ops, llvm::IsaPred<tile::StoreOp, tile::ScatterOp, tile::AtomicAddOp>);
      if (!written || llvm::all_of(ops, llvm::IsaPred<tile::AtomicAddOp>)) // additions commute
        continue;
      for (Operation *op : ops)
        if (op != ops.front() || op->getParentOfType<tile::ForBlocksOp>() || op->getParentOfType<scf::ForOp>())
          fenced.insert(op);
    }
    for (Operation *op : fenced) {
      OpBuilder b(op);
      warp::FenceOp::create(b, op->getLoc());
    }
  }

  int64_t threads = 0;
  DenseMap<unsigned, warp::BlockedAttr> assigned; ///< by class
  llvm::DenseSet<unsigned> inMemory;              ///< classes with loads or stores
};

} // namespace
