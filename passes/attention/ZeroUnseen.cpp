// tegula-zero-unseen: values that no query row of a tile sees -> 0, in loops written by hand.
//
// In: a loop of masked scores, weights and their product with loaded values. Out: tile.zero_unseen between load and product. The one idea: which rows and keys a tile
// stands for follows from where its operands were loaded, so a loop is recognised by its data flow.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace tegula {
#define GEN_PASS_DEF_ZEROUNSEENPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// The op of type `Op` that makes `tile`, below elementwise code.
template <typename Op> Op findBelow(Value tile, function_ref<bool(Op)> isWanted) {
  Operation *op = tile.getDefiningOp();
  if (auto found = dyn_cast_or_null<Op>(op); found && isWanted(found))
    return found;
  bool isElementwise = op && (isa<MapOp, OnlineSoftmaxOp>(op) || op->hasTrait<OpTrait::Elementwise>());
  if (isElementwise)
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        if (Op found = findBelow<Op>(operand, isWanted))
          return found;
  return {};
}

Value firstIndex(LoadOp load) { return load.getIndices()[load.getAxes().front()]; }

/// A product of weights and loaded values.
class OutputProduct {
public:
  explicit OutputProduct(DotOp dot) : dot(dot), kernel(dot->getParentOfType<KernelOp>()) {}

  bool run() {
    values = dot.getRhs().getDefiningOp<LoadOp>();
    auto select = findBelow<arith::SelectOp>(dot.getLhs(), [](arith::SelectOp op) { return static_cast<bool>(op.getCondition().getDefiningOp<MaskOp>()); });
    if (!dot.getAcc() || dot.getTransposeB() || !values || !select || !isa<FloatType>(values.getTile().getType().getElementType()))
      return false;
    mask = select.getCondition().getDefiningOp<MaskOp>();
    auto scores = findBelow<DotOp>(select.getTrueValue(), [](DotOp op) { return op.getTransposeB(); });
    auto query = scores ? scores.getLhs().getDefiningOp<LoadOp>() : LoadOp();
    if (!query || mask.getRows() != firstIndex(query) || mask.getCols() != firstIndex(values))
      return false;
    rowExtent = kernel.getExtent(query.getMemory(), query.getAxes().front());
    keyExtent = kernel.getExtent(values.getMemory(), values.getAxes().front());
    return rowExtent && keyExtent && zero();
  }

private:
  /// Whether a condition of the mask is that the key exists.
  bool isBound(Value condition) {
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt || compare.getLhs() != mask.getBody().getArgument(1))
      return false;
    return isEqualConstantIntOrValue(keyExtent, compare.getRhs());
  }

  /// The mask without that condition; null where nothing is left.
  Value withoutBound(Value condition) {
    if (isBound(condition))
      return {};
    auto both = condition.getDefiningOp<arith::AndIOp>();
    if (!both || (!isBound(both.getLhs()) && !isBound(both.getRhs())))
      return condition;
    return withoutBound(isBound(both.getLhs()) ? both.getRhs() : both.getLhs());
  }

  Value materialize(OpBuilder &b, OpFoldResult extent) {
    if (auto value = dyn_cast<Value>(extent))
      return value;
    return arith::ConstantOp::create(b, dot.getLoc(), b.getI64IntegerAttr(*getConstantIntValue(extent)));
  }

  bool zero() {
    Value seen = withoutBound(mask.getBody().front().getTerminator()->getOperand(0));
    if (!seen)
      return false;
    OpBuilder b(dot);
    Location loc = dot.getLoc();
    Value rows = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(mask.getKeep().getType().getDimSize(0)));
    Value past = arith::AddIOp::create(b, loc, mask.getRows(), rows), last = arith::MinSIOp::create(b, loc, past, materialize(b, rowExtent));
    auto op = ZeroUnseenOp::create(b, loc, values, mask.getRows(), last, mask.getCols(), materialize(b, keyExtent), Value());
    IRMapping map;
    mask.getBody().cloneInto(&op.getSeen(), map);
    op.getSeen().front().getTerminator()->setOperand(0, map.lookupOrDefault(seen));
    dot.getRhsMutable().assign(op.getResult());
    return true;
  }

  DotOp dot;
  KernelOp kernel;
  LoadOp values;
  MaskOp mask;
  OpFoldResult rowExtent, keyExtent;
};

struct ZeroUnseenPass : tegula::impl::ZeroUnseenPassBase<ZeroUnseenPass> {
  void runOnOperation() override {
    getOperation()->walk([&](DotOp dot) { zeroed += OutputProduct(dot).run(); });
  }
};

} // namespace
