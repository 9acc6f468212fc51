// What a producer's warp finds out of blocks, and tells consumers in notes.
//
// A lane looks at one block, and ballots make words of 32 answers. A note is four words beside its slot's barriers: the lane that writes them arrives on the full barrier next, which releases
// them, and a wait on it acquires.
#include "passes/lower/InlinePtx.h"
#include "passes/lower/LaneCode.h"
#include "passes/lower/RingSlot.h"
#include "passes/lower/Shuffle.h"

#include "passes/lower/IndexRange.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tegula;

namespace {

constexpr int64_t noteWords = 4;

template <typename OpT> Value notePlace(OpT op, typename OpT::Adaptor adaptor, const KernelState &state, OpBuilder &b) {
  return RingSlot(b, op.getLoc(), op.getRing().template getDefiningOp<warp::RingOp>(), state.place.shared, adaptor.getCounter(), adaptor.getCopy()).note();
}

struct ConvertNote : OpConversionPattern<warp::NoteOp> {
  ConvertNote(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(warp::NoteOp op, OpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    SmallVector<Value> operands{notePlace(op, adaptor, state, b)};
    for (Value value : adaptor.getValues())
      operands.push_back(narrowToI32(b, op.getLoc(), value));
    operands.resize(1 + noteWords, operands.back());
    ptx::emit(b, op.getLoc(), "st.shared.v4.b32 [$0], {$1, $2, $3, $4};", "r,r,r,r,r,~{memory}", operands, {});
    b.eraseOp(op);
    return success();
  }
  KernelState &state;
};

struct ConvertReadNote : OpConversionPattern<warp::ReadNoteOp> {
  ConvertReadNote(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(warp::ReadNoteOp op, OpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    SmallVector<Type> words(noteWords, b.getI32Type());
    // In the lane that releases the slot; the others' words are 0.
    SmallVector<Value> read = ptx::emit(b, loc, "mov.b32 $0, 0;\n\tmov.b32 $1, 0;\n\tmov.b32 $2, 0;\n\tmov.b32 $3, 0;\n\t@$5 ld.shared.v4.b32 {$0, $1, $2, $3}, [$4];",
                                        "=&r,=&r,=&r,=&r,r,b,~{memory}", {notePlace(op, adaptor, state, b), state.place.laneIsFirst}, words);
    SmallVector<Value> values;
    for (auto [result, word] : llvm::zip(op.getValues(), read)) {
      // A shuffle, so that ptxas knows the number to be the warp's; below 2^30, so that what is computed from it fits 32 bits.
      Value one = result.use_empty() ? word : shuffle(b, loc, word, constantInt(b, loc, 0), NVVM::ShflKind::idx);
      Value small = arith::AndIOp::create(b, loc, one, constantInt(b, loc, tile::ForBlocksOp::classifiedKeys - 1));
      values.push_back(arith::ExtUIOp::create(b, loc, b.getI64Type(), small));
    }
    b.replaceOp(op, values);
    return success();
  }
  KernelState &state;
};

struct ConvertClassifyBlocks : OpConversionPattern<warp::ClassifyBlocksOp> {
  ConvertClassifyBlocks(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(warp::ClassifyBlocksOp op, OpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value lane = arith::AndIOp::create(b, loc, state.place.thread, constantInt(b, loc, warp::ClassifyBlocksOp::lanes - 1));
    Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), lane), offset = arith::MulIOp::create(b, loc, wide, constantInt(b, loc, op.getStep(), 64));
    Value number = arith::AddIOp::create(b, loc, adaptor.getFirst(), offset);
    Block &classes = op.getClasses().front();
    IndexRanges ranges(state.ranges);
    if (std::optional<IndexRange> end = ranges.of(op.getEnd()))
      ranges.set(classes.getArgument(0), {0, std::min(end->high, tile::ForBlocksOp::classifiedKeys) + warp::ClassifyBlocksOp::lanes * int64_t(op.getStep())});
    NarrowCloner code(b, loc, ranges);
    code.map(classes.getArgument(0), number);
    cloneForLanes(op.getClasses(), code, lane, adaptor.getFirst());
    SmallVector<Value> bits;
    for (Value value : classes.getTerminator()->getOperands()) {
      Value flag = code.lookup(value);
      if (bits.empty())
        flag = arith::AndIOp::create(b, loc, flag, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, number, adaptor.getEnd()));
      Value word = NVVM::VoteSyncOp::create(b, loc, b.getI32Type(), constantInt(b, loc, -1), flag, NVVM::VoteSyncKind::ballot);
      bits.push_back(arith::ExtUIOp::create(b, loc, b.getI64Type(), word));
    }
    b.replaceOp(op, bits);
    return success();
  }

  KernelState &state;
};

} // namespace

void tegula::populateNotePatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertNote, ConvertReadNote, ConvertClassifyBlocks>(types, patterns.getContext(), state);
}
