// tegula-insert-waits: counts the matrix ops in flight at each await.
//
// In: warp.await without a number. Out: `in_flight` on each. The one idea: program order is the order of commit groups, so the number is read off the text.
#include "passes/Passes.h"

namespace tegula {
#define GEN_PASS_DEF_INSERTWAITSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

/// Whether the op is asynchronous: it reads its right operand from shared memory.
bool isAsynchronous(warp::MmaOp op) { return isa<warp::SlotType>(op.getRhs().getType()); }

struct InsertWaitsPass : tegula::impl::InsertWaitsPassBase<InsertWaitsPass> {
  void runOnOperation() override {
    auto result = getOperation()->walk([&](warp::AwaitOp await) {
      auto mma = await.getPending().getDefiningOp<warp::MmaOp>();
      if (!mma || mma->getBlock() != await->getBlock()) {
        await.emitOpError("constraint 1: expected the matrix op in the same block");
        return WalkResult::interrupt();
      }
      int64_t younger = 0;
      for (Operation *op = mma->getNextNode(); op != await; op = op->getNextNode()) {
        auto other = dyn_cast<warp::MmaOp>(op);
        younger += other && isAsynchronous(other);
        if (op->getNumRegions() && op->walk([](warp::MmaOp) { return WalkResult::interrupt(); }).wasInterrupted()) {
          InFlightDiagnostic error = await.emitOpError("the matrix ops in flight cannot be counted");
          error.attachNote(op->getLoc()) << "this region issues some between the matrix op and its await";
          return WalkResult::interrupt();
        }
      }
      await.setInFlight(younger);
      ++awaits;
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
