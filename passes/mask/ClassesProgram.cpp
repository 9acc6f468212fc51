// A tile.map of pairs, its extremes, and one byte a block.
//
// A pair that is visible counts 1, one that is hidden -1, one that does not exist 0: the largest and the smallest of a block say what class it has.
#include "passes/mask/ClassesProgram.h"

#include "dialect/tile/PrefixExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

static constexpr int64_t mostPairs = 4096, mostColumns = 128; ///< that are looked at together
static constexpr int64_t threads = 128, ctas = 4;

/// Scalar code that can run anywhere: it reads nothing that a kernel writes.
static bool isScalarCode(Operation *op) {
  bool isScalar = llvm::none_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) && llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  if (auto lookup = dyn_cast<LookupOp>(op))
    return KernelOp::isTable(lookup.getTable());
  return isScalar && (op->getNumRegions() == 0 ? isMemoryEffectFree(op) : isa<scf::SCFDialect>(op->getDialect()));
}

/// The values outside of `region` that `value` is made of.
static bool addOutside(Value value, Region &region, llvm::SetVector<Value> &outside, DenseSet<Operation *> &seen) {
  if (!region.isAncestor(value.getParentRegion())) {
    outside.insert(value);
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(op).second)
    return true;
  return !op->walk([&](Operation *inner) {
              bool isCode = isScalarCode(inner) || isa<scf::YieldOp>(inner);
              return isCode && llvm::all_of(inner->getOperands(), [&](Value operand) { return addOutside(operand, region, outside, seen); }) ? WalkResult::advance()
                                                                                                                                         : WalkResult::interrupt();
            }).wasInterrupted();
}

namespace {

/// Finds the coordinates of the grid that values are made of.
class AxisFinder {
public:
  bool add(Value value) {
    if (!seen.insert(value).second)
      return true;
    Operation *op = value.getDefiningOp();
    if (!op)
      return isa<KernelOp>(cast<BlockArgument>(value).getOwner()->getParentOp());
    if (auto id = dyn_cast<ProgramIdOp>(op)) {
      addAxis(value, id.getExtents()[cast<OpResult>(value).getResultNumber()]);
      return true;
    }
    if (auto division = dyn_cast<arith::DivSIOp>(op); division && isQuotient(division)) {
      quotients.push_back(division);
      return true;
    }
    return op->getNumRegions() == 0 && isScalarCode(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return add(operand); });
  }

  /// A quotient, such as the key head of a head, is an axis of its own unless its dividend is one already.
  SmallVector<GridAxis> axes() {
    for (arith::DivSIOp division : quotients) {
      if (llvm::any_of(found, [&](const GridAxis &axis) { return axis.index == division.getLhs(); }))
        continue;
      auto id = division.getLhs().getDefiningOp<ProgramIdOp>();
      Value extent = id.getExtents()[cast<OpResult>(division.getLhs()).getResultNumber()];
      OpBuilder b(id);
      b.setInsertionPointAfter(division);
      addAxis(division, arith::CeilDivSIOp::create(b, division.getLoc(), extent, division.getRhs()));
    }
    return found;
  }

private:
  static bool isQuotient(arith::DivSIOp op) { return op.getLhs().getDefiningOp<ProgramIdOp>() && !printPrefix(op.getRhs()).empty(); }

  void addAxis(Value index, Value extent) {
    if (llvm::none_of(found, [&](const GridAxis &axis) { return axis.index == index; }))
      found.push_back({index, extent});
  }

  DenseSet<Value> seen;
  SmallVector<arith::DivSIOp> quotients;
  SmallVector<GridAxis> found;
};

class Writer {
public:
  Writer(KernelOp kernel, const PairCondition &condition, ArrayRef<GridAxis> axes)
      : kernel(kernel), condition(condition), axes(axes), b(kernel->getContext()), loc(kernel.getLoc()) {}

  void write() {
    makeKernel();
    Value keys = clone(condition.keyEnd), blocks = arith::CeilDivSIOp::create(b, loc, keys, constant(condition.keys));
    SmallVector<Value> extents{blocks, clone(condition.tiles)};
    for (const GridAxis &axis : axes)
      extents.push_back(clone(axis.extent));
    auto id = ProgramIdOp::create(b, loc, SmallVector<Type>(extents.size(), b.getI64Type()), extents);
    Value lead = constant(0), size = constant(1);
    for (auto [axis, index, extent] : llvm::zip(axes, id.getIndices().drop_front(2), ArrayRef(extents).drop_front(2))) {
      map.map(axis.index, index);
      lead = arith::AddIOp::create(b, loc, lead, arith::MulIOp::create(b, loc, index, size));
      size = arith::MulIOp::create(b, loc, size, extent);
    }
    Value block = id.getIndices()[0], tile = id.getIndices()[1];
    auto [least, most] = extremes(tile, block);
    Value zero = constant32(0), some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, most, zero), all = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, least, zero);
    auto bit = [&](Value flag, int64_t value) {
      Value set = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(value)), clear = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
      return arith::SelectOp::create(b, loc, flag, set, clear);
    };
    Value first = bit(some, 1), second = bit(all, 2);
    ScatterOp::create(b, loc, arith::OrIOp::create(b, loc, first, second), program.getArguments().back(), ValueRange{lead, tile, block}, Value());
  }

private:
  Value constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }
  Value constant32(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value)); }

  void makeKernel() {
    b.setInsertionPointAfter(kernel);
    program = cast<KernelOp>(b.insert(kernel->cloneWithoutRegions()));
    program.setSymName((kernel.getSymName() + "_classes").str());
    for (StringRef name : {"tile.schedule", "tile.schedule_places", "tile.requires"})
      program->removeAttr(name);
    program->setAttr("schedule", ProgramAttr::get(b.getContext(), threads, ctas));
    program->setAttr("tile.prepass", b.getUnitAttr());
    Block *body = b.createBlock(&program.getBody());
    for (BlockArgument argument : kernel.getArguments())
      map.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
    b.setInsertionPoint(ReturnOp::create(b, loc));
  }

  /// A value of the kernel, computed here.
  Value clone(Value value) {
    if (Value known = map.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *owner = operand.getParentBlock()->getParentOp(); !op->isAncestor(owner))
          (void)clone(operand);
    });
    b.clone(*op, map);
    return map.lookup(value);
  }

  /// The smallest and the largest count of a block's pairs.
  std::pair<Value, Value> extremes(Value tile, Value block) {
    int64_t columns = std::min<int64_t>(llvm::PowerOf2Ceil(condition.keys), mostColumns), rows = std::min<int64_t>(llvm::PowerOf2Ceil(condition.rows), mostPairs / columns);
    Value row = arith::MulIOp::create(b, loc, tile, constant(condition.rows)), key = arith::MulIOp::create(b, loc, block, constant(condition.keys));
    auto end = [&](Value first, int64_t count, Value limit) -> Value {
      Value past = arith::AddIOp::create(b, loc, first, constant(count));
      return limit ? arith::MinSIOp::create(b, loc, past, clone(limit)).getResult() : past;
    };
    Value rowEnd = end(row, condition.rows, condition.queries), keyEnd = end(key, condition.keys, condition.keyEnd);
    prepareOutside();
    Value none = constant32(0), rowStep = constant(rows), columnStep = constant(columns);
    auto byRows = scf::ForOp::create(b, loc, row, rowEnd, rowStep, ValueRange{none, none});
    b.setInsertionPointToStart(byRows.getBody());
    auto byColumns = scf::ForOp::create(b, loc, key, keyEnd, columnStep, byRows.getRegionIterArgs());
    scf::YieldOp::create(b, loc, byColumns.getResults());
    b.setInsertionPointToStart(byColumns.getBody());
    auto counts = MapOp::create(b, loc, RankedTensorType::get({rows, columns}, b.getI32Type()), ValueRange(), byRows.getInductionVar(), byColumns.getInductionVar());
    fill(counts, rowEnd, keyEnd);
    auto reduce = [&](ReduceKind kind) -> Value { return ReduceOp::create(b, loc, kind, ReduceOp::create(b, loc, kind, counts)); };
    Value least = reduce(ReduceKind::Minimum), most = reduce(ReduceKind::Maximum);
    least = arith::MinSIOp::create(b, loc, least, byColumns.getRegionIterArgs()[0]);
    most = arith::MaxSIOp::create(b, loc, most, byColumns.getRegionIterArgs()[1]);
    scf::YieldOp::create(b, loc, ValueRange{least, most});
    b.setInsertionPointAfter(byRows);
    return {byRows.getResult(0), byRows.getResult(1)};
  }

  /// Computes what the condition takes from outside.
  void prepareOutside() {
    llvm::SetVector<Value> outside;
    DenseSet<Operation *> seen;
    for (Value conjunct : condition.conjuncts)
      (void)addOutside(conjunct, *condition.region, outside, seen);
    for (Value value : outside)
      (void)clone(value);
  }

  void fill(MapOp counts, Value rowEnd, Value keyEnd) {
    Type i64 = b.getI64Type();
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&counts.getBody(), {}, {i64, i64}, {loc, loc});
    Value i = body->getArgument(0), j = body->getArgument(1);
    map.map(condition.region->getArgument(0), i);
    map.map(condition.region->getArgument(1), j);
    Value seen;
    for (Value conjunct : condition.conjuncts) {
      Value here = clone(conjunct);
      seen = seen ? arith::AndIOp::create(b, loc, seen, here).getResult() : here;
    }
    Value hasRow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, i, rowEnd), hasKey = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, j, keyEnd);
    Value exists = arith::AndIOp::create(b, loc, hasRow, hasKey), one = constant32(1), minus = constant32(-1), none = constant32(0);
    Value count = arith::SelectOp::create(b, loc, seen, one, minus);
    YieldOp::create(b, loc, arith::SelectOp::create(b, loc, exists, count, none).getResult());
  }

  KernelOp kernel, program;
  const PairCondition &condition;
  ArrayRef<GridAxis> axes;
  OpBuilder b;
  Location loc;
  IRMapping map;
};

} // namespace

std::optional<SmallVector<GridAxis>> tegula::gridAxesOf(const PairCondition &condition) {
  llvm::SetVector<Value> outside;
  DenseSet<Operation *> seen;
  for (Value conjunct : condition.conjuncts)
    if (!addOutside(conjunct, *condition.region, outside, seen))
      return std::nullopt;
  AxisFinder finder;
  for (Value value : outside)
    if (!finder.add(value))
      return std::nullopt;
  SmallVector<GridAxis> axes = finder.axes();
  // The table has one row for each tile.
  bool isPerTile = llvm::any_of(axes, [&](const GridAxis &axis) { return axis.index == condition.tile; });
  return isPerTile ? std::nullopt : std::optional(axes);
}

void tegula::writeClassesProgram(KernelOp kernel, const PairCondition &condition, ArrayRef<GridAxis> axes) { Writer(kernel, condition, axes).write(); }
