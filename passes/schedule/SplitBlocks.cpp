// tegula-split-blocks: a block loop of its own for the blocks that need no test.
//
// In: consumer loops over blocks with branches on the block's number, as tests of masks are. Out: up to three loops one after another; in that of the middle each such branch is known to take
// its empty arm and is gone, in the last one those that are known from some block on. The one idea: a comparison of a number that grows with one that does not holds on one stretch of the walk.
#include "passes/Passes.h"
#include "passes/lower/IndexRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace tegula {
#define GEN_PASS_DEF_SPLITBLOCKSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

/// The block numbers from `from` on and before `to`; null is no limit.
struct Stretch {
  Value from, to;
};

/// Finds, as scalar code ahead of a loop, block numbers for which a condition holds.
class Prover {
public:
  Prover(OpBuilder &b, scf::ForOp loop, IndexRanges &ranges) : b(b), loc(loop.getLoc()), loop(loop), ranges(ranges) {}

  /// Block numbers that make `condition` equal `wanted`: maybe not all of them, and none where nothing is known.
  std::optional<Stretch> holds(Value condition, bool wanted) {
    if (auto op = condition.getDefiningOp<arith::XOrIOp>(); op && matchPattern(op.getRhs(), m_One()))
      return holds(op.getLhs(), !wanted);
    if (auto op = condition.getDefiningOp<arith::AndIOp>())
      return combined(holds(op.getLhs(), wanted), holds(op.getRhs(), wanted), /*both=*/wanted);
    if (auto op = condition.getDefiningOp<arith::OrIOp>())
      return combined(holds(op.getLhs(), wanted), holds(op.getRhs(), wanted), /*both=*/!wanted);
    auto op = condition.getDefiningOp<arith::CmpIOp>();
    if (!op || !op.getLhs().getType().isInteger(64))
      return std::nullopt;
    switch (wanted ? op.getPredicate() : arith::invertPredicate(op.getPredicate())) {
    case arith::CmpIPredicate::sge:
      return atLeast(op.getLhs(), op.getRhs(), 0);
    case arith::CmpIPredicate::sgt:
      return atLeast(op.getLhs(), op.getRhs(), 1);
    case arith::CmpIPredicate::sle:
      return atLeast(op.getRhs(), op.getLhs(), 0);
    case arith::CmpIPredicate::slt:
      return atLeast(op.getRhs(), op.getLhs(), 1);
    default:
      return std::nullopt;
    }
  }

  Stretch common(Stretch x, Stretch y) { return {greatest(x.from, y.from), least(x.to, y.to)}; }

private:
  /// No block's number is that far from 0; what is further decides all comparisons with one alike.
  static constexpr int64_t farthest = int64_t(1) << 40;

  bool isFixed(Value value) { return loop.isDefinedOutsideOfLoop(value); }

  Value constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }
  Value least(Value x, Value y) { return !x ? y : !y ? x : b.createOrFold<arith::MinSIOp>(loc, x, y); }
  Value greatest(Value x, Value y) { return !x ? y : !y ? x : b.createOrFold<arith::MaxSIOp>(loc, x, y); }
  Value clamped(Value x) {
    Value low = greatest(x, constant(-farthest));
    return least(low, constant(farthest));
  }

  std::optional<Stretch> combined(std::optional<Stretch> x, std::optional<Stretch> y, bool both) {
    if (!x || !y)
      return both ? std::nullopt : x ? x : y;
    if (both)
      return common(*x, *y);
    if (!x->from && !y->from) // of two that start together the longer one
      return Stretch{Value(), x->to && y->to ? greatest(x->to, y->to) : Value()};
    if (!x->to && !y->to)
      return Stretch{x->from && y->from ? least(x->from, y->from) : Value(), Value()};
    return x;
  }

  /// Where great >= small + more.
  std::optional<Stretch> atLeast(Value great, Value small, int64_t more) {
    if (isFixed(great) && isFixed(small))
      return std::nullopt;
    // What must exceed, or be exceeded by, either or both of two numbers.
    if (auto op = small.getDefiningOp(); !isFixed(small) && isa_and_nonnull<arith::MinSIOp, arith::MaxSIOp>(op))
      return combined(atLeast(great, op->getOperand(0), more), atLeast(great, op->getOperand(1), more), /*both=*/isa<arith::MaxSIOp>(op));
    if (auto op = great.getDefiningOp(); !isFixed(great) && isa_and_nonnull<arith::MinSIOp, arith::MaxSIOp>(op))
      return combined(atLeast(op->getOperand(0), small, more), atLeast(op->getOperand(1), small, more), /*both=*/isa<arith::MinSIOp>(op));
    Sum sum; // great - small - more, to be at least 0
    sum.number = -more;
    if (!add(sum, great, 1) || !add(sum, small, -1) || std::abs(sum.blocks) != 1 || std::abs(sum.number) > farthest)
      return std::nullopt;
    Value rest = restOf(sum);
    if (!rest)
      return std::nullopt;
    if (sum.blocks == 1) // n >= -rest
      return Stretch{b.createOrFold<arith::SubIOp>(loc, constant(0), rest), Value()};
    return Stretch{Value(), b.createOrFold<arith::AddIOp>(loc, rest, constant(1))}; // n <= rest
  }

  /// A sum of the block's number some times, numbers, and values that the loop does not change, each once more or less.
  struct Sum {
    int64_t blocks = 0, number = 0;
    SmallVector<std::pair<Value, int64_t>> fixed;
  };

  bool add(Sum &sum, Value value, int64_t sign) {
    APInt number;
    if (value == loop.getInductionVar()) {
      sum.blocks += sign;
    } else if (matchPattern(value, m_ConstantInt(&number))) {
      if (number.abs().sgt(farthest))
        return false;
      sum.number += sign * number.getSExtValue();
    } else if (isFixed(value)) {
      sum.fixed.push_back({value, sign});
    } else {
      Operation *op = value.getDefiningOp();
      return isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) && add(sum, op->getOperand(0), sign) &&
             add(sum, op->getOperand(1), isa<arith::SubIOp>(op) ? -sign : sign);
    }
    return true;
  }

  /// What `sum` holds beside the block's number. One fixed value may be any number; of several, the range must be known.
  Value restOf(const Sum &sum) {
    Value rest = constant(sum.number);
    for (auto [value, sign] : sum.fixed) {
      std::optional<IndexRange> range = ranges.of(value);
      if (sum.fixed.size() > 1 && (!range || range->low < -farthest || range->high > farthest))
        return {};
      Value near = range && range->low >= -farthest && range->high <= farthest ? value : clamped(value);
      rest = sign > 0 ? b.createOrFold<arith::AddIOp>(loc, rest, near) : b.createOrFold<arith::SubIOp>(loc, rest, near);
    }
    return rest;
  }

  OpBuilder &b;
  Location loc;
  scf::ForOp loop;
  IndexRanges &ranges;
};

bool isEmpty(Region &region) { return region.empty() || llvm::hasSingleElement(region.front()); }

bool issues(Block &block) {
  return llvm::any_of(block.getOps<warp::MmaOp>(), [](warp::MmaOp op) { return isa<warp::SlotType>(op.getRhs().getType()); });
}

/// Whether the work of a block is under the branch.
bool holdsWork(scf::IfOp branch) { return issues(*branch.thenBlock()); }

/// A branch one of whose arms does nothing, or one that the work of a block is under, and the condition's value that leads to that arm or to the work.
struct Test {
  scf::IfOp branch;
  bool value;
  bool toTheEnd = false; ///< known from some block on

  static std::optional<Test> match(scf::IfOp branch) {
    if (holdsWork(branch))
      return Test{branch, true};
    bool first = isEmpty(branch.getThenRegion()), second = isEmpty(branch.getElseRegion());
    return first == second ? std::nullopt : std::optional(Test{branch, first});
  }
};

struct SplitBlocksPass : tegula::impl::SplitBlocksPassBase<SplitBlocksPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> all;
    getOperation()->walk([&](scf::ForOp loop) {
      if (issues(*loop.getBody()) || llvm::any_of(loop.getBody()->getOps<scf::IfOp>(), holdsWork))
        all.push_back(loop);
    });
    IndexRanges ranges(rangesAtLaunch(getOperation()));
    for (scf::ForOp loop : all)
      split(loop, ranges);
  }

private:
  void split(scf::ForOp loop, IndexRanges &ranges) {
    moveLoopInvariantCode(loop);
    OpBuilder b(loop);
    Prover prover(b, loop, ranges);
    SmallVector<Test> known;
    Stretch stretch;
    SmallVector<scf::IfOp> branches(loop.getBody()->getOps<scf::IfOp>());
    for (scf::IfOp branch : SmallVector<scf::IfOp>(branches))
      if (holdsWork(branch))
        llvm::append_range(branches, branch.thenBlock()->getOps<scf::IfOp>());
    for (scf::IfOp branch : branches) {
      std::optional<Test> test = Test::match(branch);
      std::optional<Stretch> found = test && !loop.isDefinedOutsideOfLoop(branch.getCondition()) ? prover.holds(branch.getCondition(), test->value) : std::nullopt;
      if (!found)
        continue;
      test->toTheEnd = !found->to;
      known.push_back(*test);
      stretch = prover.common(stretch, *found);
    }
    if (known.empty())
      return;
    // Each loop starts where the one before it ends.
    Value start = loop.getLowerBound();
    SmallVector<Value> carried(loop.getInits());
    auto append = [&](Value end, IRMapping &copies) {
      auto part = cast<scf::ForOp>(b.clone(*loop, copies));
      part.getLowerBoundMutable().assign(start);
      part.getUpperBoundMutable().assign(end);
      part.getInitArgsMutable().assign(carried);
      carried.assign(part.getResults().begin(), part.getResults().end());
      start = end;
    };
    IRMapping first, middle, last;
    if (stretch.from)
      append(wholeBlocks(b, loop, start, stretch.from), first);
    Value end = stretch.to ? wholeBlocks(b, loop, start, stretch.to) : loop.getUpperBound();
    append(end, middle);
    if (stretch.to) {
      append(loop.getUpperBound(), last);
      leaveOut(llvm::to_vector(llvm::make_filter_range(known, [](const Test &test) { return test.toTheEnd; })), last);
    }
    leaveOut(known, middle);
    loop.replaceAllUsesWith(carried);
    loop.erase();
    ++loops;
  }

  /// The end of the blocks from `start` on that begin before `limit`, within the loop.
  static Value wholeBlocks(OpBuilder &b, scf::ForOp loop, Value start, Value limit) {
    Location loc = loop.getLoc();
    Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)), one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
    Value span = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, limit, start), zero);
    Value padded = arith::SubIOp::create(b, loc, arith::AddIOp::create(b, loc, span, loop.getStep()), one);
    Value whole = arith::MulIOp::create(b, loc, arith::DivUIOp::create(b, loc, padded, loop.getStep()), loop.getStep());
    return arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, start, whole), loop.getUpperBound()), start);
  }

  /// In a copy of the loop: the branches that are known.
  static void leaveOut(ArrayRef<Test> known, const IRMapping &copies) {
    for (Test test : known) {
      auto copy = cast<scf::IfOp>(copies.lookup(test.branch.getOperation()));
      IRRewriter rewriter(copy.getContext());
      Region &taken = test.value ? copy.getThenRegion() : copy.getElseRegion();
      if (taken.empty()) {
        rewriter.eraseOp(copy);
        continue;
      }
      Operation *yield = taken.front().getTerminator();
      rewriter.inlineBlockBefore(&taken.front(), copy);
      rewriter.replaceOp(copy, yield->getOperands());
      rewriter.eraseOp(yield);
    }
  }
};

} // namespace
