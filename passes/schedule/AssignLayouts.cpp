// tegula-assign-layouts: cuts row tiles into the 64 rows of a warpgroup and encodes them as fragments.
//
// In: a tile program over block_m rows. Out: the program of one warpgroup. The one idea: a tile is either rows of queries, which one warpgroup
// owns, or the right operand of a matrix op, which all read from memory.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tegula {
#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

bool isMatrixOperand(Value value) {
  return isa_and_nonnull<tile::LoadOp, tile::ZeroUnseenOp>(value.getDefiningOp()) && !value.use_empty() && llvm::all_of(value.getUses(), [](OpOperand &use) {
           if (auto zero = dyn_cast<tile::ZeroUnseenOp>(use.getOwner()))
             return isMatrixOperand(zero.getResult());
           auto dot = dyn_cast<tile::DotOp>(use.getOwner());
           return dot && &use == &dot.getRhsMutable();
         });
}

RankedTensorType encoded(RankedTensorType type) {
  MLIRContext *context = type.getContext();
  if (type.getRank() == 1)
    return RankedTensorType::get({64}, type.getElementType(), warp::RowsAttr::get(context));
  return RankedTensorType::get({64, type.getDimSize(1)}, type.getElementType(), warp::FragmentAttr::get(context));
}

struct AssignLayoutsPass : tegula::impl::AssignLayoutsPassBase<AssignLayoutsPass> {
  void runOnOperation() override {
    if (getOperation()->getAttrOfType<tile::ProgramAttr>("schedule"))
      return; // see tegula-assign-blocked
    auto schedule = getOperation()->getAttrOfType<tile::ScheduleAttr>("schedule");
    if (!schedule || schedule.getForm() == tile::Form::Sequential) {
      getOperation().emitError("internal: has no schedule for a GPU");
      return signalPassFailure();
    }
    Block &body = getOperation().getBody().front();
    OpBuilder b = OpBuilder::atBlockBegin(&body);
    Location loc = getOperation().getLoc();
    Value group = warp::WarpgroupOp::create(b, loc, b.getI64Type());
    Value rows = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(64));
    rowOffset = arith::MulIOp::create(b, loc, group, rows);
    auto result = getOperation()->walk([&](Operation *op) { return assign(op, schedule.getBlockM()); });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  WalkResult assign(Operation *op, int64_t blockM) {
    shiftRows(op);
    for (Value result : op->getResults())
      if (failed(encode(result, blockM)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (failed(encode(argument, blockM)))
          return WalkResult::interrupt();
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
        constant.setValueAttr(dense.resizeSplat(cast<ShapedType>(constant.getType())));
    return WalkResult::advance();
  }

  LogicalResult encode(Value value, int64_t blockM) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || isMatrixOperand(value))
      return success();
    if (type.getRank() > 2 || type.getDimSize(0) != blockM || (type.getRank() == 2 && type.getDimSize(1) % 8 != 0))
      return emitError(value.getLoc()) << "internal: expected a tile of " << blockM << " rows and a multiple of 8 columns, but got " << type;
    value.setType(encoded(type));
    ++fragments;
    return success();
  }

  /// Adds this warpgroup's first row to each row index of the op.
  void shiftRows(Operation *op) {
    auto shift = [&](OpOperand &operand) {
      OpBuilder b(op);
      operand.set(arith::AddIOp::create(b, op->getLoc(), operand.get(), rowOffset));
    };
    if (auto load = dyn_cast<tile::LoadOp>(op); load && !isMatrixOperand(load.getTile()))
      shift(load.getIndicesMutable()[load.getAxes()[0]]);
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      shift(store.getIndicesMutable()[store.getAxes()[0]]);
    else if (auto mask = dyn_cast<tile::MaskOp>(op))
      shift(mask.getRowsMutable());
    else if (auto map = dyn_cast<tile::MapOp>(op))
      shift(map.getRowsMutable());
  }

  Value rowOffset;
};

} // namespace
