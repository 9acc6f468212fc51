// Where a key must lie for a condition to hold: what is done to a key on one side of a comparison is undone on the other.
#include "passes/mask/BoxEvaluator.h"
#include "passes/mask/KeyOrder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cstdlib>

using namespace mlir;
using namespace tegula;

using arith::CmpIPredicate;

std::optional<BoxEvaluator::Linear> BoxEvaluator::linear(Value value, Value key) {
  if (value == key)
    return Linear{1, {constant(0), constant(0)}};
  // Far enough from the ends of i64 that the difference of two such values, and a slack, stay inside.
  constexpr int64_t limit = int64_t(1) << 61;
  std::optional<IndexRange> range = ranges.of(value);
  if (!range || range->low < -limit || range->high > limit || (value.getType().isInteger(32) && !range->fitsI32()))
    return std::nullopt;
  if (Interval known = interval(value))
    return Linear{0, known};
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<arith::ExtSIOp, arith::TruncIOp>(op))
    return linear(op->getOperand(0), key);
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    auto x = linear(op->getOperand(0), key), y = linear(op->getOperand(1), key);
    if (!x || !y)
      return std::nullopt;
    if (isa<arith::AddIOp>(op))
      return Linear{x->coefficient + y->coefficient,
                    {make<arith::AddIOp>(x->rest.low, y->rest.low), make<arith::AddIOp>(x->rest.high, y->rest.high)}};
    return Linear{x->coefficient - y->coefficient, {make<arith::SubIOp>(x->rest.low, y->rest.high), make<arith::SubIOp>(x->rest.high, y->rest.low)}};
  }
  APInt factor;
  if (isa<arith::MulIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&factor)) && factor.sgt(0) && factor.getActiveBits() < 31) {
    auto x = linear(op->getOperand(0), key);
    if (!x)
      return std::nullopt;
    Value by = constant(factor.getSExtValue());
    return Linear{x->coefficient * factor.getSExtValue(), {make<arith::MulIOp>(x->rest.low, by), make<arith::MulIOp>(x->rest.high, by)}};
  }
  return std::nullopt;
}

/// Keys for which `left + slack <= right` for some element: with `c` the key's coefficient on the right less that on the left,
/// c * key >= left.low - right.high + slack.
KeyBounds BoxEvaluator::atMost(const Linear &left, const Linear &right, int64_t slack) {
  int64_t c = right.coefficient - left.coefficient;
  if (c == 0)
    return {};
  Value difference = make<arith::SubIOp>(left.rest.low, right.rest.high), least = make<arith::AddIOp>(difference, constant(slack));
  Value zero = constant(0), most = make<arith::SubIOp>(zero, least), whole = make<arith::FloorDivSIOp>(most, constant(std::abs(c)));
  if (c > 0) // key >= ceil(least / c)
    return {make<arith::SubIOp>(zero, whole), {}, /*isExact=*/true};
  // key <= floor(-least / -c)
  return {{}, make<arith::AddIOp>(whole, constant(1)), /*isExact=*/true};
}

KeyBounds BoxEvaluator::join(KeyBounds x, KeyBounds y, bool both) {
  KeyBounds result;
  if (both) {
    result.lower = x.lower && y.lower ? make<arith::MaxSIOp>(x.lower, y.lower) : x.lower ? x.lower : y.lower;
    result.upper = x.upper && y.upper ? make<arith::MinSIOp>(x.upper, y.upper) : x.upper ? x.upper : y.upper;
    result.isExact = x.isExact && y.isExact;
  } else {
    result.lower = x.lower && y.lower ? make<arith::MinSIOp>(x.lower, y.lower) : Value();
    result.upper = x.upper && y.upper ? make<arith::MaxSIOp>(x.upper, y.upper) : Value();
    // Two ranges that both begin, or both end, with the keys are one together.
    result.isExact = x.isExact && y.isExact && ((!x.lower && !y.lower) || (!x.upper && !y.upper));
  }
  return result;
}

/// Of the one of two conditions that a condition of the whole box selects.
KeyBounds BoxEvaluator::choose(Value condition, KeyBounds x, KeyBounds y) {
  auto pick = [&](Value p, Value q, int64_t none) {
    if (!p && !q)
      return Value();
    Value missing = p && q ? Value() : constant(none);
    return b.createOrFold<arith::SelectOp>(loc, condition, p ? p : missing, q ? q : missing);
  };
  Value lower = pick(x.lower, y.lower, -KeyBounds::beyond), upper = pick(x.upper, y.upper, KeyBounds::beyond);
  return {lower, upper, x.isExact && y.isExact};
}

bool BoxEvaluator::dependsOn(Value value, Value key) const {
  if (value == key)
    return true;
  Operation *op = isFromAbove(value) ? nullptr : value.getDefiningOp();
  auto reads = [&](Operation *inner) { return llvm::any_of(inner->getOperands(), [&](Value operand) { return dependsOn(operand, key); }) ? WalkResult::interrupt() : WalkResult::advance(); };
  return op && op->walk(reads).wasInterrupted();
}

/// Whether a value comes of an element of a table that the key chooses: what is known of it, such as its declared range, is known of no single key.
bool BoxEvaluator::looksUp(Value value, Value key) const {
  Operation *op = isFromAbove(value) ? nullptr : value.getDefiningOp();
  if (isa_and_nonnull<tile::LookupOp>(op))
    return dependsOn(value, key);
  return op && llvm::any_of(op->getOperands(), [&](Value operand) { return looksUp(operand, key); });
}

/// All keys where `some` holds, else none.
KeyBounds BoxEvaluator::everywhereIf(Value some) {
  if (matchPattern(some, m_One()))
    return {{}, {}, /*isExact=*/true};
  Value all = constant(KeyBounds::beyond), none = constant(-KeyBounds::beyond);
  return {{}, b.createOrFold<arith::SelectOp>(loc, some, all, none), /*isExact=*/true};
}

/// With `division` = floor(dividend / c), c > 0: division <= y where dividend <= y * c + c - 1, division >= y where dividend >= y * c.
KeyBounds BoxEvaluator::compareQuotient(CmpIPredicate predicate, arith::FloorDivSIOp division, const Known &y, Value key) {
  constexpr int64_t mostDivisor = int64_t(1) << 27; // so that products stay inside i64, far enough for a difference
  std::optional<IndexRange> divisors = ranges.of(division.getRhs());
  std::optional<Linear> dividend = linear(division.getLhs(), key);
  Interval divisor = interval(division.getRhs());
  if (!dividend || !divisor.isOneValue())
    return {};
  Value c = divisor.low, one = constant(1);
  __int128 magnitude = std::max(__int128(y.range.high), -__int128(y.range.low)) + 1;
  bool isPositive = divisors && divisors->low > 0 && magnitude * divisors->high <= (__int128(1) << 62) + (__int128(1) << 32);
  if (auto guard = division.getRhs().getDefiningOp<arith::SelectOp>(); guard && assumesPositive && !isPositive)
    c = guard.getFalseValue(), assumed.push_back(c), isPositive = true;
  auto upTo = [&](Value value, int64_t more) { // dividends whose quotients are at most `value`, or less where `more` is 0
    Value end = make<arith::MulIOp>(more ? make<arith::AddIOp>(value, one) : value, c);
    Value last = make<arith::SubIOp>(end, one);
    return atMost(*dividend, {0, {last, last}}, 0);
  };
  auto from = [&](Value value, int64_t more) {
    Value first = make<arith::MulIOp>(more ? make<arith::AddIOp>(value, one) : value, c);
    return atMost({0, {first, first}}, *dividend, 0);
  };
  KeyBounds bounds;
  switch (predicate) {
  case CmpIPredicate::slt:
    bounds = upTo(y.interval.high, 0);
    break;
  case CmpIPredicate::sle:
    bounds = upTo(y.interval.high, 1);
    break;
  case CmpIPredicate::sgt:
    bounds = from(y.interval.low, 1);
    break;
  case CmpIPredicate::sge:
    bounds = from(y.interval.low, 0);
    break;
  case CmpIPredicate::eq: {
    KeyBounds last = upTo(y.interval.high, 1), first = from(y.interval.low, 0);
    bounds = join(last, first, /*both=*/true);
    break;
  }
  default:
    return {};
  }
  if (isPositive)
    return bounds;
  Value isFew = b.createOrFold<arith::CmpIOp>(loc, CmpIPredicate::sle, c, constant(mostDivisor));
  Value isSome = b.createOrFold<arith::CmpIOp>(loc, CmpIPredicate::sgt, c, constant(0));
  return choose(make<arith::AndIOp>(isSome, isFew), bounds, {});
}

KeyBounds BoxEvaluator::compareLinear(CmpIPredicate predicate, const Linear &x, const Linear &y) {
  switch (predicate) {
  case CmpIPredicate::slt:
    return atMost(x, y, 1);
  case CmpIPredicate::sle:
    return atMost(x, y, 0);
  case CmpIPredicate::sgt:
    return atMost(y, x, 1);
  case CmpIPredicate::sge:
    return atMost(y, x, 0);
  case CmpIPredicate::eq: {
    KeyBounds forth = atMost(x, y, 0), back = atMost(y, x, 0);
    return join(forth, back, /*both=*/true);
  }
  default:
    return {};
  }
}

/// Of a value that depends on the key and one that does not: what can be undone of the former is.
KeyBounds BoxEvaluator::compareKnown(CmpIPredicate predicate, Value x, const Known &y, Value key) {
  constexpr int64_t most = int64_t(1) << 33;
  if (y.range.low < -most || y.range.high > most)
    return {};
  if (std::optional<Linear> of = linear(x, key))
    return compareLinear(predicate, *of, {0, y.interval});
  Operation *op = isFromAbove(x) ? nullptr : x.getDefiningOp();
  if (auto division = dyn_cast_or_null<arith::FloorDivSIOp>(op))
    return compareQuotient(predicate, division, y, key);
  if (isa_and_nonnull<arith::ExtSIOp>(op))
    return compareKnown(predicate, op->getOperand(0), y, key);
  if (isa_and_nonnull<math::AbsIOp>(op) && (predicate == CmpIPredicate::slt || predicate == CmpIPredicate::sle)) {
    // -y <= x and x <= y
    Value zero = constant(0), low = make<arith::SubIOp>(zero, y.interval.high), high = make<arith::SubIOp>(zero, y.interval.low);
    KeyBounds above = compareKnown(swapped(predicate), op->getOperand(0), {{low, high}, {-y.range.high, -y.range.low}}, key);
    KeyBounds below = compareKnown(predicate, op->getOperand(0), y, key);
    return join(above, below, /*both=*/true);
  }
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) || !ranges.of(x)) // which says that nothing wraps
    return {};
  bool isLeft = !interval(op->getOperand(0)); // where the key is
  Value keyed = op->getOperand(isLeft ? 0 : 1), other = op->getOperand(isLeft ? 1 : 0);
  Interval known = interval(other);
  std::optional<IndexRange> range = ranges.of(other);
  if (!known || !range || range->low < -most || range->high > most)
    return {};
  auto add = [&](Interval p, IndexRange r, Interval q, IndexRange s) -> Known {
    Value low = make<arith::AddIOp>(p.low, q.low), high = make<arith::AddIOp>(p.high, q.high);
    return {{low, high}, {r.low + s.low, r.high + s.high}};
  };
  auto subtract = [&](Interval p, IndexRange r, Interval q, IndexRange s) -> Known {
    Value low = make<arith::SubIOp>(p.low, q.high), high = make<arith::SubIOp>(p.high, q.low);
    return {{low, high}, {r.low - s.high, r.high - s.low}};
  };
  if (isa<arith::AddIOp>(op)) // keyed + other ~ y
    return compareKnown(predicate, keyed, subtract(y.interval, y.range, known, *range), key);
  if (isLeft) // keyed - other ~ y
    return compareKnown(predicate, keyed, add(y.interval, y.range, known, *range), key);
  return compareKnown(swapped(predicate), keyed, subtract(known, *range, y.interval, y.range), key); // other - keyed ~ y
}

KeyBounds BoxEvaluator::compareKeys(CmpIPredicate predicate, Value x, Value y, Value key) {
  for (bool isLeft : {true, false}) {
    Value side = isLeft ? x : y;
    auto select = side.getDefiningOp<arith::SelectOp>();
    Value which = select && !isFromAbove(side) && !interval(side) ? oneValue(select.getCondition()) : Value();
    if (!which)
      continue;
    if (assumesPositive && select.getFalseValue().getDefiningOp<arith::FloorDivSIOp>()) // of a guard against 0
      return isLeft ? compareKeys(predicate, select.getFalseValue(), y, key) : compareKeys(predicate, x, select.getFalseValue(), key);
    auto with = [&](Value value) { return isLeft ? compareKeys(predicate, value, y, key) : compareKeys(predicate, x, value, key); };
    KeyBounds taken = with(select.getTrueValue()), other = with(select.getFalseValue());
    return choose(which, taken, other);
  }
  Interval left = interval(x), right = interval(y);
  if (Value some = compare(predicate, left, right).some)
    return everywhereIf(some);
  auto p = linear(x, key), q = linear(y, key);
  if (p && q)
    return compareLinear(predicate, *p, *q);
  std::optional<IndexRange> range = left || right ? ranges.of(left ? x : y) : std::nullopt;
  if (!range)
    return {};
  return left ? compareKnown(swapped(predicate), y, {left, *range}, key) : compareKnown(predicate, x, {right, *range}, key);
}

KeyBounds BoxEvaluator::keyBounds(Value condition, Value key, bool negated) {
  Operation *op = isFromAbove(condition) ? nullptr : condition.getDefiningOp();
  if (isa_and_nonnull<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One()))
    return keyBounds(op->getOperand(0), key, !negated);
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
    KeyBounds left = keyBounds(op->getOperand(0), key, negated), right = keyBounds(op->getOperand(1), key, negated);
    return join(left, right, isa<arith::AndIOp>(op) != negated);
  }
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    KeyBounds x = keyBounds(select.getTrueValue(), key, negated), y = keyBounds(select.getFalseValue(), key, negated);
    if (Value which = oneValue(select.getCondition()))
      return choose(which, x, y);
    KeyBounds either = join(x, y, /*both=*/false);
    either.isExact = false;
    return either;
  }
  if (auto classified = dyn_cast_or_null<tile::ClassifiedOp>(op)) {
    KeyBounds bounds = keyBounds(classified.getCondition(), key, negated);
    bounds.isExact = false;
    return bounds;
  }
  if (auto cmp = dyn_cast_or_null<arith::CmpIOp>(op)) {
    KeyBounds bounds = compareKeys(negated ? arith::invertPredicate(cmp.getPredicate()) : cmp.getPredicate(), cmp.getLhs(), cmp.getRhs(), key);
    bounds.isExact &= !looksUp(condition, key);
    return bounds;
  }
  if (dependsOn(condition, key))
    return {};
  Truth known = truth(condition);
  if (Value some = negated ? known.all : known.some)
    return everywhereIf(negated ? make<arith::XOrIOp>(some, flag(true)) : some);
  return {};
}
