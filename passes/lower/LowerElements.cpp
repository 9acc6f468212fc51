// Masks, maps and lookups of elements to one thread's code.
//
// Regions go element by element (RegionEmitter.h); a lookup is a clamped load.
#include "passes/lower/MaskedMap.h"
#include "passes/lower/RegionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tegula;

namespace {

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
  SmallVector<tile::MaskOp> masks;
  kernel->walk([&](tile::MaskOp mask) { masks.push_back(mask); });
  for (tile::MaskOp mask : masks)
    if (arith::SelectOp select = selectOf(mask))
      fuseSelect(mask, select);
}

void tegula::populateElementPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertMask, ConvertMap>(types, patterns.getContext(), state);
  patterns.add<ConvertExtent, ConvertLookup>(types, patterns.getContext());
}
