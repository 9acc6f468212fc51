// tegula-precompute-classes: blocks of keys whose classes only their pairs tell, looked at ahead.
//
// In: tile programs, just before their masks are bounded. Out: beside a kernel whose mask reads a table at row and key, a program that writes the classes of its blocks into scratch memory, and in the
// mask a `tile.classified`. The one idea: what cannot be derived of a block is found once for all heads that share it, by a kernel like any other, and then looked up like an element of a table.
#include "passes/Passes.h"
#include "passes/mask/ClassesProgram.h"
#include "passes/mask/KeyLoop.h"
#include "passes/mask/OpaqueLookups.h"

#include "dialect/tile/PrefixExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

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

/// Whether two values are made by the same code of their regions' arguments and of the same values outside.
bool isSame(Value x, Region &ofX, Value y, Region &ofY) {
  if (x == y)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(x))
    return argument.getOwner() == &ofX.front() && y == ofY.getArgument(argument.getArgNumber());
  Operation *p = x.getDefiningOp(), *q = y.getDefiningOp();
  if (!p || !q || !ofX.isAncestor(p->getParentRegion()) || !ofY.isAncestor(q->getParentRegion()))
    return false;
  auto sameValues = [&](Value a, Value b) { return success(isSame(a, ofX, b, ofY)); };
  return OperationEquivalence::isEquivalentTo(p, q, sameValues, /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

struct PrecomputeClassesPass : tegula::impl::PrecomputeClassesPassBase<PrecomputeClassesPass> {
  void runOnOperation() override {
    llvm::SetVector<Operation *> others = programsOfRedos(getOperation());
    for (KernelOp kernel : llvm::to_vector(getOperation().getOps<KernelOp>()))
      if (!others.contains(kernel) && !kernel->hasAttr("tile.prepass"))
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
    std::optional<SmallVector<GridAxis>> axes = gridAxesOf(*condition);
    if (!axes)
      return say("it is no scalar code of arguments and of the program's place in the grid");
    addOthers(*condition, *axes);
    SmallVector<Attribute> dims = dimsOf(*condition, *axes);
    if (dims.empty())
      return say("the grid is no expression of dims");
    BlockArgument table = addTable(kernel, dims);
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

  /// Rows are multiples of the tile's, keys of the loop's from 0 on.
  static std::optional<PairCondition> conditionOf(MaskOp mask) {
    auto loop = dyn_cast<ForBlocksOp>(mask->getParentOp());
    RankedTensorType type = mask.getKeep().getType();
    auto row = mask.getRows().getDefiningOp<arith::MulIOp>();
    if (!loop || !isa<KernelOp>(loop->getParentOp()) || mask.getCols() != loop.getInductionVar() || !row || static_cast<int64_t>(loop.getStep()) != type.getDimSize(1) ||
        !matchPattern(loop.getLower(), m_Zero()))
      return std::nullopt;
    PairCondition condition;
    condition.rows = type.getDimSize(0), condition.keys = type.getDimSize(1);
    auto isRows = [&](Value value) {
      APInt number;
      return matchPattern(value, m_ConstantInt(&number)) && number == condition.rows;
    };
    condition.tile = isRows(row.getRhs()) ? row.getLhs() : isRows(row.getLhs()) ? row.getRhs() : Value();
    auto id = condition.tile ? condition.tile.getDefiningOp<ProgramIdOp>() : ProgramIdOp();
    if (!id)
      return std::nullopt;
    condition.tiles = id.getExtents()[cast<OpResult>(condition.tile).getResultNumber()];
    if (auto blocks = condition.tiles.getDefiningOp<arith::CeilDivSIOp>(); blocks && isRows(blocks.getRhs()))
      condition.queries = blocks.getLhs();
    condition.row = mask.getRows(), condition.keyEnd = loop.getUpper();
    condition.region = &mask.getBody();
    for (Value conjunct : conjunctsOf(mask.getBody()))
      if (isOpaque(conjunct, mask.getBody()))
        condition.conjuncts.push_back(conjunct);
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
      condition.conjuncts.push_back(conjunct);
      std::optional<SmallVector<GridAxis>> all = gridAxesOf(condition);
      if (!all || !isEqual(*all, axes))
        condition.conjuncts.pop_back();
    }
  }

  /// The extents of the table as texts; none where one has no text.
  SmallVector<Attribute> dimsOf(const PairCondition &condition, ArrayRef<GridAxis> axes) {
    std::string lead, tiles = printPrefix(condition.tiles), keys = printPrefix(condition.keyEnd);
    bool isKnown = !tiles.empty() && !keys.empty();
    for (const GridAxis &axis : axes) {
      std::string extent = printPrefix(axis.extent);
      isKnown &= !extent.empty();
      lead = lead.empty() ? extent : "(* " + lead + " " + extent + ")";
    }
    Builder b(&getContext());
    if (!isKnown)
      return {};
    Attribute first = lead.empty() ? Attribute(b.getI64IntegerAttr(1)) : b.getStringAttr(lead);
    return {first, b.getStringAttr(tiles), b.getStringAttr("(ceildiv " + keys + " " + std::to_string(condition.keys) + ")")};
  }

  /// As the last argument of the kernel, and of the one that computes rows again for it.
  BlockArgument addTable(KernelOp kernel, ArrayRef<Attribute> dims) {
    Builder b(&getContext());
    auto layout = StridedLayoutAttr::get(&getContext(), /*offset=*/0, SmallVector<int64_t>(3, ShapedType::kDynamic));
    auto type = MemRefType::get(SmallVector<int64_t>(3, ShapedType::kDynamic), b.getI8Type(), layout);
    NamedAttrList facts({b.getNamedAttr("tile.name", b.getStringAttr("classes.table")), b.getNamedAttr("tile.role", b.getStringAttr("scratch")), b.getNamedAttr("tile.dims", b.getArrayAttr(dims))});
    SmallVector<KernelOp> kernels{kernel};
    kernel->walk([&](RedoOp redo) { kernels.push_back(cast<KernelOp>(SymbolTable::lookupNearestSymbolFrom(redo, redo.getProgramAttr()))); });
    for (KernelOp each : kernels)
      (void)each.insertArgument(each.getNumArguments(), type, facts.getDictionary(&getContext()), each.getLoc());
    return kernel.getArguments().back();
  }

  /// The coordinates as one number.
  static Value leadOf(OpBuilder &b, Location loc, ArrayRef<GridAxis> axes) {
    Value lead, size;
    for (const GridAxis &axis : axes) {
      lead = lead ? arith::AddIOp::create(b, loc, lead, arith::MulIOp::create(b, loc, axis.index, size)).getResult() : axis.index;
      size = size ? arith::MulIOp::create(b, loc, size, axis.extent).getResult() : axis.extent;
    }
    return lead ? lead : arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)).getResult();
  }

  /// Says in a region of (row, key) that a table has the classes of what it is and-ed of, if that is the condition.
  static void classify(Region &region, const PairCondition &condition, Value table, Value lead) {
    SmallVector<Value> others = conjunctsOf(region), found;
    for (Value wanted : condition.conjuncts) {
      auto same = llvm::find_if(others, [&](Value own) { return isSame(own, region, wanted, *condition.region); });
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
