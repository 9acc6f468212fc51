// Trends of scalar code.
//
// The one idea: sums, comparisons and logic of monotone values are monotone; whatever else reads the index is unknown.
#include "passes/mask/KeyOrder.h"

#include "dialect/tile/TileDialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tegula;

namespace {

Trend flip(Trend trend) { return trend == Trend::Rising ? Trend::Falling : trend == Trend::Falling ? Trend::Rising : trend; }

/// Of a combination that grows with both.
Trend join(Trend x, Trend y) {
  if (x == Trend::Constant)
    return y;
  return y == Trend::Constant || x == y ? x : Trend::Unknown;
}

/// Of a product with, or a quotient by, a number.
Trend scaled(Trend trend, Value factor) {
  APInt number;
  if (!matchPattern(factor, m_ConstantInt(&number)))
    return Trend::Unknown;
  return number.isNegative() ? flip(trend) : trend;
}

bool isFlag(Value value) { return value.getType().isInteger(1); }

bool isTrue(Value value) { return matchPattern(value, m_One()); }

class TrendFinder {
public:
  explicit TrendFinder(Value index) : index(index) {}

  Trend of(Value value) {
    if (value == index)
      return Trend::Rising;
    if (!readsIndex(value))
      return Trend::Constant;
    Operation *op = value.getDefiningOp();
    auto at = [&](unsigned number) { return of(op->getOperand(number)); };
    if (isa<arith::SelectOp>(op) && !readsIndex(op->getOperand(0)))
      return join(at(1), at(2));
    if (isFlag(value) && isa<arith::AndIOp, arith::OrIOp>(op))
      return join(at(0), at(1));
    if (isFlag(value) && isa<arith::XOrIOp>(op))
      return isTrue(op->getOperand(1)) ? flip(at(0)) : isTrue(op->getOperand(0)) ? flip(at(1)) : Trend::Unknown;
    if (auto read = dyn_cast<tile::LookupOp>(op)) // beside the index, whatever it is, nothing may change
      return tile::KernelOp::isSortedTable(read.getTable()) && llvm::none_of(read.getIndices().drop_back(), [&](Value place) { return readsIndex(place); }) && !isFlag(value) ? of(read.getIndices().back())
                                                                                                                                                                              : Trend::Unknown;
    // Arithmetic on a condition takes true for -1; what makes one keeps a single bit.
    if (llvm::any_of(op->getOperands(), isFlag) || (isFlag(value) && !isa<arith::CmpIOp>(op)))
      return Trend::Unknown;
    if (isa<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp>(op))
      return join(at(0), at(1));
    if (isa<arith::SubIOp>(op))
      return join(at(0), flip(at(1)));
    if (isa<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(op))
      return at(0);
    if (isa<arith::FloorDivSIOp, arith::DivSIOp, arith::CeilDivSIOp>(op))
      return scaled(at(0), op->getOperand(1));
    if (isa<arith::MulIOp>(op))
      return readsIndex(op->getOperand(0)) ? scaled(at(0), op->getOperand(1)) : scaled(at(1), op->getOperand(0));
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      return ofComparison(compare, at(0), at(1));
    return Trend::Unknown;
  }

private:
  static Trend ofComparison(arith::CmpIOp op, Trend lhs, Trend rhs) {
    using Predicate = arith::CmpIPredicate;
    switch (op.getPredicate()) {
    case Predicate::sge:
    case Predicate::sgt:
      return join(lhs, flip(rhs));
    case Predicate::sle:
    case Predicate::slt:
      return join(flip(lhs), rhs);
    default:
      return Trend::Unknown;
    }
  }

  bool readsIndex(Value value) {
    if (value == index)
      return true;
    auto [it, isNew] = reads.try_emplace(value, false);
    Operation *op = value.getDefiningOp();
    if (!isNew || !op)
      return it->second;
    bool found = op->getNumRegions() != 0 || llvm::any_of(op->getOperands(), [&](Value operand) { return readsIndex(operand); });
    return reads[value] = found;
  }

  Value index;
  DenseMap<Value, bool> reads;
};

} // namespace

Trend tegula::trendOf(Value value, Value index) { return TrendFinder(index).of(value); }

arith::CmpIPredicate tegula::swapped(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return arith::CmpIPredicate::sgt;
  case arith::CmpIPredicate::sle:
    return arith::CmpIPredicate::sge;
  case arith::CmpIPredicate::sgt:
    return arith::CmpIPredicate::slt;
  case arith::CmpIPredicate::sge:
    return arith::CmpIPredicate::sle;
  default:
    return predicate;
  }
}

bool tegula::seesPrefix(Value visible, Value key) {
  Trend trend = trendOf(visible, key);
  return trend == Trend::Falling || trend == Trend::Constant;
}

bool tegula::seesInterval(Value visible, Value key) {
  if (auto both = visible.getDefiningOp<arith::AndIOp>())
    return seesInterval(both.getLhs(), key) && seesInterval(both.getRhs(), key);
  if (auto same = visible.getDefiningOp<arith::CmpIOp>(); same && same.getPredicate() == arith::CmpIPredicate::eq) {
    Trend left = trendOf(same.getLhs(), key), right = trendOf(same.getRhs(), key);
    return left != Trend::Unknown && right != Trend::Unknown && (left == Trend::Constant || right == Trend::Constant);
  }
  return trendOf(visible, key) != Trend::Unknown;
}

bool tegula::readsTable(Value value, Region &mask) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return mask.isAncestor(op->getParentRegion()); };
  auto reads = [](Operation *op) { return op->walk([](tile::LookupOp) { return WalkResult::interrupt(); }).wasInterrupted(); };
  return succeeded(getBackwardSlice(value, &slice, options)) && llvm::any_of(slice, reads);
}

bool tegula::listsKeys(Region &mask, Value row, Value key) {
  auto reads = [](Value value, Value index) { return trendOf(value, index) != Trend::Constant; };
  auto isEntry = [&](Value entry, Value of) { return reads(entry, row) && !reads(entry, key) && readsTable(entry, mask) && reads(of, key) && !readsTable(of, mask); };
  int64_t entries = 0;
  mask.walk([&](arith::CmpIOp op) {
    if (op.getPredicate() != arith::CmpIPredicate::eq || !(isEntry(op.getLhs(), op.getRhs()) || isEntry(op.getRhs(), op.getLhs())))
      return;
    auto loop = op->getParentOfType<scf::ForOp>();
    entries += loop && (reads(op.getLhs(), loop.getInductionVar()) || reads(op.getRhs(), loop.getInductionVar())) ? 2 : 1;
  });
  return entries > 1;
}

bool tegula::growsWithRows(Value visible, Value row, Value key) {
  if (auto both = visible.getDefiningOp<arith::AndIOp>())
    return growsWithRows(both.getLhs(), row, key) || growsWithRows(both.getRhs(), row, key);
  return trendOf(visible, key) == Trend::Falling && trendOf(visible, row) == Trend::Rising;
}
