// tegula-stage-tables: tables of pairs come by blocks, as keys and values do.
//
// In: maps and masks in block loops that look a table up at each element's own place. Out: tiles of the table as loads with stages, which maps take as inputs. The one idea: a block of such a table
// is an operand like any other, so that the producer brings it while the block before is worked on.
#include "codegen/Target.h"
#include "passes/Passes.h"
#include "passes/attention/PairTables.h"
#include "passes/lower/MaskedMap.h"
#include "passes/schedule/Rings.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

namespace tegula {
#define GEN_PASS_DEF_STAGETABLESPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// Bytes of one slot of a tile.
int64_t slotBytes(RankedTensorType tile) {
  return tile.getDimSize(0) * warp::panelsOf(tile.getDimSize(1), tile.getElementType()) * warp::panelBytes;
}

/// Bytes of the rings of matrix operands.
int64_t operandBytes(KernelOp kernel, ScheduleAttr schedule) {
  llvm::DenseSet<std::pair<Value, Type>> rings;
  int64_t bytes = 0;
  kernel->walk([&](LoadOp load) {
    if (!feedsMatrixOps(load) || !rings.insert({load.getMemory(), load.getType()}).second)
      return;
    bool isLeft = llvm::any_of(load->getUses(), [](OpOperand &use) { return isa<DotOp>(use.getOwner()) && use.getOperandNumber() == 0; });
    bytes += slotBytes(load.getType()) * (isLeft ? schedule.getQStages() : schedule.getStages());
  });
  return bytes;
}

struct StageTablesPass : tegula::impl::StageTablesPassBase<StageTablesPass> {
  using StageTablesPassBase::StageTablesPassBase;

  void runOnOperation() override {
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>("schedule");
    if (!schedule || schedule.getForm() != Form::Pipelined)
      return;
    std::string message;
    const Target *record = lookupTarget(target, message);
    if (!record) {
      getOperation().emitError(message);
      return signalPassFailure();
    }
    room = record->sharedPerBlock - operandBytes(getOperation(), schedule) - barrierBytes;
    SmallVector<Operation *> all;
    getOperation()->walk([&](Operation *op) {
      if (isa<MapOp, MaskOp>(op) && op->getParentOfType<ForBlocksOp>())
        all.push_back(op);
      auto load = dyn_cast<LoadOp>(op);
      if (load && isPairTile(load) && load.getType().getDimSize(0) == static_cast<int64_t>(schedule.getBlockM()) && hasRoom(load, load.getMemory(), load.getType())) {
        load.setStages(stages.lookup({load.getMemory(), Type(load.getType())}));
        ++staged;
      }
    });
    for (Operation *op : all)
      if (auto map = dyn_cast<MapOp>(op))
        stage(map, map.getBody(), map.getInputs().size(), [&] { return map; });
      else if (auto mask = cast<MaskOp>(op); arith::SelectOp select = selectOf(mask))
        stage(mask, mask.getBody(), 0, [&] { return fuseSelect(mask, select); });
  }

private:
  static SmallVector<LookupOp> pairLookups(Region &region) {
    return llvm::to_vector(llvm::make_filter_range(region.getOps<LookupOp>(), [&](LookupOp lookup) { return readsPair(lookup, region, region.getArguments()); }));
  }

  /// `asMap` makes a map of an op that is to have inputs.
  void stage(Operation *op, Region &region, unsigned numInputs, function_ref<MapOp()> asMap) {
    SmallVector<LookupOp> lookups = pairLookups(region);
    if (lookups.empty() || region.getNumArguments() != numInputs + 2)
      return;
    auto loop = dyn_cast<ForBlocksOp>(op->getParentOp());
    if (!loop)
      return report(lookups.front(), lookups.front().getTable(), "it is not read in each block");
    if (llvm::any_of(lookups, [&](LookupOp lookup) { return !fits(lookup, op, loop); }))
      return;
    MapOp map = asMap();
    for (LookupOp lookup : pairLookups(map.getBody()))
      replace(map, lookup);
    eraseDead(map.getBody().front());
  }

  void report(Operation *op, Value table, const Twine &why) {
    auto argument = cast<BlockArgument>(table);
    auto name = getOperation().getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name");
    remark::missed(op->getLoc(), remark::RemarkOpts::name("table").category("schedule").function(getOperation().getSymName()))
        << ("table `" + (name ? name.getValue() : "") + "` is read from global memory by each thread: " + why).str();
  }

  /// Whether the table's tile may stand for the lookups, and a ring for it has room.
  bool fits(LookupOp lookup, Operation *op, ForBlocksOp loop) {
    int64_t rank = lookup.getIndices().size();
    auto [rows, cols] = placeOf(op);
    if (loop->isAncestor(rows.getParentRegion()->getParentOp()) || !hasExtents(lookup, rank, rows, cols)) {
      report(lookup, lookup.getTable(), "its rows and columns are not those of the queries and keys");
      return false;
    }
    return hasRoom(lookup, lookup.getTable(), tileOf(lookup, op));
  }

  /// Whether a ring of such tiles fits; notes how many stages it gets.
  bool hasRoom(Operation *op, Value table, RankedTensorType tile) {
    auto key = std::make_pair(table, Type(tile));
    if (stages.contains(key))
      return true;
    int64_t bytes = slotBytes(tile), count = bytes * mostStages <= room ? mostStages : room / bytes;
    if (count <= 0) {
      report(op, table, "a tile of it takes " + Twine(bytes) + " bytes, but " + Twine(std::max<int64_t>(room, 0)) + " of shared memory are left");
      return false;
    }
    room -= bytes * count;
    stages[key] = count;
    return true;
  }

  static std::pair<Value, Value> placeOf(Operation *op) {
    if (auto map = dyn_cast<MapOp>(op))
      return {map.getRows(), map.getCols()};
    auto mask = cast<MaskOp>(op);
    return {mask.getRows(), mask.getCols()};
  }

  static RankedTensorType tileOf(LookupOp lookup, Operation *op) { return RankedTensorType::get(cast<RankedTensorType>(op->getResult(0).getType()).getShape(), lookup.getType()); }

  /// Whether the table ends where a query tile's memory does along rows, and where a key tile's does along columns: what lies past that reaches no output.
  bool hasExtents(LookupOp lookup, int64_t rank, Value rows, Value cols) {
    auto endsWith = [&](int64_t axis, Value first, unsigned operand) {
      OpFoldResult extent = getOperation().getExtent(lookup.getTable(), axis);
      return extent && getOperation()
                           ->walk([&](LoadOp load) {
                             int64_t own = load.getAxes()[0];
                             bool isOperand = llvm::any_of(load->getUses(), [&](OpOperand &use) { return isa<DotOp>(use.getOwner()) && use.getOperandNumber() == operand; });
                             bool isSame = isOperand && load.getIndices()[own] == first && getOperation().getExtent(load.getMemory(), own) == extent;
                             return isSame ? WalkResult::interrupt() : WalkResult::advance();
                           })
                           .wasInterrupted();
    };
    return endsWith(rank - 2, rows, 0) && endsWith(rank - 1, cols, 1);
  }

  void replace(MapOp map, LookupOp lookup) {
    OpBuilder b(map);
    Location loc = lookup.getLoc();
    int64_t rank = lookup.getIndices().size();
    unsigned number = map.getInputs().size();
    IRMapping ahead;
    SmallVector<Value> indices;
    for (auto [axis, index] : llvm::enumerate(lookup.getIndices().drop_back(2)))
      indices.push_back(clamped(moveAhead(index, map, b, ahead), lookup, axis, b));
    indices.append({map.getRows(), map.getCols()});
    RankedTensorType tile = tileOf(lookup, map);
    auto isSame = [&](LoadOp load) { return load->getBlock() == map->getBlock() && load.getMemory() == lookup.getTable() && llvm::equal(load.getIndices(), indices); };
    auto same = llvm::find_if(loads, isSame);
    LoadOp load = same == loads.end() ? LoadOp() : *same;
    if (!load) {
      load = LoadOp::create(b, loc, tile, lookup.getTable(), indices, b.getDenseI64ArrayAttr({rank - 2, rank - 1}));
      load.setStages(stages.lookup({lookup.getTable(), Type(tile)}));
      loads.push_back(load);
    }
    BlockArgument input = map.getBody().front().insertArgument(number, lookup.getType(), loc);
    map.getInputsMutable().append(load.getResult());
    lookup.getResult().replaceAllUsesWith(input);
    lookup.erase();
    ++staged;
  }

  /// As a lookup does: an index past an end of its axis reads there.
  Value clamped(Value index, LookupOp lookup, int64_t axis, OpBuilder &b) {
    Location loc = lookup.getLoc();
    OpFoldResult extent = getOperation().getExtent(lookup.getTable(), axis);
    if (auto id = index.getDefiningOp<ProgramIdOp>(); id && extent == OpFoldResult(id->getOperand(cast<OpResult>(index).getResultNumber())))
      return index;
    Value size = extent ? dyn_cast<Value>(extent) : Value();
    if (!size && extent)
      size = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(cast<IntegerAttr>(cast<Attribute>(extent)).getInt()));
    if (!size)
      size = ExtentOp::create(b, loc, lookup.getTable(), axis);
    Value one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1)), zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    Value last = arith::SubIOp::create(b, loc, size, one);
    return arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, index, last), zero);
  }

  /// An index that is the same for the whole tile, computed before the map.
  static Value moveAhead(Value value, MapOp map, OpBuilder &b, IRMapping &ahead) {
    Operation *op = value.getDefiningOp();
    if (!op || !map.getBody().isAncestor(op->getParentRegion()))
      return value;
    if (!ahead.contains(value)) {
      for (Value operand : op->getOperands())
        ahead.map(operand, moveAhead(operand, map, b, ahead));
      b.clone(*op, ahead);
    }
    return ahead.lookup(value);
  }

  static constexpr int64_t mostStages = 2, barrierBytes = 2048;
  int64_t room = 0; ///< of shared memory, that is left
  llvm::DenseMap<std::pair<Value, Type>, int64_t> stages;
  SmallVector<LoadOp> loads; ///< made here
};

} // namespace
