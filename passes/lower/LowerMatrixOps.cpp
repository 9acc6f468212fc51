// warp.mma and warp.await.
//
// A right operand in a slot: one asynchronous warpgroup product (PTX ISA, wgmma). In global memory: mma.sync of each warp, its right operand loaded
// just before. The one idea: the fragment is the accumulator and the left operand of both, so only the right operand's loads differ.
#include "passes/lower/InlinePtx.h"
#include "passes/lower/LowerWarp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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
  Value low = arith::ShRUIOp::create(b, loc, arith::AndIOp::create(b, loc, address, constantInt(b, loc, 0x3FFFF)), constantInt(b, loc, 4));
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
    SmallVector<Value> result = ptx::warpgroupProduct(rewriter, loc, shape, acc, left, fromShared, right);
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, result);
    return success();
  }
};

/// Loads right operands of mma.sync from global memory. Rows past the last one that exists read row 0 and give 0.
class GlobalOperand {
public:
  GlobalOperand(OpBuilder &b, Location loc, warp::GlobalType type, ValueRange parts) : b(b), loc(loc), type(type), parts(parts) {}

  /// The element at (row, column), whose first terms are constants.
  Value load(int64_t row, Value rowTerm, int64_t column, Value columnTerm) {
    Value r = arith::AddIOp::create(b, loc, rowTerm, constantInt(b, loc, row, 64));
    Value c = arith::AddIOp::create(b, loc, columnTerm, constantInt(b, loc, column, 64));
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, r, parts[3]);
    Value safe = arith::SelectOp::create(b, loc, exists, r, constantInt(b, loc, 0, 64));
    Value address = elementAddress(b, loc, type.getElementType(), parts[0], {safe, c}, {parts[1], parts[2]});
    Value value = LLVM::LoadOp::create(b, loc, type.getElementType(), address);
    return arith::SelectOp::create(b, loc, exists, value, arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType())));
  }

private:
  OpBuilder &b;
  Location loc;
  warp::GlobalType type;
  ValueRange parts;
};

struct ConvertGlobalMma : OpConversionPattern<warp::MmaOp> {
  ConvertGlobalMma(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(warp::MmaOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto rhs = dyn_cast<warp::GlobalType>(op.getRhs().getType());
    if (!rhs)
      return rewriter.notifyMatchFailure(op, "right operand is not in global memory");
    Location loc = op.getLoc();
    auto type = cast<VectorType>(getTypeConverter()->convertType(op.getType()));
    Value accValue = op.getAcc() ? adaptor.getAcc().front() : Value();
    SmallVector<Value> acc = elementsOf(rewriter, loc, accumulatorOf(rewriter, loc, accValue, type));
    int64_t depth = op.getTransposeB() ? rhs.getColumns() : rhs.getRows(), blocks = op.getType().getTile().getDimSize(1) / 8;
    GlobalOperand operand(rewriter, loc, rhs, adaptor.getRhs());
    Value lhs = adaptor.getLhs().front();
    if (rhs.getElementType().isF32())
      products32(rewriter, loc, operand, elementsOf(rewriter, loc, lhs), acc, depth, blocks, op.getTransposeB());
    else
      products16(rewriter, loc, operand, elementsOf(rewriter, loc, asPairs(rewriter, loc, lhs)), acc, depth, blocks, op.getTransposeB(),
                 rhs.getElementType());
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, acc);
    return success();
  }

private:
  /// Within a warp: the n index of a lane's B elements, and its first k index.
  std::pair<Value, Value> lanePlace(OpBuilder &b, Location loc) const {
    Value lane = arith::AndIOp::create(b, loc, state.place.thread, constantInt(b, loc, 31));
    Value n = arith::ExtUIOp::create(b, loc, b.getI64Type(), arith::ShRUIOp::create(b, loc, lane, constantInt(b, loc, 2)));
    return {n, state.place.column};
  }

  static Value at(GlobalOperand &operand, bool transposed, int64_t n, Value nTerm, int64_t k, Value kTerm) {
    return transposed ? operand.load(n, nTerm, k, kTerm) : operand.load(k, kTerm, n, nTerm);
  }

  void products16(OpBuilder &b, Location loc, GlobalOperand &operand, ArrayRef<Value> a, SmallVectorImpl<Value> &acc, int64_t depth, int64_t blocks,
                  bool transposed, Type element) const {
    auto [n, k] = lanePlace(b, loc);
    auto pair = VectorType::get({2}, element), word = VectorType::get({1}, b.getI32Type());
    Value zero = constantInt(b, loc, 0);
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t step = 0; step < depthSteps(depth); ++step) {
        SmallVector<Value> left, right;
        for (int64_t i = 0; i < 4; ++i)
          left.push_back(4 * step + i < static_cast<int64_t>(a.size()) ? a[4 * step + i] : zero);
        for (int64_t half : {0, 8}) {
          int64_t first = 16 * step + half;
          if (first >= depth) {
            right.push_back(zero);
            continue;
          }
          Value low = at(operand, transposed, 8 * block, n, first, k), high = at(operand, transposed, 8 * block, n, first + 1, k);
          Value both = vector::FromElementsOp::create(b, loc, pair, ValueRange{low, high});
          right.push_back(vector::ExtractOp::create(b, loc, vector::BitCastOp::create(b, loc, word, both), 0));
        }
        replace(acc, block, ptx::warpProduct16(b, loc, ptxType(element), accumulator(acc, block), left, right));
      }
  }

  /// Four tf32 products of the high and low parts: about f32 accuracy. The k index is permuted alike on both sides: k = 2 (lane % 4) and the
  /// next one, which is how the fragment holds its columns.
  void products32(OpBuilder &b, Location loc, GlobalOperand &operand, ArrayRef<Value> a, SmallVectorImpl<Value> &acc, int64_t depth, int64_t blocks,
                  bool transposed) const {
    auto [n, k] = lanePlace(b, loc);
    auto split = [&](Value value) {
      Value high = ptx::toTf32(b, loc, value);
      Value rest = arith::SubFOp::create(b, loc, value, arith::BitcastOp::create(b, loc, b.getF32Type(), high));
      return std::pair(high, ptx::toTf32(b, loc, rest));
    };
    SmallVector<std::pair<Value, Value>> left;
    for (Value value : a)
      left.push_back(split(value));
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t step = 0; step < depth / 8; ++step) {
        auto [high0, low0] = split(at(operand, transposed, 8 * block, n, 8 * step, k));
        auto [high1, low1] = split(at(operand, transposed, 8 * block, n, 8 * step + 1, k));
        // Fragment elements (row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1) -> a0, a2, a1, a3.
        SmallVector<Value> high, low;
        for (int64_t i : {0, 2, 1, 3}) {
          high.push_back(left[4 * step + i].first);
          low.push_back(left[4 * step + i].second);
        }
        // The tensor core truncates as it adds, so a step starts from 0 and is added in f32.
        SmallVector<Value> part(4, arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0)));
        part = ptx::warpProductTf32(b, loc, part, low, {low0, low1});
        part = ptx::warpProductTf32(b, loc, part, low, {high0, high1});
        part = ptx::warpProductTf32(b, loc, part, high, {low0, low1});
        part = ptx::warpProductTf32(b, loc, part, high, {high0, high1});
        for (int64_t i = 0; i < 4; ++i)
          acc[4 * block + i] = arith::AddFOp::create(b, loc, acc[4 * block + i], part[i]);
      }
  }

  static ArrayRef<Value> accumulator(const SmallVectorImpl<Value> &acc, int64_t block) { return ArrayRef<Value>(acc).slice(4 * block, 4); }
  static void replace(SmallVectorImpl<Value> &acc, int64_t block, ArrayRef<Value> values) { llvm::copy(values, acc.begin() + 4 * block); }

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
