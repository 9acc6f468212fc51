// tegula-mark-visits: a kernel that counts the blocks of keys it visits.
//
// In: tile programs whose masks are bounded. Out: the same with a tile.visit in each loop over blocks of keys. The one idea: the op asks what the loop asks, and goes where its scores go, so that
// what is counted is what is computed.
#include "passes/Passes.h"
#include "passes/mask/KeyLoop.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tegula {
#define GEN_PASS_DEF_MARKVISITSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

struct MarkVisitsPass : tegula::impl::MarkVisitsPassBase<MarkVisitsPass> {
  void runOnOperation() override {
    llvm::SetVector<Operation *> others = programsOfRedos(getOperation());
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (!others.contains(kernel))
        mark(kernel);
  }

private:
  void mark(KernelOp kernel) {
    SmallVector<KeyLoop> loops;
    kernel->walk([&](ForBlocksOp loop) {
      if (KeyLoop found(loop); found.rows != 0)
        loops.push_back(std::move(found));
    });
    auto schedule = kernel->getAttrOfType<ScheduleAttr>("schedule");
    if (!loops.empty() && schedule && schedule.getForm() == Form::Direct && schedule.getConsumers() > 1) {
      kernel.emitRemark("visits of blocks are not counted: each of the ") << schedule.getConsumers() << " warpgroups of a tile has a loop of its own";
      return;
    }
    SmallVector<Value> classes;
    for (KeyLoop &found : loops) {
      OpBuilder b(found.loop.getBody().front().getTerminator());
      classes.push_back(found.isTested(b));
      if (isScalarCode(classes.back()))
        continue;
      kernel.emitRemark("visits of blocks are not counted: which of them are tested depends on what tiles hold");
      return;
    }
    for (auto [found, tested] : llvm::zip_equal(loops, classes)) {
      OpBuilder b(found.loop.getBody().front().getTerminator());
      VisitOp::create(b, found.loop.getLoc(), tested, /*exists=*/Value());
      ++marked;
    }
  }

  /// Whether a value follows from arguments, places and numbers of blocks alone, which every role knows.
  static bool isScalarCode(Value value) {
    if (isa<RankedTensorType>(value.getType()))
      return false;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<ForBlocksOp>(argument.getOwner()->getParentOp());
      return loop ? !llvm::is_contained(loop.getIterArgs(), argument) : isa<KernelOp>(argument.getOwner()->getParentOp());
    }
    Operation *op = value.getDefiningOp();
    return op->getNumRegions() == 0 && llvm::all_of(op->getOperands(), isScalarCode);
  }
};

} // namespace
