// Counts of visited blocks: additions to two 64-bit words of the launch's workspace, which only grow.
#include "passes/lower/InlinePtx.h"
#include "passes/lower/LowerWarp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tegula;

namespace {

constexpr int64_t partialOffset = 16, fullOffset = 24;

struct ConvertVisit : OpConversionPattern<tile::VisitOp> {
  ConvertVisit(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(tile::VisitOp op, OpAdaptor adaptor, ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value partial = ptx::advance(b, loc, state.workspace, partialOffset), full = ptx::advance(b, loc, state.workspace, fullOffset);
    Value word = arith::SelectOp::create(b, loc, adaptor.getTested(), partial, full), one = constantInt(b, loc, 1, 64);
    if (adaptor.getExists())
      one = arith::ExtUIOp::create(b, loc, b.getI64Type(), adaptor.getExists());
    LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add, word, one, LLVM::AtomicOrdering::monotonic);
    b.eraseOp(op);
    return success();
  }
  KernelState &state;
};

} // namespace

void tegula::countByOneThread(warp::RoleOp role, int64_t firstWarpgroup, const KernelState &state) {
  auto isThread = [&](OpBuilder &b, Location loc, int64_t number) {
    Value wanted = constantInt(b, loc, number);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, state.place.thread, wanted);
  };
  SmallVector<tile::VisitOp> visits;
  role->walk([&](tile::VisitOp visit) { visits.push_back(visit); });
  for (tile::VisitOp visit : visits) {
    OpBuilder b(visit);
    Location loc = visit.getLoc();
    if (role.getElected())
      enterFirstLane(b, loc, role, state);
    else
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, isThread(b, loc, 128 * firstWarpgroup), /*withElseRegion=*/false).thenBlock());
    visit->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  }
}

void tegula::populateVisitPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertVisit>(types, patterns.getContext(), state);
}
