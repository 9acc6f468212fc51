// Blocks that some warpgroups of a tile need and others do not.
//
// A ring's slot is filled again when all warpgroups have released it, so one that starts late waits for and releases what is ahead of its first block, and one that ends early what is left, while
// it holds no slot that the producer needs to go on; and one whose rows see nothing of a listed block, that block's.
#include "passes/schedule/ConsumerRole.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tegula;

/// A scalar as the producer computes it, for all rows of the tile; what is the same for each warpgroup stays what it is.
Value ConsumerRole::forWholeTile(Value value, IRMapping &whole) {
  if (Value known = whole.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (auto rows = dyn_cast_or_null<tile::RowSpanOp>(op)) {
    mapRowSpan(rows, whole, zero, rows.getCount());
    return whole.lookup(value);
  }
  Value here = map.lookup(value);
  if (!op || !tile::KernelOp::isMovable(op) || op->getNumRegions() != 0)
    return here;
  IRMapping operands;
  bool differs = false;
  for (Value operand : op->getOperands()) {
    operands.map(operand, forWholeTile(operand, whole));
    differs |= operands.lookup(operand) != map.lookup(operand);
  }
  if (!differs) {
    whole.map(value, here);
    return here;
  }
  Operation *copy = b.clone(*op, operands);
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
    whole.map(from, to);
  return whole.lookup(value);
}

/// The rings that a loop's blocks take slots of, in the order of their loads.
SmallVector<unsigned> ConsumerRole::ringsOf(tile::ForBlocksOp blocks) const {
  SmallVector<unsigned> numbers;
  for (auto load : blocks.getBody().front().getOps<tile::LoadOp>())
    if (std::optional<unsigned> ring = rings.of(load))
      numbers.push_back(*ring);
  return numbers;
}

/// The first key of a load's rows, which is a block's number.
static Value rowOf(tile::LoadOp load) { return load.getIndices()[load.getAxes()[0]]; }

/// The loop that begins with a load of its first block ahead of it, if `load` is that.
tile::ForBlocksOp ConsumerRole::begunBy(tile::LoadOp load) const {
  std::optional<unsigned> ring = rings.of(load);
  for (Operation *op = load->getNextNode(); ring && op; op = op->getNextNode()) {
    auto blocks = dyn_cast<tile::ForBlocksOp>(op);
    if (!blocks)
      continue;
    auto second = blocks.getLower().getDefiningOp<arith::AddIOp>();
    APInt step;
    bool isFirst = second && second.getLhs() == rowOf(load) && matchPattern(second.getRhs(), m_ConstantInt(&step)) && step == blocks.getStep();
    return isFirst && llvm::is_contained(ringsOf(blocks), *ring) ? blocks : tile::ForBlocksOp();
  }
  return {};
}

/// Passes over the tile's blocks ahead of `first`, where this warpgroup starts, unless that is done.
LogicalResult ConsumerRole::passOverFront(tile::ForBlocksOp blocks, Value first) {
  if (!begun.insert(blocks).second)
    return success();
  IRMapping whole;
  Value own = map.lookup(first), tile = forWholeTile(first, whole);
  SmallVector<unsigned> numbers = ringsOf(blocks);
  if (own == tile || numbers.empty())
    return success();
  auto isOurs = [&](unsigned ring) { return llvm::is_contained(numbers, ring); };
  // What came before must be over: its slots are released, and what it left is passed over.
  SmallVector<Value> readers;
  for (auto &[loaded, slot] : slots)
    if (isOurs(slot.ring))
      llvm::append_range(readers, slot.readers);
  for (Value reader : readers)
    awaitValue(reader);
  passOverRest();
  bool inUse = llvm::any_of(slots, [&](auto &entry) { return isOurs(entry.second.ring); }) || llvm::any_of(rests, [&](Rest &rest) { return llvm::any_of(rest.rings, isOurs); });
  // A load that is behind another loop may be of the other's last block.
  bool isTaken = first == blocks.getLower() && llvm::any_of(llvm::make_range(blocks->getBlock()->begin(), blocks->getIterator()), [&](Operation &op) {
    auto load = dyn_cast<tile::LoadOp>(op);
    std::optional<unsigned> ring = load ? rings.of(load) : std::nullopt;
    return ring && isOurs(*ring);
  });
  if (inUse || isTaken)
    return blocks.emitError("internal: warpgroups of a tile start at different blocks, but not all of them at the first slots of their rings");
  passOver(blocks.getLoc(), numbers, tile, own, blocks.getStep());
  for (unsigned ring : numbers) // how long that loop is, the machine cannot know to be the same for a warp
    counters[ring] = warp::UniformOp::create(b, blocks.getLoc(), b.getI64Type(), counters[ring]);
  return success();
}

/// Notes what is left of `blocks` behind `upper`.
void ConsumerRole::leaveRest(tile::ForBlocksOp blocks, Value upper, Value wholeUpper) {
  Location loc = blocks.getLoc();
  auto constant = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
  Rest rest{ringsOf(blocks), static_cast<int64_t>(blocks.getStep()), {}, wholeUpper, blocks};
  if (rest.rings.empty())
    return;
  Value lower = map.lookup(blocks.getLower()), span = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, upper, lower), zero);
  Value step = constant(rest.step), padded = arith::AddIOp::create(b, loc, span, constant(rest.step - 1)), count = arith::DivUIOp::create(b, loc, padded, step);
  rest.from = arith::AddIOp::create(b, loc, lower, arith::MulIOp::create(b, loc, count, step));
  // Loads behind the loop, as of the values of its last block, come first.
  for (Operation &op : llvm::make_range(std::next(blocks->getIterator()), blocks->getBlock()->end())) {
    if (op.getNumRegions() != 0)
      break;
    auto load = dyn_cast<tile::LoadOp>(op);
    if (load && llvm::is_contained(rest.rings, rings.of(load)))
      rest.last = load;
  }
  rests.push_back(rest);
}

/// Passes over each rest whose rings have no slot in use any more.
void ConsumerRole::passOverRest() {
  llvm::erase_if(rests, [&](Rest &rest) {
    bool inUse = llvm::any_of(slots, [&](auto &entry) { return llvm::is_contained(rest.rings, entry.second.ring); });
    if (rest.last || inUse)
      return false;
    passOver(rest.to.getLoc(), rest.rings, rest.from, rest.to, rest.step);
    return true;
  });
}

/// Waits for a slot and releases it.
void ConsumerRole::passOverSlot(OpBuilder &at, Location loc, unsigned number, Value counter) {
  warp::RingOp ring = rings.rings[number].op;
  auto type = ring.getRing().getType();
  auto slot = warp::SlotType::get(at.getContext(), type.getRows(), type.getColumns(), type.getElementType());
  Value copy = ring.getCopies() > 1 ? warp::WarpgroupOp::create(at, loc, at.getI64Type()).getResult() : zero;
  warp::WaitOp::create(at, loc, slot, ring, counter, copy);
  warp::ReleaseOp::create(at, loc, ring, counter, copy);
}

/// Waits for and releases a slot of each ring for each block from `from` on and before `to`.
void ConsumerRole::passOver(Location loc, ArrayRef<unsigned> numbers, Value from, Value to, int64_t step) {
  SmallVector<Value> inits;
  for (unsigned number : numbers)
    inits.push_back(counters[number]);
  auto loop = scf::ForOp::create(b, loc, from, to, arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(step)), inits, [&](OpBuilder &inner, Location, Value, ValueRange carried) {
    SmallVector<Value> next;
    Value one = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(1));
    for (auto [number, counter] : llvm::zip(numbers, carried)) {
      passOverSlot(inner, loc, number, counter);
      next.push_back(arith::AddIOp::create(inner, loc, counter, one));
    }
    scf::YieldOp::create(inner, loc, next);
  });
  for (auto [number, counter] : llvm::zip(numbers, loop.getResults()))
    counters[number] = counter;
}

/// The listed block that the loop's body begins with, if its note tells to which warpgroups' rows it matters, and nothing of another block is in flight there.
tile::ListedBlockOp ConsumerRole::partedBlock(tile::ForBlocksOp blocks) const {
  auto listed = blocks.getBody().front().getOps<tile::ListedBlockOp>();
  bool isParted = pipelined && consumers > 1 && !schedule.getOverlap() && llvm::hasSingleElement(listed) && (*listed.begin()).getListOp().getParts() == consumers;
  return isParted ? *listed.begin() : tile::ListedBlockOp();
}

/// Whether a listed block matters to this warpgroup's rows; those that come first do to all.
Value ConsumerRole::mattersToOwnRows(tile::ListedBlockOp block) {
  Location loc = block.getLoc();
  auto constant = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
  Value group = warp::WarpgroupOp::create(b, loc, b.getI64Type()), mask = arith::ShLIOp::create(b, loc, constant(int64_t(1) << block.getFlags().size()), group);
  Value bit = arith::AndIOp::create(b, loc, partBits.lookup(block), mask), matters = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, zero);
  tile::ListBlocksOp list = block.getListOp();
  if (list.getNumFlags() == 0)
    return matters;
  Value isFree = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, map.lookup(block.getPlace()), map.lookup(list.getFree()));
  return arith::OrIOp::create(b, loc, isFree, matters);
}

/// What `fill` does for a block behind its note, in a branch: where the block does not matter to this warpgroup's rows, it only takes the block's slots, and what the loop carries stays.
FailureOr<SmallVector<Value>> ConsumerRole::unlessHidden(tile::ListedBlockOp block, ValueRange carried, function_ref<FailureOr<SmallVector<Value>>()> fill) {
  Location loc = block.getLoc();
  if (!pending.empty())
    return block.emitError("internal: matrix ops are in flight where warpgroups of a tile leave a block out");
  tile::LoadOp carrier = rings.carrierOf(block);
  Slot noted = slots[carrier.getTile()];
  SmallVector<Value> ahead(counters);
  auto branch = scf::IfOp::create(b, loc, ValueRange(carried).getTypes(), mattersToOwnRows(block), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  FailureOr<SmallVector<Value>> next = fill();
  if (failed(next))
    return failure();
  scf::YieldOp::create(b, loc, *next);
  counters = ahead;
  b.setInsertionPointToStart(branch.elseBlock());
  warp::ReleaseOp::create(b, loc, rings.rings[noted.ring].op, noted.counter, noted.copy);
  SmallVector<unsigned> others;
  for (auto load : block->getBlock()->getOps<tile::LoadOp>())
    if (std::optional<unsigned> ring = load == carrier ? std::nullopt : rings.of(load)) {
      passOverSlot(b, loc, *ring, counters[*ring]);
      advance(*ring, loc);
      others.push_back(*ring);
    }
  scf::YieldOp::create(b, loc, carried);
  // Both arms take as many slots.
  counters = ahead;
  b.setInsertionPointAfter(branch);
  for (unsigned ring : others)
    advance(ring, loc);
  return llvm::to_vector_of<Value>(branch.getResults());
}
