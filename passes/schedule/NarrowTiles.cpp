// tegula-narrow-tiles: indices of elements as i32.
//
// In: tile programs whose indices are i64 by meaning. Out: the same comparisons and conversions on i32 where ranges prove that nothing is lost, as a GPU
// has no 64-bit comparison. The one idea: where both sides of a comparison fit, so does the code that makes them, as far as it fits itself.
#include "passes/Passes.h"
#include "passes/lower/IndexRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

namespace tegula {
#define GEN_PASS_DEF_NARROWTILESPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

bool isWideTile(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  return tile && tile.getElementType().isInteger(64);
}

struct NarrowTilesPass : tegula::impl::NarrowTilesPassBase<NarrowTilesPass> {
  void runOnOperation() override {
    IndexRanges known(knownRanges());
    ranges = &known;
    narrow.clear();
    getOperation()->walk([&](Operation *op) {
      bool reads = isa<arith::CmpIOp, arith::SIToFPOp>(op) || (isa<arith::TruncIOp>(op) && getElementTypeOrSelf(op->getResult(0)).isInteger(32));
      if (!reads || !llvm::all_of(op->getOperands(), [&](Value operand) { return isWideTile(operand) && ranges->fitsI32(operand); }))
        return;
      ++narrowed;
      if (isa<arith::TruncIOp>(op))
        return op->getResult(0).replaceAllUsesWith(narrowOf(op->getOperand(0)));
      for (OpOperand &operand : op->getOpOperands())
        operand.set(narrowOf(operand.get()));
    });
  }

private:
  /// Dims, which launches bound, and what counts up to them.
  DenseMap<Value, IndexRange> knownRanges() {
    DenseMap<Value, IndexRange> known = rangesAtLaunch(getOperation());
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto id = dyn_cast<tile::ProgramIdOp>(op))
        for (auto [index, extent] : llvm::zip(id.getIndices(), id.getExtents()))
          if (auto range = IndexRanges(known).of(extent))
            known[index] = {0, std::max<int64_t>(0, range->high - 1)};
      if (auto loop = dyn_cast<tile::ForBlocksOp>(op)) {
        auto lower = IndexRanges(known).of(loop.getLower()), upper = IndexRanges(known).of(loop.getUpper());
        if (lower && upper)
          known[loop.getBody().getArgument(0)] = {lower->low, std::max(lower->low, upper->high)};
      }
    });
    return known;
  }

  /// The i32 tile of the same numbers as a tile that fits: by the same code where its operands fit, too.
  Value narrowOf(Value value) {
    Value &known = narrow[value];
    if (!known) {
      OpBuilder b(value.getContext());
      b.setInsertionPointAfterValue(value);
      Value made = remake(value, b);
      return narrow[value] = made; // `known` may have moved
    }
    return known;
  }

  Value remake(Value value, OpBuilder &b) {
    Location loc = value.getLoc();
    auto type = cast<RankedTensorType>(value.getType()).clone(b.getI32Type());
    auto truncated = [&] { return arith::TruncIOp::create(b, loc, type, value).getResult(); };
    Operation *op = value.getDefiningOp();
    if (!op)
      return truncated();
    if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
      Value source = op->getOperand(0);
      if (getElementTypeOrSelf(source).isInteger(32))
        return source;
      return b.create(OperationState(loc, op->getName(), source, {type}))->getResult(0);
    }
    if (isa<tile::IotaOp>(op))
      return tile::IotaOp::create(b, loc, type);
    if (auto splat = dyn_cast<tensor::SplatOp>(op))
      return tensor::SplatOp::create(b, loc, arith::TruncIOp::create(b, loc, b.getI32Type(), splat.getInput()), type);
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      APInt number = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<APInt>();
      return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, number.trunc(32)));
    }
    bool isSame = isa<tile::BroadcastOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp, arith::DivSIOp, arith::FloorDivSIOp,
                      arith::CeilDivSIOp, arith::RemSIOp, arith::SelectOp>(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (isWideTile(operand) && !ranges->fitsI32(operand))
        isSame = false;
      operands.push_back(isSame && isWideTile(operand) ? narrowOf(operand) : operand);
    }
    if (!isSame)
      return truncated();
    return b.create(OperationState(loc, op->getName(), operands, {type}, op->getAttrs()))->getResult(0);
  }

  IndexRanges *ranges = nullptr;
  DenseMap<Value, Value> narrow;
};

} // namespace
