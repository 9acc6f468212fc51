// Loads of matrix operands as copies into rings, with the loops and the scalar code that their indices need.
#include "passes/schedule/ProducerRole.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tegula;

static Type slotType(warp::RingOp ring) {
  auto type = ring.getRing().getType();
  return warp::SlotType::get(type.getContext(), type.getRows(), type.getColumns(), type.getElementType());
}

LogicalResult ProducerRole::emit(Operation &op) {
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    if (std::optional<unsigned> ring = rings.of(load))
      return copy(load, *ring);
    return success();
  }
  if (auto blocks = dyn_cast<tile::ForBlocksOp>(op))
    return blockLoop(blocks);
  if (auto list = dyn_cast<tile::ListBlocksOp>(op)) {
    lists[list.getCount()] = std::make_unique<BlockList>(b, list, map);
    return success();
  }
  if (auto listed = dyn_cast<tile::ListedBlockOp>(op)) {
    tile::LoadOp carrier = rings.carrierOf(listed);
    if (!carrier)
      return listed.emitError("internal: no load of the block carries its note");
    notes[carrier] = lists.find(listed.getList())->second->next(b, listed, map);
    return success();
  }
  if (auto rows = dyn_cast<tile::RowSpanOp>(op)) {
    mapRowSpan(rows, map, zero, rows.getCount());
    return success();
  }
  if (isa<tile::VisitOp>(op)) {
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return !map.contains(operand); }))
      return op.emitError("the class of a block depends on values that its producer does not have");
    b.clone(op, map);
    return success();
  }
  bool scalar = op.getNumRegions() == 0 && (isMemoryEffectFree(&op) || isa<tile::LookupOp>(op)) && llvm::none_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
                llvm::all_of(op.getOperands(), [&](Value operand) { return map.contains(operand); });
  if (scalar && !isa<warp::WarpgroupOp>(op))
    b.clone(op, map);
  return success();
}

/// What lists and their blocks decide is carried; all else that a loop carries is the consumers'.
LogicalResult ProducerRole::blockLoop(tile::ForBlocksOp blocks) {
  bool any = blocks->walk([&](tile::LoadOp load) { return rings.of(load) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
  if (!any)
    return success();
  auto found = lists.find(blocks.getUpper());
  BlockList *list = found == lists.end() ? nullptr : found->second.get();
  SmallVector<unsigned> carried;
  SmallVector<Value> inits;
  if (list) {
    for (auto [number, init] : llvm::enumerate(blocks.getInits()))
      if (map.contains(init) && init.getType().isInteger()) {
        carried.push_back(number);
        inits.push_back(map.lookup(init));
      }
    llvm::append_range(inits, list->state);
  }
  auto result = loop(blocks, map.lookup(blocks.getUpper()), inits, [&](ValueRange values) -> FailureOr<SmallVector<Value>> {
    for (auto [number, value] : llvm::zip(carried, values))
      map.map(blocks.getIterArgs()[number], value);
    if (list)
      list->state.assign(values.begin() + carried.size(), values.end());
    for (Operation &inner : blocks.getBody().front().without_terminator())
      if (failed(emit(inner)))
        return failure();
    SmallVector<Value> next;
    for (unsigned number : carried) {
      next.push_back(map.lookupOrNull(blocks.getBody().front().getTerminator()->getOperand(number)));
      if (!next.back())
        return blocks.emitError("internal: a loop over a list of blocks carries a number that its producer does not have");
    }
    if (list)
      llvm::append_range(next, list->state);
    return next;
  });
  if (!result)
    return failure();
  for (auto [number, value] : llvm::zip(carried, result.getResults()))
    map.map(blocks.getResult(number), value);
  if (list)
    list->state.assign(result.getResults().begin() + carried.size(), result.getResults().begin() + inits.size());
  return success();
}

LogicalResult ProducerRole::copy(tile::LoadOp load, unsigned number) {
  Location loc = load.getLoc();
  Rings::Ring &ring = rings.rings[number];
  for (int64_t instance = 0; instance < ring.copies; ++instance) {
    IRMapping local;
    SmallVector<Value> indices;
    for (Value index : load.getIndices()) {
      Value value = forWarpgroup(index, instance, local);
      if (!value)
        return load.emitError("the index of a load depends on values that its producer does not have");
      indices.push_back(value);
    }
    Value shift = load.getShift() ? map.lookup(load.getShift()) : Value();
    if (shift) { // the first position of packed rows
      Value &row = indices[load.getAxes()[0]];
      row = arith::ShRSIOp::create(b, loc, row, shift);
    }
    Value which = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(instance));
    auto note = notes.find(load);
    auto slot = warp::AcquireOp::create(b, loc, slotType(ring.op), ring.op, counters[number], which);
    warp::CopyOp::create(b, loc, map.lookup(load.getMemory()), indices, load.getAxesAttr(), shift, slot, ring.op, counters[number], which);
    if (note != notes.end())
      warp::NoteOp::create(b, loc, ring.op, counters[number], which, note->second);
    warp::CommitOp::create(b, loc, ring.op, counters[number], which);
  }
  advance(number, loc);
  return success();
}

/// A scalar as warpgroup `instance` of the consumers computes it.
Value ProducerRole::forWarpgroup(Value value, int64_t instance, IRMapping &local) {
  if (Value known = local.lookupOrNull(value))
    return known;
  if (Value known = map.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (isa<warp::WarpgroupOp>(op)) {
    Value constant = arith::ConstantOp::create(b, op->getLoc(), b.getI64IntegerAttr(instance));
    local.map(value, constant);
    return constant;
  }
  if (!tile::KernelOp::isMovable(op) || op->getNumRegions() != 0)
    return {};
  for (Value operand : op->getOperands()) {
    Value mapped = forWarpgroup(operand, instance, local);
    if (!mapped)
      return {};
    local.map(operand, mapped);
  }
  b.clone(*op, local);
  return local.lookup(value);
}
