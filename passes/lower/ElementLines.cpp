// Comparisons of, and floats made of, a distance between column and row, in the code of elements.
//
// The one idea: along a row such a number grows by the same step from element to element, so what rows and the block's place decide is computed once a row, and an element costs one instruction with
// a constant.
#include "passes/lower/RegionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tegula;

bool RegionEmitter::addTo(Distance &sum, Value value, int64_t sign) {
  if (value == column) {
    sum.columns += sign;
    return true;
  }
  if (!ofColumns(spreadOf(value))) {
    std::optional<IndexRange> range = ranges.of(value);
    constexpr int64_t farthest = int64_t(1) << 50; // few terms do not overflow
    if (!range || range->low < -farthest || range->high > farthest)
      return false;
    sum.rest.push_back({value, sign});
    sum.low += sign > 0 ? range->low : -range->high, sum.high += sign > 0 ? range->high : -range->low;
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (emitted.contains(op))
    return false; // of what lanes computed, not everything is here
  return isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) && addTo(sum, op->getOperand(0), sign) &&
         addTo(sum, op->getOperand(1), isa<arith::SubIOp>(op) ? -sign : sign);
}

/// What `sum` is at the column `columnBase`, in the least integer that holds it, for each row or for all; null where none may.
std::pair<Value, Spread> RegionEmitter::atBase(const Distance &sum) {
  constexpr int64_t farthest = int64_t(1) << 60;
  std::optional<IndexRange> columnRange = ranges.of(column);
  if (!columnRange || columnRange->low < -farthest || columnRange->high > farthest || sum.low < -farthest || sum.high > farthest)
    return {};
  int64_t far = std::max(std::abs(columnRange->low), std::abs(columnRange->high));
  Type type = IndexRange{sum.low - far, sum.high + far}.fitsI32() ? b.getI32Type() : b.getI64Type();
  Value total;
  Spread spread = Spread::Uniform;
  for (auto [value, sign] : sum.rest)
    spread = join(spread, spreadOf(value));
  auto add = [&](Value value, int64_t sign) {
    if (!total && sign < 0)
      total = arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
    total = !total ? value : sign > 0 ? arith::AddIOp::create(b, loc, total, value).getResult() : arith::SubIOp::create(b, loc, total, value).getResult();
  };
  add(widened(as(type, columnBase), Spread::Uniform, spread), sum.columns);
  for (auto [value, sign] : sum.rest)
    add(as(type, get(value, spread)), sign);
  return {total, spread};
}

/// The offsets of all elements' columns.
Value RegionEmitter::offsetsOf(Type element) {
  auto type = VectorType::get({count(Spread::Elements)}, element);
  SmallVector<Attribute> each;
  for (int64_t i = 0; i < count(Spread::Elements); ++i) {
    int64_t offset = columnOffsets[i / 4 * 2 + i % 2];
    each.push_back(isa<FloatType>(element) ? Attribute(FloatAttr::get(element, offset)) : IntegerAttr::get(element, offset));
  }
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, each));
}

/// Products of lines with what no column changes, and sums with it.
bool RegionEmitter::emitLine(Operation &op) {
  if (!isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(op))
    return false;
  bool isFirst = lines.contains(op.getOperand(0));
  auto it = lines.find(op.getOperand(isFirst ? 0 : 1));
  Value other = op.getOperand(isFirst ? 1 : 0);
  if (it == lines.end() || lines.contains(other) || ofColumns(spreadOf(other)))
    return false;
  Line line = it->second;
  auto combine = [&](Value value, Spread &spread, bool isLineFirst) {
    Spread joined = join(spread, spreadOf(other));
    Value x = widened(value, spread, joined), y = get(other, joined);
    spread = joined;
    OperationState state(loc, op.getName(), isLineFirst ? ValueRange{x, y} : ValueRange{y, x}, {x.getType()});
    return b.create(state)->getResult(0);
  };
  if (isa<arith::MulFOp>(op))
    line.step = combine(line.step, line.stepSpread, true);
  else if (isa<arith::SubFOp>(op) && !isFirst)
    line.step = arith::NegFOp::create(b, loc, line.step);
  line.base = combine(line.base, line.baseSpread, isFirst);
  setLine(op.getResult(0), line);
  return true;
}

void RegionEmitter::setLine(Value value, Line line) {
  values.erase(value); // the elements of another group of columns
  lines[value] = line;
}

/// The elements of a line.
Value RegionEmitter::along(const Line &line) {
  Value base = widened(line.base, line.baseSpread, Spread::Elements), offsets = offsetsOf(b.getF32Type());
  if (matchPattern(line.step, m_OneFloat()))
    return arith::AddFOp::create(b, loc, base, offsets);
  return math::FmaOp::create(b, loc, offsets, widened(line.step, line.stepSpread, Spread::Elements), base);
}

/// Comparisons of, and floats made of, a distance between column and row: what rows and the block's place decide is computed once a row, so that an element costs one
/// instruction with a constant. Such a float is rounded where its line is, as large as a block is away: near 0 it is off by no more than 128 steps are rounded by.
bool RegionEmitter::emitByDistance(Operation &op) {
  if (emitLine(op))
    return true;
  auto compare = dyn_cast<arith::CmpIOp>(op);
  bool isSigned = compare && compare.getPredicate() <= arith::CmpIPredicate::sge;
  if (!isSigned && !(isa<arith::SIToFPOp>(op) && op.getResult(0).getType().isF32()))
    return false;
  Distance sum;
  if (!addTo(sum, op.getOperand(0), 1) || (compare && !addTo(sum, op.getOperand(1), -1)) || std::abs(sum.columns) != 1)
    return false;
  Value base;
  Spread spread;
  std::tie(base, spread) = atBase(sum);
  if (!base)
    return false;
  if (!compare) {
    Type f32 = b.getF32Type();
    Value step = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(sum.columns));
    setLine(op.getResult(0), {arith::SIToFPOp::create(b, loc, shaped(f32, spread), base), step, spread, Spread::Uniform});
    return true;
  }
  // base + sign * offset, compared with 0: the offset with -base or base. No offset is beyond a base that is far.
  Value offsets = offsetsOf(b.getI32Type());
  auto number = [&](int64_t value) {
    return widened(constantInt(b, loc, value, getElementTypeOrSelf(base).getIntOrFloatBitWidth()), Spread::Uniform, spread);
  };
  if (sum.columns > 0)
    base = arith::SubIOp::create(b, loc, number(0), base);
  if (!getElementTypeOrSelf(base).isInteger(32)) {
    constexpr int64_t far = int64_t(1) << 30;
    base = arith::MinSIOp::create(b, loc, base, number(far));
    base = arith::MaxSIOp::create(b, loc, base, number(-far));
    base = as(b.getI32Type(), base);
  }
  Value limit = widened(base, spread, Spread::Elements);
  Value lhs = sum.columns > 0 ? offsets : limit, rhs = sum.columns > 0 ? limit : offsets;
  set(op.getResult(0), arith::CmpIOp::create(b, loc, compare.getPredicate(), lhs, rhs), Spread::Elements);
  return true;
}
