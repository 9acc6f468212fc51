// tegula-ping-pong: named barriers that make consumer warpgroups issue matrix ops in turn.
//
// In: consumer loops that issue matrix ops. Out: the same loops with a sync before the first and an arrive after the last matrix op. The one idea:
// barrier 1 + w is warpgroup w's turn; 256 threads complete it, its own and those of the warpgroup before it.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tegula {
#define GEN_PASS_DEF_PINGPONGPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

struct PingPongPass : tegula::impl::PingPongPassBase<PingPongPass> {
  void runOnOperation() override {
    auto schedule = getOperation()->getAttrOfType<tile::ScheduleAttr>("schedule");
    if (!schedule || !schedule.getPingPong() || schedule.getConsumers() < 2)
      return;
    getOperation()->walk([&](warp::RoleOp role) {
      SmallVector<scf::ForOp> issuing, passing;
      role->walk([&](scf::ForOp loop) {
        if (llvm::any_of(loop.getBody()->getOps<warp::MmaOp>(), isAsynchronous))
          issuing.push_back(loop);
        else if (!loop.getBody()->getOps<warp::ReleaseOp>().empty())
          passing.push_back(loop);
      });
      if (issuing.empty())
        return;
      takeTurns(role, issuing, passing);
      loops += issuing.size();
    });
  }

private:
  static constexpr int64_t turnThreads = 256;

  /// Products of tiles in global memory, as of rows computed again, are no one's to wait for.
  static bool isAsynchronous(warp::MmaOp op) { return isa<warp::SlotType>(op.getRhs().getType()); }

  void takeTurns(warp::RoleOp role, ArrayRef<scf::ForOp> issuing, ArrayRef<scf::ForOp> passing) {
    OpBuilder b(&getContext());
    Location loc = role.getLoc();
    b.setInsertionPointToStart(&role.getBody().front());
    auto constant = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
    Value group = warp::WarpgroupOp::create(b, loc, b.getI64Type()), one = constant(1), count = constant(role.getWarpgroups());
    Value mine = arith::AddIOp::create(b, loc, group, one);
    Value next = arith::AddIOp::create(b, loc, arith::RemSIOp::create(b, loc, mine, count), one);
    auto onlyIf = [&](int64_t warpgroup, function_ref<void()> body) {
      Value chosen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, group, constant(warpgroup));
      auto branch = scf::IfOp::create(b, loc, chosen, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      body();
    };
    // The last warpgroup gives the first one its first turn, and the first one takes up the turn that is left over at the end.
    onlyIf(role.getWarpgroups() - 1, [&] { warp::ArriveOp::create(b, loc, one, b.getI64IntegerAttr(turnThreads)); });
    for (scf::ForOp loop : issuing) {
      auto matrixOps = llvm::to_vector(loop.getBody()->getOps<warp::MmaOp>());
      b.setInsertionPoint(matrixOps.front());
      warp::SyncOp::create(b, loc, mine, b.getI64IntegerAttr(turnThreads));
      b.setInsertionPointAfter(matrixOps.back());
      warp::ArriveOp::create(b, loc, next, b.getI64IntegerAttr(turnThreads));
    }
    // Blocks that a warpgroup passes over take its turns all the same.
    for (scf::ForOp loop : passing) {
      b.setInsertionPoint(loop.getBody()->getTerminator());
      warp::SyncOp::create(b, loc, mine, b.getI64IntegerAttr(turnThreads));
      warp::ArriveOp::create(b, loc, next, b.getI64IntegerAttr(turnThreads));
    }
    b.setInsertionPoint(role.getBody().front().getTerminator());
    onlyIf(0, [&] { warp::SyncOp::create(b, loc, one, b.getI64IntegerAttr(turnThreads)); });
  }
};

} // namespace
