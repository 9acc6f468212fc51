// A bias over the keys of a row: intervals of floats on top of those of integers.
//
// The one idea: of a bias that reads the key once, the interval over a row's keys is as small as can be, so that its upper end, added to the largest product of the first block, is as good a
// reference as the row's max.
#include "passes/attention/ScoreBias.h"
#include "passes/mask/BoxEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

bool dependsOn(Value value, Value on, Region &region) {
  if (value == on)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !region.isAncestor(op->getParentRegion()))
    return false;
  return op->walk([&](Operation *inner) { // loops read from within, too
             bool reads = llvm::any_of(inner->getOperands(), [&](Value operand) { return !op->isAncestor(operand.getParentRegion()->getParentOp()) && dependsOn(operand, on, region); });
             return reads ? WalkResult::interrupt() : WalkResult::advance();
           })
      .wasInterrupted();
}

/// Whether intervals of floats are known of everything down to the integers, and the key is read once.
class Reader {
public:
  explicit Reader(Region &region) : region(region), key(region.front().getArguments().back()) {}

  bool isBounded(Value value) { return reads(value) && uses <= 1; }

private:
  bool reads(Value value) {
    uses += value == key;
    Operation *op = value.getDefiningOp();
    if (value == key || !op || !region.isAncestor(op->getParentRegion()) || !dependsOn(value, key, region))
      return true;
    bool isKnown = isa<arith::MulFOp, arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::SIToFPOp, arith::AddIOp, arith::SubIOp, arith::ExtSIOp, math::AbsIOp, arith::MinSIOp, arith::MaxSIOp>(op);
    return isKnown && llvm::all_of(op->getOperands(), [&](Value operand) { return reads(operand); });
  }

  Region &region;
  Value key;
  int uses = 0;
};

/// Floats of a region over a row's keys.
class FloatIntervals {
public:
  FloatIntervals(OpBuilder &b, Location loc, BoxEvaluator &box, IRMapping &values) : b(b), loc(loc), box(box), values(values) {}

  Interval of(Value value) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<arith::SIToFPOp>(op)) {
      Interval x = box.interval(op->getOperand(0));
      if (!x)
        return {};
      auto convert = [&](Value end) -> Value { return arith::SIToFPOp::create(b, loc, value.getType(), end); };
      return {convert(x.low), convert(x.high)};
    }
    if (isa_and_nonnull<arith::NegFOp>(op)) {
      Interval x = of(op->getOperand(0));
      return x ? Interval{arith::NegFOp::create(b, loc, x.high), arith::NegFOp::create(b, loc, x.low)} : Interval();
    }
    if (isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op)) {
      Interval x = of(op->getOperand(0)), y = of(op->getOperand(1));
      if (!x || !y)
        return {};
      if (isa<arith::AddFOp>(op))
        return {arith::AddFOp::create(b, loc, x.low, y.low), arith::AddFOp::create(b, loc, x.high, y.high)};
      if (isa<arith::SubFOp>(op))
        return {arith::SubFOp::create(b, loc, x.low, y.high), arith::SubFOp::create(b, loc, x.high, y.low)};
      Interval result;
      for (Value p : ends(x))
        for (Value q : ends(y)) {
          Value corner = arith::MulFOp::create(b, loc, p, q);
          result.low = result.low ? arith::MinNumFOp::create(b, loc, result.low, corner).getResult() : corner;
          result.high = result.high ? arith::MaxNumFOp::create(b, loc, result.high, corner).getResult() : corner;
        }
      return result;
    }
    Value one = values.lookupOrDefault(value);
    return {one, one};
  }

private:
  static SmallVector<Value, 2> ends(Interval x) { return x.isOneValue() ? SmallVector<Value, 2>{x.low} : SmallVector<Value, 2>{x.low, x.high}; }

  OpBuilder &b;
  Location loc;
  BoxEvaluator &box;
  IRMapping &values;
};

} // namespace

bool tegula::dependsOnKey(Region &score) { return dependsOn(score.front().getTerminator()->getOperand(0), score.front().getArguments().back(), score); }

std::optional<ScoreTerms> ScoreTerms::match(Region &score) {
  Value argument = score.getArgument(0), yielded = score.front().getTerminator()->getOperand(0);
  auto sum = yielded.getDefiningOp<arith::AddFOp>();
  if (!sum || !score.isAncestor(sum->getParentRegion()))
    return std::nullopt;
  bool isFirst = dependsOn(sum.getLhs(), argument, score);
  ScoreTerms terms{isFirst ? sum.getLhs() : sum.getRhs(), isFirst ? sum.getRhs() : sum.getLhs()};
  Value product = terms.product;
  if (auto scaled = product.getDefiningOp<arith::MulFOp>(); scaled && product != argument) {
    Value factor = scaled.getLhs() == argument ? scaled.getRhs() : scaled.getLhs();
    bool isNumber = !score.isAncestor(factor.getParentRegion()) || matchPattern(factor, m_Constant());
    product = isNumber && (scaled.getLhs() == argument || scaled.getRhs() == argument) ? argument : Value();
  }
  if (product != argument || dependsOn(terms.bias, argument, score) || !Reader(score).isBounded(terms.bias))
    return std::nullopt;
  return terms;
}

Value tegula::largestBias(ForBlocksOp loop, MapOp map, const ScoreTerms &terms, ArrayRef<MaskOp> masks, IndexRanges ranges) {
  std::optional<IndexRange> rows = ranges.of(map.getRows()), lower = ranges.of(loop.getLower()), upper = ranges.of(loop.getUpper());
  if (!rows || !lower || !upper || loop.getBody().isAncestor(map.getRows().getParentRegion()))
    return {};
  Region &score = map.getBody();
  Value row = score.getArgument(1), key = score.getArgument(2);
  OpBuilder b(loop);
  Location loc = map.getLoc();
  auto type = RankedTensorType::get({map.getResult().getType().getDimSize(0)}, map.getResult().getType().getElementType());
  auto result = MapOp::create(b, loc, type, ValueRange(), map.getRows(), Value());
  Block *body = b.createBlock(&result.getBody(), {}, {b.getI64Type()}, {loc});
  Value here = body->getArgument(0), one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
  IndexRange rowRange{rows->low, rows->high + type.getDimSize(0)}, keyRange{lower->low, std::max(lower->low, upper->high)};
  ranges.set(here, rowRange);
  // The keys that the row sees.
  Value first = loop.getLower(), end = loop.getUpper();
  for (MaskOp mask : masks) {
    Region &visible = mask.getBody();
    ranges.set(visible.getArgument(0), rowRange);
    ranges.set(visible.getArgument(1), keyRange);
    BoxEvaluator box(b, loc, visible, ranges);
    box.set(visible.getArgument(0), {here, here});
    KeyBounds keys = box.keyBounds(visible.front().getTerminator()->getOperand(0), visible.getArgument(1));
    if (!keys.isExact || mask.getRows() != map.getRows()) {
      result.erase();
      return {};
    }
    if (keys.lower)
      first = b.createOrFold<arith::MaxSIOp>(loc, first, keys.lower);
    if (keys.upper)
      end = b.createOrFold<arith::MinSIOp>(loc, end, keys.upper);
  }
  Value last = b.createOrFold<arith::MaxSIOp>(loc, b.createOrFold<arith::SubIOp>(loc, end, one), first);
  ranges.set(row, rowRange);
  ranges.set(key, keyRange);
  BoxEvaluator box(b, loc, score, ranges);
  box.set(row, {here, here});
  box.set(key, {first, last});
  // What no key changes is computed as it stands.
  IRMapping values;
  values.map(row, here);
  for (Operation &op : score.front().without_terminator())
    if (!dependsOn(op.getResult(0), key, score) && !dependsOn(op.getResult(0), score.getArgument(0), score))
      b.clone(op, values);
  Interval bias = FloatIntervals(b, loc, box, values).of(terms.bias);
  if (!bias) {
    result.erase();
    return {};
  }
  YieldOp::create(b, loc, bias.high);
  return result.getResult();
}
