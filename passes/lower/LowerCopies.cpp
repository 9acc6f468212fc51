// Loads and stores of fragments, global operands, and copies into rings.
//
// Rows past an extent: loads read row 0 and give 0, stores are skipped; bulk copies fill zeros. Offsets are i64.
#include "passes/lower/InlinePtx.h"
#include "passes/lower/LowerWarp.h"
#include "passes/lower/RingSlot.h"
#include "passes/lower/Shuffle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tegula;

namespace {

Value firstOrNull(ValueRange parts) { return parts.empty() ? Value() : parts.front(); }

SmallVector<Value> firstOf(ArrayRef<ValueRange> parts) {
  return llvm::map_to_vector(parts, [](ValueRange range) -> Value { return range.front(); });
}

Value add(OpBuilder &b, Location loc, Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
Value add(OpBuilder &b, Location loc, Value x, int64_t y) { return y == 0 ? x : add(b, loc, x, constantInt(b, loc, y, 64)); }
Value less(OpBuilder &b, Location loc, Value x, Value y) { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y); }

/// Where row `row` of a tile's numbering lies in memory, and whether it exists. `start`: of the tile; `shift` and `end`: of packed rows, or null.
struct RowPlace {
  RowPlace(OpBuilder &b, Location loc, const MemoryParts &memory, ArrayRef<Value> start, int64_t axis, Value row, Value shift, Value end) : at(start) {
    at[axis] = row;
    if (shift) {
      Value heads = arith::ShLIOp::create(b, loc, constantInt(b, loc, 1, 64), shift), number = arith::AndIOp::create(b, loc, row, arith::SubIOp::create(b, loc, heads, constantInt(b, loc, 1, 64)));
      at[axis] = arith::ShRSIOp::create(b, loc, row, shift);
      at[axis - 1] = arith::AddIOp::create(b, loc, start[axis - 1], number);
    }
    exists = less(b, loc, at[axis], memory.extents[axis]);
    if (shift)
      exists = arith::AndIOp::create(b, loc, exists, less(b, loc, at[axis - 1], end));
  }

  SmallVector<Value> at;
  Value exists;
};

/// Whether the columns of a tile can pass the extent of their axis.
bool needsColumnBound(MemRefType memory, RankedTensorType tile, ArrayRef<int64_t> axes) {
  return memory.getDimSize(axes[1]) != tile.getDimSize(1);
}

struct ConvertLoad : OpConversionPattern<tile::LoadOp> {
  ConvertLoad(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(tile::LoadOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast_or_null<VectorType>(getTypeConverter()->convertType(op.getType()));
    if (!type || op.getType().getRank() != 2)
      return rewriter.notifyMatchFailure(op, "not a fragment");
    Location loc = op.getLoc();
    MemoryParts memory(adaptor.getMemory());
    int64_t rowAxis = op.getAxes()[0], columnAxis = op.getAxes()[1];
    bool bounded = needsColumnBound(cast<MemRefType>(op.getMemory().getType()), op.getType(), op.getAxes());
    Value zeroIndex = constantInt(rewriter, loc, 0, 64);
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
    SmallVector<Value> start = firstOf(adaptor.getIndices()), elements(type.getNumElements());
    for (int64_t half : {0, 1}) {
      Value row = add(rewriter, loc, add(rewriter, loc, start[rowAxis], state.place.row), 8 * half);
      RowPlace place(rewriter, loc, memory, start, rowAxis, row, firstOrNull(adaptor.getShift()), firstOrNull(adaptor.getEnd()));
      Value rowExists = place.exists;
      for (int64_t i = 0; i < type.getNumElements() / 2; ++i) {
        Value column = add(rewriter, loc, add(rewriter, loc, start[columnAxis], state.place.column), i / 2 * 8 + i % 2);
        Value exists = rowExists;
        SmallVector<Value> at = place.at;
        if (bounded) {
          Value columnExists = less(rewriter, loc, column, memory.extents[columnAxis]);
          exists = arith::AndIOp::create(rewriter, loc, rowExists, columnExists);
          column = arith::SelectOp::create(rewriter, loc, columnExists, column, zeroIndex);
        }
        at[rowAxis] = arith::SelectOp::create(rewriter, loc, rowExists, at[rowAxis], zeroIndex);
        if (op.getShift())
          at[rowAxis - 1] = arith::SelectOp::create(rewriter, loc, rowExists, at[rowAxis - 1], start[rowAxis - 1]);
        at[columnAxis] = column;
        Value address = elementAddress(rewriter, loc, type.getElementType(), memory.pointer, at, memory.strides);
        Value value = LLVM::LoadOp::create(rewriter, loc, type.getElementType(), address);
        elements[i / 2 * 4 + 2 * half + i % 2] = arith::SelectOp::create(rewriter, loc, exists, value, zero);
      }
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    return success();
  }
  KernelState &state;
};

struct ConvertStore : OpConversionPattern<tile::StoreOp> {
  ConvertStore(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(tile::StoreOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType tile = op.getTile().getType();
    if (!tile.getEncoding())
      return rewriter.notifyMatchFailure(op, "not a fragment");
    Location loc = op.getLoc();
    MemoryParts memory(adaptor.getMemory());
    SmallVector<Value> start = firstOf(adaptor.getIndices());
    SmallVector<Value> elements = llvm::to_vector_of<Value>(vector::ToElementsOp::create(rewriter, loc, adaptor.getTile().front()).getResults());
    int64_t rowAxis = op.getAxes()[0];
    Value shift = firstOrNull(adaptor.getShift()), end = firstOrNull(adaptor.getEnd());
    if (storesWords(op)) {
      storeWords(op, {memory, start, shift, end}, elements, rewriter);
      rewriter.eraseOp(op);
      return success();
    }
    for (int64_t half : {0, 1}) {
      Value row = add(rewriter, loc, add(rewriter, loc, start[rowAxis], state.place.row), 8 * half);
      RowPlace place(rewriter, loc, memory, start, rowAxis, row, shift, end);
      Value exists = place.exists;
      if (tile.getRank() == 1) { // one lane of a quad writes its row's value
        Value isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, state.place.column, constantInt(rewriter, loc, 0, 64));
        exists = arith::AndIOp::create(rewriter, loc, exists, isFirst);
      }
      auto branch = scf::IfOp::create(rewriter, loc, exists, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      SmallVector<Value> at = place.at;
      if (tile.getRank() == 1) {
        Value address = elementAddress(rewriter, loc, tile.getElementType(), memory.pointer, at, memory.strides);
        LLVM::StoreOp::create(rewriter, loc, elements[half], address);
        continue;
      }
      storeElements(op, memory, at, elements, half, rewriter);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  struct Target {
    MemoryParts memory;
    ArrayRef<Value> start;
    Value shift, end; ///< of packed rows, or null
  };

  /// Whether columns are stored in words: the manifest's conditions promise stride 1 and alignment.
  bool storesWords(tile::StoreOp op) const {
    RankedTensorType tile = op.getTile().getType();
    return tile.getRank() == 2 && tile.getElementTypeBitWidth() == 16 && state.schedule.getForm() == tile::Form::Pipelined &&
           !needsColumnBound(cast<MemRefType>(op.getMemory().getType()), tile, op.getAxes());
  }

  /// A lane holds pairs of columns 8 n + 2 (lane % 4). Where rows start at multiples of 16 bytes, the quad exchanges four n at a time, so that a lane has the eight columns of one n
  /// and stores 16 bytes; else it stores the pairs.
  void storeWords(tile::StoreOp op, const Target &to, ArrayRef<Value> elements, OpBuilder &b) const {
    Location loc = op.getLoc();
    Type element = op.getTile().getType().getElementType();
    SmallVector<Value> words[2];
    for (int64_t half : {0, 1})
      for (size_t n = 0; n < elements.size() / 4; ++n) {
        Value pair = vector::FromElementsOp::create(b, loc, VectorType::get({2}, element), elements.slice(4 * n + 2 * half, 2));
        words[half].push_back(LLVM::BitcastOp::create(b, loc, b.getI32Type(), pair));
      }
    if (state.schedule.getEpilogue() == tile::Epilogue::Pairs) {
      for (int64_t half : {0, 1})
        storeRow(op, to, words[half], 0, half, b);
      return;
    }
    auto branch = scf::IfOp::create(b, loc, startsAligned(to.memory, op.getAxes()[1], b, loc), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    for (int64_t half : {0, 1})
      storeRow(op, to, words[half], 0, half, b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value lane = arith::ShRUIOp::create(b, loc, state.place.column, constantInt(b, loc, 1, 64)); // in the quad
    for (int64_t half : {0, 1}) {
      size_t exchanged = words[half].size() / 4 * 4;
      for (size_t n = 0; n < exchanged; n += 4)
        transposeQuad(b, loc, lane, MutableArrayRef<Value>(words[half]).slice(n, 4));
      storeRow(op, to, words[half], exchanged, half, b);
    }
  }

  /// Whether every row does, as far as pointer and strides tell.
  static Value startsAligned(MemoryParts memory, int64_t columnAxis, OpBuilder &b, Location loc) {
    constexpr int64_t elementBytes = 2, alignment = 16;
    Value bits = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), memory.pointer);
    for (auto [axis, stride] : llvm::enumerate(memory.strides))
      if (static_cast<int64_t>(axis) != columnAxis)
        bits = arith::OrIOp::create(b, loc, bits, arith::MulIOp::create(b, loc, stride, constantInt(b, loc, elementBytes, 64)));
    Value rest = arith::AndIOp::create(b, loc, bits, constantInt(b, loc, alignment - 1, 64));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, constantInt(b, loc, 0, 64));
  }

  /// The first `exchanged` words four at a time, the rest one by one.
  void storeRow(tile::StoreOp op, const Target &to, ArrayRef<Value> words, size_t exchanged, int64_t half, OpBuilder &b) const {
    Location loc = op.getLoc();
    Type element = op.getTile().getType().getElementType();
    int64_t rowAxis = op.getAxes()[0];
    RowPlace place(b, loc, to.memory, to.start, rowAxis, add(b, loc, add(b, loc, to.start[rowAxis], state.place.row), 8 * half), to.shift, to.end);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, place.exists, /*withElseRegion=*/false).thenBlock());
    Value row = elementAddress(b, loc, element, to.memory.pointer, place.at, to.memory.strides);
    auto store = [&](Value offset, size_t n, Value value, int64_t bytes) {
      Value address = LLVM::GEPOp::create(b, loc, row.getType(), element, row, ArrayRef<LLVM::GEPArg>{offset});
      address = LLVM::GEPOp::create(b, loc, row.getType(), element, address, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(8 * n)});
      LLVM::StoreOp::create(b, loc, value, address, bytes);
    };
    Value eights = exchanged ? arith::MulIOp::create(b, loc, state.place.column, constantInt(b, loc, 4, 64)).getResult() : Value();
    for (size_t n = 0; n < exchanged; n += 4)
      store(eights, n, vector::FromElementsOp::create(b, loc, VectorType::get({4}, b.getI32Type()), words.slice(n, 4)), 16);
    for (size_t n = exchanged; n < words.size(); ++n)
      store(state.place.column, n, words[n], 4);
  }

  /// Word k of lane t becomes word t of lane k: one exchange with the neighbour, one with the lane two on.
  static void transposeQuad(OpBuilder &b, Location loc, Value lane, MutableArrayRef<Value> words) {
    for (int64_t distance : {1, 2}) {
      Value bit = arith::AndIOp::create(b, loc, lane, constantInt(b, loc, distance, 64));
      Value isHigh = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, constantInt(b, loc, 0, 64));
      for (int64_t k = 0; k < 4; ++k) {
        if (k & distance)
          continue;
        Value &low = words[k], &high = words[k + distance];
        Value sent = arith::SelectOp::create(b, loc, isHigh, low, high);
        Value got = shuffle(b, loc, sent, constantInt(b, loc, distance), NVVM::ShflKind::bfly);
        low = arith::SelectOp::create(b, loc, isHigh, got, low);
        high = arith::SelectOp::create(b, loc, isHigh, high, got);
      }
    }
  }

  void storeElements(tile::StoreOp op, MemoryParts memory, SmallVector<Value> at, ArrayRef<Value> elements, int64_t half, OpBuilder &b) const {
    Location loc = op.getLoc();
    Type element = op.getTile().getType().getElementType();
    int64_t columnAxis = op.getAxes()[1];
    bool bounded = needsColumnBound(cast<MemRefType>(op.getMemory().getType()), op.getTile().getType(), op.getAxes());
    Value first = add(b, loc, at[columnAxis], state.place.column);
    for (size_t n = 0; n < elements.size() / 4; ++n)
      for (int64_t c : {0, 1}) {
        Value column = add(b, loc, first, static_cast<int64_t>(8 * n) + c);
        OpBuilder::InsertionGuard guard(b);
        if (bounded)
          b.setInsertionPointToStart(
              scf::IfOp::create(b, loc, less(b, loc, column, memory.extents[columnAxis]), /*withElseRegion=*/false).thenBlock());
        at[columnAxis] = column;
        LLVM::StoreOp::create(b, loc, elements[4 * n + 2 * half + c], elementAddress(b, loc, element, memory.pointer, at, memory.strides));
      }
  }

  KernelState &state;
};

/// A tile of global memory: the address of its first row, strides of rows and columns, and how many rows exist; of packed rows, the shift, the stride of heads and how many of them exist.
struct ConvertGlobal : OpConversionPattern<warp::GlobalOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(warp::GlobalOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemoryParts memory(adaptor.getMemory());
    SmallVector<Value> at = firstOf(adaptor.getIndices());
    Type element = cast<MemRefType>(op.getMemory().getType()).getElementType();
    int64_t rowAxis = op.getAxes()[0];
    Value shift = constantInt(rewriter, loc, 0, 64), headStride = shift, heads = constantInt(rewriter, loc, 1, 64);
    if (op.getShift()) {
      shift = adaptor.getShift().front(), headStride = memory.strides[rowAxis - 1];
      at[rowAxis] = arith::ShRSIOp::create(rewriter, loc, at[rowAxis], shift);
      heads = arith::SubIOp::create(rewriter, loc, adaptor.getEnd().front(), at[rowAxis - 1]);
    }
    Value rows = arith::SubIOp::create(rewriter, loc, memory.extents[rowAxis], at[rowAxis]);
    Value columnStride = memory.strides[op.getAxes()[1]];
    bool isLeft = llvm::any_of(op->getUses(), [](OpOperand &use) { return use.getOperandNumber() == 0; });
    if (isLeft) {
      // A later warpgroup's rows may all lie past the extent.
      Value some = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sgt, rows, constantInt(rewriter, loc, 0, 64));
      at[rowAxis] = arith::SelectOp::create(rewriter, loc, some, at[rowAxis], constantInt(rewriter, loc, 0, 64));
    } else {
      // The tile starts inside the extent, so the sign of `rows` is 0. Adding it makes the column offsets look different in each iteration: else
      // ptxas keeps two registers a column alive over the whole loop, and spills.
      Value sign = arith::ShRSIOp::create(rewriter, loc, rows, constantInt(rewriter, loc, 63, 64));
      columnStride = arith::AddIOp::create(rewriter, loc, columnStride, sign);
    }
    Value address = elementAddress(rewriter, loc, element, memory.pointer, at, memory.strides);
    SmallVector<Value> parts{address, memory.strides[rowAxis], columnStride, rows, shift, headStride, heads};
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

/// One bulk tensor copy for each panel.
struct ConvertCopy : OpConversionPattern<warp::CopyOp> {
  ConvertCopy(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(warp::CopyOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    warp::RingType ring = op.getRing().getType();
    RingSlot place(rewriter, loc, op.getRing().getDefiningOp<warp::RingOp>(), state.place.shared, adaptor.getCounter().front(),
                   adaptor.getCopy().front());
    Value barrier = place.full();
    SmallVector<Value> coordinates, indices = firstOf(adaptor.getIndices());
    for (Value index : llvm::reverse(indices))
      coordinates.push_back(narrowToI32(rewriter, loc, index));
    if (op.getShift()) // heads before positions, as rows of a tile are
      std::swap(coordinates[1], coordinates[2]);
    for (int64_t panel = 0; panel < ring.getPanels(); ++panel) {
      SmallVector<Value> at = coordinates;
      if (panel)
        at[0] = arith::AddIOp::create(rewriter, loc, at[0], constantInt(rewriter, loc, warp::panelColumns(ring.getElementType()) * panel));
      Value destination = adaptor.getSlot().front();
      if (panel)
        destination = arith::AddIOp::create(rewriter, loc, destination, constantInt(rewriter, loc, warp::panelBytes * ring.getRows() * panel));
      ptx::tensorCopy(rewriter, loc, destination, state.tensorMaps.lookup(op)[panel], barrier, at);
    }
    rewriter.eraseOp(op);
    return success();
  }

  KernelState &state;
};

} // namespace

void tegula::populateCopyPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertLoad, ConvertStore, ConvertCopy>(types, patterns.getContext(), state);
  patterns.add<ConvertGlobal>(types, patterns.getContext());
}
