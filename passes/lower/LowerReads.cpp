// Tiles of shared memory to registers.
//
// The one idea: the swizzle exchanges the 16-byte pieces of a panel's row by the row's number modulo 8, which is lane / 4 in every row that a lane holds; so the place of 8 columns is the lane's own one
// with some bits exchanged. Of 16-bit elements, the lanes of a warp read 8 such pieces, each in other banks.
#include "passes/lower/LowerWarp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tegula;

namespace {

struct ConvertRead : OpConversionPattern<warp::ReadOp> {
  ConvertRead(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(warp::ReadOp op, OpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    warp::SlotType slot = op.getSlot().getType();
    Type element = slot.getElementType();
    int64_t bytes = element.getIntOrFloatBitWidth() / 8, panelColumns = warp::panelColumns(element);
    auto number = [&](int64_t value) { return constantInt(b, loc, value); };
    // Of the first of the lane's rows and columns.
    Value row = narrowToI32(b, loc, state.place.row), column = narrowToI32(b, loc, state.place.column);
    Value piece = arith::AndIOp::create(b, loc, row, number(7)), exchanged = arith::ShLIOp::create(b, loc, piece, number(4));
    Value inRow = arith::XOrIOp::create(b, loc, arith::MulIOp::create(b, loc, column, number(bytes)), exchanged);
    Value first = arith::AddIOp::create(b, loc, adaptor.getSlot(), arith::MulIOp::create(b, loc, row, number(warp::panelBytes)));
    first = arith::AddIOp::create(b, loc, first, inRow);
    auto pair = VectorType::get({2}, element);
    Type pointer = LLVM::LLVMPointerType::get(b.getContext(), 3), byte = b.getI8Type();
    SmallVector<Value> elements, places; // places of the groups of 8 columns in a panel
    for (int64_t n = 0; n < std::min(slot.getColumns(), panelColumns) / 8; ++n) {
      Value place = n ? arith::XOrIOp::create(b, loc, first, number(8 * bytes * n)).getResult() : first;
      places.push_back(LLVM::IntToPtrOp::create(b, loc, pointer, place));
    }
    for (int64_t n = 0; n < slot.getColumns() / 8; ++n)
      for (int64_t half : {0, 1}) {
        int64_t panel = 8 * n / panelColumns, offset = (panel * slot.getRows() + 8 * half) * warp::panelBytes;
        Value place = places[n % (panelColumns / 8)];
        if (offset)
          place = LLVM::GEPOp::create(b, loc, pointer, byte, place, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
        Value both = LLVM::LoadOp::create(b, loc, pair, place, /*alignment=*/2 * bytes);
        llvm::append_range(elements, vector::ToElementsOp::create(b, loc, both).getResults());
      }
    b.replaceOpWithNewOp<vector::FromElementsOp>(op, VectorType::get({slot.getColumns() / 2}, element), elements);
    return success();
  }
  KernelState &state;
};

} // namespace

void tegula::populateReadPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertRead>(types, patterns.getContext(), state);
}
