// Rings and named barriers to mbarriers and bar.sync.
//
// A slot's full barrier takes one arrival (the producer's, with the bytes that it expects), its empty barrier one a consumer warp.
#include "passes/lower/InlinePtx.h"
#include "passes/lower/RingSlot.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tegula;

namespace {

/// A pattern of an op on a slot: operands ring, counter, copy.
template <typename OpT> struct RingPattern : OpConversionPattern<OpT> {
  RingPattern(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern<OpT>(types, context), state(state) {}

  RingSlot slot(OpT op, typename OpT::Adaptor adaptor, OpBuilder &b) const {
    auto ring = op.getRing().template getDefiningOp<warp::RingOp>();
    return RingSlot(b, op.getLoc(), ring, state.place.shared, adaptor.getCounter(), adaptor.getCopy());
  }

  LogicalResult checkAllocated(OpT op) const {
    auto ring = op.getRing().template getDefiningOp<warp::RingOp>();
    if (ring && ring.getOffset() && ring.getBarriers())
      return success();
    return op.emitOpError("internal: expected tegula-allocate-shared before");
  }

  KernelState &state;
};

struct ConvertAcquire : RingPattern<warp::AcquireOp> {
  using RingPattern::RingPattern;
  LogicalResult matchAndRewrite(warp::AcquireOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (failed(checkAllocated(op)))
      return failure();
    RingSlot place = slot(op, adaptor, rewriter);
    ptx::mbarrierWait(rewriter, op.getLoc(), place.empty(), place.otherParity());
    rewriter.replaceOp(op, place.tile());
    return success();
  }
};

struct ConvertWait : RingPattern<warp::WaitOp> {
  using RingPattern::RingPattern;
  LogicalResult matchAndRewrite(warp::WaitOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (failed(checkAllocated(op)))
      return failure();
    RingSlot place = slot(op, adaptor, rewriter);
    ptx::mbarrierWait(rewriter, op.getLoc(), place.full(), place.parity());
    rewriter.replaceOp(op, place.tile());
    return success();
  }
};

struct ConvertCommit : RingPattern<warp::CommitOp> {
  using RingPattern::RingPattern;
  LogicalResult matchAndRewrite(warp::CommitOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (failed(checkAllocated(op)))
      return failure();
    Value bytes = constantInt(rewriter, op.getLoc(), op.getRing().getType().getCopiedBytes());
    ptx::mbarrierArriveExpect(rewriter, op.getLoc(), slot(op, adaptor, rewriter).full(), bytes);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertRelease : RingPattern<warp::ReleaseOp> {
  using RingPattern::RingPattern;
  LogicalResult matchAndRewrite(warp::ReleaseOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (failed(checkAllocated(op)))
      return failure();
    // Loads of threads come before the next copy, which goes another way to shared memory.
    bool isRead = llvm::any_of(op.getRing().getUsers(), [](Operation *user) {
      auto wait = dyn_cast<warp::WaitOp>(user);
      return wait && llvm::any_of(wait->getUsers(), llvm::IsaPred<warp::ReadOp>);
    });
    if (isRead)
      NVVM::FenceProxyOp::create(rewriter, op.getLoc(), NVVM::ProxyKindAttr::get(op.getContext(), NVVM::ProxyKind::async_shared),
                                 NVVM::SharedSpaceAttr::get(op.getContext(), NVVM::SharedSpace::shared_cta));
    NVVM::SyncWarpOp::create(rewriter, op.getLoc(), constantInt(rewriter, op.getLoc(), -1));
    ptx::mbarrierArriveIf(rewriter, op.getLoc(), slot(op, adaptor, rewriter).empty(), state.place.laneIsFirst);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertSync : OpConversionPattern<warp::SyncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(warp::SyncOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value barrier = narrowToI32(rewriter, loc, adaptor.getBarrier()), threads = constantInt(rewriter, loc, op.getThreads());
    ptx::barrierSync(rewriter, loc, barrier, threads);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertArrive : OpConversionPattern<warp::ArriveOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(warp::ArriveOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value barrier = narrowToI32(rewriter, loc, adaptor.getBarrier()), threads = constantInt(rewriter, loc, op.getThreads());
    ptx::barrierArrive(rewriter, loc, barrier, threads);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tegula::populateBarrierPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertAcquire, ConvertWait, ConvertCommit, ConvertRelease>(types, patterns.getContext(), state);
  patterns.add<ConvertSync, ConvertArrive>(types, patterns.getContext());
}
