// Loads and stores become loops over the part of a tile that lies inside memory; lookups, gathers and scatters clamp or test each element.
//
// In: the ops of the tile dialect that touch memory, on i64 indices. Out: memref and scf on `index`. The one idea: where a tile is a box of
// memory, the bounds of the loops say which elements exist, so no element needs a test of its own.
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

Value indexConstant(ImplicitLocOpBuilder &b, int64_t value) { return arith::ConstantIndexOp::create(b, value); }

SmallVector<Value> toIndex(ImplicitLocOpBuilder &b, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), value); });
}

/// The box of memory that a tile stands for: its place in memory and, on each axis of the tile, the part [lower, upper) that exists.
struct Box {
  SmallVector<Value> place, lower, upper;
};

Box makeBox(ImplicitLocOpBuilder &b, Value memory, ValueRange indices, ArrayRef<int64_t> axes, ArrayRef<int64_t> shape) {
  Box box{toIndex(b, indices), {}, {}};
  Value zero = indexConstant(b, 0);
  for (auto [axis, size] : llvm::zip_equal(axes, shape)) {
    // Far outside is as empty as just outside, and no sum overflows there.
    Value extent = b.createOrFold<memref::DimOp>(memory, axis), &start = box.place[axis];
    start = b.createOrFold<arith::MinSIOp>(start, extent);
    start = b.createOrFold<arith::MaxSIOp>(start, indexConstant(b, -size));
    Value before = b.createOrFold<arith::SubIOp>(zero, start);
    Value rest = b.createOrFold<arith::SubIOp>(extent, start);
    box.lower.push_back(b.createOrFold<arith::MaxSIOp>(before, zero));
    box.upper.push_back(b.createOrFold<arith::MinSIOp>(rest, indexConstant(b, size)));
  }
  // Nothing exists where another axis is outside.
  for (auto [axis, index] : llvm::enumerate(box.place)) {
    if (llvm::is_contained(axes, static_cast<int64_t>(axis)))
      continue;
    Value extent = b.createOrFold<memref::DimOp>(memory, axis);
    Value exists = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, index, extent);
    box.upper[0] = b.createOrFold<arith::SelectOp>(exists, box.upper[0], zero);
  }
  return box;
}

/// Runs `body(position in the tile, indices into memory)` for each element of the tile that exists.
void forEachElement(ImplicitLocOpBuilder &b, const Box &box, ArrayRef<int64_t> axes,
                    function_ref<void(ImplicitLocOpBuilder &, ValueRange, ValueRange)> body) {
  SmallVector<Value> steps(axes.size(), indexConstant(b, 1));
  scf::buildLoopNest(b, b.getLoc(), box.lower, box.upper, steps, [&](OpBuilder &nested, Location loc, ValueRange position) {
    ImplicitLocOpBuilder inner(loc, nested);
    SmallVector<Value> element(box.place);
    for (auto [axis, x] : llvm::zip_equal(axes, position))
      element[axis] = inner.createOrFold<arith::AddIOp>(element[axis], x);
    body(inner, position, element);
  });
}

/// Runs `body` for each place of a tile, or once for a scalar.
void forEachLane(ImplicitLocOpBuilder &b, Type type, function_ref<void(ImplicitLocOpBuilder &, ValueRange)> body) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return body(b, {});
  SmallVector<Value> lower(tile.getRank(), indexConstant(b, 0)), steps(tile.getRank(), indexConstant(b, 1));
  auto upper = llvm::map_to_vector(tile.getShape(), [&](int64_t size) { return indexConstant(b, size); });
  scf::buildLoopNest(b, b.getLoc(), lower, upper, steps, [&](OpBuilder &nested, Location loc, ValueRange position) {
    ImplicitLocOpBuilder inner(loc, nested);
    body(inner, position);
  });
}

/// The element of a tile at `position`; a scalar is the same everywhere.
Value lane(ImplicitLocOpBuilder &b, Value value, ValueRange position) {
  return isa<RankedTensorType>(value.getType()) ? tensor::ExtractOp::create(b, value, position).getResult() : value;
}

/// Runs `body` where `condition`, which may be null for always, holds.
void createIf(ImplicitLocOpBuilder &b, Value condition, function_ref<void(ImplicitLocOpBuilder &)> body) {
  if (!condition)
    return body(b);
  scf::IfOp::create(b, condition, [&](OpBuilder &nested, Location loc) {
    ImplicitLocOpBuilder inner(loc, nested);
    body(inner);
    scf::YieldOp::create(inner);
  });
}

Value createAnd(ImplicitLocOpBuilder &b, Value x, Value y) {
  return x && y ? b.createOrFold<arith::AndIOp>(x, y) : x ? x : y;
}

/// The same for a tile of packed rows, each of which is looked for on its own.
template <typename AccessOp>
void forEachPackedElement(ImplicitLocOpBuilder &b, AccessOp op, ArrayRef<int64_t> shape, function_ref<void(ImplicitLocOpBuilder &, ValueRange, ValueRange)> body) {
  int64_t axis = op.getAxes()[0];
  SmallVector<Value> start = toIndex(b, op.getIndices());
  Value shift = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), op.getShift()), end = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), op.getEnd());
  Value one = indexConstant(b, 1), heads = arith::ShLIOp::create(b, one, shift), others = arith::SubIOp::create(b, heads, one), zero = indexConstant(b, 0), rows = indexConstant(b, shape[0]);
  auto exists = [&](ImplicitLocOpBuilder &at, ValueRange element) {
    Value all;
    for (auto [axis, index] : llvm::enumerate(element)) {
      Value extent = at.createOrFold<memref::DimOp>(op.getMemory(), axis);
      all = createAnd(at, all, arith::CmpIOp::create(at, arith::CmpIPredicate::ult, index, extent));
    }
    return createAnd(at, all, arith::CmpIOp::create(at, arith::CmpIPredicate::slt, element[axis - 1], end));
  };
  auto loop = scf::ForOp::create(b, zero, rows, one);
  ImplicitLocOpBuilder row(b.getLoc(), OpBuilder::atBlockBegin(loop.getBody()));
  SmallVector<Value> place(start);
  Value number = arith::AddIOp::create(row, start[axis], loop.getInductionVar());
  place[axis] = arith::ShRSIOp::create(row, number, shift);
  place[axis - 1] = arith::AddIOp::create(row, start[axis - 1], arith::AndIOp::create(row, number, others));
  SmallVector<Value> position{loop.getInductionVar()};
  if (shape.size() == 1)
    return createIf(row, exists(row, place), [&](ImplicitLocOpBuilder &inner) { body(inner, position, place); });
  auto columns = scf::ForOp::create(row, zero, indexConstant(row, shape[1]), one);
  ImplicitLocOpBuilder inner(b.getLoc(), OpBuilder::atBlockBegin(columns.getBody()));
  position.push_back(columns.getInductionVar());
  place[op.getAxes()[1]] = arith::AddIOp::create(inner, start[op.getAxes()[1]], columns.getInductionVar());
  createIf(inner, exists(inner, place), [&](ImplicitLocOpBuilder &innermost) { body(innermost, position, place); });
}

Value zeroOf(OpBuilder &b, Location loc, Type type) { return arith::ConstantOp::create(b, loc, b.getZeroAttr(type)); }

/// The element of memory nearest to i64 indices; 0 where an extent is 0, or where `used`, which may be null, does not hold: then `fill`.
Value readNearest(ImplicitLocOpBuilder &b, Value memory, ValueRange indices, Value used = {}, Value fill = {}) {
  auto type = cast<MemRefType>(memory.getType());
  Value zero = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
  Value one = arith::ConstantOp::create(b, b.getI64IntegerAttr(1));
  SmallVector<Value> clamped;
  Value exists;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    Value dim = b.createOrFold<memref::DimOp>(memory, axis);
    Value extent = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), dim);
    Value last = b.createOrFold<arith::SubIOp>(extent, one);
    Value low = b.createOrFold<arith::MinSIOp>(index, last);
    clamped.push_back(b.createOrFold<arith::MaxSIOp>(low, zero));
    if (!type.isDynamicDim(axis) && type.getDimSize(axis) > 0)
      continue;
    exists = createAnd(b, exists, b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sgt, extent, zero));
  }
  SmallVector<Value> place = toIndex(b, clamped);
  auto load = [&](OpBuilder &nested, Location loc) -> Value { return memref::LoadOp::create(nested, loc, memory, place); };
  Value condition = createAnd(b, exists, used);
  if (!condition)
    return load(b, b.getLoc());
  Value none = zeroOf(b, b.getLoc(), type.getElementType());
  if (used && fill)
    none = b.createOrFold<arith::SelectOp>(used, none, fill);
  auto guarded = scf::IfOp::create(
      b, condition, [&](OpBuilder &nested, Location loc) { scf::YieldOp::create(nested, loc, load(nested, loc)); },
      [&](OpBuilder &nested, Location loc) { scf::YieldOp::create(nested, loc, none); });
  return guarded.getResult(0);
}

struct LowerLoad : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LoadOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = op.getTile().getType();
    Box box = op.getShift() ? Box() : makeBox(b, op.getMemory(), op.getIndices(), op.getAxes(), type.getShape());
    Value buffer = memref::AllocOp::create(b, MemRefType::get(type.getShape(), type.getElementType()));
    auto copy = [&](ImplicitLocOpBuilder &inner, ValueRange position, ValueRange element) {
      Value value = memref::LoadOp::create(inner, op.getMemory(), element);
      memref::StoreOp::create(inner, value, buffer, position);
    };
    if (op.getShift()) {
      linalg::FillOp::create(b, zeroOf(b, b.getLoc(), type.getElementType()), buffer);
      forEachPackedElement(b, op, type.getShape(), copy);
    } else {
      fillIfPartial(b, box, type, buffer);
      forEachElement(b, box, op.getAxes(), copy);
    }
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(op, type, buffer, /*restrict=*/true, /*writable=*/true);
    return success();
  }

private:
  /// Zeros, where some element of the tile does not exist.
  static void fillIfPartial(ImplicitLocOpBuilder &b, const Box &box, RankedTensorType type, Value buffer) {
    Value partial = arith::ConstantOp::create(b, b.getBoolAttr(false));
    for (auto [lower, upper, size] : llvm::zip_equal(box.lower, box.upper, type.getShape())) {
      Value zero = indexConstant(b, 0), end = indexConstant(b, size);
      Value starts = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sgt, lower, zero);
      Value ends = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, upper, end);
      partial = b.createOrFold<arith::OrIOp>(partial, b.createOrFold<arith::OrIOp>(starts, ends));
    }
    createIf(b, partial, [&](ImplicitLocOpBuilder &inner) {
      linalg::FillOp::create(inner, zeroOf(inner, inner.getLoc(), type.getElementType()), buffer);
    });
  }
};

struct LowerStore : OpRewritePattern<StoreOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(StoreOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto write = [&](ImplicitLocOpBuilder &inner, ValueRange position, ValueRange element) {
      Value flag = op.getMask() ? lane(inner, op.getMask(), position) : Value();
      createIf(inner, flag, [&](ImplicitLocOpBuilder &innermost) {
        memref::StoreOp::create(innermost, lane(innermost, op.getTile(), position), op.getMemory(), element);
      });
    };
    ArrayRef<int64_t> shape = op.getTile().getType().getShape();
    if (op.getShift())
      forEachPackedElement(b, op, shape, write);
    else
      forEachElement(b, makeBox(b, op.getMemory(), op.getIndices(), op.getAxes(), shape), op.getAxes(), write);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerExtent : OpRewritePattern<ExtentOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ExtentOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value extent = b.createOrFold<memref::DimOp>(op.getMemory(), op.getAxis());
    rewriter.replaceOp(op, b.createOrFold<arith::IndexCastOp>(b.getI64Type(), extent));
    return success();
  }
};

struct LowerLookup : OpRewritePattern<LookupOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LookupOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, readNearest(b, op.getTable(), op.getIndices()));
    return success();
  }
};

SmallVector<Value> lanes(ImplicitLocOpBuilder &b, ValueRange values, ValueRange position) {
  return llvm::map_to_vector(values, [&](Value value) { return lane(b, value, position); });
}

struct LowerGather : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = op.getResult().getType();
    Value buffer = memref::AllocOp::create(b, MemRefType::get(type.getShape(), type.getElementType()));
    forEachLane(b, type, [&](ImplicitLocOpBuilder &inner, ValueRange position) {
      Value used = op.getMask() ? lane(inner, op.getMask(), position) : Value();
      Value value = readNearest(inner, op.getMemory(), lanes(inner, op.getIndices(), position), used, op.getFill());
      memref::StoreOp::create(inner, value, buffer, position);
    });
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(op, type, buffer, /*restrict=*/true, /*writable=*/true);
    return success();
  }
};

/// The i64 indices of an element as `index`, and whether it exists; null for always.
std::pair<SmallVector<Value>, Value> testElement(ImplicitLocOpBuilder &b, Value memory, ValueRange indices) {
  SmallVector<Value> place = toIndex(b, indices);
  Value exists;
  for (auto [axis, index] : llvm::enumerate(place)) {
    Value extent = b.createOrFold<memref::DimOp>(memory, axis);
    exists = createAnd(b, exists, b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, index, extent));
  }
  return {place, exists};
}

/// tile.scatter and tile.atomic_add: lane after lane. Programs run one after another, so an addition needs no atomic instruction.
template <typename OpTy> struct LowerScatter : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    forEachLane(b, op.getValue().getType(), [&](ImplicitLocOpBuilder &inner, ValueRange position) {
      auto [place, exists] = testElement(inner, op.getMemory(), lanes(inner, op.getIndices(), position));
      Value used = op.getMask() ? lane(inner, op.getMask(), position) : Value();
      createIf(inner, createAnd(inner, exists, used), [&, &place = place](ImplicitLocOpBuilder &innermost) {
        Value value = lane(innermost, op.getValue(), position);
        if constexpr (std::is_same_v<OpTy, AtomicAddOp>)
          value = sum(innermost, memref::LoadOp::create(innermost, op.getMemory(), place), value);
        memref::StoreOp::create(innermost, value, op.getMemory(), place);
      });
    });
    rewriter.eraseOp(op);
    return success();
  }

private:
  static Value sum(ImplicitLocOpBuilder &b, Value x, Value y) {
    return isa<FloatType>(x.getType()) ? arith::AddFOp::create(b, x, y).getResult() : arith::AddIOp::create(b, x, y).getResult();
  }
};

} // namespace

void tegula::populateLowerMemoryPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerLoad, LowerStore, LowerExtent, LowerLookup, LowerGather, LowerScatter<ScatterOp>, LowerScatter<AtomicAddOp>>(patterns.getContext());
}
