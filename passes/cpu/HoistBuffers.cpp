// tegula-cpu-hoist-buffers: one allocation a tile for the whole call.
//
// In: a bufferized function. Out: the same, with every memref.alloc in the entry block and freed before the return. The one idea: since no
// loop carries a buffer of its body, a buffer's contents are dead at the end of each iteration.
#include "passes/cpu/CpuPasses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tegula {
#define GEN_PASS_DEF_CPUHOISTBUFFERSPASS
#include "passes/cpu/CpuPasses.h.inc"
} // namespace tegula

using namespace mlir;

namespace {

struct CpuHoistBuffersPass : tegula::impl::CpuHoistBuffersPassBase<CpuHoistBuffersPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    SmallVector<memref::AllocOp> buffers;
    WalkResult result = function.walk([&](memref::AllocOp op) -> WalkResult {
      if (!op.getType().hasStaticShape())
        return op.emitError("internal: expected a tile of static shape, but got ") << op.getType();
      buffers.push_back(op);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();

    Block &entry = function.getBody().front();
    OpBuilder b(&entry, entry.begin());
    for (memref::AllocOp op : llvm::reverse(buffers)) {
      op->moveBefore(&entry, entry.begin());
      b.setInsertionPoint(entry.getTerminator());
      memref::DeallocOp::create(b, op.getLoc(), op);
      ++hoisted;
      bytes += op.getType().getNumElements() * llvm::divideCeil(op.getType().getElementTypeBitWidth(), 8);
    }
  }
};

} // namespace
