// Which lookups can come as tiles of a block, from their indices alone.
#include "passes/attention/PairTables.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

static constexpr size_t mostAxes = 5; ///< of a tensor map

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
  if (indices.size() < 2 || indices.size() > mostAxes || indices.take_back(2) != varying.take_back(2) || lookup->getParentRegion() != &region)
    return false;
  return KernelOp::isTable(lookup.getTable()) && isCopied(lookup.getType()) && llvm::all_of(indices.drop_back(2), [&](Value index) { return isUniform(index, region, varying); });
}

bool tegula::isPairTile(LoadOp load) {
  auto loop = dyn_cast<ForBlocksOp>(load->getParentOp());
  RankedTensorType tile = load.getType();
  int64_t rank = load.getIndices().size();
  if (!loop || tile.getRank() != 2 || tile.getDimSize(1) != static_cast<int64_t>(loop.getStep()) || load.getAxes()[1] != rank - 1 || rank > static_cast<int64_t>(mostAxes))
    return false;
  auto isFixed = [&](Value index) { return !loop->isAncestor(index.getParentRegion()->getParentOp()); };
  bool isPlaced = load.getIndices().back() == loop.getInductionVar() && llvm::all_of(load.getIndices().drop_back(), isFixed);
  bool isElementwise = llvm::none_of(load->getUsers(), [](Operation *user) { return isa<DotOp, ZeroUnseenOp, TransposeOp>(user) || user->hasTrait<OpTrait::IsTerminator>(); });
  return isPlaced && isElementwise && isCopied(tile.getElementType()) && KernelOp::isTable(load.getMemory());
}

static int64_t bitsOf(ArrayRef<Value> tables) {
  int64_t bits = 0;
  for (Value table : tables)
    bits += cast<MemRefType>(table.getType()).getElementTypeBitWidth();
  return bits;
}

int64_t tegula::pairTableBits(KernelOp program) {
  llvm::SmallSetVector<Value, 4> tables;
  program->walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op); load && isPairTile(load))
      tables.insert(load.getMemory());
    auto lookup = dyn_cast<LookupOp>(op);
    if (Region *region = op->getParentRegion(); lookup && isa<MapOp, MaskOp>(op->getParentOp()) && readsPair(lookup, *region, region->getArguments()))
      tables.insert(lookup.getTable());
  });
  return bitsOf(tables.getArrayRef());
}

int64_t tegula::pairTableBits(AttentionOp op) {
  llvm::SmallSetVector<Value, 4> tables;
  for (Region *region : {&op.getScore(), &op.getWeight()}) { // (score, b, h, g, i, j)
    if (region->empty())
      continue;
    SmallVector<Value> varying{region->getArgument(0)};
    llvm::append_range(varying, region->getArguments().take_back(2));
    for (LookupOp lookup : region->getOps<LookupOp>())
      if (readsPair(lookup, *region, varying))
        tables.insert(lookup.getTable());
  }
  return bitsOf(tables.getArrayRef());
}
