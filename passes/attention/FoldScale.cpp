// tegula-fold-scale: a constant factor of scores -> the scale of their online softmax.
//
// In: `online_softmax(c * s)` with c a finite constant above 0. Out: `online_softmax(s) scale c`. The one idea: exp(c s - max c s) is
// exp(c (s - max s)), so the factor meets the one that the exponential needs anyway; a running max is then in other units, which tile.finish takes, and any other reader multiplied.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

namespace tegula {
#define GEN_PASS_DEF_FOLDSCALEPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// The running max as a block loop carries it.
struct CarriedMax {
  ForBlocksOp loop;
  unsigned index;

  static std::optional<CarriedMax> of(OnlineSoftmaxOp softmax) {
    auto loop = dyn_cast<ForBlocksOp>(softmax->getParentOp());
    auto argument = dyn_cast<BlockArgument>(softmax.getMax());
    if (!loop || !argument || argument.getOwner() != &loop.getBody().front() || argument.getArgNumber() == 0 || !argument.hasOneUse())
      return std::nullopt;
    unsigned index = argument.getArgNumber() - 1;
    bool isNext = loop.getBody().front().getTerminator()->getOperand(index) == softmax.getNewMax() && softmax.getNewMax().hasOneUse();
    return isNext && matchPattern(loop.getInits()[index], m_NegInfFloat()) ? std::optional(CarriedMax{loop, index}) : std::nullopt;
  }

  /// Keeps what reads the max behind the loop in natural units.
  void rescaleReaders(double factor) {
    SmallVector<OpOperand *> others;
    for (OpOperand &use : loop.getResult(index).getUses()) {
      auto finish = dyn_cast<FinishOp>(use.getOwner());
      if (finish && &use == &finish.getMaxMutable())
        finish.setScale(APFloat(finish.getScale().convertToDouble() * factor));
      else
        others.push_back(&use);
    }
    if (others.empty())
      return;
    OpBuilder b(loop->getContext());
    b.setInsertionPointAfter(loop);
    auto type = cast<RankedTensorType>(loop.getResult(index).getType());
    auto splat = DenseElementsAttr::get(type, FloatAttr::get(type.getElementType(), factor).getValue());
    Value scale = arith::ConstantOp::create(b, loop.getLoc(), splat);
    Value natural = arith::MulFOp::create(b, loop.getLoc(), loop.getResult(index), scale);
    for (OpOperand *use : others)
      use->set(natural);
  }
};

struct FoldScalePass : tegula::impl::FoldScalePassBase<FoldScalePass> {
  void runOnOperation() override {
    getOperation()->walk([&](OnlineSoftmaxOp softmax) {
      auto select = softmax.getScores().getDefiningOp<arith::SelectOp>();
      if (select && (!select->hasOneUse() || !matchPattern(select.getFalseValue(), m_NegInfFloat())))
        return;
      Value scores = select ? select.getTrueValue() : softmax.getScores();
      auto product = scores.getDefiningOp<arith::MulFOp>();
      if (!product)
        return;
      bool isLeft = matchPattern(product.getLhs(), m_Constant());
      Value constant = isLeft ? product.getLhs() : product.getRhs(), plain = isLeft ? product.getRhs() : product.getLhs();
      SplatElementsAttr splat;
      if (!matchPattern(constant, m_Constant(&splat)))
        return;
      double factor = splat.getSplatValue<APFloat>().convertToDouble();
      std::optional<CarriedMax> carried = CarriedMax::of(softmax);
      if (!(factor > 0) || !std::isfinite(factor) || !carried)
        return;
      softmax.setScale(APFloat(softmax.getScale().convertToDouble() * factor));
      carried->rescaleReaders(factor);
      if (select)
        select.getTrueValueMutable().assign(plain);
      else
        softmax.getScoresMutable().assign(plain);
      if (product->use_empty())
        product->erase();
      ++folded;
    });
  }
};

} // namespace
