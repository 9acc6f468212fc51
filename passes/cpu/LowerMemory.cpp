// Loads, stores and lookups become loops over the part of a tile that lies inside memory, and clamped loads.
//
// In: tile.load, tile.store, tile.lookup on i64 indices. Out: memref and scf on `index`. The one idea: the bounds of the loops say which
// elements exist, so no element needs a test of its own.
#include "passes/cpu/LowerMemory.h"

#include "dialect/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// The part [lower, upper) of each axis of a tile that lies inside memory.
struct Inside {
  SmallVector<Value> lower, upper;
};

Value indexConstant(ImplicitLocOpBuilder &b, int64_t value) { return arith::ConstantIndexOp::create(b, value); }

SmallVector<Value> toIndex(ImplicitLocOpBuilder &b, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), value); });
}

Inside insideOf(ImplicitLocOpBuilder &b, Value memory, ValueRange indices, ArrayRef<int64_t> axes, ArrayRef<int64_t> shape) {
  Inside inside;
  Value zero = indexConstant(b, 0);
  for (auto [axis, size] : llvm::zip_equal(axes, shape)) {
    Value extent = b.createOrFold<memref::DimOp>(memory, axis);
    Value rest = b.createOrFold<arith::SubIOp>(extent, indices[axis]);
    Value before = b.createOrFold<arith::SubIOp>(zero, indices[axis]);
    inside.lower.push_back(b.createOrFold<arith::MaxSIOp>(before, zero));
    inside.upper.push_back(b.createOrFold<arith::MinSIOp>(rest, indexConstant(b, size)));
  }
  return inside;
}

/// Runs `body(position in the tile, indices into memory)` for each element of the tile that lies inside memory.
void forEachElement(ImplicitLocOpBuilder &b, const Inside &inside, ValueRange indices, ArrayRef<int64_t> axes,
                    function_ref<void(ImplicitLocOpBuilder &, ValueRange, ValueRange)> body) {
  Value one = indexConstant(b, 1);
  SmallVector<Value> steps(axes.size(), one);
  scf::buildLoopNest(b, b.getLoc(), inside.lower, inside.upper, steps, [&](OpBuilder &nested, Location loc, ValueRange position) {
    ImplicitLocOpBuilder inner(loc, nested);
    SmallVector<Value> element(indices);
    for (auto [axis, x] : llvm::zip_equal(axes, position))
      element[axis] = inner.createOrFold<arith::AddIOp>(element[axis], x);
    body(inner, position, element);
  });
}

struct LowerLoad : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LoadOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = op.getTile().getType();
    SmallVector<Value> indices = toIndex(b, op.getIndices());
    Inside inside = insideOf(b, op.getMemory(), indices, op.getAxes(), type.getShape());
    Value buffer = memref::AllocOp::create(b, MemRefType::get(type.getShape(), type.getElementType()));
    fillIfPartial(b, inside, type, buffer);
    forEachElement(b, inside, indices, op.getAxes(), [&](ImplicitLocOpBuilder &inner, ValueRange position, ValueRange element) {
      Value value = memref::LoadOp::create(inner, op.getMemory(), element);
      memref::StoreOp::create(inner, value, buffer, position);
    });
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(op, type, buffer, /*restrict=*/true, /*writable=*/true);
    return success();
  }

private:
  /// Zeros, where some element of the tile does not exist.
  static void fillIfPartial(ImplicitLocOpBuilder &b, const Inside &inside, RankedTensorType type, Value buffer) {
    Value partial = arith::ConstantOp::create(b, b.getBoolAttr(false));
    for (auto [lower, upper, size] : llvm::zip_equal(inside.lower, inside.upper, type.getShape())) {
      Value zero = indexConstant(b, 0), end = indexConstant(b, size);
      Value starts = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sgt, lower, zero);
      Value ends = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, upper, end);
      partial = b.createOrFold<arith::OrIOp>(partial, b.createOrFold<arith::OrIOp>(starts, ends));
    }
    scf::IfOp::create(b, partial, [&](OpBuilder &nested, Location loc) {
      Value zero = arith::ConstantOp::create(nested, loc, nested.getZeroAttr(type.getElementType()));
      linalg::FillOp::create(nested, loc, zero, buffer);
      scf::YieldOp::create(nested, loc);
    });
  }
};

struct LowerStore : OpRewritePattern<StoreOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(StoreOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> indices = toIndex(b, op.getIndices());
    Inside inside = insideOf(b, op.getMemory(), indices, op.getAxes(), op.getTile().getType().getShape());
    forEachElement(b, inside, indices, op.getAxes(), [&](ImplicitLocOpBuilder &inner, ValueRange position, ValueRange element) {
      Value value = tensor::ExtractOp::create(inner, op.getTile(), position);
      memref::StoreOp::create(inner, value, op.getMemory(), element);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerLookup : OpRewritePattern<LookupOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LookupOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto type = cast<MemRefType>(op.getTable().getType());
    Value zero = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
    Value one = arith::ConstantOp::create(b, b.getI64IntegerAttr(1));
    SmallVector<Value> clamped;
    Value exists;
    for (auto [axis, index] : llvm::enumerate(op.getIndices())) {
      Value dim = b.createOrFold<memref::DimOp>(op.getTable(), axis);
      Value extent = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), dim);
      Value last = b.createOrFold<arith::SubIOp>(extent, one);
      Value low = b.createOrFold<arith::MinSIOp>(index, last);
      clamped.push_back(b.createOrFold<arith::MaxSIOp>(low, zero));
      if (!type.isDynamicDim(axis) && type.getDimSize(axis) > 0)
        continue;
      Value some = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sgt, extent, zero);
      exists = exists ? b.createOrFold<arith::AndIOp>(exists, some) : some;
    }
    SmallVector<Value> place = toIndex(b, clamped);
    auto load = [&](OpBuilder &nested, Location loc) -> Value { return memref::LoadOp::create(nested, loc, op.getTable(), place); };
    if (!exists) {
      rewriter.replaceOp(op, load(b, op.getLoc()));
      return success();
    }
    auto guarded = scf::IfOp::create(
        b, exists, [&](OpBuilder &nested, Location loc) { scf::YieldOp::create(nested, loc, load(nested, loc)); },
        [&](OpBuilder &nested, Location loc) {
          Value none = arith::ConstantOp::create(nested, loc, nested.getZeroAttr(type.getElementType()));
          scf::YieldOp::create(nested, loc, none);
        });
    rewriter.replaceOp(op, guarded);
    return success();
  }
};

} // namespace

void tegula::populateLowerMemoryPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerLoad, LowerStore, LowerLookup>(patterns.getContext());
}
