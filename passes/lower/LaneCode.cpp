// What lanes of the producer, and the threads that look at keys, compute.
#include "passes/lower/LaneCode.h"
#include "passes/lower/LowerWarp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tegula;

void NarrowCloner::clone(Operation &op) {
  auto isWide = [](Value value) { return value.getType().isInteger(64); };
  auto fits = [&](Value value) { return !isWide(value) || ranges.fitsI32(value); };
  bool isArith = isa<arith::ArithDialect>(op.getDialect()) && op.getNumResults() == 1;
  if (!isArith || !llvm::all_of(op.getOperands(), fits) || !fits(op.getResult(0))) {
    for (Value operand : op.getOperands())
      (void)getWide(operand);
    b.clone(op, wide);
    return;
  }
  Value result = op.getResult(0);
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op) && getNarrow(op.getOperand(0)).getType().isInteger(32) && (isWide(result) || result.getType().isInteger(32))) {
    set(result, getNarrow(op.getOperand(0)));
    return;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && isWide(result)) {
    set(result, arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(cast<IntegerAttr>(constant.getValue()).getInt())));
    return;
  }
  SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), [&](Value operand) { return getNarrow(operand); });
  OperationState state(loc, op.getName(), operands, {isWide(result) ? b.getI32Type() : result.getType()}, op.getAttrs());
  set(result, b.create(state)->getResult(0));
}

Value NarrowCloner::getWide(Value value) {
  if (Value known = wide.lookupOrNull(value))
    return known;
  auto it = narrow.find(value);
  if (it == narrow.end())
    return value; // from above
  Value made = arith::ExtSIOp::create(b, loc, value.getType(), it->second);
  wide.map(value, made);
  return made;
}

Value NarrowCloner::getNarrow(Value value) {
  if (!value.getType().isInteger(64))
    return getWide(value);
  Value &known = narrow[value];
  if (!known)
    known = arith::TruncIOp::create(b, loc, b.getI32Type(), wide.lookupOrDefault(value));
  return known;
}

static Value meetsRange(tile::AnyRangeOp op, NarrowCloner &outer, Value lane, Value first) {
  OpBuilder &b = outer.b;
  constexpr int64_t together = 4; // ranges of a lane, so that it waits for their numbers once
  Location loc = op.getLoc();
  constexpr int64_t lanes = warp::ClassifyBlocksOp::lanes;
  Block &body = op.getRange().front();
  APInt known;
  outer.ranges.set(body.getArgument(0), {0, matchPattern(op.getCount(), m_ConstantInt(&known)) ? known.getSExtValue() : int64_t(1) << 31});
  Value count = outer.lookup(op.getCount()), zero = constantInt(b, loc, 0, 64), one = constantInt(b, loc, 1, 64), none = constantInt(b, loc, 0);
  Value last = arith::SubIOp::create(b, loc, count, one), wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), lane);
  Value stride = constantInt(b, loc, together * lanes, 64), most = constantInt(b, loc, lanes * op.getStep(), 64), step = constantInt(b, loc, op.getStep());
  auto place = [&](OpBuilder &at, Value key) -> Value { // in blocks, of what lies behind `first`, up to the last of these
    Value inside = arith::MinSIOp::create(at, loc, arith::MaxSIOp::create(at, loc, key, zero), most);
    Value blocks = arith::DivUIOp::create(at, loc, arith::TruncIOp::create(at, loc, at.getI32Type(), inside), step);
    return arith::ExtUIOp::create(at, loc, at.getI64Type(), blocks);
  };
  auto marks = scf::ForOp::create(b, loc, zero, count, stride, none, [&](OpBuilder &at, Location, Value from, ValueRange sum) {
    SmallVector<std::pair<Value, Value>, together> ends;
    for (int64_t n = 0; n < together; ++n) {
      Value own = arith::AddIOp::create(at, loc, from, wide), number = arith::AddIOp::create(at, loc, own, constantInt(at, loc, n * lanes, 64));
      NarrowCloner code(at, outer);
      code.map(body.getArgument(0), arith::MinSIOp::create(at, loc, number, last));
      for (Operation &inner : body.without_terminator())
        code.clone(inner);
      ValueRange yielded = body.getTerminator()->getOperands();
      Value lower = code.lookup(yielded[0]), upper = code.lookup(yielded[1]);
      ends.push_back({lower, upper});
    }
    Value all = sum[0];
    for (auto [lower, upper] : ends) {
      Value begin = place(at, arith::SubIOp::create(at, loc, lower, first)), past = arith::SubIOp::create(at, loc, upper, first);
      Value end = place(at, arith::AddIOp::create(at, loc, past, constantInt(at, loc, op.getStep() - 1, 64)));
      Value below = arith::ShLIOp::create(at, loc, one, begin), upTo = arith::ShLIOp::create(at, loc, one, end);
      Value isSome = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::slt, lower, upper);
      Value bits = arith::TruncIOp::create(at, loc, at.getI32Type(), arith::SubIOp::create(at, loc, upTo, below));
      all = arith::OrIOp::create(at, loc, all, arith::SelectOp::create(at, loc, isSome, bits, none));
    }
    scf::YieldOp::create(at, loc, all);
  });
  Value marked = NVVM::ReduxOp::create(b, loc, b.getI32Type(), marks.getResult(0), NVVM::ReduxKind::OR, constantInt(b, loc, -1));
  Value from = arith::ShRUIOp::create(b, loc, marked, lane), own = arith::AndIOp::create(b, loc, from, constantInt(b, loc, 1));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, own, none);
}

void tegula::cloneForLanes(Region &region, NarrowCloner &code, Value lane, Value first) {
  for (Operation &op : region.front().without_terminator()) {
    if (auto any = dyn_cast<tile::AnyRangeOp>(op))
      code.map(any.getMeets(), meetsRange(any, code, lane, first));
    else
      code.clone(op);
  }
}
