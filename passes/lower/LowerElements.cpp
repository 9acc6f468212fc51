// Scalar code of one element (masks, scores, lookups) to the elements that a thread holds.
//
// The one idea: a value of a region has a shape, the least of: the same for all elements, one a row (2), one a column (columns / 4), one an element
// (columns / 2). An op is emitted once in the least shape that holds its operands, so what depends on the row alone is computed twice, not 64 times.
// Integers are i64 by meaning; where the ranges of a region's values prove it, all of them are emitted as i32.
#include "passes/lower/LowerWarp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tegula;

namespace {

enum class Spread { Uniform = 0, Rows = 1, Columns = 2, Elements = 3 };

Spread join(Spread x, Spread y) { return static_cast<Spread>(static_cast<int>(x) | static_cast<int>(y)); }

/// Emits a region for all elements of a fragment with `columns` columns that one thread holds.
class RegionEmitter {
public:
  /// `row` and `column` are the region's index arguments, `firstRow` and `firstColumn` the fragment's place.
  RegionEmitter(OpBuilder &b, Location loc, int64_t columns, const KernelState &state, Region &region, Value row, Value firstRow, Value column,
                Value firstColumn)
      : b(b), loc(loc), columns(columns), place(state.place) {
    IndexRanges ranges(state.ranges);
    auto rows = ranges.of(firstRow), cols = ranges.of(firstColumn);
    if (rows && cols) {
      ranges.set(row, {rows->low, rows->high + 63});
      ranges.set(column, {cols->low, cols->high + columns - 1});
      isNarrow = ranges.fitsI32(region);
    }
    mapRow(row, narrowed(firstRow));
    mapColumn(column, narrowed(firstColumn));
  }

  void mapElement(Value argument, Value elements) { set(argument, elements, Spread::Elements); }

  /// The yielded value, one an element; null where the region holds an op that is not scalar code.
  Value emit(Region &region) {
    for (Operation &op : region.front().without_terminator())
      if (failed(emit(op)))
        return {};
    return get(region.front().getTerminator()->getOperand(0), Spread::Elements);
  }

private:
  /// Row indices from `first`, the fragment's first row: two values.
  void mapRow(Value argument, Value first) {
    Value low = arith::AddIOp::create(b, loc, first, narrowed(place.row));
    Value high = arith::AddIOp::create(b, loc, low, constantInt(b, loc, 8, isNarrow ? 32 : 64));
    set(argument, vector::FromElementsOp::create(b, loc, VectorType::get({2}, indexType()), ValueRange{low, high}), Spread::Rows);
  }

  /// Column indices from `first`: columns / 4 values.
  void mapColumn(Value argument, Value first) {
    SmallVector<Attribute> offsets;
    for (int64_t i = 0; i < columns / 4; ++i)
      offsets.push_back(IntegerAttr::get(indexType(), i / 2 * 8 + i % 2));
    auto type = VectorType::get({columns / 4}, indexType());
    Value constants = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, offsets));
    Value base = arith::AddIOp::create(b, loc, first, narrowed(place.column));
    Value spread = vector::BroadcastOp::create(b, loc, type, base);
    set(argument, arith::AddIOp::create(b, loc, spread, constants), Spread::Columns);
  }

  Type indexType() { return isNarrow ? b.getI32Type() : b.getI64Type(); }
  /// The type that values of `type` are emitted in.
  Type emitted(Type type) { return isNarrow && type.isInteger(64) ? b.getI32Type() : type; }
  Value narrowed(Value value) { return isNarrow && value.getType().isInteger(64) ? narrowToI32(b, loc, value) : value; }

  LogicalResult emit(Operation &op) {
    if (op.getNumRegions() != 0 || op.getNumResults() != 1)
      return op.emitOpError("internal: not scalar code of one element");
    Spread spread = Spread::Uniform;
    for (Value operand : op.getOperands())
      spread = join(spread, spreadOf(operand));
    if (auto lookup = dyn_cast<tile::LookupOp>(op))
      return emitLookups(lookup, spread);
    if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && emitted(constant.getType()) != constant.getType()) {
      set(op.getResult(0), constantInt(b, loc, cast<IntegerAttr>(constant.getValue()).getInt()), Spread::Uniform);
      return success();
    }
    if (isa<arith::ExtSIOp, arith::ExtUIOp>(op) && emitted(op.getResult(0).getType()) == op.getOperand(0).getType()) {
      set(op.getResult(0), get(op.getOperand(0), spread), spread); // the range has been proved to fit
      return success();
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(isa<MemRefType>(operand.getType()) ? operand : get(operand, spread));
    OperationState state(op.getLoc(), op.getName(), operands, {shaped(emitted(op.getResult(0).getType()), spread)}, op.getAttrs());
    set(op.getResult(0), b.create(state)->getResult(0), spread);
    return success();
  }

  LogicalResult emitLookups(tile::LookupOp op, Spread spread) {
    SmallVector<SmallVector<Value>> indices;
    for (Value index : op.getIndices()) {
      Value value = get(index, spread);
      SmallVector<Value> each{value};
      if (spread != Spread::Uniform)
        each = llvm::to_vector_of<Value>(vector::ToElementsOp::create(b, loc, value).getResults());
      for (Value &element : each)
        if (!element.getType().isInteger(64))
          element = arith::ExtSIOp::create(b, loc, b.getI64Type(), element);
      indices.push_back(each);
    }
    SmallVector<Value> elements;
    for (int64_t i = 0; i < count(spread); ++i) {
      SmallVector<Value> at;
      for (auto &index : indices)
        at.push_back(index[i]);
      elements.push_back(tile::LookupOp::create(b, op.getLoc(), op.getTable(), at));
    }
    if (spread == Spread::Uniform) {
      set(op.getResult(), elements[0], spread);
      return success();
    }
    auto type = cast<VectorType>(shaped(op.getResult().getType(), spread));
    set(op.getResult(), vector::FromElementsOp::create(b, loc, type, elements), spread);
    return success();
  }

  int64_t count(Spread spread) const {
    return spread == Spread::Rows ? 2 : spread == Spread::Columns ? columns / 4 : spread == Spread::Elements ? columns / 2 : 1;
  }

  Type shaped(Type type, Spread spread) const { return spread == Spread::Uniform ? type : VectorType::get({count(spread)}, type); }

  Spread spreadOf(Value value) const {
    auto it = values.find(value);
    return it == values.end() ? Spread::Uniform : it->second.second;
  }

  void set(Value value, Value emitted, Spread spread) { values[value] = {emitted, spread}; }

  /// A value in at least the shape `wanted`.
  Value get(Value value, Spread wanted) {
    auto it = values.find(value);
    auto [now, spread] = it == values.end() ? std::pair(narrowed(value), Spread::Uniform) : it->second;
    if (spread == wanted)
      return now;
    auto type = cast<VectorType>(shaped(emitted(value.getType()), wanted));
    if (spread == Spread::Uniform)
      return vector::BroadcastOp::create(b, loc, type, now);
    SmallVector<int64_t> from;
    for (int64_t i = 0; i < count(wanted); ++i)
      from.push_back(spread == Spread::Rows ? i / 2 % 2 : i / 4 * 2 + i % 2);
    return vector::ShuffleOp::create(b, loc, now, now, from);
  }

  OpBuilder &b;
  Location loc;
  int64_t columns;
  const ThreadPlace &place;
  bool isNarrow = false;
  DenseMap<Value, std::pair<Value, Spread>> values;
};

struct ConvertMask : OpConversionPattern<tile::MaskOp> {
  ConvertMask(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(tile::MaskOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Region &body = op.getBody();
    RegionEmitter emitter(rewriter, op.getLoc(), op.getKeep().getType().getDimSize(1), state, body, body.getArgument(0), adaptor.getRows(),
                          body.getArgument(1), adaptor.getCols());
    Value keep = emitter.emit(op.getBody());
    if (!keep)
      return failure();
    rewriter.replaceOp(op, keep);
    return success();
  }
  KernelState &state;
};

struct ConvertScore : OpConversionPattern<tile::ScoreOp> {
  ConvertScore(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(tile::ScoreOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Region &body = op.getBody();
    RegionEmitter emitter(rewriter, op.getLoc(), op.getScores().getType().getDimSize(1), state, body, body.getArgument(1), adaptor.getRows(),
                          body.getArgument(2), adaptor.getCols());
    emitter.mapElement(body.getArgument(0), adaptor.getScores());
    Value result = emitter.emit(op.getBody());
    if (!result)
      return failure();
    rewriter.replaceOp(op, result);
    return success();
  }
  KernelState &state;
};

/// A clamped load; an empty table gives 0 by reading a constant instead.
struct ConvertLookup : OpConversionPattern<tile::LookupOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::LookupOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemoryParts memory(adaptor.getTable());
    Value zero = constantInt(rewriter, loc, 0, 64), one = constantInt(rewriter, loc, 1, 64), empty;
    SmallVector<Value> indices;
    for (auto [parts, extent] : llvm::zip(adaptor.getIndices(), memory.extents)) {
      Value last = arith::SubIOp::create(rewriter, loc, extent, one);
      Value low = arith::MaxSIOp::create(rewriter, loc, arith::MinSIOp::create(rewriter, loc, parts.front(), last), zero);
      Value none = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sle, extent, zero);
      empty = empty ? arith::OrIOp::create(rewriter, loc, empty, none).getResult() : none;
      indices.push_back(low);
    }
    Type element = op.getResult().getType(), stored = element.isInteger(1) ? rewriter.getI8Type() : element;
    Value address = indices.empty() ? memory.pointer : elementAddress(rewriter, loc, stored, memory.pointer, indices, memory.strides);
    if (empty)
      address = arith::SelectOp::create(rewriter, loc, empty, zeroConstant(op, rewriter), address);
    Value value = LLVM::LoadOp::create(rewriter, loc, stored, address);
    if (stored != element)
      value = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, value, constantInt(rewriter, loc, 0, 8));
    rewriter.replaceOp(op, value);
    return success();
  }

  /// The address of 8 zero bytes in global memory.
  static Value zeroConstant(Operation *op, ConversionPatternRewriter &rewriter) {
    auto module = op->getParentOfType<ModuleOp>();
    constexpr StringLiteral name = "tegula_zero";
    Type type = rewriter.getI64Type();
    if (!module.lookupSymbol(name)) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      LLVM::GlobalOp::create(rewriter, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal, name, rewriter.getI64IntegerAttr(0),
                             /*alignment=*/8, /*addrSpace=*/1);
    }
    return LLVM::AddressOfOp::create(rewriter, op->getLoc(), LLVM::LLVMPointerType::get(rewriter.getContext(), 1), name);
  }
};

} // namespace

void tegula::populateElementPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertMask, ConvertScore>(types, patterns.getContext(), state);
  patterns.add<ConvertLookup>(types, patterns.getContext());
}
