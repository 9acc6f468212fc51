// A range is what BoxEvaluator finds for a single row and element.
#include "passes/mask/KeyRanges.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// A condition as the elements that it is or-ed of: itself, or what a loop `r = r || condition` runs over.
struct Elements {
  Value condition, number;
  int64_t count = 1;

  explicit Elements(Value value) : condition(value) {
    auto loop = value.getDefiningOp<scf::ForOp>();
    APInt lower, upper, step;
    if (!loop || loop.getNumResults() != 1 || !matchPattern(loop.getInits().front(), m_Zero()) || !matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) ||
        !matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) || !matchPattern(loop.getStep(), m_ConstantInt(&step)) || !lower.isZero() || !step.isOne() ||
        upper.slt(1) || upper.sgt(mostElements))
      return;
    auto either = loop.getYieldedValues().front().getDefiningOp<arith::OrIOp>();
    if (!either || !llvm::is_contained(either->getOperands(), loop.getRegionIterArg(0)))
      return;
    condition = either.getLhs() == loop.getRegionIterArg(0) ? either.getRhs() : either.getLhs();
    number = loop.getInductionVar(), count = upper.getSExtValue();
  }
  static constexpr int64_t mostElements = 256;
};

} // namespace

std::pair<AnyRangeOp, bool> tegula::makeRanges(OpBuilder &at, Value number, int64_t step, RowsOneByOne rows, ArrayRef<Value> conditions, Region &region, Region &scope, IndexRanges &ranges) {
  Elements elements(conditions.front());
  Location loc = region.getLoc();
  Value count = arith::ConstantOp::create(at, loc, at.getI64IntegerAttr(rows.count * elements.count));
  auto any = AnyRangeOp::create(at, loc, number, count, at.getI64IntegerAttr(step));
  OpBuilder b(at.getContext());
  Block *body = b.createBlock(&any.getRange(), {}, {b.getI64Type()}, {loc});
  auto constant = [&](int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
  Value row = rows.span.low, element = body->getArgument(0);
  if (rows.count != 1) {
    Value each = constant(elements.count);
    row = b.createOrFold<arith::AddIOp>(loc, row, b.createOrFold<arith::DivUIOp>(loc, body->getArgument(0), each));
    row = b.createOrFold<arith::MinSIOp>(loc, row, rows.span.high);
    element = b.createOrFold<arith::RemUIOp>(loc, body->getArgument(0), each);
  }
  BoxEvaluator box(b, loc, scope, ranges);
  box.set(region.getArgument(0), {row, row});
  if (elements.number)
    box.set(elements.number, {element, element});
  KeyBounds keys = box.keyBounds(elements.condition, region.getArgument(1));
  bool isBounded = keys.lower || keys.upper;
  for (Value condition : conditions.drop_front()) {
    KeyBounds more = box.keyBounds(condition, region.getArgument(1));
    keys = box.join(keys, more, /*both=*/true);
  }
  if (!isBounded) {
    any.erase();
    return {};
  }
  Value lower = keys.lower ? keys.lower : constant(-ForBlocksOp::classifiedKeys).getResult();
  Value upper = keys.upper ? keys.upper : constant(2 * ForBlocksOp::classifiedKeys).getResult();
  YieldOp::create(b, loc, ValueRange{lower, upper});
  return {any, keys.isExact};
}

Value tegula::seenByRanges(ZeroUnseenOp op, RowsOneByOne rows, OpBuilder &b, IndexRanges &ranges) {
  Region &region = op.getSeen();
  Block *body = b.getBlock();
  SmallVector<Value> conjuncts{region.front().getTerminator()->getOperand(0)}, others, choices;
  while (!conjuncts.empty()) {
    Value next = conjuncts.pop_back_val();
    BoxEvaluator all(b, op.getLoc(), region, ranges);
    all.set(region.getArgument(0), rows.span);
    all.set(region.getArgument(1), {body->getArgument(0), body->getArgument(0)});
    if (auto both = next.getDefiningOp<arith::AndIOp>(); both && region.isAncestor(both->getParentRegion()))
      conjuncts.append({both.getRhs(), both.getLhs()});
    else
      (all.truth(next).some ? others : choices).push_back(next);
  }
  if (choices.size() != 1)
    return {};
  Value seen;
  for (choices.assign(1, choices.front()); !choices.empty();) {
    Value next = choices.pop_back_val();
    if (auto either = next.getDefiningOp<arith::OrIOp>(); either && region.isAncestor(either->getParentRegion())) {
      choices.append({either.getRhs(), either.getLhs()});
      continue;
    }
    SmallVector<Value> conditions{next};
    llvm::append_range(conditions, others);
    auto [any, isExact] = makeRanges(b, body->getArgument(0), /*step=*/1, rows, conditions, region, region, ranges);
    if (!any || !isExact)
      return {};
    seen = seen ? b.createOrFold<arith::OrIOp>(op.getLoc(), seen, any) : any.getMeets();
  }
  return seen;
}

void tegula::markRanges(Region &region, IndexRanges &ranges) {
  for (scf::ForOp loop : llvm::to_vector(region.front().getOps<scf::ForOp>())) {
    if (loop.getNumResults() != 1 || Elements(loop.getResult(0)).count < 2)
      continue;
    OpBuilder b(loop);
    Value row = region.getArgument(0);
    auto [any, isExact] = makeRanges(b, region.getArgument(1), /*step=*/1, {{row, row}, 1}, {loop.getResult(0)}, region, region, ranges);
    if (!any)
      continue;
    if (!isExact) {
      any.erase();
      continue;
    }
    loop.getResult(0).replaceAllUsesWith(any);
    loop.erase();
  }
}
