// Masks, maps and lookups of elements to one thread's code.
//
// Regions go element by element (RegionEmitter.h); a lookup is a clamped load.
#include "passes/lower/RegionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tegula;

namespace {

/// `select(mask, x, constant)` as one map of x.
void fuseSelect(arith::SelectOp select, tile::MaskOp mask) {
  OpBuilder b(select);
  Location loc = select.getLoc();
  auto type = cast<RankedTensorType>(select.getType());
  auto map = tile::MapOp::create(b, loc, type, select.getTrueValue(), mask.getRows(), mask.getCols());
  Type element = type.getElementType(), i64 = b.getI64Type();
  Block *body = b.createBlock(&map.getBody(), {}, {element, i64, i64}, {loc, loc, loc});
  IRMapping values;
  values.map(mask.getBody().getArguments(), body->getArguments().drop_front());
  for (Operation &op : mask.getBody().front().without_terminator())
    b.clone(op, values);
  DenseElementsAttr hidden;
  matchPattern(select.getFalseValue(), m_Constant(&hidden));
  Value otherwise = arith::ConstantOp::create(b, loc, cast<TypedAttr>(hidden.getSplatValue<Attribute>()));
  Value keep = values.lookupOrDefault(mask.getBody().front().getTerminator()->getOperand(0));
  tile::YieldOp::create(b, loc, arith::SelectOp::create(b, loc, keep, body->getArgument(0), otherwise).getResult());
  select.replaceAllUsesWith(map.getResult());
  select.erase();
  mask.erase();
}

struct ConvertMask : OpConversionPattern<tile::MaskOp> {
  ConvertMask(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(tile::MaskOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Value keep = RegionEmitter(rewriter, op.getLoc(), op.getKeep().getType(), state, op.getBody(), {}, adaptor.getRows(), adaptor.getCols()).emit();
    if (!keep)
      return failure();
    rewriter.replaceOp(op, keep);
    return success();
  }
  KernelState &state;
};

struct ConvertMap : OpConversionPattern<tile::MapOp> {
  ConvertMap(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(tile::MapOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Value result =
        RegionEmitter(rewriter, op.getLoc(), op.getResult().getType(), state, op.getBody(), adaptor.getInputs(), adaptor.getRows(), adaptor.getCols())
            .emit();
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
    Value one = constantInt(rewriter, loc, 1, 64), empty;
    SmallVector<Value> indices;
    for (auto [parts, extent] : llvm::zip(adaptor.getIndices(), memory.extents)) {
      Value last = arith::SubIOp::create(rewriter, loc, extent, one), index = parts.front();
      auto wide = index.getDefiningOp<arith::ExtSIOp>();
      if (wide && wide.getIn().getType().isInteger(32)) // extents fit in i32, too
        index = wide.getIn(), last = narrowToI32(rewriter, loc, last);
      Value zero = constantInt(rewriter, loc, 0, index.getType().getIntOrFloatBitWidth());
      index = arith::MaxSIOp::create(rewriter, loc, arith::MinSIOp::create(rewriter, loc, index, last), zero);
      if (wide && !index.getType().isInteger(64))
        index = arith::ExtUIOp::create(rewriter, loc, rewriter.getI64Type(), index);
      Value none = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sle, extent, constantInt(rewriter, loc, 0, 64));
      empty = empty ? arith::OrIOp::create(rewriter, loc, empty, none).getResult() : none;
      indices.push_back(index);
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

struct ConvertExtent : OpConversionPattern<tile::ExtentOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::ExtentOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, MemoryParts(adaptor.getMemory()).extents[op.getAxis()]);
    return success();
  }
};

} // namespace

void tegula::fuseSelects(warp::KernelOp kernel) {
  SmallVector<arith::SelectOp> selects;
  kernel->walk([&](arith::SelectOp select) { selects.push_back(select); });
  for (arith::SelectOp select : selects) {
    auto mask = select.getCondition().getDefiningOp<tile::MaskOp>();
    DenseElementsAttr hidden;
    if (mask && mask->hasOneUse() && mask->getBlock() == select->getBlock() && mask.getCols() &&
        matchPattern(select.getFalseValue(), m_Constant(&hidden)) && hidden.isSplat())
      fuseSelect(select, mask);
  }
}

void tegula::populateElementPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertMask, ConvertMap>(types, patterns.getContext(), state);
  patterns.add<ConvertExtent, ConvertLookup>(types, patterns.getContext());
}
