// Code of a kernel that can stand alone, cloned into another one.
#include "passes/mask/PrepassWriter.h"
#include "passes/mask/KeyLoop.h"

#include "dialect/tile/PrefixExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

static constexpr int64_t threads = 128, ctas = 4;

/// Scalar code that can run anywhere: it reads nothing that a kernel writes.
static bool isScalarCode(Operation *op) {
  bool isScalar = llvm::none_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) && llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  if (auto lookup = dyn_cast<LookupOp>(op))
    return KernelOp::isTable(lookup.getTable());
  return isScalar && (op->getNumRegions() == 0 ? isMemoryEffectFree(op) : isa<scf::SCFDialect>(op->getDialect()));
}

/// The values outside of `region` that `value` is made of.
static bool addOutside(Value value, Region &region, llvm::SetVector<Value> &outside, DenseSet<Operation *> &seen) {
  if (!region.isAncestor(value.getParentRegion())) {
    outside.insert(value);
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(op).second)
    return true;
  return !op->walk([&](Operation *inner) {
              bool isCode = isScalarCode(inner) || isa<scf::YieldOp>(inner);
              return isCode && llvm::all_of(inner->getOperands(), [&](Value operand) { return addOutside(operand, region, outside, seen); }) ? WalkResult::advance()
                                                                                                                                         : WalkResult::interrupt();
            }).wasInterrupted();
}

namespace {

/// Finds the coordinates of the grid that values are made of.
class AxisFinder {
public:
  bool add(Value value) {
    if (!seen.insert(value).second)
      return true;
    Operation *op = value.getDefiningOp();
    if (!op)
      return isa<KernelOp>(cast<BlockArgument>(value).getOwner()->getParentOp());
    if (auto id = dyn_cast<ProgramIdOp>(op)) {
      addAxis(value, id.getExtents()[cast<OpResult>(value).getResultNumber()]);
      return true;
    }
    if (auto division = dyn_cast<arith::DivSIOp>(op); division && isQuotient(division)) {
      quotients.push_back(division);
      return true;
    }
    return op->getNumRegions() == 0 && isScalarCode(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return add(operand); });
  }

  /// A quotient, such as the key head of a head, is an axis of its own unless its dividend is one already.
  SmallVector<GridAxis> axes() {
    for (arith::DivSIOp division : quotients) {
      if (llvm::any_of(found, [&](const GridAxis &axis) { return axis.index == division.getLhs(); }))
        continue;
      auto id = division.getLhs().getDefiningOp<ProgramIdOp>();
      Value extent = id.getExtents()[cast<OpResult>(division.getLhs()).getResultNumber()];
      OpBuilder b(id);
      b.setInsertionPointAfter(division);
      addAxis(division, arith::CeilDivSIOp::create(b, division.getLoc(), extent, division.getRhs()));
    }
    return found;
  }

private:
  static bool isQuotient(arith::DivSIOp op) { return op.getLhs().getDefiningOp<ProgramIdOp>() && !printPrefix(op.getRhs()).empty(); }

  void addAxis(Value index, Value extent) {
    if (llvm::none_of(found, [&](const GridAxis &axis) { return axis.index == index; }))
      found.push_back({index, extent});
  }

  DenseSet<Value> seen;
  SmallVector<arith::DivSIOp> quotients;
  SmallVector<GridAxis> found;
};

} // namespace

std::optional<PairCondition> PairCondition::of(MaskOp mask) {
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
  return condition;
}

std::optional<SmallVector<GridAxis>> PairCondition::axes() const {
  llvm::SetVector<Value> outside;
  DenseSet<Operation *> seen;
  for (Value part : parts)
    if (!addOutside(part, *region, outside, seen))
      return std::nullopt;
  AxisFinder finder;
  for (Value value : outside)
    if (!finder.add(value))
      return std::nullopt;
  SmallVector<GridAxis> axes = finder.axes();
  // The table has one row for each tile.
  bool isPerTile = llvm::any_of(axes, [&](const GridAxis &axis) { return axis.index == tile; });
  return isPerTile ? std::nullopt : std::optional(axes);
}

Attribute tegula::leadExtent(MLIRContext *context, ArrayRef<GridAxis> axes) {
  Builder b(context);
  std::string lead;
  for (const GridAxis &axis : axes) {
    std::string extent = printPrefix(axis.extent);
    if (extent.empty())
      return {};
    lead = lead.empty() ? extent : "(* " + lead + " " + extent + ")";
  }
  return lead.empty() ? Attribute(b.getI64IntegerAttr(1)) : b.getStringAttr(lead);
}

Value tegula::leadOf(OpBuilder &b, Location loc, ArrayRef<GridAxis> axes) {
  Value lead, size;
  for (const GridAxis &axis : axes) {
    lead = lead ? arith::AddIOp::create(b, loc, lead, arith::MulIOp::create(b, loc, axis.index, size)).getResult() : axis.index;
    size = size ? arith::MulIOp::create(b, loc, size, axis.extent).getResult() : axis.extent;
  }
  return lead ? lead : arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)).getResult();
}

SmallVector<KernelOp> tegula::kernelsWithoutPrepass(ModuleOp module) {
  llvm::SetVector<Operation *> others = programsOfRedos(module);
  auto hasTable = [](KernelOp kernel) {
    return llvm::any_of(kernel.getArguments(), [&](BlockArgument argument) {
      auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name");
      return name && name.getValue() == prepassTable;
    });
  };
  return llvm::filter_to_vector(module.getOps<KernelOp>(), [&](KernelOp kernel) { return !others.contains(kernel) && !kernel->hasAttr("tile.prepass") && !hasTable(kernel); });
}

BlockArgument tegula::addPrepassTable(KernelOp kernel, Type element, ArrayRef<Attribute> extents, bool isSorted) {
  Builder b(kernel.getContext());
  SmallVector<int64_t> shape(extents.size(), ShapedType::kDynamic);
  auto type = MemRefType::get(shape, element, StridedLayoutAttr::get(kernel.getContext(), /*offset=*/0, shape));
  NamedAttrList facts({b.getNamedAttr("tile.name", b.getStringAttr(prepassTable)), b.getNamedAttr("tile.role", b.getStringAttr("scratch")), b.getNamedAttr("tile.dims", b.getArrayAttr(extents))});
  if (isSorted)
    facts.set("tile.sorted", b.getUnitAttr());
  SmallVector<KernelOp> kernels{kernel};
  kernel->walk([&](RedoOp redo) { kernels.push_back(cast<KernelOp>(SymbolTable::lookupNearestSymbolFrom(redo, redo.getProgramAttr()))); });
  for (KernelOp each : kernels)
    (void)each.insertArgument(each.getNumArguments(), type, facts.getDictionary(kernel.getContext()), each.getLoc());
  return kernel.getArguments().back();
}

bool tegula::isSameCode(Value x, Region &ofX, Value y, Region &ofY) {
  if (x == y)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(x))
    return argument.getOwner() == &ofX.front() && y == ofY.getArgument(argument.getArgNumber());
  Operation *p = x.getDefiningOp(), *q = y.getDefiningOp();
  if (!p || !q || !ofX.isAncestor(p->getParentRegion()) || !ofY.isAncestor(q->getParentRegion()))
    return false;
  auto sameValues = [&](Value a, Value b) { return success(isSameCode(a, ofX, b, ofY)); };
  return OperationEquivalence::isEquivalentTo(p, q, sameValues, /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}


Value PrepassWriter::constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }
Value PrepassWriter::constant32(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value)); }

void PrepassWriter::makeProgram(StringRef suffix) {
  b.setInsertionPointAfter(kernel);
  program = cast<KernelOp>(b.insert(kernel->cloneWithoutRegions()));
  program.setSymName((kernel.getSymName() + suffix).str());
  for (StringRef name : {"tile.schedule", "tile.schedule_places", "tile.requires", "tile.packing"})
    program->removeAttr(name);
  program->setAttr("schedule", ProgramAttr::get(b.getContext(), threads, ctas));
  program->setAttr("tile.prepass", b.getUnitAttr());
  Block *body = b.createBlock(&program.getBody());
  for (BlockArgument argument : kernel.getArguments())
    map.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
  b.setInsertionPoint(ReturnOp::create(b, loc));
}

SmallVector<Value> PrepassWriter::makeGrid(ArrayRef<Value> own) {
  SmallVector<Value> extents(own);
  for (const GridAxis &axis : axes)
    extents.push_back(clone(axis.extent));
  auto id = ProgramIdOp::create(b, loc, SmallVector<Type>(extents.size(), b.getI64Type()), extents);
  lead = constant(0);
  Value size = constant(1);
  for (auto [axis, index, extent] : llvm::zip(axes, id.getIndices().drop_front(own.size()), ArrayRef(extents).drop_front(own.size()))) {
    map.map(axis.index, index);
    lead = arith::AddIOp::create(b, loc, lead, arith::MulIOp::create(b, loc, index, size));
    size = arith::MulIOp::create(b, loc, size, extent);
  }
  return llvm::to_vector_of<Value>(id.getIndices().take_front(own.size()));
}

Value PrepassWriter::clone(Value value) {
  if (Value known = map.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *owner = operand.getParentBlock()->getParentOp(); !op->isAncestor(owner))
        (void)clone(operand);
  });
  b.clone(*op, map);
  return map.lookup(value);
}

void PrepassWriter::prepareOutside() {
  llvm::SetVector<Value> outside;
  DenseSet<Operation *> seen;
  for (Value part : condition.parts)
    (void)addOutside(part, *condition.region, outside, seen);
  for (Value value : outside)
    (void)clone(value);
}
