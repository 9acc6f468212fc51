// warp.dot: a matrix product of the CTA.
//
// All threads put both operands into shared memory; then each warp runs `mma.sync` on its blocks of the result, m16n8k16 for 16-bit operands and, for f32,
// m16n8k8 on tf32 parts. Integers multiply and add in the thread. The one idea: an operand lies in shared memory as its layout has it, fast axis first, and
// what the matrix op wants transposed is transposed as it is read.
#include "passes/lower/BlockedScratch.h"
#include "passes/lower/BlockedAccess.h"
#include "passes/lower/InlinePtx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tegula;

namespace {

/// An operand in shared memory.
class SharedOperand {
public:
  SharedOperand(BlockedThread &t, const DotPlan::Operand &plan, int64_t scratch)
      : t(t), tile(plan.tile), layout(blockedLayout(tile)), plan(plan), size(storedBytes(tile.getElementType())), base(scratch + plan.offset) {}

  int64_t innerWeight() const { return plan.innerIsFast ? 1 : plan.pitch; }
  int64_t outerWeight() const { return plan.innerIsFast ? plan.pitch : 1; }

  /// Zeros where the depth is rounded up beyond what any thread holds; threads must meet before `write`.
  void clear() {
    OpBuilder &b = t.b;
    int64_t words = llvm::divideCeil(plan.lines * plan.pitch * size, 4);
    Value step = t.constant(t.state.threads), zero = t.constant(0);
    auto loop = scf::ForOp::create(b, t.loc, t.state.place.thread, t.constant(words), step);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value offset = arith::MulIOp::create(b, t.loc, loop.getInductionVar(), t.constant(4));
    t.storeShared(zero, t.sharedPointer(offset, base), 0);
  }

  void write(Value vector) {
    int64_t weights[2];
    weights[plan.innerAxis] = innerWeight(), weights[plan.outerAxis] = outerWeight();
    SmallVector<int64_t> threadWeights;
    for (const warp::Digit &digit : layout.getThreads())
      threadWeights.push_back(digit.axis < 0 ? 0 : digit.stride * weights[digit.axis] * size);
    Value pointer = t.sharedPointer(t.sum(threadWeights), base);
    SmallVector<int64_t> places(layout.getNumRegisters()), inner = layout.getRegisterOffsets(plan.innerAxis);
    for (int64_t axis : {0, 1})
      for (auto [place, offset] : llvm::zip(places, layout.getRegisterOffsets(axis)))
        place += offset * weights[axis];
    SmallVector<Value> elements = t.elementsOf(vector);
    Value zero = arith::ConstantOp::create(t.b, t.loc, t.b.getZeroAttr(tile.getElementType()));
    for (auto [element, offset] : llvm::zip(elements, inner))
      if (Value inside = t.isInside(layout, plan.innerAxis, tile.getDimSize(plan.innerAxis), offset))
        element = arith::SelectOp::create(t.b, t.loc, inside, element, zero);
    int64_t run = 1;
    if (!layout.getRegisters().empty()) {
      int64_t fast = layout.getRegisters().front().axis, neighbours = layout.getContiguous(fast);
      if (weights[fast] == 1)
        run = std::min(neighbours & -neighbours, 16 / size);
    }
    while (run > 1 && plan.pitch % run != 0)
      run /= 2;
    // One of the threads that hold the same elements writes them.
    OpBuilder::InsertionGuard guard(t.b);
    if (Value first = t.isFirstCopy(layout))
      t.b.setInsertionPointToStart(scf::IfOp::create(t.b, t.loc, first, /*withElseRegion=*/false).thenBlock());
    for (int64_t i = 0; i < static_cast<int64_t>(elements.size()); i += run)
      t.storeShared(ArrayRef<Value>(elements).slice(i, run), pointer, places[i] * size);
  }

  /// Copies from global memory: 16 bytes at a time, which need no registers, or element by element in a loop.
  void copy(warp::GlobalOp op, ArrayRef<Value> starts) {
    // The kernel's arguments were cast from their parts.
    auto parts = op.getMemory().getDefiningOp<UnrealizedConversionCastOp>();
    TileAccess access(t, tile, cast<MemRefType>(op.getMemory().getType()), MemoryParts(parts.getInputs()), starts, op.getAxes());
    OpBuilder &b = t.b;
    int64_t run = access.run();
    OpBuilder::InsertionGuard guard(b);
    if (run * size >= 4) {
      auto branch = scf::IfOp::create(b, t.loc, access.movesTogether(run), /*withElseRegion=*/true);
      b.setInsertionPointToStart(branch.thenBlock());
      copyRuns(access, run);
      access.leaveBranch();
      b.setInsertionPointToStart(branch.elseBlock());
    }
    copyElements(access);
  }

  /// A pointer to the element whose thread's parts along the outer and inner axis are given (i32).
  Value pointer(Value outer, Value inner) {
    return t.sharedPointer(offsetOf(outer, inner), base);
  }
  /// The same as a 32-bit address.
  Value address(Value outer, Value inner) {
    return t.add(t.add(t.state.place.shared, offsetOf(outer, inner)), base);
  }
  int64_t step(int64_t outer, int64_t inner) const { return (outer * outerWeight() + inner * innerWeight()) * size; }

  const DotPlan::Operand &facts() const { return plan; }

private:
  void copyRuns(TileAccess &access, int64_t run) {
    SmallVector<int64_t> inner = layout.getRegisterOffsets(plan.innerAxis), outer = layout.getRegisterOffsets(plan.outerAxis);
    Value to = address(t.coordinate(layout, plan.outerAxis), t.coordinate(layout, plan.innerAxis));
    // Of the threads that hold the same run one copies it: those that do not copy would fill it with zeros.
    OpBuilder::InsertionGuard guard(t.b);
    if (Value first = t.isFirstCopy(layout))
      t.b.setInsertionPointToStart(scf::IfOp::create(t.b, t.loc, first, /*withElseRegion=*/false).thenBlock());
    for (int64_t i = 0; i < layout.getNumRegisters(); i += run)
      ptx::copyGlobalIf(t.b, t.loc, t.add(to, step(outer[i], inner[i])), access.address(i, /*contiguous=*/true), run * size, access.exists(i));
  }

  void copyElements(TileAccess &access) {
    OpBuilder &b = t.b;
    int64_t columns = tile.getDimSize(1);
    Value end = t.constant(tile.getNumElements()), step = t.constant(t.state.threads);
    auto loop = scf::ForOp::create(b, t.loc, t.state.place.thread, end, step);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar();
    Value at[] = {arith::DivUIOp::create(b, t.loc, number, t.constant(columns)), arith::RemUIOp::create(b, t.loc, number, t.constant(columns))};
    auto words = ptx::loadGlobalIf(b, t.loc, access.addressAt(at), size, access.existsAt(at));
    t.storeShared(fromWords(t, words, tile.getElementType(), 1), pointer(at[plan.outerAxis], at[plan.innerAxis]), 0);
  }

  Value offsetOf(Value outer, Value inner) {
    Value far = scaled(outer, outerWeight() * size), near = scaled(inner, innerWeight() * size);
    return t.add(far, near);
  }
  Value scaled(Value value, int64_t factor) { return factor == 1 ? value : arith::MulIOp::create(t.b, t.loc, value, t.constant(factor)).getResult(); }

  BlockedThread &t;
  RankedTensorType tile;
  warp::BlockedAttr layout;
  DotPlan::Operand plan;
  int64_t size, base;
};

/// The result's blocks of 16 rows and 8 columns in this warp: registers 4 n + e of `mma.sync` accumulators.
struct ResultBlocks {
  explicit ResultBlocks(RankedTensorType type) : layout(blockedLayout(type)), rows(layout.getRegisterOffsets(0)), columns(layout.getRegisterOffsets(1)) {}

  /// The first digits are a column pair and a row 8 further down, then columns, then rows (see chooseProduct).
  bool isProduct() const {
    ArrayRef<warp::Digit> digits = layout.getRegisters();
    return digits.size() >= 2 && digits[0] == warp::Digit{1, 1, 2} && digits[1] == warp::Digit{0, 8, 2};
  }
  int64_t count() const { return rows.size() / 4; }
  int64_t row(int64_t block) const { return rows[4 * block]; }
  int64_t column(int64_t block) const { return columns[4 * block]; }

  warp::BlockedAttr layout;
  SmallVector<int64_t> rows, columns;
};

struct ConvertDot : BlockedPattern<warp::DotOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(warp::DotOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    BlockedThread t(rewriter, loc, state);
    DotPlan plan(op);
    ResultBlocks blocks(op.getType());
    if (!blocks.isProduct())
      return op.emitOpError("expected a result in the layout of mma.sync accumulators, but got ") << op.getType();
    int64_t scratch = op->getAttrOfType<IntegerAttr>(scratchAttr).getInt();
    SharedOperand lhs(t, plan.lhs, scratch), rhs(t, plan.rhs, scratch);
    if (op->hasAttr(guardedAttr))
      t.meet();
    if (plan.lhs.needsZeros || plan.rhs.needsZeros) {
      lhs.clear(), rhs.clear();
      t.meet();
    }
    put(lhs, op.getLhs(), adaptor.getLhs(), rewriter);
    put(rhs, op.getRhs(), adaptor.getRhs(), rewriter);
    ptx::waitCopies(rewriter, loc);
    t.meet();
    auto type = cast<VectorType>(getTypeConverter()->convertType(op.getType()));
    Value acc = op.getAcc() ? adaptor.getAcc().front() : arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type)).getResult();
    SmallVector<Value> registers = t.elementsOf(acc);
    Type element = plan.lhs.tile.getElementType();
    if (element.isF16() || element.isBF16())
      products16(t, lhs, rhs, blocks, plan.depth, element, registers);
    else if (element.isF32())
      products32(t, lhs, rhs, blocks, plan.depth, registers);
    else
      registers = t.elementsOf(multiplyAdds(t, lhs, rhs, blocks, plan.lhs.tile, acc));
    rewriter.replaceOp(op, t.vectorOf(registers));
    return success();
  }

private:
  static void put(SharedOperand &operand, Value original, ValueRange converted, ConversionPatternRewriter &rewriter) {
    auto global = original.getDefiningOp<warp::GlobalOp>();
    if (!global)
      return operand.write(converted.front());
    operand.copy(global, llvm::map_to_vector(global.getIndices(), [&](Value index) { return rewriter.getRemappedValue(index); }));
  }

  Value laneBits(BlockedThread &t, int64_t first, int64_t count) const {
    Value shifted = first ? arith::ShRUIOp::create(t.b, t.loc, state.place.thread, t.constant(first)).getResult() : state.place.thread;
    return arith::AndIOp::create(t.b, t.loc, shifted, t.constant((int64_t(1) << count) - 1));
  }

  /// The warp's part of a coordinate of the result.
  static Value warpPlace(BlockedThread &t, const ResultBlocks &blocks, int64_t axis) {
    SmallVector<int64_t> weights;
    for (auto [bit, digit] : llvm::enumerate(blocks.layout.getThreads()))
      weights.push_back(bit >= 5 && digit.axis == axis ? digit.stride : 0);
    return t.sum(weights);
  }

  /// One row of 8 elements a lane, as `ldmatrix` wants them: matrix l / 8 of four, whose bit 0 chooses among two blocks along the outer axis
  /// and bit 1 among two along the depth, or the other way round.
  Value matrixRows(BlockedThread &t, SharedOperand &operand, Value warp, bool outerFirst, int64_t outerStep) const {
    Value row = laneBits(t, 0, 3), low = laneBits(t, 3, 1), high = laneBits(t, 4, 1);
    auto scaled = [&](Value value, int64_t factor) -> Value { return arith::MulIOp::create(t.b, t.loc, value, t.constant(factor)); };
    Value outer = t.add(warp, scaled(outerFirst ? low : high, outerStep)), inner = scaled(outerFirst ? high : low, 8);
    Value &along = operand.facts().innerIsFast ? outer : inner; // lines are along the other axis
    along = t.add(along, row);
    return operand.address(outer, inner);
  }

  void products16(BlockedThread &t, SharedOperand &lhs, SharedOperand &rhs, const ResultBlocks &blocks, int64_t depth, Type element,
                  SmallVectorImpl<Value> &acc) const {
    StringRef name = element.isF16() ? "f16" : "bf16";
    SmallVector<int64_t> rows, columns; // of the warp's blocks, each once
    for (int64_t block = 0; block < blocks.count(); ++block) {
      if (!llvm::is_contained(rows, blocks.row(block)))
        rows.push_back(blocks.row(block));
      if (!llvm::is_contained(columns, blocks.column(block)))
        columns.push_back(blocks.column(block));
    }
    Value a = matrixRows(t, lhs, warpPlace(t, blocks, 0), /*outerFirst=*/true, 8);
    // Two blocks of columns at once, if there are two; they lie `pairStep` apart.
    int64_t pairStep = columns.size() > 1 ? columns[1] - columns[0] : 0;
    Value b = matrixRows(t, rhs, warpPlace(t, blocks, 1), /*outerFirst=*/false, pairStep);
    for (int64_t k = 0; k < depth; k += 16) {
      DenseMap<int64_t, SmallVector<Value>> left, right;
      for (int64_t row : rows)
        left[row] = ptx::loadMatrices(t.b, t.loc, t.add(a, lhs.step(row, k)), 4, !lhs.facts().innerIsFast);
      for (size_t i = 0; i < columns.size(); i += 2) {
        bool two = i + 1 < columns.size();
        auto matrices = ptx::loadMatrices(t.b, t.loc, t.add(b, rhs.step(columns[i], k)), two ? 4 : 2, !rhs.facts().innerIsFast);
        right[columns[i]].assign(matrices.begin(), matrices.begin() + 2);
        if (two)
          right[columns[i + 1]].assign(matrices.begin() + 2, matrices.end());
      }
      for (int64_t block = 0; block < blocks.count(); ++block) {
        auto result = ptx::warpProduct16(t.b, t.loc, name, ArrayRef<Value>(acc).slice(4 * block, 4), left[blocks.row(block)], right[blocks.column(block)]);
        llvm::copy(result, acc.begin() + 4 * block);
      }
    }
  }

  /// A value as the sum of two tf32 ones, as bits.
  static std::pair<Value, Value> split(BlockedThread &t, Value value) {
    Value high = ptx::toTf32(t.b, t.loc, value);
    Value rest = arith::SubFOp::create(t.b, t.loc, value, arith::BitcastOp::create(t.b, t.loc, t.b.getF32Type(), high));
    return {high, ptx::toTf32(t.b, t.loc, rest)};
  }

  /// Four tf32 products of high and low parts, as in matrix ops on global operands.
  void products32(BlockedThread &t, SharedOperand &lhs, SharedOperand &rhs, const ResultBlocks &blocks, int64_t depth, SmallVectorImpl<Value> &acc) const {
    Value group = laneBits(t, 2, 3), inner = laneBits(t, 0, 2);
    Value a = lhs.pointer(t.add(warpPlace(t, blocks, 0), group), inner), b = rhs.pointer(t.add(warpPlace(t, blocks, 1), group), inner);
    auto load = [&](SharedOperand &operand, Value pointer, int64_t outer, int64_t k) {
      return split(t, t.elementsOf(t.loadShared(pointer, operand.step(outer, k), t.b.getF32Type(), 1)).front());
    };
    Value zero = arith::ConstantOp::create(t.b, t.loc, t.b.getF32FloatAttr(0));
    for (int64_t k = 0; k < depth; k += 8) {
      DenseMap<int64_t, SmallVector<std::pair<Value, Value>>> left, right;
      for (int64_t block = 0; block < blocks.count(); ++block) {
        auto &rows = left[blocks.row(block)], &columns = right[blocks.column(block)];
        if (rows.empty())
          for (auto [row, step] : {std::pair(0, 0), {8, 0}, {0, 4}, {8, 4}})
            rows.push_back(load(lhs, a, blocks.row(block) + row, k + step));
        if (columns.empty())
          for (int64_t step : {0, 4})
            columns.push_back(load(rhs, b, blocks.column(block), k + step));
        auto parts = [](auto &pairs, bool high) { return llvm::map_to_vector(pairs, [&](auto &pair) { return high ? pair.first : pair.second; }); };
        // The tensor core truncates as it adds, so a step starts from 0 and is added in f32.
        SmallVector<Value> part(4, zero);
        for (auto [highA, highB] : {std::pair(false, false), {false, true}, {true, false}, {true, true}})
          part = ptx::warpProductTf32(t.b, t.loc, part, parts(rows, highA), parts(columns, highB));
        for (int64_t i = 0; i < 4; ++i)
          acc[4 * block + i] = arith::AddFOp::create(t.b, t.loc, acc[4 * block + i], part[i]);
      }
    }
  }

  /// A loop over the depth; each thread reads the rows and columns of its elements.
  Value multiplyAdds(BlockedThread &t, SharedOperand &lhs, SharedOperand &rhs, const ResultBlocks &blocks, RankedTensorType left, Value acc) const {
    Type element = left.getElementType();
    int64_t depth = left.getDimSize(1);
    Value row = t.coordinate(blocks.layout, 0), column = t.coordinate(blocks.layout, 1);
    Value zero = t.constant(0), end = t.constant(depth), one = t.constant(1);
    auto loop = scf::ForOp::create(t.b, t.loc, zero, end, one, acc);
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(loop.getBody());
    Value a = lhs.pointer(row, loop.getInductionVar()), b = rhs.pointer(column, loop.getInductionVar());
    DenseMap<int64_t, Value> rows, columns;
    auto load = [&](DenseMap<int64_t, Value> &known, SharedOperand &operand, Value pointer, int64_t outer) {
      Value &value = known[outer];
      if (!value)
        value = t.elementsOf(t.loadShared(pointer, operand.step(outer, 0), element, 1)).front();
      if (!value.getType().isInteger(32))
        value = arith::ExtSIOp::create(t.b, t.loc, t.b.getI32Type(), value);
      return value;
    };
    SmallVector<Value> sums = t.elementsOf(loop.getRegionIterArg(0));
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value x = load(rows, lhs, a, blocks.rows[i]), y = load(columns, rhs, b, blocks.columns[i]);
      sum = t.add(sum, arith::MulIOp::create(t.b, t.loc, x, y));
    }
    scf::YieldOp::create(t.b, t.loc, t.vectorOf(sums));
    return loop.getResult(0);
  }
};

} // namespace

void tegula::populateBlockedDotPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertDot>(types, patterns.getContext(), state);
}
