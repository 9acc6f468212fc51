// Votes of a warpgroup, and marks in outputs that say which rows are to be computed again.
//
// The hardware rounds every NaN to 0x7fff (f16, bf16: canonical NaN) or 0x7fffffff (f32), so other payloads are free for marks.
#include "passes/lower/InlinePtx.h"
#include "passes/lower/LowerWarp.h"
#include "passes/lower/Shuffle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tegula;

namespace {

constexpr int64_t groupThreads = 128;
/// Named barriers 1 to 8 are taken by turns and by zeros in slots; the producer is warpgroup 0.
constexpr int64_t voteBarrier = 8;
constexpr int64_t redoneRowsOffset = 8;

/// What every warpgroup of the kernel knows.
struct Group {
  Group(const KernelState &state, OpBuilder &b, Location loc) : state(state), b(b), loc(loc) {}

  Value thread() { return arith::AndIOp::create(b, loc, state.place.thread, constantInt(b, loc, groupThreads - 1)); }
  Value isFirst() { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread(), constantInt(b, loc, 0)); }
  Value any(Value flag) {
    Value barrier = arith::AddIOp::create(b, loc, state.place.group, constantInt(b, loc, voteBarrier));
    Value some = ptx::barrierAny(b, loc, barrier, flag, constantInt(b, loc, groupThreads));
    // From one lane, so that ptxas knows a branch on it to be the warp's: it spends uniform registers on that, and others to fill them, so not where threads have few (causal, D = 128, 1024 keys: 1.016
    // times as fast; keys of a list, four warpgroups of 104 registers: .956).
    constexpr int64_t enough = 112;
    if (!state.schedule || static_cast<int64_t>(state.schedule.getConsumerRegisters()) >= enough)
      some = shuffle(b, loc, some, constantInt(b, loc, 0), NVVM::ShflKind::idx);
    return arith::TruncIOp::create(b, loc, b.getI1Type(), some);
  }

  const KernelState &state;
  OpBuilder &b;
  Location loc;
};

/// An element that carries a mark.
struct MarkedElement {
  MarkedElement(OpBuilder &b, Location loc, MemRefType type, ValueRange parts, ArrayRef<ValueRange> indices)
      : memory(parts), bits(type.getElementTypeBitWidth()) {
    SmallVector<Value> at;
    for (ValueRange index : indices)
      at.push_back(index.front());
    for (auto [index, extent] : llvm::zip(at, memory.extents)) {
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, extent);
      exists = exists ? arith::AndIOp::create(b, loc, exists, inside).getResult() : inside;
    }
    address = elementAddress(b, loc, type.getElementType(), memory.pointer, at, memory.strides);
  }

  /// The mark, or what stands in its place while the rows are computed.
  Value pattern(OpBuilder &b, Location loc, bool isClaimed) const {
    int64_t mark = bits == 16 ? 0x7fa5 : 0x7fa5a5a5;
    return constantInt(b, loc, isClaimed ? mark ^ 0x3 : mark, bits);
  }

  MemoryParts memory;
  unsigned bits;
  Value exists, address;
};

template <typename OpT> struct GroupPattern : OpConversionPattern<OpT> {
  GroupPattern(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern<OpT>(types, context), state(state) {}
  KernelState &state;
};

struct ConvertVote : GroupPattern<warp::VoteOp> {
  using GroupPattern::GroupPattern;
  LogicalResult matchAndRewrite(warp::VoteOp op, OpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    Value flag = adaptor.getFlag();
    if (isa<VectorType>(flag.getType())) {
      auto rows = vector::ToElementsOp::create(b, op.getLoc(), flag).getResults();
      flag = arith::OrIOp::create(b, op.getLoc(), rows[0], rows[1]);
    }
    b.replaceOp(op, Group(state, b, op.getLoc()).any(flag));
    return success();
  }
};

struct ConvertThread : GroupPattern<warp::ThreadOp> {
  using GroupPattern::GroupPattern;
  LogicalResult matchAndRewrite(warp::ThreadOp op, OpAdaptor, ConversionPatternRewriter &b) const override {
    b.replaceOpWithNewOp<arith::ExtUIOp>(op, b.getI64Type(), Group(state, b, op.getLoc()).thread());
    return success();
  }
};

struct ConvertMark : GroupPattern<warp::MarkOp> {
  using GroupPattern::GroupPattern;
  LogicalResult matchAndRewrite(warp::MarkOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    MarkedElement element(b, loc, cast<MemRefType>(op.getMemory().getType()), adaptor.getMemory(), adaptor.getIndices());
    Value writes = arith::AndIOp::create(b, loc, element.exists, Group(state, b, loc).isFirst());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, writes, /*withElseRegion=*/false).thenBlock());
    LLVM::StoreOp::create(b, loc, element.pattern(b, loc, /*isClaimed=*/false), element.address);
    b.replaceOp(op, element.exists);
    return success();
  }
};

/// The value of `read` where the condition holds, else 0.
Value readIf(OpBuilder &b, Location loc, Value condition, Type type, function_ref<Value(OpBuilder &)> read) {
  return scf::IfOp::create(
             b, loc, condition, [&](OpBuilder &at, Location) { scf::YieldOp::create(at, loc, read(at)); },
             [&](OpBuilder &at, Location) { scf::YieldOp::create(at, loc, constantInt(at, loc, 0, type.getIntOrFloatBitWidth())); })
      .getResult(0);
}

struct ConvertIsMarked : GroupPattern<warp::IsMarkedOp> {
  using GroupPattern::GroupPattern;
  LogicalResult matchAndRewrite(warp::IsMarkedOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    MarkedElement element(b, loc, cast<MemRefType>(op.getMemory().getType()), adaptor.getMemory(), adaptor.getIndices());
    Type bits = b.getIntegerType(element.bits);
    Value found = readIf(b, loc, element.exists, bits, [&](OpBuilder &at) -> Value {
      return LLVM::LoadOp::create(at, loc, bits, element.address, /*alignment=*/0, /*isVolatile=*/true);
    });
    b.replaceOpWithNewOp<arith::CmpIOp>(op, arith::CmpIPredicate::eq, found, element.pattern(b, loc, /*isClaimed=*/false));
    return success();
  }
};

struct ConvertClaim : GroupPattern<warp::ClaimOp> {
  using GroupPattern::GroupPattern;
  LogicalResult matchAndRewrite(warp::ClaimOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    MarkedElement element(b, loc, cast<MemRefType>(op.getMemory().getType()), adaptor.getMemory(), adaptor.getIndices());
    Group group(state, b, loc);
    Type bits = b.getIntegerType(element.bits);
    Value mark = element.pattern(b, loc, /*isClaimed=*/false), tries = arith::AndIOp::create(b, loc, element.exists, group.isFirst());
    Value old = readIf(b, loc, tries, bits, [&](OpBuilder &at) { return ptx::compareAndSwap(at, loc, element.address, mark, element.pattern(at, loc, /*isClaimed=*/true)); });
    Value won = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, old, mark);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, won, /*withElseRegion=*/false).thenBlock());
      Value left = arith::SubIOp::create(b, loc, element.memory.extents[op.getAxis()], adaptor.getIndices()[op.getAxis()].front()), all = constantInt(b, loc, tile::warpgroupRows, 64);
      Value rows;
      if (op.getShift()) { // positions times heads
        Value shift = adaptor.getShift().front(), positions = arith::MinSIOp::create(b, loc, left, arith::ShRSIOp::create(b, loc, all, shift));
        Value first = adaptor.getIndices()[op.getAxis() - 1].front(), most = arith::ShLIOp::create(b, loc, constantInt(b, loc, 1, 64), shift);
        Value heads = arith::MinSIOp::create(b, loc, arith::SubIOp::create(b, loc, adaptor.getEnd().front(), first), most);
        rows = narrowToI32(b, loc, arith::MulIOp::create(b, loc, positions, heads));
      } else {
        rows = narrowToI32(b, loc, arith::MinSIOp::create(b, loc, left, all));
      }
      LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add, ptx::advance(b, loc, state.workspace, redoneRowsOffset), rows, LLVM::AtomicOrdering::monotonic);
    }
    b.replaceOp(op, group.any(won));
    return success();
  }
};

} // namespace

void tegula::populateRedoPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertVote, ConvertThread, ConvertMark, ConvertIsMarked, ConvertClaim>(types, patterns.getContext(), state);
}
