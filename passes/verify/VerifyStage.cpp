// tegula-verify-stage: what each boundary promises, checked.
#include "passes/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tegula {
#define GEN_PASS_DEF_VERIFYSTAGEPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

struct VerifyStagePass : tegula::impl::VerifyStagePassBase<VerifyStagePass> {
  using VerifyStagePassBase::VerifyStagePassBase;

  void runOnOperation() override {
    if (stage != "attention" && stage != "tile" && stage != "warp" && stage != "nvvm") {
      getOperation().emitError("internal: unknown stage `") << stage << "`";
      return signalPassFailure();
    }
    auto result = getOperation()->walk([&](Operation *op) { return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance(); });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult check(Operation *op) {
    auto refuse = [&](const Twine &why) { return op->emitOpError("internal: ") << why << " after stage `" << stage << "`"; };
    StringRef dialect = op->getName().getDialectNamespace();
    if (stage == "attention") { // or a tile program as it was written
      if (!isa<tile::KernelOp>(op))
        return success();
      Block &body = op->getRegion(0).front();
      bool holdsWork = !body.getOps<tile::AttentionOp>().empty() || !body.getOps<tile::ProgramIdOp>().empty();
      return holdsWork ? success() : LogicalResult(refuse("a kernel with neither tile.attention nor a tile program"));
    }
    if (isa<tile::AttentionOp>(op))
      return refuse("a whole problem is left");
    if (stage == "tile")
      return dialect == "warp" ? LogicalResult(refuse("an op of the warp dialect")) : success();
    if (stage == "warp") {
      if (isa<tile::KernelOp, tile::ForBlocksOp, tile::ListBlocksOp, tile::ListedBlockOp, tile::DotOp, tile::ProgramIdOp>(op))
        return refuse("an op that no role took");
      for (Value result : op->getResults())
        if (auto tile = dyn_cast<RankedTensorType>(result.getType()); tile && !tile.getEncoding())
          return refuse("a tile without a layout");
      return success();
    }
    if (isa<ModuleOp>(op) || isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      return success();
    return refuse("an op that is neither llvm nor nvvm");
  }
};

} // namespace
