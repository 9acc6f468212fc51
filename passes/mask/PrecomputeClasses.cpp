// tegula-precompute-classes: blocks of keys whose classes only their pairs tell, looked at ahead.
//
// In: tile programs, just before their masks are bounded. Out: beside a kernel whose mask reads a table at row and key, a program that writes the classes of its blocks into scratch memory, and in the
// mask a `tile.classified`. The one idea: what cannot be derived of a block is found once for all heads that share it, by a kernel like any other, and then looked up like an element of a table.
#include "passes/Passes.h"
#include "passes/mask/ClassesProgram.h"
#include "passes/mask/OpaqueLookups.h"

#include "dialect/tile/PrefixExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tegula {
#define GEN_PASS_DEF_PRECOMPUTECLASSESPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// What a region of (row, key) is and-ed of.
SmallVector<Value> conjunctsOf(Region &region) {
  SmallVector<Value> pending{region.front().getTerminator()->getOperand(0)}, conjuncts;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (auto both = next.getDefiningOp<arith::AndIOp>(); both && region.isAncestor(both->getParentRegion()))
      pending.append({both.getRhs(), both.getLhs()});
    else
      conjuncts.push_back(next);
  }
  return conjuncts;
}

bool isOpaque(Value conjunct, Region &region) { return readsOpaqueTable(conjunct, region.getArgument(0), region.getArgument(1)); }

bool hasOpaque(Region &region) {
  return llvm::any_of(conjunctsOf(region), [&](Value conjunct) { return isOpaque(conjunct, region); });
}

bool isEqual(ArrayRef<GridAxis> x, ArrayRef<GridAxis> y) {
  return x.size() == y.size() && llvm::all_of(llvm::zip(x, y), [](auto pair) { return std::get<0>(pair).index == std::get<1>(pair).index; });
}

struct PrecomputeClassesPass : tegula::impl::PrecomputeClassesPassBase<PrecomputeClassesPass> {
  void runOnOperation() override {
    for (KernelOp kernel : kernelsWithoutPrepass(getOperation()))
      precompute(kernel);
  }

private:
  void precompute(KernelOp kernel) {
    MaskOp first;
    kernel->walk([&](MaskOp mask) {
      if (!first && hasOpaque(mask.getBody()))
        first = mask;
    });
    if (!first)
      return;
    auto say = [&](StringRef reason) { emitRemark(first.getLoc()) << "blocks of keys under this mask are visited and tested: " << reason; };
    std::optional<PairCondition> condition = conditionOf(first);
    if (!condition)
      return say("which rows and keys of it a program has does not follow from the program's number");
    std::optional<SmallVector<GridAxis>> axes = condition->axes();
    if (!axes)
      return say("it is no scalar code of arguments and of the program's place in the grid");
    addOthers(*condition, *axes);
    SmallVector<Attribute> dims = dimsOf(*condition, *axes);
    if (dims.empty())
      return say("the grid is no expression of dims");
    BlockArgument table = addPrepassTable(kernel, IntegerType::get(&getContext(), 8), dims, /*isSorted=*/false);
    writeClassesProgram(kernel, *condition, *axes);
    OpBuilder b(first->getParentOp());
    Value lead = leadOf(b, first.getLoc(), *axes);
    kernel->walk([&](Operation *op) {
      if (auto mask = dyn_cast<MaskOp>(op); mask && mask.getRows() == first.getRows() && mask.getKeep().getType() == first.getKeep().getType())
        classify(mask.getBody(), *condition, table, lead);
      else if (auto zero = dyn_cast<ZeroUnseenOp>(op); zero && zero.getFirst() == first.getRows() && zero.getTile().getType().getDimSize(0) == condition->keys)
        classify(zero.getSeen(), *condition, table, lead);
    });
    ++precomputed;
  }

  static std::optional<PairCondition> conditionOf(MaskOp mask) {
    std::optional<PairCondition> condition = PairCondition::of(mask);
    for (Value conjunct : conjunctsOf(mask.getBody()))
      if (condition && isOpaque(conjunct, mask.getBody()))
        condition->parts.push_back(conjunct);
    return condition;
  }

  /// What else the mask is and-ed of, where it costs little and makes the table no larger: what is known of all together is exact. That a key exists says nothing of those that do.
  static void addOthers(PairCondition &condition, ArrayRef<GridAxis> axes) {
    Region &region = *condition.region;
    for (Value conjunct : conjunctsOf(region)) {
      auto compare = conjunct.getDefiningOp<arith::CmpIOp>();
      bool isEnd = compare && compare.getPredicate() == arith::CmpIPredicate::slt && compare.getLhs() == region.getArgument(1) && compare.getRhs() == condition.keyEnd;
      if (isEnd || isOpaque(conjunct, region) || !conjunct.getDefiningOp() || conjunct.getDefiningOp()->getNumRegions() != 0)
        continue;
      condition.parts.push_back(conjunct);
      std::optional<SmallVector<GridAxis>> all = condition.axes();
      if (!all || !isEqual(*all, axes))
        condition.parts.pop_back();
    }
  }

  /// The extents of the table as texts; none where one has no text.
  SmallVector<Attribute> dimsOf(const PairCondition &condition, ArrayRef<GridAxis> axes) {
    std::string tiles = printPrefix(condition.tiles), keys = printPrefix(condition.keyEnd);
    Attribute lead = leadExtent(&getContext(), axes);
    Builder b(&getContext());
    if (!lead || tiles.empty() || keys.empty())
      return {};
    return {lead, b.getStringAttr(tiles), b.getStringAttr("(ceildiv " + keys + " " + std::to_string(condition.keys) + ")")};
  }

  /// Says in a region of (row, key) that a table has the classes of what it is and-ed of, if that is the condition.
  static void classify(Region &region, const PairCondition &condition, Value table, Value lead) {
    SmallVector<Value> others = conjunctsOf(region), found;
    for (Value wanted : condition.parts) {
      auto same = llvm::find_if(others, [&](Value own) { return isSameCode(own, region, wanted, *condition.region); });
      if (same == others.end())
        return;
      found.push_back(*same);
      others.erase(same);
    }
    Operation *yield = region.front().getTerminator();
    OpBuilder b(yield);
    Location loc = yield->getLoc();
    Value all = found.front();
    for (Value next : ArrayRef(found).drop_front())
      all = arith::AndIOp::create(b, loc, all, next);
    all = ClassifiedOp::create(b, loc, all, table, lead, condition.row, region.getArgument(1), condition.rows, condition.keys);
    for (Value next : others)
      all = arith::AndIOp::create(b, loc, all, next);
    yield->setOperand(0, all);
  }
};

} // namespace
