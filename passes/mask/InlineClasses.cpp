// tegula-inline-classes: loops over live blocks as loops that look for the next one.
//
// In: tile.for_blocks with classes. Out: a count of the live blocks, and a loop of so many turns, each of which begins with a search. The one idea: what is
// left out costs scalar code alone, and the body stays a straight line of tile ops.
#include "passes/Passes.h"
#include "passes/schedule/RotateLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace tegula {
#define GEN_PASS_DEF_INLINECLASSESPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// What classes yield for block `n` that is for all rows, whether it is live and the flags: their code, at `b`.
SmallVector<Value> classesOf(OpBuilder &b, ForBlocksOp loop, Value n) {
  IRMapping map;
  map.map(loop.getClasses().getArgument(0), n);
  Block &classes = loop.getClasses().front();
  for (Operation &op : classes.without_terminator())
    b.clone(op, map);
  return llvm::map_to_vector(classes.getTerminator()->getOperands().take_front(1 + loop.getNumFlags()), [&](Value value) { return map.lookupOrDefault(value); });
}

class Inliner {
public:
  explicit Inliner(ForBlocksOp loop) : loop(loop), b(loop), loc(loop.getLoc()) {}

  /// All blocks, live or not.
  void visitAll() {
    b.setInsertionPointToStart(&loop.getBody().front());
    takeFlags(classesOf(b, loop, loop.getInductionVar()));
    loop.getClasses().front().erase();
    loop.setParts(0);
  }

  void visitLive() {
    Value zero = constant(0), step = constant(loop.getStep()), count = countLive(step);
    SmallVector<Value> inits(loop.getInits());
    inits.push_back(loop.getLower());
    auto result = ForBlocksOp::create(b, loc, zero, count, 1, inits, nullptr);
    Block &body = result.getBody().front(), &old = loop.getBody().front();
    b.setInsertionPointToStart(&body);
    Value n = nextLive(result.getIterArgs().back(), step);
    takeFlags(classesOf(b, loop, n));
    // Where addresses were computed of what is known to be small, ptxas would keep them all in registers over the loop.
    loop.getInductionVar().replaceUsesWithIf(n.getDefiningOp()->getOperand(0), [](OpOperand &use) { return isa<LoadOp>(use.getOwner()); });
    loop.getInductionVar().replaceAllUsesWith(n);
    for (auto [from, to] : llvm::zip(loop.getIterArgs(), result.getIterArgs()))
      from.replaceAllUsesWith(to);
    body.getOperations().splice(body.end(), old.getOperations());
    Operation *yield = body.getTerminator();
    b.setInsertionPoint(yield);
    yield->insertOperands(yield->getNumOperands(), arith::AddIOp::create(b, loc, n, step).getResult());
    loop.replaceAllUsesWith(result.getResults().drop_back());
    loop.erase();
  }

private:
  Value constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }

  void takeFlags(ArrayRef<Value> classes) {
    for (auto [flag, value] : llvm::zip_equal(loop.getFlags(), classes.drop_front()))
      flag.replaceAllUsesWith(value);
    loop.getBody().front().eraseArguments(1, loop.getNumFlags());
  }

  Value countLive(Value step) {
    auto count = scf::ForOp::create(b, loc, loop.getLower(), loop.getUpper(), step, constant(0), [&](OpBuilder &inner, Location, Value n, ValueRange sum) {
      Value live = arith::ExtUIOp::create(inner, loc, inner.getI64Type(), classesOf(inner, loop, n).front());
      scf::YieldOp::create(inner, loc, arith::AddIOp::create(inner, loc, sum[0], live).getResult());
    });
    return count.getResult(0);
  }

  /// The first live block from `from` on; there is one.
  Value nextLive(Value from, Value step) {
    auto search = scf::WhileOp::create(
        b, loc, TypeRange{b.getI64Type()}, ValueRange{from},
        [&](OpBuilder &inner, Location, ValueRange n) {
          Value isTrue = arith::ConstantOp::create(inner, loc, inner.getBoolAttr(true));
          Value dead = arith::XOrIOp::create(inner, loc, classesOf(inner, loop, n[0]).front(), isTrue);
          scf::ConditionOp::create(inner, loc, dead, n);
        },
        [&](OpBuilder &inner, Location, ValueRange n) { scf::YieldOp::create(inner, loc, arith::AddIOp::create(inner, loc, n[0], step).getResult()); });
    // Says what keys can be, so that index code of the body is 32 bits wide.
    return arith::MinUIOp::create(b, loc, search.getResult(0), constant(ForBlocksOp::classifiedKeys - 1));
  }

  ForBlocksOp loop;
  OpBuilder b;
  Location loc;
};

/// A loop over the ranges.
void expand(AnyRangeOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
  Value zero = constant(0), one = constant(1), end = arith::AddIOp::create(b, loc, op.getNumber(), constant(op.getStep()));
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  auto any = scf::ForOp::create(b, loc, zero, op.getCount(), one, no, [&](OpBuilder &inner, Location, Value p, ValueRange sum) {
    IRMapping map;
    Block &range = op.getRange().front();
    map.map(range.getArgument(0), p);
    for (Operation &scalar : range.without_terminator())
      inner.clone(scalar, map);
    ValueRange yielded = range.getTerminator()->getOperands();
    Value lower = map.lookupOrDefault(yielded[0]), upper = map.lookupOrDefault(yielded[1]);
    Value first = arith::MaxSIOp::create(inner, loc, lower, op.getNumber()), past = arith::MinSIOp::create(inner, loc, upper, end);
    Value meets = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt, first, past);
    scf::YieldOp::create(inner, loc, arith::OrIOp::create(inner, loc, sum[0], meets).getResult());
  });
  op.getMeets().replaceAllUsesWith(any.getResult(0));
  op.erase();
}

struct InlineClassesPass : tegula::impl::InlineClassesPassBase<InlineClassesPass> {
  void runOnOperation() override {
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>("schedule");
    bool isPipelined = schedule && schedule.getForm() == Form::Pipelined;
    SmallVector<ForBlocksOp> loops;
    getOperation()->walk([&](ForBlocksOp loop) {
      if (loop.hasClasses())
        loops.push_back(loop);
    });
    for (ForBlocksOp loop : loops) {
      // One that tegula-rotate-loop takes has become a list of live blocks, or is only counted.
      if (isPipelined && !loop.getBody().getOps<LoadOp>().empty() && !isAttentionLoop(loop))
        Inliner(loop).visitAll();
      else
        Inliner(loop).visitLive();
      ++inlined;
    }
    // Every thread of a direct kernel would run over all ranges, which costs it more than a dead block does.
    bool isDirect = schedule && schedule.getForm() == Form::Direct;
    SmallVector<AnyRangeOp> searches;
    getOperation()->walk([&](AnyRangeOp op) {
      bool isTogether = isPipelined && (op->getParentOfType<ZeroUnseenOp>() || op->getParentOfType<MaskOp>()); // for the keys that lanes, or a row, have
      if (!isTogether && !op->getParentOfType<ListBlocksOp>())
        searches.push_back(op);
    });
    for (AnyRangeOp op : searches) {
      if (!isDirect) {
        expand(op);
        continue;
      }
      OpBuilder b(op);
      op.getMeets().replaceAllUsesWith(arith::ConstantOp::create(b, op.getLoc(), b.getBoolAttr(true)));
      op.erase();
    }
  }
};

} // namespace
