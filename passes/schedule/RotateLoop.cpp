// tegula-rotate-loop: software-pipelines the block loop by one block across its softmax.
//
// In: a tile.for_blocks that computes dot -> online softmax -> dot. Out: prologue (scores of the first block), loop (scores of block n, then the
// output product of block n - 1), epilogue (the last output product). The one idea: the two matrix ops of an iteration become independent.
#include "passes/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

namespace tegula {
#define GEN_PASS_DEF_ROTATELOOPPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// The parts of an attention loop, found by its data flow.
struct AttentionLoop {
  ForBlocksOp loop;
  DotOp scores;           ///< feeds the softmax
  OnlineSoftmaxOp softmax;
  ScaleRowsOp rescale;    ///< of the carried accumulator by the softmax's factor
  DotOp output;           ///< weights times values, onto the rescaled accumulator
  unsigned maxIndex, sumIndex, accIndex; ///< which carried value is which
  llvm::SetVector<Operation *> beforeSoftmax, values; ///< ops of the body, in order: up to the scores; those that only the output product needs

  static std::optional<AttentionLoop> match(ForBlocksOp loop);

private:
  bool matchState();
  bool matchFlow();
  void sortBody();
};

/// The body's ops that `value` depends on, itself included.
llvm::SetVector<Operation *> slice(Block &body, Value value) {
  llvm::SetVector<Operation *> ops;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation *op) { return op->getBlock() == &body; };
  (void)getBackwardSlice(value, &ops, options);
  return ops;
}

std::optional<AttentionLoop> AttentionLoop::match(ForBlocksOp loop) {
  AttentionLoop found;
  found.loop = loop;
  Block &body = loop.getBody().front();
  auto softmaxes = body.getOps<OnlineSoftmaxOp>();
  if (!llvm::hasSingleElement(softmaxes))
    return std::nullopt;
  found.softmax = *softmaxes.begin();
  for (DotOp dot : body.getOps<DotOp>()) {
    auto acc = dot.getAcc() ? dot.getAcc().getDefiningOp<ScaleRowsOp>() : ScaleRowsOp();
    if (acc && acc.getFactors() == found.softmax.getRescale())
      found.output = dot, found.rescale = acc;
    else
      found.scores = dot;
  }
  if (!found.scores || !found.output || !found.matchState() || !found.matchFlow())
    return std::nullopt;
  found.sortBody();
  return found;
}

bool AttentionLoop::matchState() {
  Block &body = loop.getBody().front();
  auto carried = [&](Value now, Value next, unsigned &index) {
    auto argument = dyn_cast<BlockArgument>(now);
    if (!argument || argument.getOwner() != &body || argument.getArgNumber() == 0)
      return false;
    index = argument.getArgNumber() - 1;
    return body.getTerminator()->getOperand(index) == next && now.hasOneUse();
  };
  return loop.getNumResults() == 3 && carried(rescale.getTile(), output.getResult(), accIndex) &&
         carried(softmax.getMax(), softmax.getNewMax(), maxIndex) && carried(softmax.getSum(), softmax.getNewSum(), sumIndex) &&
         rescale->hasOneUse();
}

/// Whether scores lead to the softmax and the softmax to the weights. What is moved ahead of or behind them reads no state: the state has one
/// use, and the ops that have it are not in the slices.
bool AttentionLoop::matchFlow() {
  Block &body = loop.getBody().front();
  auto isFree = [&](const llvm::SetVector<Operation *> &ops) { return !ops.contains(softmax) && !ops.contains(rescale); };
  return slice(body, output.getLhs()).contains(softmax) && slice(body, softmax.getScores()).contains(scores) &&
         isFree(slice(body, scores.getResult())) && isFree(slice(body, output.getRhs()));
}

void AttentionLoop::sortBody() {
  Block &body = loop.getBody().front();
  beforeSoftmax = slice(body, scores.getResult());
  llvm::SetVector<Operation *> needed = slice(body, output.getRhs());
  for (Operation &op : body)
    if (needed.contains(&op))
      values.insert(&op);
}

/// Rewrites one matched loop.
class Rotator {
public:
  explicit Rotator(AttentionLoop &found) : in(found), loop(found.loop), b(found.loop), loc(found.loop.getLoc()) {}

  void run() {
    Value step = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(loop.getStep()));
    IRMapping first;
    first.map(loop.getInductionVar(), loop.getLower());
    for (auto [argument, init] : llvm::zip(loop.getIterArgs(), loop.getInits()))
      first.map(argument, init);
    cloneScores(first);
    cloneSoftmax(first);
    Value start = arith::AddIOp::create(b, loc, loop.getLower(), step);
    SmallVector<Value> inits(loop.getInits());
    inits[in.maxIndex] = first.lookup(in.softmax.getNewMax());
    inits[in.sumIndex] = first.lookup(in.softmax.getNewSum());
    inits.push_back(first.lookup(in.output.getLhs()));
    auto rotated = ForBlocksOp::create(b, loc, start, loop.getUpper(), loop.getStep(), inits,
                                       [&](OpBuilder &inner, Location, Value n, ValueRange carried) {
                                         OpBuilder::InsertionGuard guard(b);
                                         b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
                                         return body(n, carried, step);
                                       });
    // The last block is the greatest lower + t * step below upper, or the first one.
    Value last = lastBlock(step);
    Value acc = outputProduct(last, rotated.getResults().back(), rotated.getResult(in.accIndex));
    SmallVector<Value> results(rotated.getResults().drop_back());
    results[in.accIndex] = acc;
    loop->replaceAllUsesWith(results);
    loop.erase();
  }

private:
  SmallVector<Value> body(Value n, ValueRange carried, Value step) {
    IRMapping map;
    map.map(loop.getInductionVar(), n);
    for (auto [argument, value] : llvm::zip(loop.getIterArgs(), carried.drop_back()))
      map.map(argument, value);
    cloneScores(map);
    Value previous = arith::SubIOp::create(b, loc, n, step);
    Value acc = outputProduct(previous, carried.back(), carried[in.accIndex]);
    cloneSoftmax(map);
    map.map(in.rescale.getTile(), acc);
    b.clone(*in.rescale, map);
    SmallVector<Value> next(3);
    next[in.maxIndex] = map.lookup(in.softmax.getNewMax());
    next[in.sumIndex] = map.lookup(in.softmax.getNewSum());
    next[in.accIndex] = map.lookup(in.rescale.getResult());
    next.push_back(map.lookup(in.output.getLhs()));
    return next;
  }

  void cloneScores(IRMapping &map) {
    for (Operation &op : loop.getBody().front())
      if (in.beforeSoftmax.contains(&op))
        b.clone(op, map);
  }

  /// Everything between the scores and the weights; what the values alone need comes with the output product.
  void cloneSoftmax(IRMapping &map) {
    for (Operation &op : loop.getBody().front().without_terminator())
      if (!in.beforeSoftmax.contains(&op) && !in.values.contains(&op) && &op != in.rescale && &op != in.output)
        b.clone(op, map);
      else if (in.values.contains(&op) && !in.beforeSoftmax.contains(&op) && isMemoryEffectFree(&op))
        b.clone(op, map);
  }

  Value outputProduct(Value n, Value weights, Value acc) {
    IRMapping map;
    map.map(loop.getInductionVar(), n);
    for (Operation *op : in.values)
      b.clone(*op, map);
    return DotOp::create(b, loc, in.output.getType(), weights, map.lookup(in.output.getRhs()), acc, in.output.getTransposeB());
  }

  Value lastBlock(Value step) {
    Value one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
    Value span = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, loop.getUpper(), loop.getLower()), one);
    Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    Value whole = arith::MulIOp::create(b, loc, arith::DivSIOp::create(b, loc, arith::MaxSIOp::create(b, loc, span, zero), step), step);
    return arith::AddIOp::create(b, loc, loop.getLower(), whole);
  }

  AttentionLoop &in;
  ForBlocksOp loop;
  OpBuilder b;
  Location loc;
};

struct RotateLoopPass : tegula::impl::RotateLoopPassBase<RotateLoopPass> {
  void runOnOperation() override {
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>("schedule");
    if (!schedule || schedule.getForm() != Form::Pipelined)
      return;
    SmallVector<ForBlocksOp> loops;
    getOperation()->walk([&](ForBlocksOp loop) { loops.push_back(loop); });
    for (ForBlocksOp loop : loops) {
      std::optional<AttentionLoop> found = AttentionLoop::match(loop);
      if (!found)
        continue;
      Rotator(*found).run();
      ++rotated;
    }
  }
};

} // namespace
