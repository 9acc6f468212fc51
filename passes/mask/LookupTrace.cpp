// Copies op after op; beside each value stands the first fault that it depends on.
#include "passes/mask/LookupTrace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

//===-- sites -------------------------------------------------------------------------------------===//

void LookupSites::add(Region &region) {
  region.walk([&](LookupOp lookup) {
    for (auto [axis, index] : llvm::enumerate(lookup.getIndices()))
      if (!isInside(index, kernel.getExtent(lookup.getTable(), axis)))
        numbers.insert({{lookup, int64_t(axis)}, int(numbers.size()) + 1});
  });
}

bool LookupSites::isInside(Value index, OpFoldResult extent) const {
  if (!extent)
    return false;
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    if (std::optional<int64_t> length = getConstantIntValue(extent))
      return constant.isNonNegative() && constant.getSExtValue() < *length;
  OpFoldResult end = ends.lookup(index);
  if (auto argument = dyn_cast<BlockArgument>(index); argument && !end)
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()); loop && index == loop.getInductionVar() && matchPattern(loop.getLowerBound(), m_Zero()))
      end = loop.getUpperBound();
  return end && isEqualConstantIntOrValue(end, extent);
}

//===-- faults ------------------------------------------------------------------------------------===//

Fault LookupTrace::orNone(Fault fault) {
  if (fault.site)
    return fault;
  return {arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0)), arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0))};
}

Value LookupTrace::isFaulty(Fault fault) {
  Value none = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, fault.site, none);
}

Fault LookupTrace::select(Value condition, Fault x, Fault y) {
  if (!x.site && !y.site)
    return {};
  x = orNone(x), y = orNone(y);
  return {arith::SelectOp::create(b, loc, condition, x.site, y.site), arith::SelectOp::create(b, loc, condition, x.index, y.index)};
}

Fault LookupTrace::first(Fault x, Fault y) { return !x.site ? y : !y.site ? x : select(isFaulty(x), x, y); }

/// A fault of one operand of `and` or `or`: nothing where the other one decides.
Fault LookupTrace::whereMatters(Fault x, const Traced &other, bool isAnd) {
  if (!x.site)
    return {};
  Value matters = other.fault.site ? isFaulty(other.fault) : Value();
  if (other.isKnown) {
    Value neutral = other.value;
    if (!isAnd)
      neutral = arith::XOrIOp::create(b, loc, neutral, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
    matters = matters ? arith::OrIOp::create(b, loc, matters, neutral).getResult() : neutral;
  }
  return matters ? when(matters, x) : Fault();
}

Fault LookupTrace::junction(Operation &op, bool isAnd) {
  Traced x = of(op.getOperand(0)), y = of(op.getOperand(1));
  return first(whereMatters(x.fault, y, isAnd), whereMatters(y.fault, x, isAnd));
}

Fault LookupTrace::choice(Operation &op) {
  Traced condition = of(op.getOperand(0)), x = of(op.getOperand(1)), y = of(op.getOperand(2));
  Fault side;
  if (condition.isKnown)
    side = select(condition.value, x.fault, y.fault);
  else if (x.fault.site && y.fault.site) // whichever is taken
    side = when(isFaulty(y.fault), x.fault);
  return first(condition.fault, side);
}

Fault LookupTrace::lookup(LookupOp op) {
  Fault fault;
  for (auto [axis, index] : llvm::enumerate(op.getIndices())) {
    Traced at = of(index);
    fault = first(fault, at.fault);
    int number = sites.numberOf(op, axis);
    if (number == 0 || !at.isKnown)
      continue;
    // Unsigned, so that what is below 0 is outside.
    Value outside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, at.value, extentOf(op.getTable(), axis));
    fault = first(fault, when(outside, {arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(number)), at.value}));
  }
  return fault;
}

//===-- code --------------------------------------------------------------------------------------===//

Traced LookupTrace::of(Value value) const {
  auto it = known.find(value);
  return it == known.end() ? Traced{value} : it->second;
}

FailureOr<Traced> LookupTrace::run(Region &region, ArrayRef<Traced> arguments) {
  for (auto [argument, traced] : llvm::zip_equal(region.getArguments(), arguments))
    known[argument] = traced;
  if (failed(run(region.front())))
    return failure();
  return of(region.front().getTerminator()->getOperand(0));
}

LogicalResult LookupTrace::run(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(trace(op)))
      return failure();
  return success();
}

LogicalResult LookupTrace::trace(Operation &op) {
  if (isa<scf::ForOp>(op))
    return traceLoop(op);
  if (op.getNumRegions() != 0 || op.getNumResults() != 1)
    return op.emitError("internal: `") << op.getName() << "` in the function of an element cannot be traced";
  IRMapping map;
  Traced result;
  for (Value operand : op.getOperands()) {
    map.map(operand, of(operand).value);
    result.isKnown &= of(operand).isKnown;
  }
  if (auto found = dyn_cast<LookupOp>(op))
    result.fault = lookup(found);
  else if (isa<arith::AndIOp, arith::OrIOp>(op) && op.getResult(0).getType().isInteger(1))
    result.fault = junction(op, isa<arith::AndIOp>(op));
  else if (isa<arith::SelectOp>(op))
    result.fault = choice(op);
  else
    for (Value operand : op.getOperands())
      result.fault = first(result.fault, of(operand).fault);
  result.value = b.clone(op, map)->getResult(0);
  known[op.getResult(0)] = result;
  return success();
}

/// Each carried value has its fault carried beside it.
LogicalResult LookupTrace::traceLoop(Operation &op) {
  auto loop = cast<scf::ForOp>(op);
  bool isKnown = true;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      isKnown &= of(operand).isKnown;
  });
  SmallVector<Value> values, rest;
  auto limits = llvm::map_to_vector(op.getOperands().take_front(3), [&](Value bound) { return of(bound).value; }); // numbers, dims or scalars
  auto add = [&](Value value) {
    Fault fault = orNone(of(value).fault);
    values.push_back(of(value).value);
    rest.append({fault.site, fault.index});
  };
  for (Value init : loop.getInits())
    add(init);
  auto result = scf::ForOp::create(b, loc, limits[0], limits[1], limits[2], llvm::to_vector(llvm::concat<Value>(values, rest)));
  known[loop.getInductionVar()] = {result.getInductionVar()};
  unsigned count = loop.getNumResults();
  auto bind = [&](ValueRange from, ValueRange to) {
    for (unsigned n = 0; n != count; ++n)
      known[from[n]] = {to[n], {to[count + 2 * n], to[count + 2 * n + 1]}, isKnown};
  };
  bind(loop.getRegionIterArgs(), result.getRegionIterArgs());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(result.getBody());
    if (failed(run(*loop.getBody())))
      return failure();
    values.clear(), rest.clear();
    for (Value value : loop.getYieldedValues())
      add(value);
    scf::YieldOp::create(b, loc, llvm::to_vector(llvm::concat<Value>(values, rest)));
  }
  bind(loop.getResults(), result.getResults());
  return success();
}
