// Matrix ops, what is computed between them, and stores.
//
// Awaits stand before the first use of a result; a slot is released behind the await of the last matrix op that reads it.
#include "passes/schedule/ConsumerRole.h"
#include "passes/attention/ChooseSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tegula;

/// Whether a matrix op reads the value as its left operand, directly or carried by a block loop.
static bool reachesLeftOperand(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto loop = dyn_cast<tile::ForBlocksOp>(user)) // operands: lower, upper, then one for each carried value
      return reachesLeftOperand(loop.getIterArgs()[use.getOperandNumber() - 2]);
    if (isa<tile::YieldOp>(user)) {
      auto loop = dyn_cast<tile::ForBlocksOp>(user->getParentOp());
      return loop && llvm::any_of(loop.getIterArgs()[use.getOperandNumber()].getUses(), isDotOperand);
    }
    return isDotOperand(use);
  });
}

/// Weights on their way to a matrix op: a rounding whose result is a left operand.
static bool isPack(Operation &op) {
  return isa<arith::TruncFOp>(op) && isEncoded(op.getResult(0).getType()) && reachesLeftOperand(op.getResult(0));
}

LogicalResult ConsumerRole::emit(Operation &op) {
  if (failed(emitOp(op)))
    return failure();
  for (auto &[tile, slot] : slots)
    if (slot.last == &op)
      slot.last = nullptr;
  for (Rest &rest : rests)
    if (rest.last == &op)
      rest.last = nullptr;
  releaseUnread();
  passOverRest();
  return success();
}

LogicalResult ConsumerRole::emitOp(Operation &op) {
  if (auto load = dyn_cast<tile::LoadOp>(op); load && (feedsMatrixOps(load) || (pipelined && load.getStages())) && (!queryInRegisters || !isEncoded(load.getTile().getType()))) {
    if (map.contains(load.getTile())) // it may have been taken for its note
      return success();
    if (tile::ForBlocksOp blocks = pipelined ? begunBy(load) : tile::ForBlocksOp(); blocks && failed(passOverFront(blocks, load.getIndices()[load.getAxes()[0]])))
      return failure();
    take(load);
    return success();
  }
  if (isa<tile::ListBlocksOp>(op))
    return success(); // notes tell of it
  if (isa<tile::VisitOp>(op) && pipelined)
    return success(); // the producer counts for all
  if (auto listed = dyn_cast<tile::ListedBlockOp>(op))
    return readNote(listed);
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    issue(dot);
    return success();
  }
  if (auto zero = dyn_cast<tile::ZeroUnseenOp>(op)) {
    zeroUnseen(zero);
    return success();
  }
  if (isPack(op)) {
    awaitFragmentReaders(op.getBlock());
    awaitOperands(op);
    Value packed = warp::PackOp::create(b, op.getLoc(), op.getResult(0).getType(), map.lookup(op.getOperand(0)));
    map.map(op.getResult(0), packed);
    return success();
  }
  SmallVector<std::pair<Value, Value>> read;
  if (hasRegistersFor(op)) // beside the product that is waited for
    read = readSlots(op);
  awaitOperands(op);
  if (read.empty())
    read = readSlots(op);
  llvm::scope_exit restore([&] { // another reader reads again, as registers are few
    for (auto [tile, slot] : read)
      map.map(tile, slot);
  });
  if (auto blocks = dyn_cast<tile::ForBlocksOp>(op))
    return blockLoop(blocks);
  if (auto redo = dyn_cast<tile::RedoOp>(op))
    return storeOrMark(redo);
  if (auto rows = dyn_cast<tile::RowSpanOp>(op)) {
    Value group = warp::WarpgroupOp::create(b, op.getLoc(), b.getI64Type());
    Value size = arith::ConstantOp::create(b, op.getLoc(), b.getI64IntegerAttr(tile::warpgroupRows));
    mapRowSpan(rows, map, arith::MulIOp::create(b, op.getLoc(), group, size), tile::warpgroupRows);
    return success();
  }
  b.clone(op, map);
  return success();
}

/// Whether a thread has registers for tiles in slots that the op reads beside all that the widest point of a block's code holds (see consumerRegisters).
bool ConsumerRole::hasRegistersFor(Operation &op) const {
  int64_t words = 0, valueDim = 0; // of a thread
  for (Value operand : op.getOperands())
    if (auto load = operand.getDefiningOp<tile::LoadOp>(); load && load.getStages())
      words += load.getType().getDimSize(1) / 2 * load.getType().getElementTypeBitWidth() / 32;
  if (words == 0)
    return false;
  op.getParentOfType<tile::KernelOp>()->walk([&](tile::DotOp dot) {
    if (dot.getAcc())
      valueDim = std::max(valueDim, cast<RankedTensorType>(dot.getResult().getType()).getDimSize(1));
  });
  AttentionShape shape{0, valueDim, 16};
  shape.computesScores = true;
  constexpr int64_t places = 8; // of columns in a panel
  return consumerRegisters(schedule, shape) + words + places <= static_cast<int64_t>(schedule.getConsumerRegisters());
}

/// Tiles in slots that elementwise code reads, in registers: gives them with their slots.
SmallVector<std::pair<Value, Value>> ConsumerRole::readSlots(Operation &op) {
  SmallVector<std::pair<Value, Value>> read;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      auto load = operand.getDefiningOp<tile::LoadOp>();
      Value slot = load && load.getStages() ? map.lookupOrNull(operand) : Value();
      if (!slot || !isa<warp::SlotType>(slot.getType()))
        continue;
      map.map(operand, warp::ReadOp::create(b, op.getLoc(), load.getType(), slot).getResult());
      read.push_back({operand, slot});
    }
  });
  return read;
}

LogicalResult ConsumerRole::blockLoop(tile::ForBlocksOp blocks) {
  if (pipelined && failed(passOverFront(blocks, blocks.getLower())))
    return failure();
  Value upper = pipelined ? boundByOwnRows(blocks) : map.lookup(blocks.getUpper());
  SmallVector<Value> inits;
  for (Value init : blocks.getInits())
    inits.push_back(map.lookup(init));
  Block &body = blocks.getBody().front();
  auto result = loop(blocks, upper, inits, [&](ValueRange carried) -> FailureOr<SmallVector<Value>> {
    for (auto [argument, value] : llvm::zip(blocks.getIterArgs(), carried))
      map.map(argument, value);
    Block::iterator rest = body.begin();
    tile::ListedBlockOp parted = partedBlock(blocks);
    for (; parted && &*rest != parted->getNextNode(); ++rest)
      if (failed(emit(*rest)))
        return failure();
    auto emitRest = [&]() -> FailureOr<SmallVector<Value>> {
      for (Operation &inner : llvm::make_range(rest, std::prev(body.end())))
        if (failed(emit(inner)))
          return failure();
      awaitOperands(*body.getTerminator());
      finishBlock(body);
      return llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value value) { return map.lookup(value); });
    };
    return parted ? unlessHidden(parted, carried, emitRest) : emitRest();
  });
  if (!result)
    return failure();
  for (auto [old, value] : llvm::zip(blocks.getResults(), result.getResults()))
    map.map(old, value);
  return success();
}

/// Where the loop ends for this warpgroup's rows: before its first block if they all lie past the tile's last row.
Value ConsumerRole::boundByOwnRows(tile::ForBlocksOp blocks) {
  Location loc = blocks.getLoc();
  IRMapping whole;
  Value upper = map.lookup(blocks.getUpper()), tile = forWholeTile(blocks.getUpper(), whole);
  if (upper != tile) {
    upper = arith::MinSIOp::create(b, loc, upper, tile);
    map.map(blocks.getUpper(), upper);
  }
  if (Value exist = rowsExist(blocks))
    upper = arith::SelectOp::create(b, loc, exist, upper, map.lookup(blocks.getLower()));
  if (upper != tile)
    leaveRest(blocks, upper, tile);
  return upper;
}

/// Whether the first of this warpgroup's rows exists; null where that is not asked or not known: lengths are multiples of powers of two more often than not, and then so many warpgroups have rows
/// in each tile; to ask takes 0.4 to 2 % of a causal kernel's time, and of any kernel's with small heads.
Value ConsumerRole::rowsExist(tile::ForBlocksOp blocks) {
  auto kernel = blocks->getParentOfType<tile::KernelOp>();
  if (llvm::isPowerOf2_64(consumers) || blocks.getUpper().getDefiningOp<tile::ListBlocksOp>())
    return {};
  for (auto load : kernel.getBody().front().getOps<tile::LoadOp>()) {
    std::optional<unsigned> ring = rings.of(load);
    if (!ring || rings.rings[*ring].copies == 1)
      continue;
    if (load.getType().getDimSize(1) <= 64)
      return {};
    OpFoldResult rows = kernel.getExtent(load.getMemory(), load.getAxes()[0]);
    Value row = map.lookupOrNull(load.getIndices()[load.getAxes()[0]]), end = dyn_cast_or_null<Value>(rows);
    if (row && load.getShift())
      row = arith::ShRSIOp::create(b, blocks.getLoc(), row, map.lookup(load.getShift()));
    bool storesOthers = kernel.walk([&](tile::StoreOp store) {
      return kernel.getExtent(store.getMemory(), store.getAxes()[0]) == rows ? WalkResult::advance() : WalkResult::interrupt();
    }).wasInterrupted();
    if (!row || !end || storesOthers)
      return {};
    return arith::CmpIOp::create(b, blocks.getLoc(), arith::CmpIPredicate::slt, row, map.lookup(end));
  }
  return {};
}

/// The last op of the load's block that reads the tile, or that has such an op in it.
static Operation *lastReader(tile::LoadOp load, Value tile) {
  Operation *last = load;
  for (Operation *user : tile.getUsers()) {
    Operation *here = load->getBlock()->findAncestorOpInBlock(isa<tile::ZeroUnseenOp>(user) ? *lastReader(load, user->getResult(0)) : *user);
    if (last->isBeforeInBlock(here))
      last = here;
  }
  return last;
}

void ConsumerRole::take(tile::LoadOp load) {
  Location loc = load.getLoc();
  if (!pipelined) {
    SmallVector<Value> indices;
    for (Value index : load.getIndices())
      indices.push_back(map.lookup(index));
    auto tile = load.getTile().getType();
    auto type = warp::GlobalType::get(b.getContext(), tile.getDimSize(0), tile.getDimSize(1), tile.getElementType());
    auto known = [&](Value value) { return value ? map.lookup(value) : Value(); };
    auto global = warp::GlobalOp::create(b, loc, type, map.lookup(load.getMemory()), indices, load.getAxesAttr(), known(load.getShift()), known(load.getEnd()));
    map.map(load.getTile(), global.getResult());
    return;
  }
  unsigned number = *rings.of(load);
  Rings::Ring &ring = rings.rings[number];
  Value copy = zero;
  if (ring.copies > 1)
    copy = warp::WarpgroupOp::create(b, loc, b.getI64Type());
  auto type = ring.op.getRing().getType();
  auto slotType = warp::SlotType::get(b.getContext(), type.getRows(), type.getColumns(), type.getElementType());
  Value slot = warp::WaitOp::create(b, loc, slotType, ring.op, counters[number], copy);
  map.map(load.getTile(), slot);
  slots[load.getTile()] = {number, counters[number], copy, lastReader(load, load.getTile()), {}};
  advance(number, loc);
}

/// Takes the load that carries the note ahead of its place, and reads what the producer found out (see BlockList.h).
LogicalResult ConsumerRole::readNote(tile::ListedBlockOp block) {
  Location loc = block.getLoc();
  tile::LoadOp carrier = rings.carrierOf(block);
  if (!carrier)
    return block.emitError("internal: no load of the block carries its note");
  take(carrier);
  const Slot &slot = slots[carrier.getTile()];
  tile::ListBlocksOp list = block.getListOp();
  SmallVector<Type> types(block.getFlags().empty() && list.getParts() == 0 ? 3 : 4, b.getI64Type());
  auto note = warp::ReadNoteOp::create(b, loc, types, rings.rings[slot.ring].op, slot.counter, slot.copy);
  map.map(block.getNumber(), note.getValues()[0]);
  if (!map.contains(list.getCount())) {
    map.map(list.getCount(), note.getValues()[1]);
    map.map(list.getFree(), note.getValues()[2]);
  }
  for (auto [index, flag] : llvm::enumerate(block.getFlags())) {
    Value bit = arith::AndIOp::create(b, loc, note.getValues()[3], arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(int64_t(1) << index)));
    map.map(flag, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, zero).getResult());
  }
  if (list.getParts())
    partBits[block] = note.getValues()[3];
  return success();
}

/// In the slot, under the op's condition, with a barrier of the warpgroup's own behind.
void ConsumerRole::zeroUnseen(tile::ZeroUnseenOp op) {
  Location loc = op.getLoc();
  map.map(op.getResult(), map.lookup(op.getTile()));
  if (!pipelined) {
    seen[op.getResult()] = seenPairs(op);
    return;
  }
  Value group = warp::WarpgroupOp::create(b, loc, b.getI64Type());
  Value barrier = arith::AddIOp::create(b, loc, group, arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1 + consumers)));
  OpBuilder::InsertionGuard guard(b);
  if (op.getPartial())
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, map.lookup(op.getPartial()), /*withElseRegion=*/false).thenBlock());
  auto zero = warp::ZeroUnseenOp::create(b, loc, map.lookup(op.getTile()), map.lookup(op.getFirst()), map.lookup(op.getLast()),
                                         map.lookup(op.getCols()), map.lookup(op.getEnd()));
  op.getSeen().cloneInto(&zero.getSeen(), map);
  op.getPossible().cloneInto(&zero.getPossible(), map);
  warp::SyncOp::create(b, loc, barrier, b.getI64IntegerAttr(128));
}

/// Which pairs of this warpgroup's rows and the keys of a block are visible: all, where the op's condition is false.
Value ConsumerRole::seenPairs(tile::ZeroUnseenOp op) {
  Location loc = op.getLoc();
  auto type = RankedTensorType::get({64, op.getTile().getType().getDimSize(0)}, b.getI1Type(), warp::FragmentAttr::get(b.getContext()));
  auto pairs = [&](OpBuilder &at, Location loc) -> Value {
    Value group = warp::WarpgroupOp::create(at, loc, at.getI64Type());
    Value rows = arith::MulIOp::create(at, loc, group, arith::ConstantOp::create(at, loc, at.getI64IntegerAttr(64)));
    auto mask = tile::MaskOp::create(at, loc, type, arith::AddIOp::create(at, loc, map.lookup(op.getFirst()), rows), map.lookup(op.getCols()));
    op.getSeen().cloneInto(&mask.getBody(), map);
    Block &body = mask.getBody().front();
    Operation *yield = body.getTerminator();
    OpBuilder inside(yield);
    Value exists = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::slt, body.getArgument(0), map.lookup(op.getLast()));
    yield->setOperand(0, arith::AndIOp::create(inside, loc, yield->getOperand(0), exists));
    return mask;
  };
  if (!op.getPartial())
    return pairs(b, loc);
  return scf::IfOp::create(
             b, loc, map.lookup(op.getPartial()), [&](OpBuilder &at, Location loc) { scf::YieldOp::create(at, loc, pairs(at, loc)); },
             [&](OpBuilder &at, Location loc) {
               scf::YieldOp::create(at, loc, arith::ConstantOp::create(at, loc, DenseElementsAttr::get(type, true)).getResult());
             })
      .getResult(0);
}

void ConsumerRole::issue(tile::DotOp dot) {
  ++matrixOps;
  if (dot.getAcc())
    awaitValue(dot.getAcc());
  awaitValue(dot.getLhs());
  auto tile = cast<RankedTensorType>(dot.getResult().getType());
  Value acc = dot.getAcc() ? map.lookup(dot.getAcc()) : Value();
  pending[dot.getResult()] = warp::MmaOp::create(b, dot.getLoc(), warp::PendingType::get(b.getContext(), tile), map.lookup(dot.getLhs()),
                                                 map.lookup(dot.getRhs()), acc, seen.lookup(dot.getRhs()), pipelined ? map.lookupOrNull(dot.getHalf()) : Value(), dot.getTransposeB());
  for (Value operand : {dot.getLhs(), dot.getRhs()})
    if (auto it = slots.find(loadedTile(operand)); it != slots.end())
      it->second.readers.push_back(dot.getResult());
}

void ConsumerRole::awaitValue(Value value) {
  auto it = pending.find(value);
  if (it == pending.end())
    return;
  auto awaited = warp::AwaitOp::create(b, value.getLoc(), cast<RankedTensorType>(value.getType()), it->second, IntegerAttr());
  map.map(value, awaited.getTile());
  pending.erase(it);
  for (auto &[tile, slot] : slots)
    llvm::erase(slot.readers, value);
  releaseUnread();
}

/// Releases the slots that no matrix op reads any more, running or to come.
void ConsumerRole::releaseUnread() {
  slots.remove_if([&](auto &entry) {
    auto &[tile, slot] = entry;
    if (slot.last || !slot.readers.empty())
      return false;
    warp::ReleaseOp::create(b, tile.getLoc(), rings.rings[slot.ring].op, slot.counter, slot.copy);
    return true;
  });
}

void ConsumerRole::awaitOperands(Operation &op) {
  SmallVector<Value> used(op.getOperands());
  op.walk([&](Operation *inner) { used.append(inner->operand_begin(), inner->operand_end()); });
  for (Value value : used)
    awaitValue(value);
}

/// Awaits every matrix op of this block that still reads a fragment, before the registers of the next one are written.
void ConsumerRole::awaitFragmentReaders(Block *block) {
  SmallVector<Value> running;
  for (auto &[value, op] : pending)
    if (value.getParentBlock() == block && isEncoded(cast<warp::MmaOp>(op.getDefiningOp()).getLhs().getType()))
      running.push_back(value);
  for (Value value : running)
    awaitValue(value);
}

void ConsumerRole::finishBlock(Block &block) {
  SmallVector<Value> left;
  for (auto &[value, op] : pending)
    if (value.getParentBlock() == &block)
      left.push_back(value);
  for (Value value : left)
    awaitValue(value);
}
