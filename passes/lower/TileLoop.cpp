// The loop over tiles: strided, or fed by the grid's counter.
//
// Dynamic: the elected thread takes the number of the next tile when it starts the loads of this one, and passes it on behind them; consumers ask for it when they have stored this one. The queue
// has two slots, so the producer may be one tile ahead. The counter counts tiles taken beyond the first of each CTA; the last CTA to leave sets it to 0.
#include "passes/lower/InlinePtx.h"
#include "passes/lower/LowerWarp.h"
#include "passes/lower/Shuffle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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
    parity = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, k, constantInt(b, loc, 1)), constantInt(b, loc, 1));
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

/// The number that the counter gives, and its passing on to the consumers.
static Value takeNumber(OpBuilder &b, Location loc, const KernelState &state) {
  Value taken = LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add, state.workspace, constantInt(b, loc, 1), LLVM::AtomicOrdering::monotonic);
  return arith::AddIOp::create(b, loc, taken, NVVM::GridDimXOp::create(b, loc, b.getI32Type()));
}

static void passOn(OpBuilder &b, Location loc, warp::QueueOp queue, const KernelState &state, Value k, Value number) {
  QueueSlot slot(b, loc, queue, state.place.shared, k);
  ptx::mbarrierWait(b, loc, slot.empty, arith::XOrIOp::create(b, loc, slot.parity, constantInt(b, loc, 1)));
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
static void leave(OpBuilder &b, Location loc, const KernelState &state) {
  Value last = arith::SubIOp::create(b, loc, NVVM::GridDimXOp::create(b, loc, b.getI32Type()), constantInt(b, loc, 1));
  Value before = LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::uinc_wrap, ptx::advance(b, loc, state.workspace, 4), last, LLVM::AtomicOrdering::acq_rel);
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, before, last);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(scf::IfOp::create(b, loc, isLast, /*withElseRegion=*/false).thenBlock());
  LLVM::StoreOp::create(b, loc, constantInt(b, loc, 0), state.workspace, /*alignment=*/4, /*isVolatile=*/true);
}

void tegula::lowerDynamicTiles(warp::ForTilesOp op, warp::QueueOp queue, bool isElected, const KernelState &state) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> inits{widened(b, loc, NVVM::BlockIdXOp::create(b, loc, b.getI32Type()))};
  inits.append(op.getInits().begin(), op.getInits().end());
  inits.push_back(constantInt(b, loc, 0)); // how many numbers have come through the queue
  SmallVector<Type> types = llvm::to_vector_of<Type>(ValueRange(inits).getTypes());
  SmallVector<Location> locs(types.size(), loc);
  auto loop = scf::WhileOp::create(b, loc, types, inits);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, before->getArgument(0), op.getTotal());
  scf::ConditionOp::create(b, loc, more, before->getArguments());
  Block *body = b.createBlock(&loop.getAfter(), {}, types, locs);
  Value k = body->getArguments().back();
  Value next = isElected ? takeNumber(b, loc, state) : Value();
  moveBody(op, body);
  b.setInsertionPointToEnd(body);
  if (isElected)
    passOn(b, loc, queue, state, k, next);
  else
    next = receive(b, loc, queue, state, k);
  SmallVector<Value> yields{widened(b, loc, next)};
  llvm::append_range(yields, op.getBody().front().getTerminator()->getOperands());
  yields.push_back(arith::AddIOp::create(b, loc, k, constantInt(b, loc, 1)));
  scf::YieldOp::create(b, loc, yields);
  b.setInsertionPointAfter(loop);
  if (isElected)
    leave(b, loc, state);
  op.replaceAllUsesWith(loop.getResults().slice(1, op.getNumResults()));
  op.erase();
}

namespace {

struct ConvertUniform : OpConversionPattern<warp::UniformOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(warp::UniformOp op, OpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    Value number = shuffle(b, op.getLoc(), narrowToI32(b, op.getLoc(), adaptor.getValue()), constantInt(b, op.getLoc(), 0), NVVM::ShflKind::idx);
    b.replaceOpWithNewOp<arith::ExtUIOp>(op, b.getI64Type(), number);
    return success();
  }
};

} // namespace

void tegula::populateTileLoopPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &) {
  patterns.add<ConvertUniform>(types, patterns.getContext());
}
