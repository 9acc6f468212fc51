// Interval arithmetic and three-valued logic as scalar code.
#include "passes/mask/BoxEvaluator.h"

#include "dialect/tile/PrefixExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cstdlib>

using namespace mlir;
using namespace tegula;

using arith::CmpIPredicate;

Value BoxEvaluator::constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }
Value BoxEvaluator::flag(bool value) { return arith::ConstantOp::create(b, loc, b.getBoolAttr(value)); }

bool BoxEvaluator::isFromAbove(Value value) const { return !region.isAncestor(value.getParentRegion()); }

Value BoxEvaluator::oneValue(Value value) {
  if (isFromAbove(value))
    return value;
  if (auto it = values.find(value); it != values.end())
    return it->second;
  Value result;
  if (auto it = intervals.find(value); it != intervals.end() && isa<BlockArgument>(value)) {
    result = it->second.isOneValue() ? it->second.low : Value();
  } else if (Operation *op = value.getDefiningOp();
             op && op->getNumRegions() == 0 && op->getNumResults() == 1 && (isMemoryEffectFree(op) || isa<tile::LookupOp>(op))) {
    IRMapping map;
    bool isOne = llvm::all_of(op->getOperands(), [&](Value operand) {
      Value one = oneValue(operand);
      map.map(operand, one);
      return one != nullptr;
    });
    if (isOne)
      result = b.clone(*op, map)->getResult(0);
  }
  return values[value] = result;
}

//===-- integers ----------------------------------------------------------------------------------===//

Interval BoxEvaluator::interval(Value value) {
  if (!value.getType().isInteger(64) && !value.getType().isInteger(32))
    return {};
  if (auto it = intervals.find(value); it != intervals.end())
    return it->second;
  Interval result;
  if (Value one = oneValue(value)) {
    Value wide = value.getType().isInteger(64) ? one : b.createOrFold<arith::ExtSIOp>(loc, b.getI64Type(), one);
    result = {wide, wide};
  } else if (Operation *op = value.getDefiningOp()) {
    // The range proves that nothing wraps in the value's own type, for every launch.
    std::optional<IndexRange> range = ranges.of(value);
    if (auto read = dyn_cast<tile::LookupOp>(op))
      result = lookup(read);
    else if (range && (value.getType().isInteger(64) || range->fitsI32()))
      result = computeInterval(op);
  }
  return intervals[value] = result;
}

/// Whether a divisor is not 0 in any launch: by its range, or as `y == 0 ? c : y`.
static bool isNotZero(Value divisor, IndexRanges &ranges) {
  if (std::optional<IndexRange> range = ranges.of(divisor); range && (range->low > 0 || range->high < 0))
    return true;
  auto select = divisor.getDefiningOp<arith::SelectOp>();
  auto test = select ? select.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  return test && test.getPredicate() == CmpIPredicate::eq && test.getLhs() == select.getFalseValue() && matchPattern(test.getRhs(), m_Zero()) &&
         matchPattern(select.getTrueValue(), m_One());
}

/// However a quotient is rounded, it rises with the dividend all along, or falls where the divisor is negative.
Interval BoxEvaluator::quotient(Operation *op, Interval x, Interval y) {
  if (!y.isOneValue() || !isNotZero(op->getOperand(1), ranges))
    return {};
  auto divide = [&](Value dividend) {
    return isa<arith::FloorDivSIOp>(op) ? make<arith::FloorDivSIOp>(dividend, y.low)
           : isa<arith::DivSIOp>(op)    ? make<arith::DivSIOp>(dividend, y.low)
                                        : make<arith::CeilDivSIOp>(dividend, y.low);
  };
  Value first = divide(x.low), last = x.isOneValue() ? first : divide(x.high);
  std::optional<IndexRange> divisor = ranges.of(op->getOperand(1));
  if (x.isOneValue() || (divisor && divisor->low > 0))
    return {first, last};
  return {make<arith::MinSIOp>(first, last), make<arith::MaxSIOp>(first, last)};
}

/// Of `x` by one divisor, floored: where all of `x` has one quotient, remainders rise with it, else they are what they can be.
Interval BoxEvaluator::remainder(Interval x, Value divisor, Interval quotients) {
  Value isOne = b.createOrFold<arith::CmpIOp>(loc, CmpIPredicate::eq, quotients.low, quotients.high);
  Value whole = make<arith::MulIOp>(quotients.low, divisor), zero = constant(0), one = constant(1);
  auto pick = [&](Value close, Value wide) { return b.createOrFold<arith::SelectOp>(loc, isOne, close, wide); };
  Value low = make<arith::SubIOp>(x.low, whole), high = make<arith::SubIOp>(x.high, whole);
  Value least = make<arith::MinSIOp>(make<arith::AddIOp>(divisor, one), zero), most = make<arith::MaxSIOp>(make<arith::SubIOp>(divisor, one), zero);
  return {pick(low, least), pick(high, most)};
}

/// What the source declares of a table's elements: `in 0..N`.
Interval BoxEvaluator::declared(BlockArgument table, tile::KernelOp kernel) {
  auto range = dyn_cast_or_null<ArrayAttr>(kernel.getArgAttr(table.getArgNumber(), "tile.range"));
  if (!range)
    return {};
  auto end = [&](unsigned number) { return tile::emitPrefix(b, loc, cast<StringAttr>(range[number]).getValue(), kernel); };
  Value low = end(0), past = end(1);
  return low && past ? Interval{low, make<arith::SubIOp>(past, constant(1))} : Interval();
}

/// Of a table whose numbers rise along its last axis: the elements at the two ends.
Interval BoxEvaluator::lookup(tile::LookupOp op) {
  auto table = dyn_cast<BlockArgument>(op.getTable());
  auto kernel = table ? dyn_cast<tile::KernelOp>(table.getOwner()->getParentOp()) : tile::KernelOp();
  if (!kernel || !tile::KernelOp::isTable(table) || op.getIndices().empty())
    return {};
  if (!kernel.getArgAttr(table.getArgNumber(), "tile.sorted"))
    return declared(table, kernel);
  Interval place = interval(op.getIndices().back());
  SmallVector<Value> indices;
  for (Value index : op.getIndices().drop_back())
    indices.push_back(oneValue(index));
  if (!place || llvm::is_contained(indices, Value()))
    return declared(table, kernel);
  auto read = [&](Value at) {
    indices.push_back(at);
    Value element = tile::LookupOp::create(b, loc, op.getType(), table, indices);
    indices.pop_back();
    return element.getType().isInteger(64) ? element : b.createOrFold<arith::ExtSIOp>(loc, b.getI64Type(), element);
  };
  return {read(place.low), read(place.high)};
}

bool BoxEvaluator::isNotNegative(Value value) {
  std::optional<IndexRange> range = ranges.of(value);
  return range && range->low >= 0;
}

/// By an amount whose range is that of a shift. What is shifted keeps its order, and grows with the amount to the left if it is not negative.
Interval BoxEvaluator::shift(Operation *op, Interval x, Interval y) {
  bool isLeft = isa<arith::ShLIOp>(op);
  if (!y.isOneValue() && !isNotNegative(op->getOperand(0)))
    return {};
  if (isLeft)
    return {make<arith::ShLIOp>(x.low, y.low), make<arith::ShLIOp>(x.high, y.high)};
  return {make<arith::ShRSIOp>(x.low, y.high), make<arith::ShRSIOp>(x.high, y.low)};
}

/// Numbers that are not negative: x & y is at most either, x | y and x ^ y at most the sum, and x | y at least either.
Interval BoxEvaluator::bits(Operation *op, Interval x, Interval y) {
  APInt number;
  bool isConstant = matchPattern(op->getOperand(1), m_ConstantInt(&number));
  if (isa<arith::XOrIOp>(op) && isConstant && number.isAllOnes())
    return {make<arith::SubIOp>(constant(-1), x.high), make<arith::SubIOp>(constant(-1), x.low)};
  if (isa<arith::AndIOp>(op) && isConstant && number.isNegatedPowerOf2()) // down to a multiple
    return {make<arith::AndIOp>(x.low, y.low), make<arith::AndIOp>(x.high, y.low)};
  bool first = isNotNegative(op->getOperand(0)), second = isNotNegative(op->getOperand(1));
  if (isa<arith::AndIOp>(op) && first != second)
    return {constant(0), first ? x.high : y.high};
  if (!first || !second)
    return {};
  if (isa<arith::AndIOp>(op))
    return {constant(0), make<arith::MinSIOp>(x.high, y.high)};
  Value most = make<arith::AddIOp>(x.high, y.high);
  return {isa<arith::OrIOp>(op) ? make<arith::MaxSIOp>(x.low, y.low) : constant(0), most};
}

Interval BoxEvaluator::computeInterval(Operation *op) {
  if (isa<arith::ExtSIOp, arith::TruncIOp>(op)) // a truncation keeps what fits, which the range has proved
    return interval(op->getOperand(0));
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Interval x = interval(select.getTrueValue()), y = interval(select.getFalseValue());
    if (!x || !y)
      return {};
    if (Value condition = oneValue(select.getCondition()))
      return {b.createOrFold<arith::SelectOp>(loc, condition, x.low, y.low), b.createOrFold<arith::SelectOp>(loc, condition, x.high, y.high)};
    return {make<arith::MinSIOp>(x.low, y.low), make<arith::MaxSIOp>(x.high, y.high)};
  }
  if (isa<math::AbsIOp>(op)) {
    Interval x = interval(op->getOperand(0));
    if (!x)
      return {};
    Value zero = constant(0), least = make<arith::MaxSIOp>(x.low, make<arith::SubIOp>(zero, x.high));
    return {make<arith::MaxSIOp>(least, zero), make<arith::MaxSIOp>(x.high, make<arith::SubIOp>(zero, x.low))};
  }
  if (arith::FloorDivSIOp division = quotientOfRemainder(op)) {
    Interval x = interval(division.getLhs()), y = interval(division.getRhs()), quotients = interval(division.getResult());
    if (x && y.isOneValue() && quotients)
      return remainder(x, y.low, quotients);
  }
  if (op->getNumOperands() != 2)
    return {};
  Interval x = interval(op->getOperand(0)), y = interval(op->getOperand(1));
  if (!x || !y)
    return {};
  if (isa<arith::AddIOp>(op))
    return {make<arith::AddIOp>(x.low, y.low), make<arith::AddIOp>(x.high, y.high)};
  if (isa<arith::SubIOp>(op))
    return {make<arith::SubIOp>(x.low, y.high), make<arith::SubIOp>(x.high, y.low)};
  if (isa<arith::MinSIOp>(op))
    return {make<arith::MinSIOp>(x.low, y.low), make<arith::MinSIOp>(x.high, y.high)};
  if (isa<arith::MaxSIOp>(op))
    return {make<arith::MaxSIOp>(x.low, y.low), make<arith::MaxSIOp>(x.high, y.high)};
  if (isa<arith::MulIOp>(op)) {
    Value corners[] = {make<arith::MulIOp>(x.low, y.low), make<arith::MulIOp>(x.low, y.high), make<arith::MulIOp>(x.high, y.low),
                       make<arith::MulIOp>(x.high, y.high)};
    Interval result{corners[0], corners[0]};
    for (Value corner : corners)
      result = {make<arith::MinSIOp>(result.low, corner), make<arith::MaxSIOp>(result.high, corner)};
    return result;
  }
  if (isa<arith::FloorDivSIOp, arith::DivSIOp, arith::CeilDivSIOp>(op))
    return quotient(op, x, y);
  if (isa<arith::ShLIOp, arith::ShRSIOp>(op))
    return shift(op, x, y);
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return bits(op, x, y);
  std::optional<IndexRange> dividend = ranges.of(op->getOperand(0)), divisor = ranges.of(op->getOperand(1));
  if (!isa<arith::RemSIOp>(op) || !dividend || dividend->low < 0 || !divisor || divisor->low <= 0)
    return {};
  if (y.isOneValue())
    return remainder(x, y.low, {make<arith::DivSIOp>(x.low, y.low), make<arith::DivSIOp>(x.high, y.low)});
  return {constant(0), make<arith::MinSIOp>(x.high, make<arith::SubIOp>(y.high, constant(1)))};
}

//===-- conditions --------------------------------------------------------------------------------===//

Truth BoxEvaluator::truth(Value value) {
  if (auto it = truths.find(value); it != truths.end())
    return it->second;
  Truth result;
  if (Value one = oneValue(value))
    result = {one, one};
  else if (Operation *op = value.getDefiningOp())
    result = computeTruth(op);
  return truths[value] = result;
}

Truth BoxEvaluator::computeTruth(Operation *op) {
  if (auto cmp = dyn_cast<arith::CmpIOp>(op)) {
    Interval x = interval(cmp.getLhs()), y = interval(cmp.getRhs());
    return compare(cmp.getPredicate(), x, y);
  }
  auto negated = [&](Value x) { return x ? make<arith::XOrIOp>(x, flag(true)) : Value(); };
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One())) {
    Truth x = truth(op->getOperand(0));
    return {negated(x.all), negated(x.some)};
  }
  // Where a flag is not known, the other one decides what it can.
  auto either = [&](Value p, Value q) { return p && q ? make<arith::OrIOp>(p, q) : p ? p : q; };
  auto both = [&](Value p, Value q) { return p && q ? make<arith::AndIOp>(p, q) : p ? p : q; };
  auto needBoth = [&](Value p, Value q, bool isAnd) -> Value {
    return p && q ? (isAnd ? make<arith::AndIOp>(p, q) : make<arith::OrIOp>(p, q)) : Value();
  };
  if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    Truth x = truth(op->getOperand(0)), y = truth(op->getOperand(1));
    if (isa<arith::AndIOp>(op))
      return {both(x.some, y.some), needBoth(x.all, y.all, true)};
    return {needBoth(x.some, y.some, false), either(x.all, y.all)};
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Truth x = truth(select.getTrueValue()), y = truth(select.getFalseValue());
    if (Value condition = oneValue(select.getCondition())) {
      auto pick = [&](Value p, Value q) { return p && q ? b.createOrFold<arith::SelectOp>(loc, condition, p, q) : Value(); };
      return {pick(x.some, y.some), pick(x.all, y.all)};
    }
    // c ? x : y is c && x || !c && y, and as well (!c || x) && (c || y).
    Truth c = truth(select.getCondition());
    Value taken = both(c.some, x.some), other = both(negated(c.all), y.some), notTaken = either(negated(c.some), x.all), notOther = either(c.all, y.all);
    return {needBoth(taken, other, false), needBoth(notTaken, notOther, true)};
  }
  return {};
}

Truth BoxEvaluator::compare(CmpIPredicate predicate, Interval x, Interval y) {
  if (!x || !y)
    return {};
  auto test = [&](CmpIPredicate predicate, Value p, Value q) { return b.createOrFold<arith::CmpIOp>(loc, predicate, p, q); };
  switch (predicate) {
  case CmpIPredicate::slt:
  case CmpIPredicate::sle: {
    Value some = test(predicate, x.low, y.high), all = test(predicate, x.high, y.low);
    return {some, all};
  }
  case CmpIPredicate::sgt:
  case CmpIPredicate::sge: {
    Value some = test(predicate, x.high, y.low), all = test(predicate, x.low, y.high);
    return {some, all};
  }
  case CmpIPredicate::eq:
  case CmpIPredicate::ne: {
    auto bothWays = [&](Value a, Value b, Value c, Value d) -> Value {
      Value first = test(CmpIPredicate::sle, a, b), second = test(CmpIPredicate::sle, c, d);
      return make<arith::AndIOp>(first, second);
    };
    Value meet = bothWays(x.low, y.high, y.low, x.high);
    // All pairs are equal where the largest of each is at most the smallest of the other.
    Value same = bothWays(x.high, y.low, y.high, x.low);
    if (predicate == CmpIPredicate::eq)
      return {meet, same};
    Value some = make<arith::XOrIOp>(same, flag(true)), all = make<arith::XOrIOp>(meet, flag(true));
    return {some, all};
  }
  default:
    return {};
  }
}

//===-- bounds of keys ----------------------------------------------------------------------------===//

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

/// The predicate of y and x.
static CmpIPredicate swapped(CmpIPredicate predicate) {
  switch (predicate) {
  case CmpIPredicate::slt:
    return CmpIPredicate::sgt;
  case CmpIPredicate::sle:
    return CmpIPredicate::sge;
  case CmpIPredicate::sgt:
    return CmpIPredicate::slt;
  case CmpIPredicate::sge:
    return CmpIPredicate::sle;
  default:
    return predicate;
  }
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

/// All keys where the condition holds, else none.
KeyBounds BoxEvaluator::everywhereIf(Value condition) {
  if (matchPattern(condition, m_One()))
    return {{}, {}, /*isExact=*/true};
  Value all = constant(KeyBounds::beyond), none = constant(-KeyBounds::beyond);
  return {{}, b.createOrFold<arith::SelectOp>(loc, condition, all, none), /*isExact=*/true};
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
  if (auto cmp = dyn_cast_or_null<arith::CmpIOp>(op))
    return compareKeys(negated ? arith::invertPredicate(cmp.getPredicate()) : cmp.getPredicate(), cmp.getLhs(), cmp.getRhs(), key);
  Truth known = truth(condition);
  if (Value some = negated ? known.all : known.some)
    return everywhereIf(negated ? make<arith::XOrIOp>(some, flag(true)) : some);
  return {};
}
