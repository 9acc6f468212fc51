#include "passes/mask/SortedReads.h"
#include "passes/mask/KeyOrder.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

using arith::CmpIPredicate;

/// The lookup that a number is, in its own type or in a wider one.
static LookupOp lookupOf(Value value) {
  if (auto wide = value.getDefiningOp<arith::ExtSIOp>())
    value = wide.getIn();
  return value.getDefiningOp<LookupOp>();
}

std::optional<SortedRead> SortedRead::match(arith::CmpIOp compare, Region &region, Value row, Value key, OpFoldResult keyEnd) {
  CmpIPredicate predicate = compare.getPredicate();
  if (predicate >= CmpIPredicate::ult) // unsigned ones come last
    return std::nullopt;
  for (bool isLeft : {true, false}) {
    Value side = isLeft ? compare.getLhs() : compare.getRhs(), number = isLeft ? compare.getRhs() : compare.getLhs();
    LookupOp lookup = lookupOf(side);
    if (!lookup || lookup.getIndices().empty() || !KernelOp::isSortedTable(lookup.getTable()) || !(lookup.getType().isInteger(32) || lookup.getType().isInteger(64)) || lookup.getIndices().back() != key)
      continue;
    auto kernel = cast<KernelOp>(cast<BlockArgument>(lookup.getTable()).getOwner()->getParentOp());
    int64_t axis = lookup.getIndices().size() - 1;
    bool isFixed = llvm::none_of(lookup.getIndices().drop_back(), [&](Value index) { return trendOf(index, row) != Trend::Constant || trendOf(index, key) != Trend::Constant; });
    Trend ofRows = trendOf(number, row);
    if (isFixed && trendOf(number, key) == Trend::Constant && (ofRows == Trend::Rising || ofRows == Trend::Constant) && isEqualConstantIntOrValue(kernel.getExtent(lookup.getTable(), axis), keyEnd))
      return SortedRead{compare, isLeft ? predicate : swapped(predicate), lookup, number};
  }
  return std::nullopt;
}
