// tegula-hoist-rows: what depends on the row alone and reads a table is computed once a tile.
//
// In: maps and masks in block loops. Out: the same with inputs of one value a row, made by maps ahead of the loops. The one idea: a row's values cost a register or two of a thread, and save a load
// for each block.
#include "passes/Passes.h"
#include "passes/lower/MaskedMap.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

namespace tegula {
#define GEN_PASS_DEF_HOISTROWSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// What a region computes of its row and of values from ahead of the loops.
class RowCode {
public:
  RowCode(KernelOp kernel, Region &region, Value row, Operation *loop) : region(region) {
    for (Operation &op : region.front().without_terminator()) {
      auto isKnown = [&](Value operand) { return operand == row || code.contains(operand.getDefiningOp()) || isAhead(operand, loop); };
      auto lookup = dyn_cast<LookupOp>(op);
      bool isScalar = op.getNumRegions() == 0 && op.getNumResults() == 1 && llvm::all_of(op.getOperands(), isKnown);
      if (!isScalar || !(lookup ? kernel.isTable(lookup.getTable()) : isMemoryEffectFree(&op) && isSpeculatable(&op)))
        continue;
      code.insert(&op);
      bool isLong = lookup || isa<math::MathDialect>(op.getDialect());
      if (isLong || llvm::any_of(op.getOperands(), [&](Value operand) { return worth.contains(operand.getDefiningOp()); }))
        worth.insert(&op);
    }
  }

  /// The values that are worth to be computed ahead and that the rest reads.
  llvm::SetVector<Value> results() {
    llvm::SetVector<Value> found;
    region.walk([&](Operation *op) {
      if (!code.contains(op))
        for (Value operand : op->getOperands())
          add(found, operand);
    });
    return found;
  }

private:
  static bool isAhead(Value value, Operation *loop) { return !loop->isAncestor(value.getParentRegion()->getParentOp()); }

  /// Values of 64 bits would lose what is known of their ranges, flags are no words: what they are computed of, instead.
  void add(llvm::SetVector<Value> &found, Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !worth.contains(op))
      return;
    unsigned bits = value.getType().getIntOrFloatBitWidth();
    if (bits > 1 && bits <= 32)
      found.insert(value);
    else
      for (Value operand : op->getOperands())
        add(found, operand);
  }

  Region &region;
  llvm::SmallPtrSet<Operation *, 8> code, worth;
};

struct HoistRowsPass : tegula::impl::HoistRowsPassBase<HoistRowsPass> {
  using HoistRowsPassBase::HoistRowsPassBase;

  void runOnOperation() override {
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>("schedule");
    if (!schedule || schedule.getForm() == Form::Sequential)
      return;
    SmallVector<Operation *> all;
    getOperation()->walk([&](Operation *op) {
      if (isa<MapOp, MaskOp>(op) && op->getParentOfType<ForBlocksOp>())
        all.push_back(op);
    });
    int64_t count = 0;
    for (Operation *op : all)
      if (auto map = dyn_cast<MapOp>(op))
        hoist(map, map.getRows(), map.getBody(), map.getInputs().size(), count, [&] { return map; });
      else if (auto mask = cast<MaskOp>(op); arith::SelectOp select = isa<ForBlocksOp>(op->getParentOp()) ? selectOf(mask) : arith::SelectOp())
        hoist(mask, mask.getRows(), mask.getBody(), 0, count, [&] { return fuseSelect(mask, select); });
  }

private:
  /// `row` is the region's first index. `asMap` makes a map of an op that is to have inputs.
  void hoist(Operation *op, Value rows, Region &region, unsigned row, int64_t &count, function_ref<MapOp()> asMap) {
    Operation *loop = op->getParentOfType<ForBlocksOp>();
    while (auto outer = loop->getParentOfType<ForBlocksOp>())
      loop = outer;
    if (loop->isAncestor(rows.getParentRegion()->getParentOp()))
      return;
    int64_t found = RowCode(getOperation(), region, region.getArgument(row), loop).results().size();
    if (found == 0 || count + found > mostValues)
      return;
    MapOp map = asMap();
    Block &body = map.getBody().front();
    SmallVector<Value> values = RowCode(getOperation(), map.getBody(), body.getArgument(map.getInputs().size()), loop).results().takeVector(), ahead;
    for (Value value : values)
      ahead.push_back(computeAhead(map, value, loop));
    for (auto [value, rows] : llvm::zip(values, ahead)) {
      value.replaceAllUsesWith(body.insertArgument(map.getInputs().size(), value.getType(), value.getLoc()));
      map.getInputsMutable().append(rows);
    }
    eraseDead(body);
    count += found, hoisted += found;
  }

  static Value computeAhead(MapOp map, Value value, Operation *loop) {
    Block &body = map.getBody().front();
    OpBuilder b(loop);
    Location loc = value.getLoc();
    auto type = RankedTensorType::get({map.getResult().getType().getDimSize(0)}, value.getType());
    auto ahead = MapOp::create(b, loc, type, ValueRange(), map.getRows(), Value());
    Block *code = b.createBlock(&ahead.getBody(), {}, {b.getI64Type()}, {loc});
    IRMapping values;
    values.map(body.getArgument(map.getInputs().size()), code->getArgument(0));
    llvm::SetVector<Operation *> needed;
    collect(value.getDefiningOp(), map.getBody(), needed);
    for (Operation &op : body.without_terminator())
      if (needed.contains(&op))
        b.clone(op, values);
    YieldOp::create(b, loc, values.lookup(value));
    return ahead.getResult();
  }

  static void collect(Operation *op, Region &region, llvm::SetVector<Operation *> &needed) {
    if (!op || !region.isAncestor(op->getParentRegion()) || !needed.insert(op))
      return;
    for (Value operand : op->getOperands())
      collect(operand.getDefiningOp(), region, needed);
  }
};

} // namespace
