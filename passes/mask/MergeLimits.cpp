#include "passes/mask/MergeLimits.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tegula;

bool tegula::mergeLimits(Region &region, IndexRanges &ranges) {
  Operation *yield = region.front().getTerminator();
  OpBuilder b(yield);
  Location loc = region.getLoc();
  SmallVector<Value> conjuncts{yield->getOperand(0)}, uppers, lowers, others;
  auto isRowOnly = [&](Value value) {
    SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.inclusive = true;
    options.omitBlockArguments = true;
    options.filter = [&](Operation *op) { return region.isAncestor(op->getParentRegion()); };
    (void)getBackwardSlice(value, &slice, options);
    auto readsKey = [&](Operation *op) { return op->getNumRegions() != 0 || llvm::is_contained(op->getOperands(), region.getArgument(1)); };
    return value != region.getArgument(1) && llvm::none_of(slice, readsKey);
  };
  bool isTurned = false;
  auto sort = [&](arith::CmpIOp compare) {
    if (!compare)
      return false;
    using P = arith::CmpIPredicate;
    P predicate = compare.getPredicate();
    bool isLess = predicate == P::slt || predicate == P::sle, isStrict = predicate == P::slt || predicate == P::sgt;
    if (!isLess && predicate != P::sgt && predicate != P::sge)
      return false;
    bool isKeyLeft = compare.getLhs() == region.getArgument(1), isUpper = isLess == isKeyLeft;
    Value limit = isKeyLeft ? compare.getRhs() : compare.getLhs();
    auto distance = compare.getLhs().getDefiningOp<arith::SubIOp>();
    if (distance && distance.getRhs() == region.getArgument(1) && isRowOnly(distance.getLhs()) && isRowOnly(compare.getRhs()) && ranges.of(distance.getLhs()) && ranges.of(compare.getRhs())) {
      // Of a number less the key, as the distance of a window: the key is above what is below, by as much.
      limit = arith::SubIOp::create(b, loc, distance.getLhs(), compare.getRhs());
      isUpper = !isLess, isTurned = true;
    } else if ((!isKeyLeft && compare.getRhs() != region.getArgument(1)) || !isRowOnly(limit)) {
      return false;
    }
    if (isStrict) {
      if (!ranges.of(limit))
        return false; // one less or more may be no number
      limit = arith::AddIOp::create(b, loc, limit, arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(isUpper ? -1 : 1)));
    }
    (isUpper ? uppers : lowers).push_back(limit);
    return true;
  };
  while (!conjuncts.empty()) {
    Value next = conjuncts.pop_back_val();
    if (auto both = next.getDefiningOp<arith::AndIOp>(); both && region.isAncestor(both->getParentRegion()))
      conjuncts.append({both.getRhs(), both.getLhs()});
    else if (!sort(next.getDefiningOp<arith::CmpIOp>()))
      others.push_back(next);
  }
  if (uppers.size() < 2 && lowers.size() < 2 && !isTurned)
    return false;
  auto limited = [&](ArrayRef<Value> limits, bool isUpper) {
    Value limit = limits.front();
    for (Value next : limits.drop_front())
      limit = isUpper ? arith::MinSIOp::create(b, loc, limit, next).getResult() : arith::MaxSIOp::create(b, loc, limit, next).getResult();
    others.push_back(arith::CmpIOp::create(b, loc, isUpper ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge, region.getArgument(1), limit));
  };
  if (!uppers.empty())
    limited(uppers, true);
  if (!lowers.empty())
    limited(lowers, false);
  Value all = others.front();
  for (Value next : ArrayRef<Value>(others).drop_front())
    all = arith::AndIOp::create(b, loc, all, next);
  yield->setOperand(0, all);
  return true;
}
