// Which lookups can come as tiles of a block, from their indices alone.
#include "passes/attention/PairTables.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

static bool isCopied(Type element) { return element.isF16() || element.isBF16() || element.isF32() || element.isInteger(8) || element.isInteger(32); }

/// Whether a value of the region is made of none of `varying`.
static bool isUniform(Value value, Region &region, ValueRange varying) {
  if (!region.isAncestor(value.getParentRegion()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return !llvm::is_contained(varying, value);
  return op->getNumRegions() == 0 && llvm::all_of(op->getOperands(), [&](Value operand) { return isUniform(operand, region, varying); });
}

bool tegula::readsPair(LookupOp lookup, Region &region, ValueRange varying) {
  OperandRange indices = lookup.getIndices();
  constexpr size_t mostAxes = 5; // of a tensor map
  if (indices.size() < 2 || indices.size() > mostAxes || indices.take_back(2) != varying.take_back(2) || lookup->getParentRegion() != &region)
    return false;
  return KernelOp::isTable(lookup.getTable()) && isCopied(lookup.getType()) && llvm::all_of(indices.drop_back(2), [&](Value index) { return isUniform(index, region, varying); });
}

int64_t tegula::pairTableBits(AttentionOp op) {
  llvm::SmallSetVector<Value, 4> tables;
  auto add = [&](Region &region, bool takesScore) { // (score, b, h, g, i, j) or (b, h, g, i, j)
    if (region.empty())
      return;
    SmallVector<Value> varying(region.getArguments().take_back(2));
    if (takesScore)
      varying.insert(varying.begin(), region.getArgument(0));
    for (LookupOp lookup : region.getOps<LookupOp>())
      if (readsPair(lookup, region, varying))
        tables.insert(lookup.getTable());
  };
  add(op.getScore(), true);
  add(op.getWeight(), true);
  add(op.getMask(), false);
  int64_t bits = 0;
  for (Value table : tables)
    bits += cast<MemRefType>(table.getType()).getElementTypeBitWidth();
  return bits;
}
