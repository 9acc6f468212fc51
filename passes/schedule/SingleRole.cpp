// tegula-single-role: tile.kernel with blocked layouts -> warp.kernel of one role.
//
// In: a program that all threads run in step. Out: the same program inside the loop over tiles. The one idea: nothing needs to be split, so ops move.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tegula {
#define GEN_PASS_DEF_SINGLEROLEPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

struct SingleRolePass : tegula::impl::SingleRolePassBase<SingleRolePass> {
  void runOnOperation() override {
    SmallVector<tile::KernelOp> all(getOperation().getOps<tile::KernelOp>());
    for (tile::KernelOp kernel : all)
      if (auto schedule = kernel->getAttrOfType<tile::ProgramAttr>("schedule")) {
        convert(kernel, schedule);
        ++kernels;
      }
  }

private:
  static void convert(tile::KernelOp kernel, tile::ProgramAttr schedule) {
    OpBuilder b(kernel);
    Location loc = kernel.getLoc();
    kernel->walk([&](tile::ForBlocksOp loop) { convert(loop); });
    auto result = warp::KernelOp::create(b, loc, kernel.getSymNameAttr(), kernel.getFunctionTypeAttr(), kernel.getArgAttrsAttr(), kernel.getResAttrsAttr());
    result->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    Block *body = b.createBlock(&result.getBody());
    for (BlockArgument argument : kernel.getArguments())
      argument.replaceAllUsesWith(body->addArgument(argument.getType(), argument.getLoc()));
    auto roles = warp::RolesOp::create(b, loc);
    warp::ReturnOp::create(b, loc);
    b.createBlock(&roles.getBody());
    auto role = warp::RoleOp::create(b, loc, b.getStringAttr("compute"), b.getI64IntegerAttr(schedule.getThreads() / 128), b.getI64IntegerAttr(0), UnitAttr());
    b.createBlock(&role.getBody());
    Operation *end = warp::YieldOp::create(b, loc);
    b.setInsertionPoint(end);
    // What stands before the program's place in the grid does not depend on it.
    Block &program = kernel.getBody().front();
    tile::ProgramIdOp id;
    for (Operation &op : llvm::make_early_inc_range(program.without_terminator())) {
      if ((id = dyn_cast<tile::ProgramIdOp>(op)))
        break;
      op.moveBefore(end);
    }
    Value total = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
    if (id)
      for (Value extent : id.getExtents())
        total = arith::MulIOp::create(b, loc, total, extent);
    auto loop = warp::ForTilesOp::create(b, loc, TypeRange(), total, ValueRange());
    Block *inner = b.createBlock(&loop.getBody());
    Value number = inner->addArgument(b.getI64Type(), loc);
    if (id) {
      decode(id, number, b);
      for (Operation &op : llvm::make_early_inc_range(llvm::make_range(std::next(id->getIterator()), std::prev(program.end()))))
        op.moveBefore(inner, inner->end());
    } else {
      for (Operation &op : llvm::make_early_inc_range(role.getBody().front()))
        if (&op != end && &op != loop && &op != total.getDefiningOp())
          op.moveBefore(inner, inner->end());
    }
    b.setInsertionPointToEnd(inner);
    warp::YieldOp::create(b, loc);
    kernel.erase();
  }

  /// Coordinates of a tile number, the first fastest.
  static void decode(tile::ProgramIdOp id, Value number, OpBuilder &b) {
    Location loc = id.getLoc();
    for (auto [extent, index] : llvm::zip(id.getExtents().drop_back(), id.getIndices().drop_back())) {
      index.replaceAllUsesWith(arith::RemSIOp::create(b, loc, number, extent));
      number = arith::DivSIOp::create(b, loc, number, extent);
    }
    id.getIndices().back().replaceAllUsesWith(number);
  }

  static void convert(tile::ForBlocksOp op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value step = arith::ConstantOp::create(b, loc, op.getStepAttr());
    auto loop = scf::ForOp::create(b, loc, op.getLower(), op.getUpper(), step, op.getInits());
    Block *body = loop.getBody(), &old = op.getBody().front();
    if (!body->empty())
      body->getTerminator()->erase();
    for (auto [from, to] : llvm::zip(old.getArguments(), body->getArguments()))
      from.replaceAllUsesWith(to);
    for (Operation &nested : llvm::make_early_inc_range(old.without_terminator()))
      nested.moveBefore(body, body->end());
    b.setInsertionPointToEnd(body);
    scf::YieldOp::create(b, loc, old.getTerminator()->getOperands());
    op.replaceAllUsesWith(loop.getResults());
    op.erase();
  }
};

} // namespace
