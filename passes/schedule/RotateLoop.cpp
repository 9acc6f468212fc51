// tegula-rotate-loop: software-pipelines the block loop by one block across its softmax.
//
// In: a tile.for_blocks that computes dot -> weights -> dot. Out, where the schedule has `overlap`: prologue (scores of the first block), loop (scores of block n, then the
// output product of block n - 1), epilogue (the last output product). The one idea: the two matrix ops of an iteration become independent.
#include "passes/schedule/RotateLoop.h"
#include "passes/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

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
  DotOp scores;        ///< its result leads to the weights
  DotOp output;        ///< weights times values, onto the carried accumulator
  ScaleRowsOp rescale; ///< of the carried accumulator before that; may be absent
  unsigned accIndex;   ///< which carried value the accumulator is
  /// Ops of the body, in order: up to the scores; what makes weights and the rest of the state of them; what the output product alone needs.
  llvm::SetVector<Operation *> beforeSoftmax, softmax, values;

  static std::optional<AttentionLoop> match(ForBlocksOp loop);

private:
  bool matchAccumulator();
  bool matchFlow();
  bool sortBody();
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
  SmallVector<DotOp> dots(body.getOps<DotOp>());
  if (dots.size() != 2)
    return std::nullopt;
  found.scores = dots[0], found.output = dots[1];
  if (!found.matchAccumulator() || !found.matchFlow() || !found.sortBody())
    return std::nullopt;
  return found;
}

/// The accumulator is carried and has no other use.
bool AttentionLoop::matchAccumulator() {
  if (!output.getAcc() || !output->hasOneUse())
    return false;
  Value acc = output.getAcc();
  rescale = acc.getDefiningOp<ScaleRowsOp>();
  if (rescale && !rescale->hasOneUse())
    return false;
  auto argument = dyn_cast<BlockArgument>(rescale ? rescale.getTile() : acc);
  Block &body = loop.getBody().front();
  if (!argument || !llvm::is_contained(loop.getIterArgs(), argument) || !argument.hasOneUse())
    return false;
  accIndex = argument.getArgNumber() - loop.getIterArgs().front().getArgNumber();
  return body.getTerminator()->getOperand(accIndex) == output.getResult();
}

/// Whether scores lead to the weights, and what is moved ahead of or behind them reads no state.
bool AttentionLoop::matchFlow() {
  Block &body = loop.getBody().front();
  auto isFree = [&](const llvm::SetVector<Operation *> &ops) {
    return llvm::none_of(ops, [&](Operation *op) {
      return llvm::any_of(op->getOperands(), [&](Value operand) { return llvm::is_contained(loop.getIterArgs(), operand); });
    });
  };
  auto needed = slice(body, output.getRhs());
  return slice(body, output.getLhs()).contains(scores) && isFree(slice(body, scores.getResult())) && isFree(needed) && !needed.contains(scores);
}

/// False where an op with effects belongs to none of the parts.
bool AttentionLoop::sortBody() {
  Block &body = loop.getBody().front();
  beforeSoftmax = slice(body, scores.getResult());
  for (VisitOp visit : body.getOps<VisitOp>()) {
    beforeSoftmax.insert(visit);
    beforeSoftmax.insert_range(slice(body, visit.getTested()));
  }
  llvm::SetVector<Operation *> forValues = slice(body, output.getRhs());
  if (output.getHalf())
    forValues.insert_range(slice(body, output.getHalf()));
  llvm::SetVector<Operation *> forState = slice(body, output.getLhs());
  for (auto [index, next] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (index != accIndex)
      forState.insert_range(slice(body, next));
  if (rescale)
    forState.insert_range(slice(body, rescale.getFactors()));
  for (Operation &op : body.without_terminator()) {
    if (forValues.contains(&op))
      values.insert(&op);
    if (forState.contains(&op) && !beforeSoftmax.contains(&op))
      softmax.insert(&op);
    bool isPlaced = forValues.contains(&op) || forState.contains(&op) || beforeSoftmax.contains(&op) || &op == rescale || &op == output;
    if (!isPlaced && !isMemoryEffectFree(&op))
      return false;
  }
  return true;
}

/// How the loop goes from block to block: by their numbers.
class BlockWalk {
public:
  BlockWalk(OpBuilder &b, ForBlocksOp loop) : lower(loop.getLower()), upper(loop.getUpper()), step(loop.getStep()), b(b), loc(loop.getLoc()) {}
  virtual ~BlockWalk() = default;

  /// The number and the flags of the block at `place`, which the loop counts.
  virtual SmallVector<Value> block(Value place) { return {place}; }
  /// Adds to what the loop carries what it cannot find out again of the block.
  virtual void carry(SmallVectorImpl<Value> &state, ArrayRef<Value> block) {}
  /// The block at `place` again, of what was carried.
  virtual SmallVector<Value> carried(Value place, ValueRange carried) { return {place}; }

  /// Whether behind the first block a row may see its first key; null where that is not known.
  virtual Value mayComeLate() { return {}; }

  /// The last place, or the first where there is none.
  Value last() {
    Value span = arith::SubIOp::create(b, loc, upper, lower);
    span = arith::SubIOp::create(b, loc, span, constant(1));
    Value by = constant(step);
    Value whole = arith::MulIOp::create(b, loc, arith::DivSIOp::create(b, loc, arith::MaxSIOp::create(b, loc, span, constant(0)), by), by);
    return arith::AddIOp::create(b, loc, lower, whole);
  }

  Value lower, upper;
  int64_t step;

protected:
  Value constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }

  OpBuilder &b;
  Location loc;
};

/// From the last one to the first; places count as numbers do.
class DescendingWalk : public BlockWalk {
public:
  DescendingWalk(OpBuilder &b, ForBlocksOp loop) : BlockWalk(b, loop), ends(arith::AddIOp::create(b, loc, lower, last())) {}

  SmallVector<Value> block(Value place) override { return {arith::SubIOp::create(b, loc, ends, place)}; }
  SmallVector<Value> carried(Value place, ValueRange) override { return block(place); }

private:
  Value ends; ///< the first number and the last one
};

/// By a list of the live ones. Those behind the first `free` have the first flag.
class ListWalk : public BlockWalk {
public:
  ListWalk(OpBuilder &b, ForBlocksOp loop) : BlockWalk(b, loop), numFlags(loop.getNumFlags()) {
    list = ListBlocksOp::create(b, loc, lower, upper, step, loop.getParts());
    list.getClasses().takeBody(loop.getClasses());
    hoistFixed();
    lower = constant(0), upper = list.getCount(), step = 1;
  }

  SmallVector<Value> block(Value place) override {
    SmallVector<Type> types{b.getI64Type()};
    types.append(std::max(numFlags, 1u) - 1, b.getI1Type());
    return withFirstFlag(place, ListedBlockOp::create(b, loc, types, place, list.getCount()).getResults());
  }

  void carry(SmallVectorImpl<Value> &state, ArrayRef<Value> block) override {
    for (auto [index, value] : llvm::enumerate(block))
      if (index != 1)
        state.push_back(value);
  }

  SmallVector<Value> carried(Value place, ValueRange carried) override { return withFirstFlag(place, carried); }

  /// All rows see all keys of a block that needs no test, and such blocks come first.
  Value mayComeLate() override { return numFlags == 0 ? Value() : arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, list.getFree(), constant(0)).getResult(); }

private:
  SmallVector<Value> withFirstFlag(Value place, ValueRange known) {
    SmallVector<Value> result(known);
    if (numFlags == 0)
      return result;
    Value tested = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, place, list.getFree());
    for (Value &flag : MutableArrayRef(result).drop_front())
      flag = arith::AndIOp::create(b, loc, tested, flag);
    result.insert(result.begin() + 1, tested);
    return result;
  }

  /// Computes ahead of the list what is the same for all blocks.
  void hoistFixed() {
    for (Operation &op : llvm::make_early_inc_range(list.getClasses().front().without_terminator())) {
      auto read = dyn_cast<LookupOp>(op);
      bool isFixed = llvm::none_of(op.getOperands(), [&](Value operand) { return list.getClasses().isAncestor(operand.getParentRegion()); });
      if (isFixed && op.getNumRegions() == 0 && (read ? KernelOp::isTable(read.getTable()) : isMemoryEffectFree(&op)))
        op.moveBefore(list);
    }
  }

  ListBlocksOp list;
  unsigned numFlags;
};

/// Rewrites one matched loop.
class Rotator {
public:
  Rotator(AttentionLoop &found, ScheduleAttr schedule) : in(found), loop(found.loop), schedule(schedule), b(found.loop), loc(found.loop.getLoc()) {}

  void run() {
    std::unique_ptr<BlockWalk> walk = makeWalk();
    Value step = constant(walk->step);
    IRMapping first;
    SmallVector<Value> block = walk->block(walk->lower);
    mapBlock(first, block);
    for (auto [argument, init] : llvm::zip(loop.getIterArgs(), loop.getInits()))
      first.map(argument, init);
    late = walk->mayComeLate();
    cloneScores(first, walk.get());
    cloneSoftmax(first, /*isFirst=*/true);
    Value start = arith::AddIOp::create(b, loc, walk->lower, step);
    Value initial = loop.getInits()[in.accIndex];
    initial = matchPattern(initial, m_AnyZeroFloat()) ? initial : rescaled(first, initial);
    if (!schedule.getOverlap()) {
      finish(inStep(first, block, initial, start, *walk));
      return;
    }
    SmallVector<Value> inits = nextState(first, initial);
    walk->carry(inits, block);
    auto rotated = ForBlocksOp::create(b, loc, start, walk->upper, walk->step, inits,
                                       [&](OpBuilder &inner, Location, Value n, ValueRange carried) {
                                         OpBuilder::InsertionGuard guard(b);
                                         b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
                                         return body(n, carried, step, *walk);
                                       });
    // The last block is the greatest lower + t * step below upper, or the first one.
    unsigned weights = loop.getNumResults();
    Values values = cloneValues(walk->carried(walk->last(), rotated.getResults().drop_front(weights + 1)));
    Value acc = outputProduct(values, rotated.getResult(weights), rotated.getResult(in.accIndex));
    SmallVector<Value> results(rotated.getResults().take_front(weights));
    results[in.accIndex] = acc;
    finish(results);
  }

private:
  /// The values of a block, and whether half of them is enough.
  struct Values {
    Value tile, half;
  };

  std::unique_ptr<BlockWalk> makeWalk() {
    if (loop.hasClasses())
      return std::make_unique<ListWalk>(b, loop);
    if (schedule.getWalk() == Walk::Descending)
      return std::make_unique<DescendingWalk>(b, loop);
    return std::make_unique<BlockWalk>(b, loop);
  }

  void finish(ArrayRef<Value> results) {
    loop->replaceAllUsesWith(results);
    loop.erase();
  }

  /// Each block's products one after the other; the first block stands ahead all the same. Gives the loop's results.
  SmallVector<Value> inStep(IRMapping &first, ArrayRef<Value> block, Value initial, Value start, BlockWalk &walk) {
    auto withProduct = [&](IRMapping &map, ArrayRef<Value> of, Value acc) {
      SmallVector<Value> state = nextState(map, acc);
      Value weights = state.pop_back_val();
      state[in.accIndex] = outputProduct({cloneValues(of).tile, {}}, weights, acc);
      return state;
    };
    SmallVector<Value> inits = withProduct(first, block, initial);
    auto rest = ForBlocksOp::create(b, loc, start, walk.upper, walk.step, inits, [&](OpBuilder &inner, Location, Value place, ValueRange carried) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
      IRMapping map;
      SmallVector<Value> of = walk.block(place);
      mapBlock(map, of);
      for (auto [argument, value] : llvm::zip(loop.getIterArgs(), carried))
        map.map(argument, value);
      cloneScores(map);
      cloneSoftmax(map, /*isFirst=*/false);
      return withProduct(map, of, rescaled(map, carried[in.accIndex]));
    });
    return llvm::to_vector_of<Value>(rest.getResults());
  }

  Value constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }

  /// `block`: the number, then the flags.
  void mapBlock(IRMapping &map, ArrayRef<Value> block) {
    for (auto [argument, value] : llvm::zip_equal(loop.getBody().getArguments().take_front(1 + loop.getNumFlags()), block))
      map.map(argument, value);
  }

  SmallVector<Value> body(Value n, ValueRange carried, Value step, BlockWalk &walk) {
    IRMapping map;
    SmallVector<Value> block = walk.block(n);
    mapBlock(map, block);
    unsigned weights = loop.getNumResults();
    for (auto [argument, value] : llvm::zip(loop.getIterArgs(), carried.take_front(weights)))
      map.map(argument, value);
    cloneScores(map);
    Values values = cloneValues(walk.carried(arith::SubIOp::create(b, loc, n, step), carried.drop_front(weights + 1)));
    values.half = {}; // another block follows
    Value acc = outputProduct(values, carried[weights], carried[in.accIndex]);
    cloneSoftmax(map, /*isFirst=*/false);
    SmallVector<Value> next = nextState(map, rescaled(map, acc));
    walk.carry(next, block);
    return next;
  }

  Value rescaled(IRMapping &map, Value acc) {
    if (!in.rescale || isFixed())
      return acc;
    map.map(in.rescale.getTile(), acc);
    return b.clone(*in.rescale, map)->getResult(0);
  }

  /// What the next iteration carries: the state with `acc`, and the weights.
  SmallVector<Value> nextState(IRMapping &map, Value acc) {
    SmallVector<Value> next;
    for (auto [index, value] : llvm::enumerate(loop.getBody().front().getTerminator()->getOperands()))
      next.push_back(index == in.accIndex ? acc : map.lookupOrDefault(value));
    next.push_back(map.lookupOrDefault(in.output.getLhs()));
    return next;
  }

  /// `ahead`: of the first block, which is computed where the walk has none too, but is no visit then.
  void cloneScores(IRMapping &map, const BlockWalk *ahead = nullptr) {
    for (Operation &op : loop.getBody().front()) {
      if (!in.beforeSoftmax.contains(&op))
        continue;
      auto visit = dyn_cast<VisitOp>(b.clone(op, map));
      if (!visit || !ahead)
        continue;
      OpBuilder here(visit);
      visit.getExistsMutable().assign(arith::CmpIOp::create(here, loc, arith::CmpIPredicate::slt, ahead->lower, ahead->upper));
    }
  }

  /// Under a fixed reference, blocks after the first need not look for one where all rows have theirs.
  void cloneSoftmax(IRMapping &map, bool isFirst) {
    for (Operation *op : in.softmax)
      if (auto softmax = dyn_cast<OnlineSoftmaxOp>(b.clone(*op, map)); softmax && softmax.getFixed() && !isFirst) {
        if (softmax.getFromFirstBlock())
          softmax.setContinued(true);
        else if (late && !softmax.getLate())
          softmax.getLateMutable().assign(late);
      }
  }

  bool isFixed() const {
    return llvm::any_of(in.softmax, [](Operation *op) {
      auto softmax = dyn_cast<OnlineSoftmaxOp>(op);
      return softmax && softmax.getFixed();
    });
  }

  Values cloneValues(ArrayRef<Value> block) {
    IRMapping map;
    mapBlock(map, block);
    for (Operation *op : in.values)
      b.clone(*op, map);
    return {map.lookup(in.output.getRhs()), in.output.getHalf() ? map.lookupOrDefault(in.output.getHalf()) : Value()};
  }

  Value outputProduct(Values values, Value weights, Value acc) {
    return DotOp::create(b, loc, in.output.getType(), weights, values.tile, acc, values.half, in.output.getTransposeB());
  }

  AttentionLoop &in;
  Value late; ///< whether behind the first block a row may see its first key; null: not known
  ForBlocksOp loop;
  ScheduleAttr schedule;
  OpBuilder b;
  Location loc;
};

} // namespace

bool tegula::isAttentionLoop(ForBlocksOp loop) { return AttentionLoop::match(loop).has_value(); }

namespace {

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
      if (loop.hasClasses() && schedule.getWalk() == Walk::Descending) {
        loop.emitError("`walk = descending` of the schedule does not go with this mask: its live blocks are taken from a list, those that need no test first; leave the field out");
        return signalPassFailure();
      }
      Rotator(*found, schedule).run();
      ++rotated;
    }
  }
};

} // namespace
