// The data flow of an online softmax, or of sums, from scores to what the loop carries.
#include "passes/mask/HiddenBlocks.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

/// Whether a tile is 0 where `weights` is: the weights themselves, rounded, or a map that keeps zeros.
static bool isZeroWithWeights(Value tile, Value weights) {
  if (tile == weights)
    return true;
  Operation *op = tile.getDefiningOp();
  if (isa_and_nonnull<arith::TruncFOp, arith::ExtFOp>(op))
    return isZeroWithWeights(op->getOperand(0), weights);
  auto map = dyn_cast_or_null<MapOp>(op);
  if (!map)
    return false;
  // y = x == 0 ? 0 : ...
  Block &body = map.getBody().front();
  auto select = body.getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  auto test = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  auto argument = test ? dyn_cast<BlockArgument>(test.getLhs()) : BlockArgument();
  return argument && argument.getOwner() == &body && argument.getArgNumber() < map.getInputs().size() &&
         test.getPredicate() == arith::CmpFPredicate::OEQ && matchPattern(test.getRhs(), m_AnyZeroFloat()) &&
         matchPattern(select.getTrueValue(), m_AnyZeroFloat()) && isZeroWithWeights(map.getInputs()[argument.getArgNumber()], weights);
}

bool tegula::isIdentityWhereHidden(ForBlocksOp loop, arith::SelectOp select) {
  bool writes = loop
                    ->walk([](Operation *op) {
                      return isa<StoreOp, ScatterOp, AtomicAddOp, PrintOp, AssertOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
                    })
                    .wasInterrupted();
  if (writes)
    return false;
  OnlineSoftmaxOp softmax;
  Value weights = select.getResult();
  if (matchPattern(select.getFalseValue(), m_NegInfFloat())) {
    for (Operation *user : weights.getUsers())
      if (auto op = dyn_cast<OnlineSoftmaxOp>(user); op && op.getScores() == weights)
        softmax = op;
    if (!softmax)
      return false;
    weights = softmax.getWeights();
  } else if (!matchPattern(select.getFalseValue(), m_AnyZeroFloat())) {
    return false;
  }
  auto isSum = [&](Value argument, Value next) {
    auto add = next.getDefiningOp<arith::AddFOp>();
    if (softmax || !add || (add.getLhs() != argument && add.getRhs() != argument))
      return false;
    auto reduce = (add.getLhs() == argument ? add.getRhs() : add.getLhs()).getDefiningOp<ReduceOp>();
    return reduce && reduce.getKind() == ReduceKind::Add && reduce.getTile() == weights;
  };
  auto isProduct = [&](Value argument, Value next) {
    auto dot = next.getDefiningOp<DotOp>();
    if (!dot || !dot.getAcc() || !isZeroWithWeights(dot.getLhs(), weights))
      return false;
    auto rescaled = dot.getAcc().getDefiningOp<ScaleRowsOp>();
    return softmax ? rescaled && rescaled.getTile() == argument && rescaled.getFactors() == softmax.getRescale() : dot.getAcc() == argument;
  };
  Operation *yield = loop.getBody().front().getTerminator();
  return llvm::all_of(llvm::zip(loop.getIterArgs(), yield->getOperands()), [&](auto carried) {
    Value argument = std::get<0>(carried), next = std::get<1>(carried);
    bool isState =
        softmax && ((argument == softmax.getMax() && next == softmax.getNewMax()) || (argument == softmax.getSum() && next == softmax.getNewSum()));
    return isState || isSum(argument, next) || isProduct(argument, next);
  });
}
