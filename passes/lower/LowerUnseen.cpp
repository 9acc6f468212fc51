// warp.zero_unseen: zeros in shared memory for keys that no query row sees.
//
// One thread a key: it looks at rows from both ends inwards, where masks that move with the row let a key pass, until one sees the key. A row of the tile is 128 bytes
// of each panel; the swizzle stays within them.
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
      Value possible = isJoint ? isPossible(op, key, thread, b) : Value();
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false).thenBlock());
      if (!isJoint && !op.getPossible().empty())
        possible = inlineRegion(b, op.getPossible(), key);
      Value seen = isSeen(op, adaptor, key, possible, b), unseen = arith::XOrIOp::create(b, loc, seen, constantInt(b, loc, 1, 1));
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, unseen, /*withElseRegion=*/false).thenBlock());
      storeZeros(slot, adaptor.getSlot(), c, loc, b);
    }
    NVVM::FenceProxyOp::create(b, loc, NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
                               NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
    b.eraseOp(op);
    return success();
  }

private:
  static constexpr int64_t threads = 128, panelRow = 128;

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
