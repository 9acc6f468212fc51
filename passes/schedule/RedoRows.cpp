// Rows whose check failed: marked where they would be stored, found and computed again behind the tile loop.
//
// The mark is in the output itself, so there is always room for it, and any CTA that failed a row may take any mark: it looks at all tiles, claims one mark at a time, and runs the
// other program on the rows of its warpgroup. Behind the loop, because a second program inside it would cost the first one registers.
#include "passes/schedule/ConsumerRole.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tegula;

static constexpr int64_t groupThreads = 128;

static Value constant(OpBuilder &b, Location loc, int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }

ConsumerRole::ConsumerRole(OpBuilder &b, const IRMapping &arguments, Rings &rings, tile::ScheduleAttr schedule, tile::RedoOp redo, uint64_t &matrixOps)
    : RoleBuilder(b, arguments, rings, schedule), pipelined(schedule.getForm() == tile::Form::Pipelined),
      queryInRegisters(!pipelined && schedule.getQStages() > 0), consumers(schedule.getConsumers()), redo(redo), matrixOps(matrixOps) {
  if (redo) // whether this warpgroup has failed a row
    extras.push_back(arith::ConstantOp::create(b, redo.getLoc(), b.getBoolAttr(false)));
}

LogicalResult ConsumerRole::storeOrMark(tile::RedoOp op) {
  Location loc = op.getLoc();
  Value valid = map.lookup(op.getValid());
  auto flags = cast<RankedTensorType>(valid.getType());
  Value invalid = arith::XOrIOp::create(b, loc, valid, arith::ConstantOp::create(b, loc, DenseElementsAttr::get(flags, true)));
  for (Operation &scalar : op.getStores().front().without_terminator())
    if (!isa<tile::StoreOp>(scalar) && failed(emit(scalar)))
      return failure();
  Value isBad = warp::VoteOp::create(b, loc, b.getI1Type(), invalid);
  auto branch = scf::IfOp::create(b, loc, isBad, /*withElseRegion=*/true);
  extras.front() = arith::OrIOp::create(b, loc, extras.front(), isBad);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  mark(op);
  b.setInsertionPointToStart(branch.elseBlock());
  for (tile::StoreOp store : op.getStores().getOps<tile::StoreOp>())
    if (failed(emit(*store)))
      return failure();
  return success();
}

/// In the first output that is wanted: two marks of the same rows could be taken by two CTAs.
void ConsumerRole::mark(tile::RedoOp op) {
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(b);
  Value isMarked;
  for (tile::StoreOp store : op.getStores().getOps<tile::StoreOp>()) {
    if (isMarked)
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, isMarked, /*withElseRegion=*/true).elseBlock());
    SmallVector<Value> indices;
    for (Value index : store.getIndices())
      indices.push_back(map.lookup(index));
    if (store.getShift()) {
      Value &row = indices[store.getAxes()[0]];
      row = arith::ShRSIOp::create(b, loc, row, map.lookup(store.getShift()));
    }
    isMarked = warp::MarkOp::create(b, loc, b.getI1Type(), map.lookup(store.getMemory()), indices);
  }
}

LogicalResult ConsumerRole::finishTiles(const TileNumbers &numbers) {
  if (!redo)
    return success();
  auto branch = scf::IfOp::create(b, redo.getLoc(), extras.front(), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  return redoMarked(numbers);
}

/// The value at a place that has the program's arguments alone: scalar code is cloned as far as `local` lacks it.
static Value rematerialise(OpBuilder &b, Value value, IRMapping &local) {
  if (Value known = local.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return {};
  for (Value operand : op->getOperands())
    if (!rematerialise(b, operand, local))
      return {};
  b.clone(*op, local);
  return local.lookup(value);
}

/// Whether `test` holds for some output's mark of a tile; null where a mark's place is not scalar code. The mark is at the first row that the warpgroup has; packed rows have a shift and an end.
Value ConsumerRole::forEachMark(const TileNumbers &numbers, Value number, function_ref<Value(tile::StoreOp, const MarkPlace &)> test) {
  Location loc = redo.getLoc();
  auto kernel = cast<tile::KernelOp>(redo->getParentOp());
  auto id = *kernel.getBody().front().getOps<tile::ProgramIdOp>().begin();
  IRMapping local = arguments;
  for (auto [index, value] : llvm::zip(id.getIndices(), numbers.decode(b, loc, number)))
    local.map(index, value);
  Value any = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  for (tile::StoreOp store : redo.getStores().getOps<tile::StoreOp>()) {
    MarkPlace place;
    for (Value index : store.getIndices()) {
      place.indices.push_back(rematerialise(b, index, local));
      if (!place.indices.back())
        return {};
    }
    if (store.getShift()) {
      place.shift = rematerialise(b, store.getShift(), local), place.end = rematerialise(b, store.getEnd(), local);
      if (!place.shift || !place.end)
        return {};
      Value &row = place.indices[store.getAxes()[0]];
      row = arith::ShRSIOp::create(b, loc, row, place.shift);
    }
    any = arith::OrIOp::create(b, loc, any, test(store, place));
  }
  return any;
}

/// Looks at 128 tiles at a time, one a thread.
LogicalResult ConsumerRole::redoMarked(const TileNumbers &numbers) {
  Location loc = redo.getLoc();
  Value none = constant(b, loc, 0), one = constant(b, loc, 1), many = constant(b, loc, groupThreads), total = numbers.total();
  // The warpgroup's first thread writes its marks, and all look for them: a barrier between.
  warp::VoteOp::create(b, loc, b.getI1Type(), extras.front());
  Value thread = warp::ThreadOp::create(b, loc, b.getI64Type());
  auto scan = scf::ForOp::create(b, loc, none, total, many);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(scan.getBody()->getTerminator());
  Value first = scan.getInductionVar(), mine = arith::AddIOp::create(b, loc, first, thread);
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, mine, total);
  Value marked = forEachMark(numbers, arith::SelectOp::create(b, loc, exists, mine, first), [&](tile::StoreOp store, const MarkPlace &place) -> Value {
    return warp::IsMarkedOp::create(b, loc, b.getI1Type(), map.lookup(store.getMemory()), place.indices);
  });
  if (!marked)
    return redo.emitError("the place of a store depends on more than the tile's number");
  Value some = warp::VoteOp::create(b, loc, b.getI1Type(), arith::AndIOp::create(b, loc, marked, exists));
  b.setInsertionPointToStart(scf::IfOp::create(b, loc, some, /*withElseRegion=*/false).thenBlock());
  auto each = scf::ForOp::create(b, loc, first, arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, first, many), total), one);
  b.setInsertionPoint(each.getBody()->getTerminator());
  Value isMine = forEachMark(numbers, each.getInductionVar(), [&](tile::StoreOp store, const MarkPlace &place) -> Value {
    return warp::ClaimOp::create(b, loc, b.getI1Type(), map.lookup(store.getMemory()), place.indices, b.getI64IntegerAttr(store.getAxes()[0]), place.shift, place.end);
  });
  b.setInsertionPointToStart(scf::IfOp::create(b, loc, isMine, /*withElseRegion=*/false).thenBlock());
  return redoTile(numbers, each.getInductionVar());
}

LogicalResult ConsumerRole::redoTile(const TileNumbers &numbers, Value number) {
  auto kernel = cast<tile::KernelOp>(redo->getParentOp());
  auto other = cast<tile::KernelOp>(SymbolTable::lookupNearestSymbolFrom(kernel->getParentOp(), redo.getProgramAttr()));
  IRMapping itsArguments;
  for (auto [from, to] : llvm::zip(other.getArguments(), kernel.getArguments()))
    itsArguments.map(from, arguments.lookup(to));
  Rings none(other, other->getAttrOfType<tile::ScheduleAttr>("schedule"));
  none.rings.clear();
  ConsumerRole role(b, itsArguments, none, other->getAttrOfType<tile::ScheduleAttr>("schedule"), tile::RedoOp(), matrixOps);
  return role.buildProgram(other, numbers, number);
}
