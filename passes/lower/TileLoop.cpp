// The loop over tiles: strided, or fed by the grid's counter.
//
// Dynamic: the elected thread takes the number of the next tile when it has started the loads of this one, and passes it on; consumers ask for it beside this one's last product. The queue has two
// slots, so the producer may be one tile ahead. The counter counts tiles taken beyond the first of each CTA; the last CTA to leave sets it to 0.
#include "passes/lower/InlinePtx.h"
#include "passes/lower/LowerWarp.h"
#include "passes/lower/Shuffle.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tegula;

static Value widened(OpBuilder &b, Location loc, Value value) { return arith::ExtUIOp::create(b, loc, b.getI64Type(), value); }

/// Moves the body into `to`, whose arguments start with the tile's number and the carried values.
static void moveBody(warp::ForTilesOp op, Block *to) {
  Block &old = op.getBody().front();
  for (auto [from, argument] : llvm::zip(old.getArguments(), to->getArguments()))
    from.replaceAllUsesWith(argument);
  for (Operation &nested : llvm::make_early_inc_range(old.without_terminator()))
    nested.moveBefore(to, to->end());
}

void tegula::lowerStridedTiles(warp::ForTilesOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value begin = widened(b, loc, NVVM::BlockIdXOp::create(b, loc, b.getI32Type())), step = widened(b, loc, NVVM::GridDimXOp::create(b, loc, b.getI32Type()));
  auto loop = scf::ForOp::create(b, loc, begin, op.getTotal(), step, op.getInits());
  if (!loop.getBody()->empty())
    loop.getBody()->getTerminator()->erase();
  moveBody(op, loop.getBody());
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b, loc, op.getBody().front().getTerminator()->getOperands());
  op.replaceAllUsesWith(loop.getResults());
  op.erase();
}

namespace {

/// Slot k % 2 of the queue: its number and barriers.
struct QueueSlot {
  QueueSlot(OpBuilder &b, Location loc, warp::QueueOp queue, Value shared, Value k) {
    Value slot = arith::AndIOp::create(b, loc, k, constantInt(b, loc, 1));
    Value base = arith::AddIOp::create(b, loc, shared, constantInt(b, loc, *queue.getOffset()));
    number = arith::AddIOp::create(b, loc, base, arith::MulIOp::create(b, loc, slot, constantInt(b, loc, 8)));
    full = arith::AddIOp::create(b, loc, number, constantInt(b, loc, 16));
    empty = arith::AddIOp::create(b, loc, number, constantInt(b, loc, 32));
    Value one = constantInt(b, loc, 1);
    parity = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, k, one), one);
  }
  Value number, full, empty, parity;
};

} // namespace

void tegula::initialiseQueue(OpBuilder &b, warp::QueueOp queue, Value shared) {
  Location loc = queue.getLoc();
  for (int64_t k : {0, 1}) {
    QueueSlot slot(b, loc, queue, shared, constantInt(b, loc, k));
    ptx::mbarrierInit(b, loc, slot.full, constantInt(b, loc, 1));
    ptx::mbarrierInit(b, loc, slot.empty, constantInt(b, loc, 4 * queue.getConsumers()));
  }
}

void tegula::enterFirstLane(OpBuilder &b, Location loc, warp::RoleOp role, const KernelState &state) {
  if (role.getWholeWarp())
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, state.place.laneIsFirst, /*withElseRegion=*/false).thenBlock());
}

/// The number that the counter gives, and its passing on to the consumers.
static Value takeNumber(OpBuilder &b, Location loc, const KernelState &state) {
  Value taken = LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add, state.workspace, constantInt(b, loc, 1), LLVM::AtomicOrdering::monotonic);
  return arith::AddIOp::create(b, loc, taken, NVVM::GridDimXOp::create(b, loc, b.getI32Type()));
}

/// By the first lane for its warp, if one runs the role.
static Value takeNumber(OpBuilder &b, Location loc, warp::RoleOp role, const KernelState &state) {
  if (role.getWholeWarp()) {
    auto branch = scf::IfOp::create(
        b, loc, state.place.laneIsFirst, [&](OpBuilder &at, Location loc) { scf::YieldOp::create(at, loc, takeNumber(at, loc, state)); },
        [&](OpBuilder &at, Location loc) { scf::YieldOp::create(at, loc, constantInt(at, loc, 0)); });
    return shuffle(b, loc, branch.getResult(0), constantInt(b, loc, 0), NVVM::ShflKind::idx);
  }
  return takeNumber(b, loc, state);
}
static void passOn(OpBuilder &b, Location loc, warp::QueueOp queue, warp::RoleOp role, const KernelState &state, Value k, Value number) {
  QueueSlot slot(b, loc, queue, state.place.shared, k);
  ptx::mbarrierWait(b, loc, slot.empty, arith::XOrIOp::create(b, loc, slot.parity, constantInt(b, loc, 1)));
  OpBuilder::InsertionGuard guard(b);
  enterFirstLane(b, loc, role, state);
  ptx::storeShared(b, loc, slot.number, number);
  ptx::mbarrierArriveIf(b, loc, slot.full, constantInt(b, loc, 1, 1));
}

static Value receive(OpBuilder &b, Location loc, warp::QueueOp queue, const KernelState &state, Value k) {
  QueueSlot slot(b, loc, queue, state.place.shared, k);
  ptx::mbarrierWait(b, loc, slot.full, slot.parity);
  Value number = ptx::loadShared(b, loc, slot.number);
  NVVM::SyncWarpOp::create(b, loc, constantInt(b, loc, -1));
  ptx::mbarrierArriveIf(b, loc, slot.empty, state.place.laneIsFirst);
  // From one lane, so that ptxas knows the number, and all that follows from it, to be the warp's and keeps it in uniform registers.
  return shuffle(b, loc, number, constantInt(b, loc, 0), NVVM::ShflKind::idx);
}

/// Counts the CTAs that take no more tiles; the last one leaves the counter as it found it.
static void leave(OpBuilder &b, Location loc, warp::RoleOp role, const KernelState &state) {
  OpBuilder::InsertionGuard guard(b);
  enterFirstLane(b, loc, role, state);
  Value blocks = NVVM::GridDimXOp::create(b, loc, b.getI32Type()), last = arith::SubIOp::create(b, loc, blocks, constantInt(b, loc, 1));
  Value before = LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::uinc_wrap, ptx::advance(b, loc, state.workspace, 4), last, LLVM::AtomicOrdering::acq_rel);
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, before, last);
  b.setInsertionPointToStart(scf::IfOp::create(b, loc, isLast, /*withElseRegion=*/false).thenBlock());
  LLVM::StoreOp::create(b, loc, constantInt(b, loc, 0), state.workspace, /*alignment=*/4, /*isVolatile=*/true);
}

/// What a tile's number alone decides, in the body of a loop over tiles: the values that are said to be uniform.
class TilePlace {
public:
  explicit TilePlace(warp::ForTilesOp op) : body(op.getBody().front()) {
    for (auto uniform : body.getOps<warp::UniformOp>()) {
      SetVector<Operation *> needed;
      BackwardSliceOptions options;
      options.inclusive = true;
      options.omitBlockArguments = true;
      options.filter = [&](Operation *op) { return op->getBlock() == &body; };
      (void)getBackwardSlice(uniform.getValue(), &needed, options);
      auto isOther = [&](Value value) { return llvm::is_contained(body.getArguments().drop_front(), value); };
      if (llvm::any_of(needed, [&](Operation *op) { return !isMemoryEffectFree(op) || op->getNumRegions() != 0 || llvm::any_of(op->getOperands(), isOther); }) || isOther(uniform.getValue()))
        continue;
      values.push_back(uniform);
      slice.insert_range(needed);
      slice.insert(uniform);
    }
  }

  /// What they are for the tile `number`, as code at `b`, where their own shuffles keep it.
  SmallVector<Value> decode(OpBuilder &b, Value number) const {
    IRMapping map;
    map.map(body.getArgument(0), number);
    for (Operation &op : body)
      if (slice.contains(&op))
        b.clone(op, map);
    return llvm::map_to_vector(values, [&](warp::UniformOp op) { return map.lookup(op.getResult()); });
  }

  /// `ranges` then knows of `by` what it could find out of them.
  void replace(ValueRange by, DenseMap<Value, IndexRange> &ranges) {
    IndexRanges all(ranges);
    for (auto [op, value] : llvm::zip_equal(values, by)) {
      if (std::optional<IndexRange> range = all.of(op.getValue()))
        ranges[value] = *range;
      op.getValueMutable().assign(value);
    }
  }

private:
  Block &body;
  SmallVector<warp::UniformOp> values;
  llvm::SetVector<Operation *> slice;
};

std::pair<Operation *, Operation *> tegula::tileEnd(Block &body) {
  Operation *freed = nullptr, *waits = nullptr, *stores = body.getTerminator();
  for (Operation &op : body) {
    auto holds = [&](auto type) { return op.walk([](decltype(type)) { return WalkResult::interrupt(); }).wasInterrupted(); };
    if (isa<warp::AwaitOp>(op))
      waits = &op;
    if (isa<warp::ReleaseOp>(op))
      freed = waits ? waits : &op;
    else if (holds(warp::ReleaseOp())) // of blocks that are for others, and that the producer may have to go on from
      freed = &op, waits = nullptr;
    if (holds(tile::StoreOp()))
      stores = &op;
  }
  if (!freed || stores->isBeforeInBlock(freed))
    return {body.getTerminator(), body.getTerminator()};
  return {isa<warp::AwaitOp>(freed) ? freed : freed->getNextNode(), stores};
}

void tegula::lowerDynamicTiles(warp::ForTilesOp op, warp::QueueOp queue, warp::RoleOp role, KernelState &state) {
  OpBuilder b(op);
  bool isElected = role.getElected();
  Location loc = op.getLoc();
  SmallVector<Value> inits{widened(b, loc, NVVM::BlockIdXOp::create(b, loc, b.getI32Type()))};
  inits.append(op.getInits().begin(), op.getInits().end());
  // Consumers carry where their tile is, and find it out for the next one beside this one's last work.
  TilePlace place(op);
  SmallVector<Value> first = isElected ? SmallVector<Value>() : place.decode(b, inits.front());
  inits.append(first);
  inits.push_back(constantInt(b, loc, 0)); // how many numbers have come through the queue
  SmallVector<Type> types = llvm::to_vector_of<Type>(ValueRange(inits).getTypes());
  SmallVector<Location> locs(types.size(), loc);
  auto loop = scf::WhileOp::create(b, loc, types, inits);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, before->getArgument(0), op.getTotal());
  scf::ConditionOp::create(b, loc, more, before->getArguments());
  Block *body = b.createBlock(&loop.getAfter(), {}, types, locs);
  Value k = body->getArguments().back();
  SmallVector<Value> yields, nextPlace;
  Value next;
  if (!isElected) {
    auto [freed, stores] = tileEnd(op.getBody().front());
    b.setInsertionPoint(freed);
    next = receive(b, loc, queue, state, k);
    b.setInsertionPoint(stores);
    nextPlace = place.decode(b, widened(b, loc, next));
    place.replace(body->getArguments().drop_back().take_back(first.size()), state.ranges);
  }
  moveBody(op, body);
  b.setInsertionPointToEnd(body);
  if (isElected) { // as late as can be: a CTA that is behind leaves its next tile to others
    next = takeNumber(b, loc, role, state);
    passOn(b, loc, queue, role, state, k, next);
  }
  yields.push_back(widened(b, loc, next));
  llvm::append_range(yields, op.getBody().front().getTerminator()->getOperands());
  yields.append(nextPlace);
  yields.push_back(arith::AddIOp::create(b, loc, k, constantInt(b, loc, 1)));
  scf::YieldOp::create(b, loc, yields);
  b.setInsertionPointAfter(loop);
  if (isElected)
    leave(b, loc, role, state);
  op.replaceAllUsesWith(loop.getResults().slice(1, op.getNumResults()));
  op.erase();
}

namespace {

struct ConvertUniform : OpConversionPattern<warp::UniformOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(warp::UniformOp op, OpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    Value own = narrowToI32(b, op.getLoc(), adaptor.getValue()), first = constantInt(b, op.getLoc(), 0), number = shuffle(b, op.getLoc(), own, first, NVVM::ShflKind::idx);
    b.replaceOpWithNewOp<arith::ExtUIOp>(op, b.getI64Type(), number);
    return success();
  }
};

} // namespace

void tegula::populateTileLoopPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &) {
  patterns.add<ConvertUniform>(types, patterns.getContext());
}
