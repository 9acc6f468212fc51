// tegula-bound-masks: from the expression of a mask, which blocks of keys to visit and which of them to test.
//
// In: a loop over blocks of keys whose scores are selected by a tile.mask. Out: loop bounds outside which the mask holds for no pair, classes of
// blocks where these bounds do not say all, and the select under a test that is false where it holds for every pair of the block. The one idea: the
// mask is evaluated abstractly over the block's box, as scalar code (see BoxEvaluator.h), so that nothing is tabulated on the host and nothing depends
// on the mask's spelling.
#include "passes/Passes.h"
#include "passes/mask/BoxEvaluator.h"
#include "passes/mask/HiddenBlocks.h"
#include "passes/mask/KeyOrder.h"
#include "passes/mask/KeyRanges.h"
#include "passes/mask/MergeLimits.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace tegula {
#define GEN_PASS_DEF_BOUNDMASKSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// A select of visible scores in the body of a block loop.
struct MaskedScores {
  ForBlocksOp loop;
  MaskOp mask;
  arith::SelectOp select;

  int64_t rows() { return mask.getKeep().getType().getDimSize(0); }
  int64_t columns() { return mask.getKeep().getType().getDimSize(1); }
};

std::optional<MaskedScores> match(arith::SelectOp select) {
  auto mask = select.getCondition().getDefiningOp<MaskOp>();
  auto loop = dyn_cast<ForBlocksOp>(select->getParentOp());
  SplatElementsAttr hidden;
  if (!mask || !loop || mask->getParentOp() != loop || mask.getCols() != loop.getInductionVar() ||
      loop.getBody().isAncestor(mask.getRows().getParentRegion()) || !matchPattern(select.getFalseValue(), m_Constant(&hidden)))
    return std::nullopt;
  return MaskedScores{loop, mask, select};
}

/// Where scalar code of one block goes that `region`, in the body of a loop, is evaluated by: to the loop's classes, or, where it has none, to `builder`.
class BlockCode {
public:
  BlockCode(OpBuilder &builder, Location loc, ForBlocksOp loop, Region &region, IndexRanges &ranges)
      : b(builder), loc(loc), loop(loop), region(region), ranges(ranges) {
    if (loop.hasClasses())
      b.setInsertionPoint(loop.getClasses().front().getTerminator());
  }

  /// The first key of the block.
  Value number() { return loop.hasClasses() ? Value(loop.getClasses().getArgument(0)) : loop.getInductionVar(); }

  BoxEvaluator evaluator() {
    BoxEvaluator box(b, loc, loop.hasClasses() ? loop.getBody() : region, ranges);
    if (loop.hasClasses())
      box.set(loop.getInductionVar(), {number(), number()});
    return box;
  }

  /// In the body: whether there is work, which is needless where `idle` holds; null where that is not known.
  Value unless(Value idle) {
    if (!idle || matchPattern(idle, m_Zero()))
      return {};
    Value busy = b.createOrFold<arith::XOrIOp>(loc, idle, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
    if (!loop.hasClasses())
      return busy;
    if (loop.getNumFlags()) // a block without the first kind of work has no other either
      busy = b.createOrFold<arith::AndIOp>(loc, loop.getClasses().front().getTerminator()->getOperand(1), busy);
    return loop.addFlag(busy);
  }

  OpBuilder b;

private:
  Location loc;
  ForBlocksOp loop;
  Region &region;
  IndexRanges &ranges;
};

struct BoundMasksPass : tegula::impl::BoundMasksPassBase<BoundMasksPass> {
  void runOnOperation() override {
    const DenseMap<Value, IndexRange> known = rangesAtLaunch(getOperation());
    // As the loops are before their ends move. Where rows and keys can be anything, nothing is known.
    SmallVector<std::pair<MaskedScores, IndexRanges>> masks;
    SmallVector<std::pair<ZeroUnseenOp, IndexRanges>> values;
    getOperation()->walk([&](Operation *op) {
      IndexRanges ranges(known);
      auto select = dyn_cast<arith::SelectOp>(op);
      if (std::optional<MaskedScores> found = select ? match(select) : std::nullopt; found && stateRanges(*found, ranges))
        masks.emplace_back(*found, std::move(ranges));
      else if (auto zero = dyn_cast<ZeroUnseenOp>(op); zero && stateRanges(zero, ranges))
        values.emplace_back(zero, std::move(ranges));
    });
    DenseMap<Operation *, int> masksOf;
    for (auto &[found, ranges] : masks)
      ++masksOf[found.loop];
    for (auto &[found, ranges] : masks)
      if (isIdentityWhereHidden(found.loop, found.select) && !tighten(found, ranges, /*isOnlyMask=*/masksOf[found.loop] == 1))
        classify(found, ranges);
    for (auto &[found, ranges] : masks)
      settle(found, ranges);
    for (auto &[found, ranges] : masks)
      for (MaskedScores &part : separate(found, ranges))
        for (MaskOp mask : guard(part, ranges)) {
          declassify(mask.getBody());
          merged += mergeLimits(mask.getBody(), ranges);
          auto schedule = getOperation()->getAttrOfType<ScheduleAttr>("schedule");
          if (schedule && schedule.getForm() == Form::Pipelined)
            markRanges(mask.getBody(), ranges);
        }
    for (auto &[zero, ranges] : values)
      narrow(zero, ranges);
    declassify(getOperation()->getRegion(0));
    hoistLookups();
    getOperation()->walk([&](AnyRangeOp) { ++searched; });
  }

private:
  /// Of single pairs, the conditions themselves say more than their tables.
  static void declassify(Region &code) {
    code.walk([](ClassifiedOp op) {
      op.replaceAllUsesWith(op.getCondition());
      op.erase();
    });
  }

  /// Moves lookups of what is the same for all blocks, and what their indices take, out of the loops.
  void hoistLookups() {
    llvm::SetVector<Operation *> wanted;
    getOperation()->walk([&](LookupOp lookup) {
      BackwardSliceOptions options;
      options.inclusive = true;
      (void)getBackwardSlice(lookup.getOperation(), &wanted, options);
    });
    getOperation()->walk([&](Operation *op) {
      if (!isa<ForBlocksOp, ZeroUnseenOp>(op))
        return;
      SmallVector<Region *> regions = llvm::map_to_vector(op->getRegions(), [](Region &region) { return &region; });
      moveLoopInvariantCode(
          regions, [](Value value, Region *region) { return !region->isAncestor(value.getParentRegion()); },
          [&](Operation *inner, Region *) { return wanted.contains(inner) && inner->getNumRegions() == 0 && KernelOp::isMovable(inner); }, [&](Operation *inner, Region *) { inner->moveBefore(op); });
    });
  }

  /// States what the rows and keys of scalar code in a loop range over, the keys up to `keys` past the last block's first; false where that is not known.
  static bool stateRanges(IndexRanges &ranges, Region &code, ForBlocksOp loop, std::optional<IndexRange> rows, int64_t keys) {
    std::optional<IndexRange> lower = ranges.of(loop.getLower()), upper = ranges.of(loop.getUpper());
    if (!rows || !lower || !upper || rows->high > INT64_MAX / 2 || upper->high > INT64_MAX / 2)
      return false;
    ranges.set(code.getArgument(0), *rows);
    ranges.set(code.getArgument(1), {lower->low, std::max(lower->low, upper->high) + keys});
    return true;
  }

  static bool stateRanges(MaskedScores found, IndexRanges &ranges) {
    std::optional<IndexRange> rows = ranges.of(found.mask.getRows());
    if (rows && rows->high <= INT64_MAX / 2)
      rows->high += found.rows();
    return stateRanges(ranges, found.mask.getBody(), found.loop, rows, found.columns());
  }

  static bool stateRanges(ZeroUnseenOp op, IndexRanges &ranges) {
    auto loop = dyn_cast<ForBlocksOp>(op->getParentOp());
    if (!loop || op.getCols() != loop.getInductionVar() || op.getPartial() || !op.getPossible().empty())
      return false;
    std::optional<IndexRange> first = ranges.of(op.getFirst()), last = ranges.of(op.getLast());
    if (first && last)
      first->high = std::max(first->low, last->high);
    return stateRanges(ranges, op.getSeen(), loop, last ? first : std::nullopt, op.getTile().getType().getDimSize(0));
  }

  static Interval span(OpBuilder &b, Location loc, Value first, int64_t count) {
    Value offset = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(count - 1));
    return {first, b.createOrFold<arith::AddIOp>(loc, first, offset)};
  }

  /// The rows that a warpgroup looks at, where several share the tile.
  Interval rowsOfOne(OpBuilder &b, MaskedScores found) {
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>("schedule");
    if (!schedule || schedule.getForm() == Form::Sequential || schedule.getConsumers() < 2 || schedule.getBlockM() != found.rows())
      return span(b, found.mask.getLoc(), found.mask.getRows(), found.rows());
    auto rows = RowSpanOp::create(b, found.mask.getLoc(), found.mask.getRows(), b.getI64IntegerAttr(found.rows()));
    return {rows.getFirst(), rows.getLast()};
  }

  Value condition(MaskedScores found) { return found.mask.getBody().front().getTerminator()->getOperand(0); }

  /// Moves the loop's ends to the keys that some row of the program can see, in whole blocks. Gives whether these ends say all that is known of blocks.
  bool tighten(MaskedScores found, IndexRanges &ranges, bool isOnlyMask) {
    OpBuilder b(found.loop);
    Location loc = found.mask.getLoc();
    Region &region = found.mask.getBody();
    auto boundsFor = [&](Interval rows) {
      BoxEvaluator box(b, loc, found.loop.getBody(), ranges); // scalar code of the body is computed ahead of the loop
      box.set(region.getArgument(0), rows);
      return box.keyBounds(condition(found), region.getArgument(1));
    };
    KeyBounds keys = boundsFor(span(b, loc, found.mask.getRows(), found.rows()));
    if (keys.upper && halvesBlocks(found))
      halve(found, boundsFor(rowsOfOne(b, found)).upper);
    Value lower = found.loop.getLower(), end = found.loop.getUpper();
    if (keys.upper) {
      Value upper = endsByOwnRows(found) ? boundsFor(rowsOfOne(b, found)).upper : keys.upper;
      found.loop.getUpperMutable().assign(b.createOrFold<arith::MinSIOp>(loc, end, upper));
      ++bounded;
    }
    if (keys.lower) {
      Value start = startOf(b, found, lower, keys.lower);
      Value own = isOnlyMask && endsByOwnRows(found) ? boundsFor(rowsOfOne(b, found)).lower : Value();
      if (own && dependsOnWarpgroup(own)) {
        if (keys.upper)
          end = b.createOrFold<arith::MinSIOp>(loc, end, keys.upper);
        own = startOf(b, found, lower, own);
        bool sharesBlocks = getOperation()->getAttrOfType<ScheduleAttr>("schedule").getForm() == Form::Pipelined;
        start = sharesBlocks ? startOfOne(b, found, start, own, end) : own;
      }
      found.loop.getLowerMutable().assign(start);
      ++bounded;
    }
    return keys.isExact;
  }

  /// Whether each warpgroup of a tile starts and ends where its own rows do: if that can spare one a whole block. The ends of a descending walk are those of the tile.
  bool endsByOwnRows(MaskedScores found) {
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>("schedule");
    bool isDescending = schedule && schedule.getWalk() == Walk::Descending;
    return !isDescending && found.rows() - warpgroupRows >= static_cast<int64_t>(found.loop.getStep());
  }

  /// The block, of those from `lower` on, that holds the key, or the first one.
  static Value startOf(OpBuilder &b, MaskedScores found, Value lower, Value key) {
    Location loc = found.mask.getLoc();
    Value step = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(found.loop.getStep()));
    Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    Value skipped = b.createOrFold<arith::MaxSIOp>(loc, b.createOrFold<arith::SubIOp>(loc, key, lower), zero);
    Value blocks = b.createOrFold<arith::DivSIOp>(loc, skipped, step);
    return b.createOrFold<arith::AddIOp>(loc, lower, b.createOrFold<arith::MulIOp>(loc, blocks, step));
  }

  /// Where a warpgroup starts, whose own rows' first block is `own`: not ahead of the tile's first block, and not behind its last one, which is there for it even if its rows see nothing.
  static Value startOfOne(OpBuilder &b, MaskedScores found, Value start, Value own, Value end) {
    Location loc = found.mask.getLoc();
    auto constant = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
    Value step = constant(found.loop.getStep()), zero = constant(0);
    auto distance = [&](Value to) { return b.createOrFold<arith::MaxSIOp>(loc, b.createOrFold<arith::SubIOp>(loc, to, start), zero); };
    Value blocks = b.createOrFold<arith::DivSIOp>(loc, distance(b.createOrFold<arith::SubIOp>(loc, end, constant(1))), step);
    Value ahead = b.createOrFold<arith::MinSIOp>(loc, distance(own), b.createOrFold<arith::MulIOp>(loc, blocks, step));
    return b.createOrFold<arith::AddIOp>(loc, start, ahead);
  }

  static bool dependsOnWarpgroup(Value value) {
    llvm::SetVector<Operation *> ops;
    BackwardSliceOptions options;
    options.inclusive = true;
    (void)getBackwardSlice(value, &ops, options);
    return llvm::any_of(ops, llvm::IsaPred<RowSpanOp>);
  }

  /// Whether half a block may be more than the rows of one warpgroup have work for.
  bool halvesBlocks(MaskedScores found) {
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>("schedule");
    return schedule && schedule.getHalfBlocks();
  }

  /// Says of the loop's output product for which blocks half of it is enough: where all keys that a warpgroup's rows see are before the block's middle.
  void halve(MaskedScores found, Value upper) {
    for (DotOp dot : found.loop.getBody().front().getOps<DotOp>()) {
      if (!dot.getAcc() || dot.getTransposeB())
        continue;
      OpBuilder b(dot);
      Location loc = dot.getLoc();
      Value half = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(found.loop.getStep() / 2));
      Value middle = arith::AddIOp::create(b, loc, found.loop.getInductionVar(), half);
      dot.getHalfMutable().assign(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, upper, middle));
      ++halved;
    }
  }

  /// Tells the blocks that some row of the program can see from those that none can.
  void classify(MaskedScores found, IndexRanges &ranges) {
    ForBlocksOp loop = found.loop;
    std::optional<IndexRange> keys = ranges.of(found.mask.getBody().getArgument(1));
    if (loop.hasClasses() || keys->low < 0 || keys->high >= ForBlocksOp::classifiedKeys)
      return;
    OpBuilder b(loop);
    Location loc = found.mask.getLoc();
    Block *classes = b.createBlock(&loop.getClasses(), {}, {b.getI64Type()}, {loc});
    auto yield = YieldOp::create(b, loc);
    BlockCode code(b, loc, loop, found.mask.getBody(), ranges);
    BoxEvaluator box = evaluatorOf(found, code);
    Value live = liveOf(condition(found), found, box, code, ranges);
    if (!live || matchPattern(live, m_One())) {
      classes->erase();
      return;
    }
    yield.getValuesMutable().assign(live);
    if (SmallVector<Value> parts = liveForParts(found, code); !parts.empty()) {
      yield.getValuesMutable().append(parts);
      loop.setParts(parts.size());
    }
    ++classified;
  }

  /// Whether a block holds a pair for which the condition may be true, for the rows of each warpgroup; nothing where that is not known, or cannot spare one a block. Products of several blocks run
  /// beside each other but under `overlap = false`, and warpgroups that take turns have all blocks in common.
  SmallVector<Value> liveForParts(MaskedScores found, BlockCode &code) {
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>("schedule");
    if (!schedule || schedule.getForm() != Form::Pipelined || schedule.getOverlap() || schedule.getPingPong() || schedule.getConsumers() * warpgroupRows != found.rows() || !endsByOwnRows(found))
      return {};
    bool isOfTiles = found.mask.getBody().walk([](ClassifiedOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (isOfTiles)
      return {};
    OpBuilder ahead(found.loop);
    Location loc = found.mask.getLoc();
    SmallVector<Value> parts;
    for (int64_t first = 0; first != found.rows(); first += warpgroupRows) {
      Value row = ahead.createOrFold<arith::AddIOp>(loc, found.mask.getRows(), arith::ConstantOp::create(ahead, loc, ahead.getI64IntegerAttr(first)));
      BoxEvaluator box = evaluatorOf(found, code, span(ahead, loc, row, warpgroupRows));
      Value some = box.truth(condition(found)).some;
      if (!some || matchPattern(some, m_One()))
        return {};
      parts.push_back(some);
    }
    return parts;
  }

  /// Whether a block holds a pair for which the condition may be true; null where that is not known. What is not known of all rows at once is looked for in each of them.
  Value liveOf(Value condition, MaskedScores found, BoxEvaluator &box, BlockCode &code, IndexRanges &ranges) {
    Operation *op = found.mask.getBody().isAncestor(condition.getParentRegion()) ? condition.getDefiningOp() : nullptr;
    if (!isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
      Value some = box.truth(condition).some;
      return some ? some : meetsRanges(condition, found, code, ranges);
    }
    Value x = liveOf(op->getOperand(0), found, box, code, ranges), y = liveOf(op->getOperand(1), found, box, code, ranges);
    if (isa<arith::OrIOp>(op))
      return x && y ? code.b.createOrFold<arith::OrIOp>(op->getLoc(), x, y) : Value();
    return x && y ? code.b.createOrFold<arith::AndIOp>(op->getLoc(), x, y) : x ? x : y;
  }

  /// Whether some row, for some element of a condition, sees keys of the block: each bounds them. Null where they are not bounded.
  Value meetsRanges(Value condition, MaskedScores found, BlockCode &code, IndexRanges &ranges) {
    OpBuilder ahead(found.loop);
    Interval rows = rowsOfOne(ahead, found);
    Region &region = found.mask.getBody();
    AnyRangeOp any = makeRanges(code.b, code.number(), found.loop.getStep(), {rows, found.rows()}, {condition}, region, found.loop.getBody(), ranges).first;
    return any ? any.getMeets() : Value();
  }

  /// Of scalar code, over a block.
  BoxEvaluator evaluatorOf(MaskedScores found, BlockCode &code) {
    OpBuilder ahead(found.loop); // which rows these are is said when roles are made, of ops outside nested code
    return evaluatorOf(found, code, rowsOfOne(found.loop.hasClasses() ? ahead : code.b, found));
  }

  BoxEvaluator evaluatorOf(MaskedScores found, BlockCode &code, Interval rows) {
    Region &region = found.mask.getBody();
    BoxEvaluator box = code.evaluator();
    box.set(region.getArgument(0), rows);
    box.set(region.getArgument(1), span(code.b, found.mask.getLoc(), code.number(), found.columns()));
    return box;
  }

  Truth truthOf(MaskedScores found, BlockCode &code) { return evaluatorOf(found, code).truth(condition(found)); }

  /// Whether a block may hold a key that no row sees: none is, where the last row, or the first one, sees all of them.
  static Value unseen(ZeroUnseenOp op, IndexRanges &ranges) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Region &region = op.getSeen();
    BlockCode code(builder, loc, cast<ForBlocksOp>(op->getParentOp()), region, ranges);
    OpBuilder &b = code.b;
    auto outside = [&](Value value) { return code.evaluator().interval(value).low; }; // of the body
    Value first = outside(op.getFirst()), last = outside(op.getLast()), end = outside(op.getEnd());
    if (!first || !last || !end)
      return {};
    Value one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
    last = b.createOrFold<arith::SubIOp>(loc, last, one);
    Interval columns = span(b, loc, code.number(), op.getTile().getType().getDimSize(0));
    columns.high = b.createOrFold<arith::MinSIOp>(loc, columns.high, b.createOrFold<arith::SubIOp>(loc, end, one));
    Value covered;
    for (Value row : {last, first}) {
      BoxEvaluator block = code.evaluator();
      block.set(region.getArgument(0), {row, row});
      block.set(region.getArgument(1), columns);
      if (Value all = block.truth(region.front().getTerminator()->getOperand(0)).all)
        covered = covered ? b.createOrFold<arith::OrIOp>(loc, covered, all) : all;
    }
    return code.unless(covered);
  }

  /// Says for which blocks, and for which of their keys, rows need to be looked at.
  void narrow(ZeroUnseenOp op, IndexRanges &ranges) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Region &region = op.getSeen();
    Value yielded = region.front().getTerminator()->getOperand(0), one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
    Interval rows{op.getFirst(), b.createOrFold<arith::SubIOp>(loc, op.getLast(), one)};
    if (Value partial = unseen(op, ranges))
      op.getPartialMutable().assign(partial);
    declassify(region);
    yielded = region.front().getTerminator()->getOperand(0);
    Block *body = b.createBlock(&op.getPossible(), {}, {b.getI64Type()}, {loc});
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>("schedule"); // threads of a pipelined kernel look at ranges together
    bool isPipelined = schedule && schedule.getForm() == Form::Pipelined;
    if (Value seen = isPipelined ? seenByRanges(op, {rows, schedule.getBlockM()}, b, ranges) : Value()) {
      YieldOp::create(b, loc, seen);
      // What is possible is so: the first row that is looked at says no more.
      b.setInsertionPoint(region.front().getTerminator());
      region.front().getTerminator()->setOperand(0, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
      return;
    }
    BoxEvaluator key(b, loc, region, ranges);
    key.set(region.getArgument(0), rows);
    key.set(region.getArgument(1), {body->getArgument(0), body->getArgument(0)});
    if (Value some = key.truth(yielded).some)
      YieldOp::create(b, loc, some);
    else
      op.getPossible().getBlocks().clear();
  }

  /// What a mask is and-ed of: conditions that hold up to some key of a row, those that hold from some key on, and all others.
  std::array<SmallVector<Value>, 3> conjunctsByKind(MaskedScores found) {
    Region &region = found.mask.getBody();
    SmallVector<Value> conjuncts{condition(found)};
    std::array<SmallVector<Value>, 3> kinds;
    while (!conjuncts.empty()) {
      Value next = conjuncts.pop_back_val();
      Trend trend = trendOf(next, region.getArgument(1));
      if (auto both = next.getDefiningOp<arith::AndIOp>(); both && region.isAncestor(both->getParentRegion()))
        conjuncts.append({both.getRhs(), both.getLhs()});
      else
        kinds[trend == Trend::Falling ? 0 : trend == Trend::Rising ? 1 : 2].push_back(next);
    }
    return kinds;
  }

  static void copyRanges(MaskOp mask, MaskOp copy, IndexRanges &ranges) {
    for (auto [from, to] : llvm::zip(mask.getBody().getArguments(), copy.getBody().getArguments()))
      if (std::optional<IndexRange> range = ranges.of(from))
        ranges.set(to, *range);
  }

  /// A select for each kind of condition: a block seldom needs the tests of several. Of blocks with classes one test is known ahead.
  SmallVector<MaskedScores> separate(MaskedScores found, IndexRanges &ranges) {
    if (found.loop.hasClasses())
      return {found};
    std::array<SmallVector<Value>, 3> kinds = conjunctsByKind(found);
    if (llvm::count_if(kinds, [](auto &kind) { return !kind.empty(); }) < 2)
      return {found};
    OpBuilder b(found.select);
    Location loc = found.mask.getLoc();
    SmallVector<MaskedScores> parts;
    Value scores = found.select.getTrueValue();
    for (ArrayRef<Value> kind : kinds) {
      if (kind.empty())
        continue;
      IRMapping values;
      auto mask = cast<MaskOp>(b.clone(*found.mask, values));
      copyRanges(found.mask, mask, ranges);
      Operation *yield = mask.getBody().front().getTerminator();
      OpBuilder inside(yield);
      Value all = values.lookupOrDefault(kind.front());
      for (Value next : kind.drop_front())
        all = arith::AndIOp::create(inside, loc, all, values.lookupOrDefault(next));
      yield->setOperand(0, all);
      auto select = arith::SelectOp::create(b, found.select.getLoc(), mask, scores, found.select.getFalseValue());
      scores = select;
      parts.push_back({found.loop, mask, select});
    }
    found.select.replaceAllUsesWith(scores);
    found.select.erase();
    if (found.mask->use_empty())
      found.mask.erase();
    return parts;
  }

  /// Under a fixed reference: says in which blocks a row may see its first key. In none behind one that ends with a key which all rows see; where a row sees the keys between two limits, none
  /// behind one that ends past all lower limits.
  void settle(MaskedScores found, IndexRanges &ranges) {
    for (Operation *user : found.select->getUsers()) {
      auto softmax = dyn_cast<OnlineSoftmaxOp>(user);
      if (!softmax || softmax.getScores() != found.select.getResult() || !softmax.getFixed() || softmax.getFromFirstBlock() || found.loop.hasClasses())
        continue;
      OpBuilder b(softmax);
      Location loc = found.mask.getLoc();
      BlockCode code(b, loc, found.loop, found.mask.getBody(), ranges);
      BoxEvaluator box = code.evaluator();
      Value number = code.number(), before = arith::SubIOp::create(b, loc, number, arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1)));
      box.set(found.mask.getBody().getArgument(0), rowsOfOne(code.b, found));
      box.set(found.mask.getBody().getArgument(1), {before, before});
      std::array<SmallVector<Value>, 3> kinds = conjunctsByKind(found);
      Value seen;
      for (Value limit : kinds[2].empty() ? kinds[1] : SmallVector<Value>{condition(found)}) {
        Value all = box.truth(limit).all;
        seen = !all ? arith::ConstantOp::create(code.b, loc, code.b.getBoolAttr(false)).getResult() : seen ? code.b.createOrFold<arith::AndIOp>(loc, seen, all) : all;
      }
      if (!seen || matchPattern(seen, m_Zero()))
        continue;
      Value isFirst = arith::CmpIOp::create(code.b, loc, arith::CmpIPredicate::sle, number, found.loop.getLower());
      Value isTrue = arith::ConstantOp::create(code.b, loc, code.b.getBoolAttr(true));
      softmax.getLateMutable().assign(code.b.createOrFold<arith::OrIOp>(loc, isFirst, code.b.createOrFold<arith::XOrIOp>(loc, seen, isTrue)));
    }
  }

  /// A condition on the key alone which lets it pass whatever others say that depend on the row too, and the op that says so.
  static std::pair<arith::OrIOp, Value> keyAlone(MaskedScores found) {
    Region &region = found.mask.getBody();
    Value row = region.getArgument(0), key = region.getArgument(1);
    for (auto either : region.front().getOps<arith::OrIOp>())
      for (Value one : either->getOperands()) {
        Value other = one == either.getLhs() ? either.getRhs() : either.getLhs();
        if (one.getType().isInteger(1) && trendOf(one, row) == Trend::Constant && trendOf(one, key) != Trend::Constant && trendOf(other, row) != Trend::Constant)
          return {either, one};
      }
    return {};
  }

  /// Puts mask and select under a test of the block; elsewhere, the scores stay as they are.
  static scf::IfOp putUnder(MaskedScores found, Value test) {
    OpBuilder b(found.select);
    Location loc = found.mask.getLoc();
    auto branch = scf::IfOp::create(b, loc, TypeRange{found.select.getType()}, test, /*withElseRegion=*/true);
    found.select.replaceAllUsesWith(branch.getResult(0));
    if (found.mask->hasOneUse())
      found.mask->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
    found.select->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
    b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(b, loc, found.select.getResult());
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, loc, found.select.getTrueValue());
    return branch;
  }

  /// In blocks of which no key passes by itself, as most are: the mask without that. Gives this other mask.
  static MaskOp specialise(MaskedScores found, arith::OrIOp either, Value one, Value some, IndexRanges &ranges) {
    scf::YieldOp otherwise = putUnder(found, some).elseYield();
    OpBuilder b(otherwise);
    IRMapping values;
    auto mask = cast<MaskOp>(b.clone(*found.mask, values));
    copyRanges(found.mask, mask, ranges);
    values.lookup(either.getResult()).replaceAllUsesWith(values.lookup(one == either.getLhs() ? either.getRhs() : either.getLhs()));
    otherwise.setOperand(0, b.clone(*found.select, values)->getResult(0));
    return mask;
  }

  /// Whether the rows of one warpgroup need the test of a listed block, which some row of the tile does: where warpgroups leave out blocks of their own, most of them do not.
  Value ownTest(MaskedScores found, IndexRanges &ranges) {
    if (!found.loop.hasClasses() || !found.loop.getParts())
      return {};
    OpBuilder b(found.select), ahead(found.loop);
    Region &region = found.mask.getBody();
    Location loc = found.mask.getLoc();
    BoxEvaluator box(b, loc, region, ranges);
    box.set(region.getArgument(0), rowsOfOne(ahead, found));
    box.set(region.getArgument(1), span(b, loc, found.loop.getInductionVar(), found.columns()));
    Value all = box.truth(condition(found)).all;
    return all ? b.createOrFold<arith::XOrIOp>(loc, all, arith::ConstantOp::create(b, loc, b.getBoolAttr(true))) : Value();
  }

  /// Puts mask and select under tests. Gives the masks that there are then.
  SmallVector<MaskOp> guard(MaskedScores found, IndexRanges &ranges) {
    OpBuilder b(found.select);
    Location loc = found.mask.getLoc();
    BlockCode code(b, loc, found.loop, found.mask.getBody(), ranges);
    Value partial = code.unless(truthOf(found, code).all);
    if (!partial)
      return {found.mask};
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>("schedule");
    auto [either, one] = schedule && schedule.getForm() == Form::Pipelined && found.mask->hasOneUse() ? keyAlone(found) : std::pair<arith::OrIOp, Value>();
    Value some = either ? evaluatorOf(found, code).truth(one).some : Value();
    if (some && found.loop.hasClasses()) // of those that are tested
      some = found.loop.addFlag(code.b.createOrFold<arith::AndIOp>(loc, found.loop.getClasses().front().getTerminator()->getOperand(1), some));
    putUnder(found, partial);
    ++guarded;
    if (Value own = ownTest(found, ranges))
      putUnder(found, own);
    if (!some || matchPattern(some, m_One()))
      return {found.mask};
    return {found.mask, specialise(found, either, one, some, ranges)};
  }
};

} // namespace
