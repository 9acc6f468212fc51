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

/// From the table. The box is part of one of its blocks: that in which it begins.
Truth BoxEvaluator::classOf(tile::ClassifiedOp op) {
  Interval row = interval(op.getRow()), key = interval(op.getKey());
  Value lead = oneValue(op.getLead());
  if (!row || !key || !lead)
    return {};
  Value rows = constant(op.getRows()), tile = make<arith::DivSIOp>(row.low, rows), keys = constant(op.getKeys()), block = make<arith::DivSIOp>(key.low, keys);
  Value bits = tile::LookupOp::create(b, loc, b.getI8Type(), op.getTable(), ValueRange{lead, tile, block});
  auto isSet = [&](int64_t bit) -> Value {
    Value mask = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(bit)), set = arith::AndIOp::create(b, loc, bits, mask);
    return arith::CmpIOp::create(b, loc, CmpIPredicate::eq, set, mask);
  };
  Value some = isSet(1), all = isSet(2);
  return {some, all};
}

Truth BoxEvaluator::computeTruth(Operation *op) {
  if (auto classified = dyn_cast<tile::ClassifiedOp>(op))
    return classOf(classified);
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
