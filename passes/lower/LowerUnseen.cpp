// warp.zero_unseen: zeros in shared memory for keys that no query row sees.
//
// One thread a key: it looks at rows from both ends inwards, where masks that move with the row let a key pass, until one sees the key. A row of the tile is 128 bytes
// of each panel; the swizzle stays within them. The weight of an unseen key is 0, and so is its product with any value but infinity and NaN: where to find out which keys are seen takes long, as tables
// say it, a warp first looks whether its keys have such a value.
#include "passes/lower/InlinePtx.h"
#include "passes/lower/LaneCode.h"
#include "passes/lower/LowerWarp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tegula;

namespace {

Value inlineRegion(OpBuilder &b, Region &region, ValueRange arguments) {
  IRMapping map;
  map.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator())
    b.clone(op, map);
  return map.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

struct ConvertZeroUnseen : OpConversionPattern<warp::ZeroUnseenOp> {
  ConvertZeroUnseen(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(warp::ZeroUnseenOp op, OpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    warp::SlotType slot = op.getSlot().getType();
    Value thread = arith::AndIOp::create(b, loc, state.place.thread, constantInt(b, loc, threads - 1));
    for (int64_t start = 0; start < slot.getRows(); start += threads) {
      Value c = arith::AddIOp::create(b, loc, thread, constantInt(b, loc, start));
      Value key = arith::AddIOp::create(b, loc, adaptor.getCols(), arith::ExtUIOp::create(b, loc, b.getI64Type(), c));
      Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, key, adaptor.getEnd());
      if (start + threads > slot.getRows())
        exists = arith::AndIOp::create(b, loc, exists, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, c, constantInt(b, loc, slot.getRows())));
      OpBuilder::InsertionGuard guard(b);
      bool isJoint = llvm::any_of(op.getPossible().getOps(), [](Operation &inner) { return isa<tile::AnyRangeOp>(inner); });
      bool readsTables = op.getSeen().walk([](tile::LookupOp) { return WalkResult::interrupt(); }).wasInterrupted();
      if (isJoint || readsTables || op.getPossible().empty())
        b.setInsertionPointToStart(scf::IfOp::create(b, loc, hasNonFinite(op, adaptor.getSlot(), start, thread, b), /*withElseRegion=*/false).thenBlock());
      Value possible = isJoint ? isPossible(op, key, thread, b) : Value();
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false).thenBlock());
      if (!isJoint && !op.getPossible().empty())
        possible = inlineRegion(b, op.getPossible(), key);
      Value seen = isSeen(op, adaptor, key, possible, b), unseen = arith::XOrIOp::create(b, loc, seen, constantInt(b, loc, 1, 1));
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, unseen, /*withElseRegion=*/false).thenBlock());
      storeZeros(slot, adaptor.getSlot(), c, loc, b);
      NVVM::FenceProxyOp::create(b, loc, NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
                                 NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
    }
    b.eraseOp(op);
    return success();
  }

private:
  static constexpr int64_t threads = 128, panelRow = 128, lanes = warp::ClassifyBlocksOp::lanes;

  /// Whether one of the 32 keys of this warp, from `start` on, has a value that is not finite; the same for all its lanes, of which each reads 16 bytes at a time.
  Value hasNonFinite(warp::ZeroUnseenOp op, Value tile, int64_t start, Value thread, ConversionPatternRewriter &b) const {
    Location loc = op.getLoc();
    warp::SlotType slot = op.getSlot().getType();
    auto ring = warp::RingType::get(slot.getContext(), slot.getRows(), slot.getColumns(), slot.getElementType(), /*stages=*/1);
    auto constant = [&](int64_t value) { return constantInt(b, loc, value); };
    auto isLess = [&](Value x, int64_t y) -> Value { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, constant(y)); };
    constexpr int64_t chunk = 16, chunks = panelRow / chunk, rowsAtOnce = lanes / chunks;
    Value lane = arith::AndIOp::create(b, loc, thread, constant(lanes - 1));
    Value first = arith::SubIOp::create(b, loc, thread, lane); // row of the warp
    first = arith::AddIOp::create(b, loc, first, constant(start));
    Value row = arith::AddIOp::create(b, loc, first, arith::DivUIOp::create(b, loc, lane, constant(chunks)));
    Value column = arith::RemUIOp::create(b, loc, lane, constant(chunks));
    Value place = arith::AddIOp::create(b, loc, tile, arith::MulIOp::create(b, loc, column, constant(chunk)));
    // A half is not finite if its exponent is all ones: to add one to the exponent's last bit carries into the sign's place, which is masked out before.
    bool isBrain = ring.getElementType().isBF16();
    Value exponents = constant(isBrain ? 0x7f807f80 : 0x7c007c00), last = constant(isBrain ? 0x00800080 : 0x04000400), found = constant(0);
    for (int64_t step = 0; step < lanes / rowsAtOnce; ++step) {
      Value here = arith::AddIOp::create(b, loc, row, constant(step * rowsAtOnce));
      Value exists = start + threads > ring.getRows() ? isLess(here, ring.getRows()) : Value();
      Value inside = exists ? arith::SelectOp::create(b, loc, exists, here, constant(0)).getResult() : here;
      Value address = arith::AddIOp::create(b, loc, place, arith::MulIOp::create(b, loc, inside, constant(panelRow)));
      for (int64_t panel = 0; panel < ring.getPanels(); ++panel) {
        auto words = ptx::emit(b, loc, "ld.shared.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,r,~{memory}", {arith::AddIOp::create(b, loc, address, constant(panel * panelRow * ring.getRows()))},
                               SmallVector<Type>(4, b.getI32Type()));
        Value some = constant(0);
        for (Value word : words)
          some = arith::OrIOp::create(b, loc, some, arith::AddIOp::create(b, loc, arith::AndIOp::create(b, loc, word, exponents), last));
        Value counts = exists;
        if (int64_t copied = ring.getCopiedColumns(panel) * 2; copied < panelRow) { // which columns a chunk holds follows from its row
          Value swizzled = arith::XOrIOp::create(b, loc, column, arith::RemUIOp::create(b, loc, here, constant(chunks))), filled = isLess(swizzled, copied / chunk);
          counts = counts ? arith::AndIOp::create(b, loc, counts, filled).getResult() : filled;
        }
        if (counts)
          some = arith::SelectOp::create(b, loc, counts, some, constant(0));
        found = arith::OrIOp::create(b, loc, found, some);
      }
    }
    Value carried = arith::AndIOp::create(b, loc, found, constant(static_cast<int32_t>(0x80008000)));
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, carried, constant(0));
    return NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), constant(-1), some, NVVM::VoteSyncKind::any);
  }

  /// With ranges that the lanes of a warp look at for the keys of all of them.
  Value isPossible(warp::ZeroUnseenOp op, Value key, Value thread, ConversionPatternRewriter &b) const {
    Location loc = op.getLoc();
    Value lane = arith::AndIOp::create(b, loc, thread, constantInt(b, loc, warp::ClassifyBlocksOp::lanes - 1));
    Value first = arith::SubIOp::create(b, loc, key, arith::ExtUIOp::create(b, loc, b.getI64Type(), lane));
    Block &region = op.getPossible().front();
    IndexRanges ranges(state.ranges);
    NarrowCloner code(b, loc, ranges);
    code.map(region.getArgument(0), key);
    cloneForLanes(op.getPossible(), code, lane, first);
    return code.lookup(region.getTerminator()->getOperand(0));
  }

  /// Rows last - 1, first, last - 2, first + 1, ... until one sees the key.
  static Value isSeen(warp::ZeroUnseenOp op, OpAdaptor adaptor, Value key, Value possible, ConversionPatternRewriter &b) {
    Location loc = op.getLoc();
    Value zero = constantInt(b, loc, 0, 64), one = constantInt(b, loc, 1, 64);
    Value count = arith::SubIOp::create(b, loc, adaptor.getLast(), adaptor.getFirst());
    if (possible)
      count = arith::SelectOp::create(b, loc, possible, count, zero);
    Type i1 = b.getI1Type(), i64 = b.getI64Type();
    auto loop = scf::WhileOp::create(b, loc, TypeRange{i64, i1}, ValueRange{zero, constantInt(b, loc, 0, 1)});
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, {i64, i1}, {loc, loc});
    Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, before->getArgument(0), count);
    Value hidden = arith::XOrIOp::create(b, loc, before->getArgument(1), constantInt(b, loc, 1, 1));
    scf::ConditionOp::create(b, loc, arith::AndIOp::create(b, loc, more, hidden), before->getArguments());
    Block *after = b.createBlock(&loop.getAfter(), {}, {i64, i1}, {loc, loc});
    Value number = after->getArgument(0), half = arith::ShRUIOp::create(b, loc, number, one);
    Value fromEnd = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, adaptor.getLast(), one), half);
    Value fromStart = arith::AddIOp::create(b, loc, adaptor.getFirst(), half);
    Value isOdd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, arith::AndIOp::create(b, loc, number, one), zero);
    Value row = arith::SelectOp::create(b, loc, isOdd, fromStart, fromEnd);
    Value seen = inlineRegion(b, op.getSeen(), {row, key});
    scf::YieldOp::create(b, loc, ValueRange{arith::AddIOp::create(b, loc, number, one), seen});
    return loop.getResult(1);
  }

  static void storeZeros(warp::SlotType slot, Value tile, Value row, Location loc, OpBuilder &b) {
    Value zero = constantInt(b, loc, 0);
    Value place = arith::AddIOp::create(b, loc, tile, arith::MulIOp::create(b, loc, row, constantInt(b, loc, panelRow)));
    for (int64_t panel = 0; panel < (slot.getColumns() + 63) / 64; ++panel)
      for (int64_t bytes = 0; bytes < panelRow; bytes += 16) {
        Value address = arith::AddIOp::create(b, loc, place, constantInt(b, loc, panel * panelRow * slot.getRows() + bytes));
        ptx::emit(b, loc, "st.shared.v4.b32 [$0], {$1, $1, $1, $1};", "r,r,~{memory}", {address, zero}, {});
      }
  }

  KernelState &state;
};

} // namespace

void tegula::populateUnseenPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertZeroUnseen>(types, patterns.getContext(), state);
}
