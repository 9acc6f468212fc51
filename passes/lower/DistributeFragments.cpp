// Fragments to vectors: elementwise code, constants, reductions and broadcasts.
//
// Element 4 n + e of a thread's vector lies in row `place.row + 8 (e / 2)` and column `8 n + place.column + e % 2` of the fragment, so
// elementwise code is the same code on vectors, a broadcast of row values is a shuffle, and a row's elements lie in the four threads of a quad.
#include "passes/lower/LowerWarp.h"
#include "passes/lower/Shuffle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tegula;

namespace {

/// arith and math on fragments: the same op on vectors.
struct ConvertElementwise : ConversionPattern {
  ConvertElementwise(const TypeConverter &types, MLIRContext *context) : ConversionPattern(types, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands, ConversionPatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) || isa<arith::ConstantOp>(op))
      return rewriter.notifyMatchFailure(op, "not elementwise");
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), results)))
      return rewriter.notifyMatchFailure(op, "no thread type");
    OperationState state(op->getLoc(), op->getName(), operands, results, op->getAttrs());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

struct ConvertConstant : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(arith::ConstantOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    auto type = dyn_cast_or_null<VectorType>(getTypeConverter()->convertType(op.getType()));
    if (!splat || !type)
      return rewriter.notifyMatchFailure(op, "not a splat of a fragment");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, type, SplatElementsAttr::get(type, splat.getSplatValue<Attribute>()));
    return success();
  }
};

/// One value of the program in every element.
struct ConvertSplat : OpConversionPattern<tensor::SplatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tensor::SplatOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast_or_null<VectorType>(getTypeConverter()->convertType(op.getType()));
    if (!type)
      return rewriter.notifyMatchFailure(op, "not a splat of a fragment");
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, type, adaptor.getInput());
    return success();
  }
};

struct ConvertPack : OpConversionPattern<warp::PackOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(warp::PackOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    if (type == adaptor.getTile().getType())
      rewriter.replaceOp(op, adaptor.getTile());
    else
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, adaptor.getTile());
    return success();
  }
};

struct ConvertBroadcast : OpConversionPattern<tile::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::BroadcastOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = cast<VectorType>(getTypeConverter()->convertType(op.getType()));
    SmallVector<int64_t> rows;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      rows.push_back(i / 2 % 2);
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, adaptor.getTile(), adaptor.getTile(), rows);
    return success();
  }
};

Value combine(tile::ReduceKind kind, Value x, Value y, Location loc, OpBuilder &b) {
  return kind == tile::ReduceKind::Max ? arith::MaxNumFOp::create(b, loc, x, y).getResult() : arith::AddFOp::create(b, loc, x, y).getResult();
}

/// A thread's own elements of its two rows, in two chains a row for instruction-level parallelism.
SmallVector<Value> reduceInThread(tile::ReduceKind kind, Value tile, Location loc, OpBuilder &b) {
  auto elements = vector::ToElementsOp::create(b, loc, tile).getResults();
  SmallVector<Value> rows;
  for (unsigned row : {0, 1}) {
    Value chains[2] = {};
    for (auto [i, element] : llvm::enumerate(elements))
      if (i / 2 % 2 == row) {
        Value &chain = chains[i % 2];
        chain = chain ? combine(kind, chain, element, loc, b) : Value(element);
      }
    rows.push_back(combine(kind, chains[0], chains[1], loc, b));
  }
  return rows;
}

/// A row value of the four lanes that hold it, combined.
Value reduceInQuad(tile::ReduceKind kind, Value value, Location loc, OpBuilder &b) {
  for (int64_t distance : {1, 2}) {
    Value other = shuffle(b, loc, value, constantInt(b, loc, distance), NVVM::ShflKind::bfly);
    value = combine(kind, value, other, loc, b);
  }
  return value;
}

struct ConvertReduce : OpConversionPattern<tile::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::ReduceOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> rows = reduceInThread(op.getKind(), adaptor.getTile(), op.getLoc(), rewriter);
    for (Value &row : rows)
      row = reduceInQuad(op.getKind(), row, op.getLoc(), rewriter);
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, cast<VectorType>(getTypeConverter()->convertType(op.getType())), rows);
    return success();
  }
};

struct ConvertPartialSum : OpConversionPattern<warp::PartialSumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(warp::PartialSumOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> rows = reduceInThread(tile::ReduceKind::Add, adaptor.getTile(), op.getLoc(), rewriter);
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, cast<VectorType>(getTypeConverter()->convertType(op.getType())), rows);
    return success();
  }
};

struct ConvertCompleteSum : OpConversionPattern<warp::CompleteSumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(warp::CompleteSumOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> rows(vector::ToElementsOp::create(rewriter, op.getLoc(), adaptor.getPartial()).getResults());
    for (Value &row : rows)
      row = reduceInQuad(tile::ReduceKind::Add, row, op.getLoc(), rewriter);
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, cast<VectorType>(adaptor.getPartial().getType()), rows);
    return success();
  }
};

/// A vote of the warp, which owns its rows.
struct ConvertAny : OpConversionPattern<tile::AnyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::AnyOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto flags = vector::ToElementsOp::create(rewriter, loc, adaptor.getFlags()).getResults();
    Value some = flags.front();
    for (Value flag : llvm::drop_begin(flags))
      some = arith::OrIOp::create(rewriter, loc, some, flag);
    rewriter.replaceOpWithNewOp<NVVM::VoteSyncOp>(op, rewriter.getI1Type(), constantInt(rewriter, loc, -1), some, NVVM::VoteSyncKind::any);
    return success();
  }
};

} // namespace

void tegula::populateFragmentPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &) {
  patterns.add<ConvertElementwise, ConvertConstant, ConvertSplat, ConvertPack, ConvertAny, ConvertBroadcast, ConvertReduce, ConvertPartialSum, ConvertCompleteSum>(types, patterns.getContext());
}
