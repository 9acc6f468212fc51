// Ops that move elements, or only rename their places: conversions, reshapes, broadcasts, transpositions, lane numbers.
//
// The one idea: where layouts follow from one another, the registers are the same ones in another order; else each thread writes its elements to
// shared memory at a weighted sum of their coordinates, and reads those of the other layout.
#include "passes/lower/BlockedScratch.h"
#include "passes/lower/BlockedThread.h"
#include "passes/schedule/BlockedLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <map>

using namespace mlir;
using namespace tegula;

namespace {

/// One side of a move: a layout's elements at weighted places of shared memory.
class MoveSide {
public:
  MoveSide(BlockedThread &t, RankedTensorType tile, ArrayRef<int64_t> weights, int64_t scratch)
      : t(t), tile(tile), layout(blockedLayout(tile)), size(storedType(tile.getElementType()).getIntOrFloatBitWidth() / 8) {
    SmallVector<int64_t> threadWeights;
    for (const warp::Digit &digit : layout.getThreads())
      threadWeights.push_back(digit.axis < 0 ? 0 : digit.stride * weights[digit.axis] * size);
    pointer = t.sharedPointer(t.sum(threadWeights), scratch);
    places.assign(layout.getNumRegisters(), 0);
    for (int64_t axis = 0; axis < tile.getRank(); ++axis)
      for (auto [place, offset] : llvm::zip(places, layout.getRegisterOffsets(axis)))
        place += offset * weights[axis];
    // Registers that are neighbours in memory, aligned for every thread.
    if (!layout.getRegisters().empty()) {
      int64_t fast = layout.getRegisters().front().axis, neighbours = layout.getContiguous(fast);
      run = weights[fast] == 1 ? std::min(neighbours & -neighbours, 16 / size) : 1;
      auto isAligned = [&](const warp::Digit &digit) {
        return digit.axis < 0 || (digit.axis == fast && digit.stride < run) || digit.stride * weights[digit.axis] % run == 0;
      };
      while (run > 1 && !(llvm::all_of(layout.getThreads(), isAligned) && llvm::all_of(layout.getRegisters(), isAligned)))
        run /= 2;
    }
  }

  /// `strict`: a place past an extent would be another element's. One of the threads that hold the same elements writes them.
  void write(ArrayRef<Value> elements, bool strict) {
    OpBuilder::InsertionGuard all(t.b);
    if (Value first = t.isFirstCopy(layout))
      t.b.setInsertionPointToStart(scf::IfOp::create(t.b, t.loc, first, /*withElseRegion=*/false).thenBlock());
    int64_t count = strict && isInside(0) ? 1 : run;
    for (int64_t i = 0; i < static_cast<int64_t>(places.size()); i += count) {
      ArrayRef<Value> part = elements.slice(i, count);
      Value inside = strict ? isInside(i) : Value();
      if (!inside) {
        t.storeShared(part, pointer, places[i] * size);
        continue;
      }
      OpBuilder::InsertionGuard guard(t.b);
      t.b.setInsertionPointToStart(scf::IfOp::create(t.b, t.loc, inside, /*withElseRegion=*/false).thenBlock());
      t.storeShared(part, pointer, places[i] * size);
    }
  }

  Value read() {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < static_cast<int64_t>(places.size()); i += run)
      llvm::append_range(elements, t.elementsOf(t.loadShared(pointer, places[i] * size, tile.getElementType(), run)));
    return t.vectorOf(elements);
  }

private:
  Value isInside(int64_t index) {
    Value inside;
    for (int64_t axis = 0; axis < tile.getRank(); ++axis)
      inside = t.both(inside, t.isInside(layout, axis, tile.getDimSize(axis), layout.getRegisterOffsets(axis)[index]));
    return inside;
  }

  BlockedThread &t;
  RankedTensorType tile;
  warp::BlockedAttr layout;
  int64_t size, run = 1;
  Value pointer;
  SmallVector<int64_t> places;
};

/// Through shared memory, all threads at once.
Value move(BlockedThread &t, Operation *op, const MovePlan &plan, RankedTensorType from, RankedTensorType to, Value elements) {
  int64_t scratch = op->getAttrOfType<IntegerAttr>(scratchAttr).getInt();
  if (op->hasAttr(guardedAttr))
    t.meet();
  MoveSide(t, from, plan.fromWeights, scratch).write(t.elementsOf(elements), plan.isReshape);
  t.meet();
  return MoveSide(t, to, plan.toWeights, scratch).read();
}

/// The registers of `from` that hold what those of `to` hold, for layouts whose threads agree.
SmallVector<int64_t> sameElements(warp::BlockedAttr from, warp::BlockedAttr to, int64_t rank) {
  auto places = [&](warp::BlockedAttr layout) {
    SmallVector<SmallVector<int64_t>> result(layout.getNumRegisters());
    for (int64_t axis = 0; axis < rank; ++axis)
      for (auto [place, offset] : llvm::zip(result, layout.getRegisterOffsets(axis)))
        place.push_back(offset);
    return result;
  };
  std::map<SmallVector<int64_t>, int64_t> known;
  for (auto [index, place] : llvm::enumerate(places(from)))
    known[place] = index;
  SmallVector<int64_t> registers;
  for (const SmallVector<int64_t> &place : places(to)) {
    auto it = known.find(place);
    registers.push_back(it == known.end() ? 0 : it->second); // past an extent: anything
  }
  return registers;
}

struct ConvertConvert : BlockedPattern<warp::ConvertOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(warp::ConvertOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType from = op.getTile().getType(), to = op.getResult().getType();
    MovePlan plan(from, to);
    BlockedThread t(rewriter, op.getLoc(), state);
    if (plan.keepsThreads) {
      Value tile = adaptor.getTile();
      rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, tile, tile, sameElements(blockedLayout(from), blockedLayout(to), from.getRank()));
      return success();
    }
    rewriter.replaceOp(op, move(t, op, plan, from, to, adaptor.getTile()));
    return success();
  }
};

struct ConvertReshape : BlockedPattern<tile::ReshapeOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tile::ReshapeOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType from = op.getTile().getType(), to = op.getResult().getType();
    BlockedThread t(rewriter, op.getLoc(), state);
    Value tile = adaptor.getTile();
    rewriter.replaceOp(op, isRenaming(op) ? tile : move(t, op, MovePlan(from, to), from, to, tile));
    return success();
  }
};

/// The layout has other axis names; registers and threads stay.
struct ConvertTranspose : BlockedPattern<tile::TransposeOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tile::TransposeOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getTile());
    return success();
  }
};

struct ConvertBroadcast : BlockedPattern<tile::BroadcastOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tile::BroadcastOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    warp::BlockedAttr layout = blockedLayout(op.getType());
    if (!layout)
      return rewriter.notifyMatchFailure(op, "not a blocked tile");
    // The operand's registers are those of the result without the digits of the axes that it is repeated along.
    SmallVector<int64_t> registers{0};
    int64_t weight = 1;
    for (const warp::Digit &digit : layout.getRegisters()) {
      auto axis = llvm::find(op.getAxes(), digit.axis) - op.getAxes().begin();
      bool held = axis < op.getTile().getType().getRank() && op.getTile().getType().getDimSize(axis) == op.getType().getDimSize(digit.axis);
      size_t known = registers.size();
      for (int64_t step = 1; step < digit.count; ++step)
        for (size_t i = 0; i < known; ++i)
          registers.push_back(registers[i] + (held ? step * weight : 0));
      weight *= held ? digit.count : 1;
    }
    Value tile = adaptor.getTile();
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, tile, tile, registers);
    return success();
  }
};

struct ConvertIota : BlockedPattern<tile::IotaOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tile::IotaOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    warp::BlockedAttr layout = blockedLayout(op.getType());
    if (!layout)
      return rewriter.notifyMatchFailure(op, "not a blocked tile");
    BlockedThread t(rewriter, op.getLoc(), state);
    auto type = VectorType::get({layout.getNumRegisters()}, op.getType().getElementType());
    Value place = t.coordinate(layout, 0);
    if (!type.getElementType().isInteger(32))
      place = arith::ExtUIOp::create(rewriter, op.getLoc(), type.getElementType(), place);
    SmallVector<Attribute> offsets;
    for (int64_t offset : layout.getRegisterOffsets(0))
      offsets.push_back(rewriter.getIntegerAttr(type.getElementType(), offset));
    Value constants = arith::ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(type, offsets));
    Value spread = vector::BroadcastOp::create(rewriter, op.getLoc(), type, place);
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, spread, constants);
    return success();
  }
};

struct ConvertSplat : BlockedPattern<tensor::SplatOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tensor::SplatOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast_or_null<VectorType>(getTypeConverter()->convertType(op.getType()));
    if (!type)
      return rewriter.notifyMatchFailure(op, "not a tile with a layout");
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, type, adaptor.getInput());
    return success();
  }
};

struct ConvertFence : BlockedPattern<warp::FenceOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(warp::FenceOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    BlockedThread(rewriter, op.getLoc(), state).meet();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tegula::populateBlockedMovePatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertConvert, ConvertReshape, ConvertTranspose, ConvertBroadcast, ConvertIota, ConvertSplat, ConvertFence>(types, patterns.getContext(), state);
}
