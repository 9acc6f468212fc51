// What a producer's warp finds out of blocks, and tells consumers in notes.
//
// A lane looks at one block, and ballots make words of 32 answers. A note is four words beside its slot's barriers: the lane that writes them arrives on the full barrier next, which releases
// them, and a wait on it acquires.
#include "passes/lower/InlinePtx.h"
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

/// Copies scalar code of i64 with i32 in its place where the ranges of operands and result fit: the producer has few registers.
class NarrowCloner {
public:
  NarrowCloner(OpBuilder &b, Location loc, IndexRanges &ranges) : b(b), loc(loc), ranges(ranges) {}
  /// For code nested in that of `outer`.
  NarrowCloner(OpBuilder &b, const NarrowCloner &outer) : b(b), loc(outer.loc), ranges(outer.ranges), wide(outer.wide), narrow(outer.narrow) {}

  void map(Value from, Value to) { wide.map(from, to); }
  Value lookup(Value value) { return getWide(value); }

  void clone(Operation &op) {
    auto isWide = [](Value value) { return value.getType().isInteger(64); };
    auto fits = [&](Value value) { return !isWide(value) || ranges.fitsI32(value); };
    bool isArith = isa<arith::ArithDialect>(op.getDialect()) && op.getNumResults() == 1;
    if (!isArith || !llvm::all_of(op.getOperands(), fits) || !fits(op.getResult(0))) {
      for (Value operand : op.getOperands())
        (void)getWide(operand);
      b.clone(op, wide);
      return;
    }
    Value result = op.getResult(0);
    if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op) && getNarrow(op.getOperand(0)).getType().isInteger(32) && (isWide(result) || result.getType().isInteger(32))) {
      set(result, getNarrow(op.getOperand(0)));
      return;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && isWide(result)) {
      set(result, arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(cast<IntegerAttr>(constant.getValue()).getInt())));
      return;
    }
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), [&](Value operand) { return getNarrow(operand); });
    OperationState state(loc, op.getName(), operands, {isWide(result) ? b.getI32Type() : result.getType()}, op.getAttrs());
    set(result, b.create(state)->getResult(0));
  }

private:
  void set(Value from, Value to) { (from.getType() == to.getType() ? void(wide.map(from, to)) : void(narrow[from] = to)); }

  Value getWide(Value value) {
    if (Value known = wide.lookupOrNull(value))
      return known;
    auto it = narrow.find(value);
    if (it == narrow.end())
      return value; // from above
    Value made = arith::ExtSIOp::create(b, loc, value.getType(), it->second);
    wide.map(value, made);
    return made;
  }

  Value getNarrow(Value value) {
    if (!value.getType().isInteger(64))
      return getWide(value);
    Value &known = narrow[value];
    if (!known)
      known = arith::TruncIOp::create(b, loc, b.getI32Type(), wide.lookupOrDefault(value));
    return known;
  }

  OpBuilder &b;
  Location loc;
  IndexRanges &ranges;
  IRMapping wide;
  DenseMap<Value, Value> narrow;
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
    for (Operation &inner : classes.without_terminator()) {
      if (auto any = dyn_cast<tile::AnyRangeOp>(inner))
        code.map(any.getMeets(), meetsRange(any, code, ranges, lane, adaptor.getFirst(), b));
      else
        code.clone(inner);
    }
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

private:
  /// Ranges that a lane looks at together, so that it waits for their numbers once.
  static constexpr int64_t together = 4;

  /// Each lane marks the blocks that its ranges meet; the lane's own block is among those that some lane has marked.
  static Value meetsRange(tile::AnyRangeOp op, NarrowCloner &outer, IndexRanges &ranges, Value lane, Value first, OpBuilder &b) {
    Location loc = op.getLoc();
    constexpr int64_t lanes = warp::ClassifyBlocksOp::lanes;
    Block &body = op.getRange().front();
    APInt known;
    ranges.set(body.getArgument(0), {0, matchPattern(op.getCount(), m_ConstantInt(&known)) ? known.getSExtValue() : int64_t(1) << 31});
    Value count = outer.lookup(op.getCount()), zero = constantInt(b, loc, 0, 64), one = constantInt(b, loc, 1, 64), none = constantInt(b, loc, 0);
    Value last = arith::SubIOp::create(b, loc, count, one), wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), lane);
    Value most = constantInt(b, loc, lanes, 64), step = constantInt(b, loc, op.getStep(), 64), stride = constantInt(b, loc, together * lanes, 64);
    auto place = [&](OpBuilder &at, Value key) -> Value { // of a key, in blocks, up to the last of these
      Value blocks = arith::FloorDivSIOp::create(at, loc, key, step);
      return arith::MinSIOp::create(at, loc, arith::MaxSIOp::create(at, loc, blocks, zero), most);
    };
    auto marks = scf::ForOp::create(b, loc, zero, count, stride, none, [&](OpBuilder &at, Location, Value from, ValueRange sum) {
      SmallVector<std::pair<Value, Value>, together> ends;
      for (int64_t n = 0; n < together; ++n) {
        Value number = arith::AddIOp::create(at, loc, arith::AddIOp::create(at, loc, from, wide), constantInt(at, loc, n * lanes, 64));
        NarrowCloner code(at, outer);
        code.map(body.getArgument(0), arith::MinSIOp::create(at, loc, number, last));
        for (Operation &inner : body.without_terminator())
          code.clone(inner);
        ValueRange yielded = body.getTerminator()->getOperands();
        Value lower = code.lookup(yielded[0]), upper = code.lookup(yielded[1]);
        ends.push_back({lower, upper});
      }
      Value all = sum[0];
      for (auto [lower, upper] : ends) {
        Value begin = place(at, arith::SubIOp::create(at, loc, lower, first)), past = arith::SubIOp::create(at, loc, upper, first);
        Value end = place(at, arith::AddIOp::create(at, loc, past, constantInt(at, loc, op.getStep() - 1, 64)));
        Value below = arith::ShLIOp::create(at, loc, one, begin), upTo = arith::ShLIOp::create(at, loc, one, end);
        Value isSome = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::slt, lower, upper);
        Value bits = arith::TruncIOp::create(at, loc, at.getI32Type(), arith::SubIOp::create(at, loc, upTo, below));
        all = arith::OrIOp::create(at, loc, all, arith::SelectOp::create(at, loc, isSome, bits, none));
      }
      scf::YieldOp::create(at, loc, all);
    });
    Value marked = NVVM::ReduxOp::create(b, loc, b.getI32Type(), marks.getResult(0), NVVM::ReduxKind::OR, constantInt(b, loc, -1));
    Value own = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, marked, lane), constantInt(b, loc, 1));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, own, none);
  }

  KernelState &state;
};

} // namespace

void tegula::populateNotePatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertNote, ConvertReadNote, ConvertClassifyBlocks>(types, patterns.getContext(), state);
}
