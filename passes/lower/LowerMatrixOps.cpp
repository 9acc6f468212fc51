// warp.mma and warp.await.
//
// A right operand in a slot: one asynchronous warpgroup product (PTX ISA, wgmma). In global memory: mma.sync of each warp, its operands loaded
// just before. The one idea: the fragment is the accumulator and the left operand of both, so only the right operand's loads differ.
#include "passes/lower/InlinePtx.h"
#include "passes/lower/LowerWarp.h"
#include "passes/lower/Shuffle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tegula;

namespace {

SmallVector<Value> elementsOf(OpBuilder &b, Location loc, Value vector) {
  return llvm::to_vector_of<Value>(vector::ToElementsOp::create(b, loc, vector).getResults());
}

/// The registers of a 16-bit left operand: pairs of neighbouring columns.
Value asPairs(OpBuilder &b, Location loc, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  return vector::BitCastOp::create(b, loc, VectorType::get({type.getNumElements() / 2}, b.getI32Type()), vector);
}

StringRef ptxType(Type element) { return element.isF16() ? "f16" : "bf16"; }

/// Steps of 16 along the inner dim; columns past it are zero.
int64_t depthSteps(int64_t depth) { return (depth + 15) / 16; }

Value accumulatorOf(OpBuilder &b, Location loc, Value acc, VectorType type) {
  return acc ? acc : arith::ConstantOp::create(b, loc, b.getZeroAttr(type)).getResult();
}

/// The descriptor of a tile in shared memory: address, leading and stride byte offsets, 128-byte swizzle (PTX ISA, "matrix descriptor").
Value descriptor(OpBuilder &b, Location loc, Value address, int64_t leading, int64_t stride) {
  Value low = arith::AndIOp::create(b, loc, address, constantInt(b, loc, 0x3FFFF));
  low = arith::ShRUIOp::create(b, loc, low, constantInt(b, loc, 4));
  Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), low);
  int64_t fields = leading / 16 << 16 | stride / 16 << 32 | int64_t(1) << 62;
  return arith::OrIOp::create(b, loc, wide, constantInt(b, loc, fields, 64));
}

constexpr int64_t panelRow = 128, swizzleRows = 1024; // bytes of a row of a panel; of eight of them

struct ConvertSharedMma : OpConversionPattern<warp::MmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(warp::MmaOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto rhs = dyn_cast<warp::SlotType>(op.getRhs().getType());
    if (!rhs)
      return rewriter.notifyMatchFailure(op, "right operand is not in shared memory");
    Location loc = op.getLoc();
    auto type = cast<VectorType>(getTypeConverter()->convertType(op.getType()));
    SmallVector<Value> acc = elementsOf(rewriter, loc, accumulatorOf(rewriter, loc, adaptor.getAcc(), type));
    bool transposed = op.getTransposeB(), fromShared = isa<warp::SlotType>(op.getLhs().getType());
    int64_t panel = rhs.getRows() * panelRow, depth = transposed ? rhs.getColumns() : rhs.getRows();
    ptx::WarpgroupProduct shape{op.getType().getTile().getDimSize(1), depthSteps(depth), ptxType(rhs.getElementType()), op.getAcc() != nullptr,
                                !transposed, {}, {}};
    // 16 columns within a panel are 32 bytes; 16 rows are 2048.
    auto aStep = [](int64_t k) { return k / 4 * (64 * panelRow / 16) + k % 4 * 2; };
    auto bStep = [&](int64_t k) { return transposed ? k / 4 * (panel / 16) + k % 4 * 2 : k * (2 * swizzleRows / 16); };
    shape.aStep = aStep, shape.bStep = bStep;
    Value right = transposed ? descriptor(rewriter, loc, adaptor.getRhs(), 16, swizzleRows) : descriptor(rewriter, loc, adaptor.getRhs(), panel, swizzleRows);
    SmallVector<Value> left;
    if (fromShared)
      left.push_back(descriptor(rewriter, loc, adaptor.getLhs(), 16, swizzleRows));
    else
      left = elementsOf(rewriter, loc, asPairs(rewriter, loc, adaptor.getLhs()));
    SmallVector<Value> result = ptx::warpgroupProduct(rewriter, loc, shape, acc, left, fromShared, right, adaptor.getHalf());
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, result);
    return success();
  }
};

/// Loads elements of a tile in global memory. Rows past the last one that exists read row 0 and give 0.
///
/// A row is an address, a column an offset that all rows share. Columns are visited in ascending order, each offset a sum of the one before: one
/// offset is alive at a time, and no multiplication is left in the loop.
class GlobalOperand {
public:
  struct Row {
    Value address, exists;
  };

  GlobalOperand(OpBuilder &b, Location loc, warp::GlobalType type, ValueRange parts)
      : b(b), loc(loc), element(type.getElementType()), pointer(parts[0]), rowStride(parts[1]), columnStride(parts[2]), rows(parts[3]), shift(parts[4]), headStride(parts[5]), heads(parts[6]) {}

  Row row(int64_t constant, Value term) const {
    Value r = arith::AddIOp::create(b, loc, term, constantInt(b, loc, constant, 64));
    auto isBelow = [&](Value x, Value end) -> Value { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, end); };
    Value zero = constantInt(b, loc, 0, 64);
    auto orZero = [&](Value exists, Value x) -> Value { return arith::SelectOp::create(b, loc, exists, x, zero); };
    if (matchPattern(shift, m_Zero())) {
      Value exists = isBelow(r, rows);
      return {elementAddress(b, loc, element, pointer, orZero(exists, r), rowStride), exists};
    }
    Value one = constantInt(b, loc, 1, 64), mask = arith::SubIOp::create(b, loc, arith::ShLIOp::create(b, loc, one, shift), one);
    Value position = arith::ShRSIOp::create(b, loc, r, shift), head = arith::AndIOp::create(b, loc, r, mask);
    Value hasPosition = isBelow(position, rows), exists = arith::AndIOp::create(b, loc, hasPosition, isBelow(head, heads));
    Value ofHead = elementAddress(b, loc, element, pointer, orZero(exists, head), headStride);
    return {elementAddress(b, loc, element, ofHead, orZero(exists, position), rowStride), exists};
  }

  /// Starts to count columns at `first`.
  void startAt(Value first) {
    offset = arith::MulIOp::create(b, loc, first, columnStride);
    column = 0;
  }

  /// Moves to a column that is not before the one at hand.
  void moveTo(int64_t to) {
    if (to != column)
      offset = arith::AddIOp::create(b, loc, offset, arith::MulIOp::create(b, loc, columnStride, constantInt(b, loc, to - column, 64)));
    column = to;
  }

  Value isNotEmpty() const { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, rows, constantInt(b, loc, 0, 64)); }

  Value load(const Row &row) const {
    Value address = LLVM::GEPOp::create(b, loc, row.address.getType(), element, row.address, ArrayRef<LLVM::GEPArg>{offset});
    Value value = LLVM::LoadOp::create(b, loc, element, address);
    return arith::SelectOp::create(b, loc, row.exists, value, arith::ConstantOp::create(b, loc, b.getZeroAttr(element)));
  }

  /// The elements of `rows` in columns `to` and `to + 1`, row by row.
  SmallVector<std::array<Value, 2>> loadPairs(ArrayRef<Row> rows, int64_t to) {
    SmallVector<std::array<Value, 2>> result(rows.size());
    for (int64_t c : {0, 1}) {
      moveTo(to + c);
      for (auto [row, pair] : llvm::zip(rows, result))
        pair[c] = load(row);
    }
    return result;
  }

private:
  OpBuilder &b;
  Location loc;
  Type element;
  Value pointer, rowStride, columnStride, rows, shift, headStride, heads, offset;
  int64_t column = 0;
};

/// mma.sync of each warp: 16 rows of the left operand, from registers or global memory, and 8 columns of the result at a time.
class WarpProduct {
public:
  /// `seen`: flags of a fragment, or null.
  WarpProduct(OpBuilder &b, warp::MmaOp op, const ThreadPlace &place, ValueRange lhs, ValueRange rhs, Value seen, SmallVectorImpl<Value> &acc)
      : b(b), loc(op.getLoc()), type(cast<warp::GlobalType>(op.getRhs().getType())), element(type.getElementType()), place(place), acc(acc),
        depth(op.getTransposeB() ? type.getColumns() : type.getRows()), blocks(op.getType().getTile().getDimSize(1) / 8) {
    Value lane = arith::AndIOp::create(b, loc, place.thread, constantInt(b, loc, 31));
    quad = arith::ExtUIOp::create(b, loc, b.getI64Type(), arith::ShRUIOp::create(b, loc, lane, constantInt(b, loc, 2)));
    right.emplace(b, loc, type, rhs);
    if (auto global = dyn_cast<warp::GlobalType>(op.getLhs().getType())) {
      left.emplace(b, loc, global, lhs);
      leftRows = {left->row(0, place.row), left->row(8, place.row)};
    } else {
      registers = elementsOf(b, loc, element.isF32() ? lhs.front() : asPairs(b, loc, lhs.front()));
    }
    if (seen)
      seenRows = anyOfWarp(elementsOf(b, loc, seen));
    op.getTransposeB() ? alongRows() : alongColumns();
  }

private:
  /// The left operand's part of a step: registers of the instruction; for f32 those of the high and of the low parts.
  struct Operand {
    SmallVector<Value> high, low;
  };

  /// acc += lhs * transpose(rhs): a row of `rhs` is a column of the result, its columns run along the depth.
  void alongRows() {
    SmallVector<GlobalOperand::Row> rows;
    for (int64_t block = 0; block < blocks; ++block)
      rows.push_back(right->row(8 * block, quad));
    int64_t done = left ? depth / chunk * chunk : 0;
    if (done > 0)
      loopAlongRows(rows, done);
    startAt(constantInt(b, loc, done, 64));
    alongRows(rows, depth - done);
  }

  /// With both operands in memory the depth is a loop, and not unrolled: ptxas would have it all in flight, and spill the accumulator.
  void loopAlongRows(ArrayRef<GlobalOperand::Row> rows, int64_t columns) {
    auto constant = [&](int64_t value) { return constantInt(b, loc, value, 64); };
    Value zero = constant(0), end = constant(columns), step = constant(chunk);
    auto loop = scf::ForOp::create(b, loc, zero, end, step, acc);
    acc.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    startAt(loop.getInductionVar());
    alongRows(rows, chunk);
    scf::YieldOp::create(b, loc, acc);
    acc.assign(loop.getResults().begin(), loop.getResults().end());
  }

  /// Lets the columns of operands in memory count from `base` on.
  void startAt(Value base) {
    Value first = arith::AddIOp::create(b, loc, place.column, base);
    right->startAt(first);
    if (left)
      left->startAt(first);
  }

  void alongRows(ArrayRef<GlobalOperand::Row> rows, int64_t columns) {
    for (int64_t first = 0; first < columns; first += step()) {
      Operand a = leftOperand(first, columns);
      SmallVector<SmallVector<std::array<Value, 2>>> halves;
      for (int64_t k = first; k < std::min(columns, first + step()); k += 8)
        halves.push_back(right->loadPairs(rows, k));
      for (int64_t block = 0; block < blocks; ++block) {
        SmallVector<std::array<Value, 2>> pairs;
        for (auto &half : halves)
          pairs.push_back(half[block]);
        multiply(block, a, pairs);
      }
    }
  }

  /// Of each column that a lane holds of a fragment, whether a flag of the warp's 16 rows is set. As the right operand's rows lie where the left
  /// one's columns do, these are the rows that the lane loads.
  SmallVector<Value> anyOfWarp(ArrayRef<Value> flags) const {
    SmallVector<Value> words, result;
    int64_t columns = flags.size() / 2;
    for (int64_t c = 0; c < columns; ++c) {
      Value any = arith::OrIOp::create(b, loc, flags[c / 2 * 4 + c % 2], flags[c / 2 * 4 + 2 + c % 2]);
      Value one = constantInt(b, loc, int64_t(1) << c % 31), none = constantInt(b, loc, 0);
      Value bit = arith::SelectOp::create(b, loc, any, one, none);
      if (c % 31 == 0)
        words.push_back(bit);
      else
        words.back() = arith::OrIOp::create(b, loc, words.back(), bit);
    }
    for (Value &word : words)
      for (int64_t distance : {4, 8, 16}) {
        Value other = shuffle(b, loc, word, constantInt(b, loc, distance), NVVM::ShflKind::bfly);
        word = arith::OrIOp::create(b, loc, word, other);
      }
    for (int64_t c = 0; c < columns; ++c) {
      Value bit = arith::AndIOp::create(b, loc, words[c / 31], constantInt(b, loc, int64_t(1) << c % 31));
      result.push_back(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, constantInt(b, loc, 0)));
    }
    return result;
  }

  /// acc += lhs * rhs: rows of `rhs` run along the depth.
  void alongColumns() {
    SmallVector<Operand> operands;
    SmallVector<std::array<GlobalOperand::Row, 2>> rows; // 8 of the depth each, of which a lane has two
    for (int64_t first = 0; first < depth; first += step())
      operands.push_back(leftOperand(first, depth));
    for (int64_t k = 0; k < depth; k += 8)
      rows.push_back({right->row(k, place.column), right->row(k + 1, place.column)});
    if (!seenRows.empty())
      for (auto [k, pair] : llvm::enumerate(rows))
        for (int64_t c : {0, 1})
          pair[c].exists = arith::AndIOp::create(b, loc, pair[c].exists, seenRows[2 * k + c]);
    if (blocks <= 8)
      return alongColumns(operands, rows, 0, blocks);
    for (int64_t first = 0; first < blocks; first += 8)
      branchAlongColumns(operands, rows, first, std::min(first + 8, blocks));
  }

  /// A branch that is taken wherever there is a key. It cuts a wide product into basic blocks: ptxas would have all of it in flight, and spill the
  /// accumulator.
  void branchAlongColumns(ArrayRef<Operand> operands, ArrayRef<std::array<GlobalOperand::Row, 2>> rows, int64_t first, int64_t last) {
    MutableArrayRef<Value> part = MutableArrayRef<Value>(acc).slice(4 * first, 4 * (last - first));
    SmallVector<Value> before(part);
    auto branch = scf::IfOp::create(b, loc, TypeRange(ValueRange(part)), right->isNotEmpty(), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    alongColumns(operands, rows, first, last);
    scf::YieldOp::create(b, loc, part);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, before);
    llvm::copy(branch.getResults(), part.begin());
  }

  void alongColumns(ArrayRef<Operand> operands, ArrayRef<std::array<GlobalOperand::Row, 2>> rows, int64_t first, int64_t last) {
    right->startAt(quad);
    for (int64_t block = first; block < last; ++block) {
      right->moveTo(8 * block);
      for (auto [number, a] : llvm::enumerate(operands)) {
        SmallVector<std::array<Value, 2>> pairs;
        for (int64_t k = number * step() / 8; k < std::min<int64_t>(rows.size(), (number + 1) * step() / 8); ++k)
          pairs.push_back({right->load(rows[k][0]), right->load(rows[k][1])});
        multiply(block, a, pairs);
      }
    }
  }

  //===-- one step along the depth ----------------------------------------------------------------===//

  int64_t step() const { return element.isF32() ? 8 : 16; }
  static constexpr int64_t chunk = 16; ///< of the depth that an iteration takes, where it is a loop

  /// Columns from `first` on, of which those from `end` on are zero.
  Operand leftOperand(int64_t first, int64_t end) {
    if (element.isF32()) {
      SmallVector<Value> values = left ? SmallVector<Value>() : SmallVector<Value>(ArrayRef<Value>(registers).slice(4 * (first / 8), 4));
      if (left)
        for (std::array<Value, 2> pair : left->loadPairs(leftRows, first))
          values.append(pair.begin(), pair.end());
      // Fragment elements (row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1) -> a0, a2, a1, a3.
      Operand result;
      for (int64_t i : {0, 2, 1, 3}) {
        auto [high, low] = split(values[i]);
        result.high.push_back(high);
        result.low.push_back(low);
      }
      return result;
    }
    Operand result;
    for (int64_t k : {first, first + 8})
      if (k >= end)
        result.high.append(2, constantInt(b, loc, 0));
      else if (!left)
        result.high.append({registers[k / 4], registers[k / 4 + 1]});
      else
        for (std::array<Value, 2> pair : left->loadPairs(leftRows, k))
          result.high.push_back(word(pair));
    return result;
  }

  void multiply(int64_t block, const Operand &a, ArrayRef<std::array<Value, 2>> pairs) {
    auto part = MutableArrayRef<Value>(acc).slice(4 * block, 4);
    if (element.isF32())
      return multiply32(part, a, pairs.front());
    SmallVector<Value> words = llvm::map_to_vector(pairs, [&](std::array<Value, 2> pair) { return word(pair); });
    words.resize(2, constantInt(b, loc, 0));
    llvm::copy(ptx::warpProduct16(b, loc, ptxType(element), part, a.high, words), part.begin());
  }

  /// Four tf32 products of the high and low parts: about f32 accuracy. The k index is permuted alike on both sides: k = 2 (lane % 4) and the
  /// next one, which is how the fragment holds its columns.
  void multiply32(MutableArrayRef<Value> sum, const Operand &a, std::array<Value, 2> pair) {
    auto [high0, low0] = split(pair[0]);
    auto [high1, low1] = split(pair[1]);
    // The tensor core truncates as it adds, so a step starts from 0 and is added in f32.
    SmallVector<Value> part(4, arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0)));
    part = ptx::warpProductTf32(b, loc, part, a.low, {low0, low1});
    part = ptx::warpProductTf32(b, loc, part, a.low, {high0, high1});
    part = ptx::warpProductTf32(b, loc, part, a.high, {low0, low1});
    part = ptx::warpProductTf32(b, loc, part, a.high, {high0, high1});
    for (auto [total, value] : llvm::zip(sum, part))
      total = arith::AddFOp::create(b, loc, total, value);
  }

  std::pair<Value, Value> split(Value value) {
    Value high = ptx::toTf32(b, loc, value);
    Value rest = arith::SubFOp::create(b, loc, value, arith::BitcastOp::create(b, loc, b.getF32Type(), high));
    return {high, ptx::toTf32(b, loc, rest)};
  }

  /// Two 16-bit elements as one register.
  Value word(std::array<Value, 2> pair) {
    Value both = vector::FromElementsOp::create(b, loc, VectorType::get({2}, element), pair);
    return vector::ExtractOp::create(b, loc, vector::BitCastOp::create(b, loc, VectorType::get({1}, b.getI32Type()), both), 0);
  }

  OpBuilder &b;
  Location loc;
  warp::GlobalType type;
  Type element;
  const ThreadPlace &place;
  SmallVectorImpl<Value> &acc;
  SmallVector<Value> seenRows; ///< of the right operand that a lane loads; empty: all
  int64_t depth, blocks; ///< blocks: of 8 columns of the result
  Value quad;            ///< lane / 4
  std::optional<GlobalOperand> right, left;
  SmallVector<GlobalOperand::Row> leftRows;
  SmallVector<Value> registers; ///< of the left operand where it is a fragment
};

struct ConvertGlobalMma : OpConversionPattern<warp::MmaOp> {
  ConvertGlobalMma(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(warp::MmaOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (!isa<warp::GlobalType>(op.getRhs().getType()))
      return rewriter.notifyMatchFailure(op, "right operand is not in global memory");
    Location loc = op.getLoc();
    auto type = cast<VectorType>(getTypeConverter()->convertType(op.getType()));
    Value accValue = op.getAcc() ? adaptor.getAcc().front() : Value();
    SmallVector<Value> acc = elementsOf(rewriter, loc, accumulatorOf(rewriter, loc, accValue, type));
    Value seen = op.getSeen() ? adaptor.getSeen().front() : Value();
    WarpProduct(rewriter, op, state.place, adaptor.getLhs(), adaptor.getRhs(), seen, acc);
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, acc);
    return success();
  }

  KernelState &state;
};

/// A wait that takes and returns the accumulator, and the operand registers of its product, which stay unchanged until then.
struct ConvertAwait : OpConversionPattern<warp::AwaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(warp::AwaitOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto mma = op.getPending().getDefiningOp<warp::MmaOp>();
    if (!mma || !op.getInFlight())
      return op.emitOpError("internal: expected tegula-insert-waits before");
    if (isa<warp::GlobalType>(mma.getRhs().getType())) {
      rewriter.replaceOp(op, adaptor.getPending());
      return success();
    }
    Location loc = op.getLoc();
    auto type = cast<VectorType>(adaptor.getPending().getType());
    SmallVector<Value> registers = elementsOf(rewriter, loc, adaptor.getPending());
    if (isa<RankedTensorType>(mma.getLhs().getType())) {
      Value lhs = rewriter.getRemappedValue(mma.getLhs());
      if (!lhs)
        return rewriter.notifyMatchFailure(op, "left operand not converted");
      registers.append(elementsOf(rewriter, loc, asPairs(rewriter, loc, lhs)));
    }
    SmallVector<Value> waited = ptx::waitProducts(rewriter, loc, *op.getInFlight(), registers);
    waited.truncate(type.getNumElements());
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, waited);
    return success();
  }
};

} // namespace

void tegula::populateMatrixPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertSharedMma, ConvertAwait>(types, patterns.getContext());
  patterns.add<ConvertGlobalMma>(types, patterns.getContext(), state);
}
