// Finds the masks of a loop over blocks by the tiles of its body.
#include "passes/mask/KeyLoop.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

KeyLoop::KeyLoop(ForBlocksOp loop) : loop(loop), key(loop.getInductionVar()) {
  loop->walk([&](Operation *op) {
    if (op->getParentOfType<ForBlocksOp>() != loop)
      return;
    auto select = dyn_cast<arith::SelectOp>(op);
    if (auto mask = select ? select.getCondition().getDefiningOp<MaskOp>() : MaskOp();
        mask && mask.getCols().getParentBlock() == &loop.getBody().front()) {
      selects.push_back(select);
      key = mask.getCols();
      setShape(mask.getKeep().getType());
    }
    if (auto found = dyn_cast<OnlineSoftmaxOp>(op))
      softmax = found, setShape(found.getScores().getType());
  });
}

Value KeyLoop::isTested(OpBuilder &b) {
  Location loc = loop.getLoc();
  bool isHidden = softmax && matchPattern(softmax.getScores(), m_Constant()); // by a mask that shows nothing, which has folded
  Value tested = arith::ConstantOp::create(b, loc, b.getBoolAttr(isHidden));
  for (arith::SelectOp select : selects) {
    Value own = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    Operation *outermost = select; // tests inside of others say for whose rows, or by which part of the mask
    while (outermost->getParentOp() != loop)
      outermost = outermost->getParentOp();
    if (auto branch = dyn_cast<scf::IfOp>(outermost))
      own = branch.getThenRegion().isAncestor(select->getParentRegion()) ? branch.getCondition() : arith::XOrIOp::create(b, loc, branch.getCondition(), own).getResult();
    tested = arith::OrIOp::create(b, loc, tested, own);
  }
  return tested;
}

llvm::SetVector<Operation *> tegula::programsOfRedos(ModuleOp module) {
  llvm::SetVector<Operation *> programs;
  module->walk([&](RedoOp redo) { programs.insert(SymbolTable::lookupNearestSymbolFrom(redo, redo.getProgramAttr())); });
  return programs;
}
