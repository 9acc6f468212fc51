// tegula-expand-softmax: softmax state ops -> reductions and elementwise code on tiles.
//
// In: tile.online_softmax, scale_rows, merge, finish. Out: tile.reduce, tile.broadcast, arith and math. The one idea: the formulas stand
// here alone, and both targets run them. exp(c x) is written exp2(c log2(e) x).
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

namespace tegula {
#define GEN_PASS_DEF_EXPANDSOFTMAXPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Elementwise code on tiles, at one place.
struct TileMath {
  OpBuilder &b;
  Location loc;

  Value splat(Type type, double value) {
    auto tile = cast<RankedTensorType>(type);
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(tile, FloatAttr::get(tile.getElementType(), value).getValue()));
  }
  /// A constant times a number of the program, where there is one.
  Value splat(Type type, double constant, Value number) {
    if (!number)
      return splat(type, constant);
    Value factor = arith::ConstantOp::create(b, loc, FloatAttr::get(number.getType(), constant));
    return tensor::SplatOp::create(b, loc, arith::MulFOp::create(b, loc, number, factor), cast<RankedTensorType>(type));
  }
  Value times(Value x, double constant, Value number = {}) { return constant == 1.0 && !number ? x : mul(x, splat(x.getType(), constant, number)); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value max(Value x, Value y) { return arith::MaxNumFOp::create(b, loc, x, y); }
  Value spread(Value rows, Type tile) { return BroadcastOp::create(b, loc, tile, rows); }
  Value equals(Value x, double value) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, splat(x.getType(), value));
  }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }

  /// exp(scale * (x - reference)); exactly 1 where they are equal.
  Value weight(Value x, Value reference, double scale) {
    return math::Exp2Op::create(b, loc, times(sub(x, reference), scale * llvm::numbers::log2e));
  }

  /// The running max as a reference: 0 where no key has been visible, so that -inf is never subtracted from itself.
  Value reference(Value max) { return select(equals(max, -infinity), splat(max.getType(), 0.0), max); }
};

/// Weights of one multiply-add an element, relative to `reference`.
Value foldedWeights(TileMath &m, OnlineSoftmaxOp op, Value reference, double scale) {
  Type tile = op.getScores().getType();
  Value shift = m.times(reference, -scale, op.getFactor()), factor = m.splat(tile, scale, op.getFactor()), spread = m.spread(shift, tile);
  return math::Exp2Op::create(m.b, m.loc, math::FmaOp::create(m.b, m.loc, op.getScores(), factor, spread));
}

/// The references of rows that have one, and the block's own max for the others, which is looked for only where there are some.
Value fixedReference(TileMath &m, OnlineSoftmaxOp op) {
  Value max = op.getMax();
  if (op.getContinued())
    return max;
  auto first = [&](OpBuilder &b) -> Value { return ReduceOp::create(b, m.loc, ReduceKind::Max, op.getScores()); };
  if (op.getFromFirstBlock()) {
    Value found = op.getBasis() ? m.add(ReduceOp::create(m.b, m.loc, ReduceKind::Max, op.getBasis()), op.getBias()) : first(m.b), own = m.reference(found);
    return matchPattern(max, m_NegInfFloat()) ? own : m.select(m.equals(max, -infinity), own, max);
  }
  if (matchPattern(max, m_NegInfFloat()))
    return first(m.b);
  auto maxWhere = [&](OpBuilder &b, Value condition, llvm::function_ref<Value(OpBuilder &)> make) -> Value {
    return scf::IfOp::create(
               b, m.loc, condition, [&](OpBuilder &at, Location loc) { scf::YieldOp::create(at, loc, make(at)); },
               [&](OpBuilder &at, Location loc) { scf::YieldOp::create(at, loc, max); })
        .getResult(0);
  };
  auto forNewRows = [&](OpBuilder &b) -> Value {
    Value isNew = TileMath{b, m.loc}.equals(max, -infinity);
    return maxWhere(b, AnyOp::create(b, m.loc, b.getI1Type(), isNew), [&](OpBuilder &at) -> Value { return arith::SelectOp::create(at, m.loc, isNew, first(at), max); });
  };
  return op.getLate() ? maxWhere(m.b, op.getLate(), forNewRows) : forNewRows(m.b);
}

void expandFixed(OnlineSoftmaxOp op) {
  OpBuilder b(op);
  TileMath m{b, op.getLoc()};
  Value max = fixedReference(m, op);
  Value weights = foldedWeights(m, op, op.getFromFirstBlock() ? max : m.reference(max), op.getScale().convertToDouble() * llvm::numbers::log2e);
  Value sum = m.add(op.getSum(), ReduceOp::create(b, op.getLoc(), ReduceKind::Add, weights));
  op->replaceAllUsesWith(ValueRange{weights, max, sum, m.splat(max.getType(), 1.0)});
  op.erase();
}

void expand(OnlineSoftmaxOp op) {
  if (op.getFixed())
    return expandFixed(op);
  OpBuilder b(op);
  TileMath m{b, op.getLoc()};
  double scale = op.getScale().convertToDouble();
  Type rows = op.getMax().getType();
  Value blockMax = ReduceOp::create(b, op.getLoc(), ReduceKind::Max, op.getScores());
  Value newMax = m.max(op.getMax(), blockMax), grew;
  if (int64_t threshold = op.getThreshold()) {
    Value growth = m.times(m.sub(blockMax, op.getMax()), scale * llvm::numbers::log2e, op.getFactor());
    grew = arith::CmpFOp::create(b, op.getLoc(), arith::CmpFPredicate::OGT, growth, m.splat(rows, threshold));
    newMax = m.select(grew, newMax, op.getMax());
  }
  Value reference = m.reference(newMax), weights, rescale;
  if (op.getFolded()) { // relative to the shift that the weights have, which is rounded
    double folded = scale * llvm::numbers::log2e;
    weights = foldedWeights(m, op, reference, folded);
    Value shift = m.times(reference, -folded, op.getFactor()), old = m.times(op.getMax(), -folded, op.getFactor());
    rescale = math::Exp2Op::create(b, op.getLoc(), m.sub(shift, old));
  } else {
    weights = m.weight(op.getScores(), m.spread(reference, op.getScores().getType()), scale);
    rescale = m.weight(op.getMax(), reference, scale);
  }
  if (grew)
    rescale = m.select(grew, rescale, m.splat(rows, 1.0));
  Value blockSum = ReduceOp::create(b, op.getLoc(), ReduceKind::Add, weights);
  Value newSum = m.add(m.mul(op.getSum(), rescale), blockSum);
  op->replaceAllUsesWith(ValueRange{weights, newMax, newSum, rescale});
  op.erase();
}

/// The flags under which a row's factor is not 1, where it has the form of a thresholded rescale.
Value flagsOf(Value factors) {
  auto select = factors.getDefiningOp<arith::SelectOp>();
  return select && matchPattern(select.getFalseValue(), m_OneFloat()) ? select.getCondition() : Value();
}

void expand(ScaleRowsOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto scaled = [&](OpBuilder &at) {
    TileMath m{at, loc};
    return m.mul(op.getTile(), m.spread(op.getFactors(), op.getTile().getType()));
  };
  Value result;
  if (matchPattern(op.getFactors(), m_OneFloat())) {
    result = op.getTile();
  } else if (Value flags = flagsOf(op.getFactors())) {
    auto branch = scf::IfOp::create(
        b, loc, AnyOp::create(b, loc, b.getI1Type(), flags), [&](OpBuilder &at, Location) { scf::YieldOp::create(at, loc, scaled(at)); },
        [&](OpBuilder &at, Location) { scf::YieldOp::create(at, loc, op.getTile()); });
    result = branch.getResult(0);
  } else {
    result = scaled(b);
  }
  op->replaceAllUsesWith(ValueRange{result});
  op.erase();
}

void expand(MergeOp op) {
  OpBuilder b(op);
  TileMath m{b, op.getLoc()};
  double scale = op.getScale().convertToDouble();
  Value max = m.max(op.getMaxA(), op.getMaxB());
  Value reference = m.reference(max);
  Value fromA = m.weight(op.getMaxA(), reference, scale), fromB = m.weight(op.getMaxB(), reference, scale);
  Value sumA = m.mul(op.getSumA(), fromA), sumB = m.mul(op.getSumB(), fromB), sum = m.add(sumA, sumB);
  Type tile = op.getAcc().getType();
  Value accA = m.mul(op.getAccA(), m.spread(fromA, tile)), accB = m.mul(op.getAccB(), m.spread(fromB, tile)), acc = m.add(accA, accB);
  op->replaceAllUsesWith(ValueRange{max, sum, acc});
  op.erase();
}

void expand(FinishOp op) {
  OpBuilder b(op);
  TileMath m{b, op.getLoc()};
  Type rows = op.getSum().getType(), tile = op.getAcc().getType();
  Value empty = m.equals(op.getSum(), 0.0), zero = m.splat(rows, 0.0);
  Value divisor = m.select(empty, m.splat(rows, 1.0), op.getSum());
  Value inverse = arith::DivFOp::create(b, op.getLoc(), m.splat(rows, 1.0), divisor);
  // 0 * acc would keep a NaN that hidden values left in the accumulator of an empty row.
  Value scaled = m.mul(op.getAcc(), m.spread(inverse, tile));
  auto withZeros = [&](OpBuilder &at) {
    TileMath inner{at, op.getLoc()};
    return inner.select(inner.equals(inner.spread(op.getSum(), tile), 0.0), inner.splat(tile, 0.0), scaled);
  };
  auto schedule = op->getParentOfType<KernelOp>()->getAttrOfType<ScheduleAttr>("schedule");
  Value output = schedule && schedule.getForm() == Form::Pipelined
                     ? scf::IfOp::create(
                           b, op.getLoc(), AnyOp::create(b, op.getLoc(), b.getI1Type(), empty), [&](OpBuilder &at, Location loc) { scf::YieldOp::create(at, loc, withZeros(at)); },
                           [&](OpBuilder &at, Location loc) { scf::YieldOp::create(at, loc, scaled); })
                           .getResult(0)
                     : withZeros(b);
  Value log = math::LogOp::create(b, op.getLoc(), divisor);
  Value reference = m.select(empty, zero, op.getMax());
  Value nothing = m.splat(rows, -infinity), sum = m.add(m.times(reference, op.getScale().convertToDouble()), log), lse = m.select(empty, nothing, sum);
  op->replaceAllUsesWith(ValueRange{output, lse});
  op.erase();
}

struct ExpandSoftmaxPass : tegula::impl::ExpandSoftmaxPassBase<ExpandSoftmaxPass> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (auto softmax = dyn_cast<OnlineSoftmaxOp>(op))
        expand(softmax);
      else if (auto scale = dyn_cast<ScaleRowsOp>(op))
        expand(scale);
      else if (auto merge = dyn_cast<MergeOp>(op))
        expand(merge);
      else if (auto finish = dyn_cast<FinishOp>(op))
        expand(finish);
      else
        return;
      ++expanded;
    });
  }
};

} // namespace
