// Global memory under blocked layouts: loads, stores, gathers, scatters, atomic additions.
//
// A thread's neighbouring elements move as one access of up to 16 bytes where a test that is the same for all threads finds the tile contiguous, aligned
// and cut at whole accesses; else element by element. Both are predicated: nothing outside an extent is touched. The one idea: along each axis of
// memory, `width` elements from the tile's element `low` on exist, so that one unsigned comparison of a 32-bit coordinate decides.
#include "passes/lower/BlockedAccess.h"
#include "passes/lower/InlinePtx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tegula;

namespace {

struct ConvertLoad : BlockedPattern<tile::LoadOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tile::LoadOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (!blockedLayout(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a blocked tile");
    BlockedThread t(rewriter, op.getLoc(), state);
    TileAccess access(t, op.getType(), cast<MemRefType>(op.getMemory().getType()), adaptor.getMemory(), firstOf(adaptor.getIndices()), op.getAxes());
    auto type = cast<VectorType>(getTypeConverter()->convertType(op.getType()));
    int64_t run = access.run();
    if (run == 1) {
      rewriter.replaceOp(op, load(t, access, type, 1));
      return success();
    }
    auto branch = scf::IfOp::create(rewriter, op.getLoc(), TypeRange{type}, access.movesTogether(run), /*withElseRegion=*/true);
    for (int64_t count : {run, int64_t(1)}) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(count == run ? branch.thenBlock() : branch.elseBlock());
      scf::YieldOp::create(rewriter, op.getLoc(), load(t, access, type, count));
      access.leaveBranch();
    }
    rewriter.replaceOp(op, branch);
    return success();
  }

  static Value load(BlockedThread &t, TileAccess &access, VectorType type, int64_t count) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < type.getNumElements(); i += count) {
      auto words = ptx::loadGlobalIf(t.b, t.loc, access.address(i, count > 1), count * storedBytes(type.getElementType()), access.exists(i));
      llvm::append_range(elements, fromWords(t, words, type.getElementType(), count));
    }
    return t.vectorOf(elements);
  }
};

struct ConvertStore : BlockedPattern<tile::StoreOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tile::StoreOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType tile = op.getTile().getType();
    if (!blockedLayout(tile))
      return rewriter.notifyMatchFailure(op, "not a blocked tile");
    BlockedThread t(rewriter, op.getLoc(), state);
    TileAccess access(t, tile, cast<MemRefType>(op.getMemory().getType()), adaptor.getMemory(), firstOf(adaptor.getIndices()), op.getAxes());
    SmallVector<Value> elements = t.elementsOf(adaptor.getTile().front()), mask;
    if (op.getMask())
      mask = t.elementsOf(adaptor.getMask().front());
    Value first = t.isFirstCopy(blockedLayout(tile));
    auto store = [&](int64_t count) {
      for (int64_t i = 0; i < static_cast<int64_t>(elements.size()); i += count) {
        Value condition = t.both(access.exists(i), first);
        if (!mask.empty())
          condition = t.both(condition, mask[i]);
        auto words = toWords(t, ArrayRef<Value>(elements).slice(i, count));
        ptx::storeGlobalIf(rewriter, op.getLoc(), access.address(i, count > 1), count * storedBytes(tile.getElementType()), words, condition);
      }
    };
    int64_t run = mask.empty() ? access.run() : 1;
    if (run == 1) {
      store(1);
    } else {
      auto branch = scf::IfOp::create(rewriter, op.getLoc(), access.movesTogether(run), /*withElseRegion=*/true);
      for (int64_t count : {run, int64_t(1)}) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPointToStart(count == run ? branch.thenBlock() : branch.elseBlock());
        store(count);
        access.leaveBranch();
      }
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// Elements at computed indices: scalars, or one a register.
class ComputedAccess {
public:
  ComputedAccess(BlockedThread &t, MemoryParts memory, ArrayRef<ValueRange> indices, Type element) : t(t), b(t.b), loc(t.loc), memory(memory), element(element) {
    for (ValueRange index : indices) {
      Value value = index.front();
      all.push_back(isa<VectorType>(value.getType()) ? t.elementsOf(value) : SmallVector<Value>{value});
    }
  }

  /// Whether the indices lie inside; null for memory of rank 0.
  Value isInside(int64_t lane) {
    Value inside;
    for (auto [indices, extent] : llvm::zip(all, memory.extents))
      inside = t.both(inside, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at(indices, lane), extent));
    return inside;
  }

  Value hasElements() {
    Value some;
    for (Value extent : memory.extents)
      some = t.both(some, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, extent, t.constant(0, 64)));
    return some;
  }

  Value address(int64_t lane, bool clamped) {
    SmallVector<Value> indices;
    for (auto [each, extent] : llvm::zip(all, memory.extents)) {
      Value index = at(each, lane);
      if (clamped) {
        Value last = arith::SubIOp::create(b, loc, extent, t.constant(1, 64));
        Value most = arith::MinSIOp::create(b, loc, index, last);
        index = arith::MaxSIOp::create(b, loc, most, t.constant(0, 64));
      }
      indices.push_back(index);
    }
    return indices.empty() ? memory.pointer : elementAddress(b, loc, storedType(element), memory.pointer, indices, memory.strides);
  }

private:
  static Value at(ArrayRef<Value> indices, int64_t lane) { return indices.size() == 1 ? indices[0] : indices[lane]; }

  BlockedThread &t;
  OpBuilder &b;
  Location loc;
  MemoryParts memory;
  Type element;
  SmallVector<SmallVector<Value>> all;
};

struct ConvertGather : BlockedPattern<tile::GatherOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tile::GatherOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast_or_null<VectorType>(getTypeConverter()->convertType(op.getType()));
    if (!type)
      return rewriter.notifyMatchFailure(op, "not a blocked tile");
    Type element = type.getElementType();
    BlockedThread t(rewriter, op.getLoc(), state);
    ComputedAccess access(t, adaptor.getMemory(), adaptor.getIndices(), element);
    Value some = access.hasElements();
    SmallVector<Value> mask, elements;
    if (op.getMask())
      mask = t.elementsOf(adaptor.getMask().front());
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      Value condition = mask.empty() ? some : t.both(some, mask[i]);
      auto words = ptx::loadGlobalIf(rewriter, op.getLoc(), access.address(i, /*clamped=*/true), storedBytes(element), condition);
      Value value = fromWords(t, words, element, 1).front();
      if (op.getFill() && !mask.empty())
        value = arith::SelectOp::create(rewriter, op.getLoc(), mask[i], value, adaptor.getFill().front());
      elements.push_back(value);
    }
    rewriter.replaceOp(op, t.vectorOf(elements));
    return success();
  }
};

/// Scatters and atomic additions, of tiles, or of scalars by one thread.
template <typename OpTy> struct ConvertWrite : BlockedPattern<OpTy> {
  using BlockedPattern<OpTy>::BlockedPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpConversionPattern<OpTy>::OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    BlockedThread t(rewriter, op.getLoc(), this->state);
    Value value = adaptor.getValue().front();
    Type element = getElementTypeOrSelf(value.getType());
    SmallVector<Value> elements{value}, mask;
    Value first;
    if (warp::BlockedAttr layout = blockedLayout(op.getValue().getType())) {
      elements = t.elementsOf(value);
      first = t.isFirstCopy(layout);
    } else {
      first = arith::CmpIOp::create(rewriter, op.getLoc(), arith::CmpIPredicate::eq, this->state.place.thread, t.constant(0));
    }
    if (op.getMask()) {
      Value flags = adaptor.getMask().front();
      mask = isa<VectorType>(flags.getType()) ? t.elementsOf(flags) : SmallVector<Value>(elements.size(), flags);
    }
    ComputedAccess access(t, adaptor.getMemory(), adaptor.getIndices(), element);
    for (auto [i, each] : llvm::enumerate(elements)) {
      Value condition = t.both(access.isInside(i), first);
      if (!mask.empty())
        condition = t.both(condition, mask[i]);
      condition = t.both(condition, insideTile(t, op.getValue(), i));
      Value address = access.address(i, /*clamped=*/false);
      if (isa<tile::AtomicAddOp>(op.getOperation()))
        ptx::addGlobalIf(rewriter, op.getLoc(), address, each, condition);
      else
        ptx::storeGlobalIf(rewriter, op.getLoc(), address, storedBytes(element), toWords(t, each), condition);
    }
    rewriter.eraseOp(op);
    return success();
  }

  /// Places past the tile's extents hold anything and write nothing.
  static Value insideTile(BlockedThread &t, Value value, int64_t index) {
    warp::BlockedAttr layout = blockedLayout(value.getType());
    Value inside;
    if (layout)
      for (auto [axis, extent] : llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape()))
        inside = t.both(inside, t.isInside(layout, axis, extent, layout.getRegisterOffsets(axis)[index]));
    return inside;
  }
};

} // namespace

void tegula::populateBlockedMemoryPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertLoad, ConvertStore, ConvertGather, ConvertWrite<tile::ScatterOp>, ConvertWrite<tile::AtomicAddOp>>(types, patterns.getContext(), state);
}
