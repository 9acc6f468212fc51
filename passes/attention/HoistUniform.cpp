// tegula-hoist-uniform: what is one value for all elements is computed once, ahead of the loop.
//
// In: block loops, and masks and maps, the scalar code of an element. Out: the same, with scalar ops that read neither an index nor an element ahead of them and of the loops around
// them. The one idea: a table of heads, as of slopes, costs a load a tile and not one a block.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tegula {
#define GEN_PASS_DEF_HOISTUNIFORMPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

struct HoistUniformPass : tegula::impl::HoistUniformPassBase<HoistUniformPass> {
  void runOnOperation() override {
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<ForBlocksOp, MaskOp, MapOp, ZeroUnseenOp>(op))
        for (Region &region : op->getRegions())
          for (Operation &inner : llvm::make_early_inc_range(region.getOps()))
            if (isUniform(inner, region)) {
              inner.moveBefore(placeFor(inner, op));
              ++hoisted;
            }
    });
  }

private:
  /// Scalar code of values from outside; a lookup is clamped, so that it may run where no element needs it.
  bool isUniform(Operation &op, Region &region) {
    if (op.getNumRegions() != 0 || op.hasTrait<OpTrait::IsTerminator>() || llvm::any_of(op.getResultTypes(), [](Type type) { return !type.isIntOrIndexOrFloat(); }))
      return false;
    if (auto lookup = dyn_cast<LookupOp>(op); lookup ? !isInput(lookup.getTable()) : !isMemoryEffectFree(&op) || !isSpeculatable(&op))
      return false;
    return llvm::none_of(op.getOperands(), [&](Value operand) { return region.isAncestor(operand.getParentRegion()); });
  }

  /// Whether no program of the kernel writes it.
  bool isInput(Value table) {
    auto argument = dyn_cast<BlockArgument>(table);
    auto role = argument ? getOperation().getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.role") : StringAttr();
    return role && role.getValue() == "in";
  }

  /// Before `outer`, or before the outermost loop around it that the operands do not need.
  Operation *placeFor(Operation &op, Operation *outer) {
    Operation *place = outer;
    for (Operation *loop = outer->getParentOp(); isa<ForBlocksOp>(loop); loop = loop->getParentOp()) {
      if (llvm::any_of(op.getOperands(), [&](Value operand) { return loop->getRegion(0).isAncestor(operand.getParentRegion()); }))
        break;
      place = loop;
    }
    return place;
  }
};

} // namespace
