// tegula-precompute-limits: where a row's keys begin and end in a sorted table, looked for ahead.
//
// In: tile programs, just before their masks are bounded. Out: beside a kernel whose mask compares what a sorted table holds at the key with a number of the row, a program that finds out for each row
// how many keys hold less, and how many no more; and in the mask comparisons of the key with these. The one idea: a search takes longer than a block of keys, but is the same for all heads; what is
// left is a mask by place, as a window is.
#include "passes/Passes.h"
#include "passes/mask/PrepassWriter.h"
#include "passes/mask/SortedReads.h"

#include "dialect/tile/PrefixExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tegula {
#define GEN_PASS_DEF_PRECOMPUTELIMITSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

using arith::CmpIPredicate;

namespace {

/// The comparisons of a region of (row, key) that the order of a table decides.
SmallVector<SortedRead> sortedReads(Region &region, Value keyEnd) {
  SmallVector<SortedRead> reads;
  for (auto compare : region.front().getOps<arith::CmpIOp>())
    if (std::optional<SortedRead> read = SortedRead::match(compare, region, region.getArgument(0), region.getArgument(1), keyEnd))
      reads.push_back(*read);
  return reads;
}

/// A row's number, looked for in a table: what all comparisons with it share.
struct Search {
  SortedRead read;
  Region *region;

  bool isSameAs(SortedRead other, Region &inside) {
    auto same = [&](Value x, Value y) { return isSameCode(x, inside, y, *region); };
    return other.lookup.getTable() == read.lookup.getTable() && same(other.number, read.number) &&
           llvm::all_of(llvm::zip(other.lookup.getIndices(), read.lookup.getIndices()), [&](auto pair) { return same(std::get<0>(pair), std::get<1>(pair)); });
  }
};

/// Number of the table's first axis: how many keys hold less, or no more, than the number of a search.
int64_t countOf(int64_t search, bool isPast) { return 2 * search + isPast; }

class Writer : public PrepassWriter {
public:
  using PrepassWriter::PrepassWriter;

  void write(ArrayRef<Search> searches) {
    makeProgram("_limits");
    Value tiles = arith::CeilDivSIOp::create(b, loc, clone(condition.queries), constant(rowsAtOnce));
    SmallVector<Value> place = makeGrid({constant(2), tiles});
    Value isPast = arith::CmpIOp::create(b, loc, CmpIPredicate::ne, place[0], constant(0)), row = arith::MulIOp::create(b, loc, place[1], constant(rowsAtOnce));
    prepareOutside();
    Value keys = clone(condition.keyEnd);
    // 2^steps is more than there are keys.
    Value steps = arith::SubIOp::create(b, loc, constant(64), math::CountLeadingZerosOp::create(b, loc, keys));
    for (auto [number, search] : llvm::enumerate(searches)) {
      Value counts = count(search, isPast, row, keys, steps), which = arith::AddIOp::create(b, loc, constant(countOf(number, false)), place[0]);
      StoreOp::create(b, loc, counts, program.getArguments().back(), ValueRange{which, lead, row}, b.getDenseI64ArrayAttr({2}));
    }
  }

private:
  static constexpr int64_t rowsAtOnce = 128;

  /// By halves, one row a thread: beyond what is counted, 2^n elements more are if the last of them is.
  Value count(Search search, Value isPast, Value row, Value keys, Value steps) {
    OpBuilder::InsertionGuard guard(b);
    auto counts = MapOp::create(b, loc, RankedTensorType::get({rowsAtOnce}, b.getI32Type()), ValueRange(), row, Value());
    Block *body = b.createBlock(&counts.getBody(), {}, {b.getI64Type()}, {loc});
    IRMapping own(map);
    std::swap(map, own); // what is computed here is seen here alone
    map.map(search.region->getArgument(0), body->getArgument(0));
    Value number = clone(search.read.number), one = constant(1), zero = constant(0);
    if (!number.getType().isInteger(64))
      number = arith::ExtSIOp::create(b, loc, b.getI64Type(), number);
    SmallVector<Value> place;
    for (Value index : search.read.lookup.getIndices().drop_back())
      place.push_back(clone(index));
    Value table = map.lookup(search.read.lookup.getTable());
    auto loop = scf::ForOp::create(b, loc, zero, steps, one, zero, [&](OpBuilder &at, Location, Value step, ValueRange counted) {
      Value rest = arith::SubIOp::create(at, loc, arith::SubIOp::create(at, loc, steps, one), step), more = arith::ShLIOp::create(at, loc, one, rest);
      Value past = arith::AddIOp::create(at, loc, counted[0], more), last = arith::SubIOp::create(at, loc, past, one);
      place.push_back(last);
      Value element = LookupOp::create(at, loc, search.read.lookup.getType(), table, place);
      if (!element.getType().isInteger(64))
        element = arith::ExtSIOp::create(at, loc, at.getI64Type(), element);
      Value exists = arith::CmpIOp::create(at, loc, CmpIPredicate::slt, last, keys), isLess = arith::CmpIOp::create(at, loc, CmpIPredicate::slt, element, number);
      Value isEqual = arith::CmpIOp::create(at, loc, CmpIPredicate::eq, element, number), counts = arith::OrIOp::create(at, loc, isLess, arith::AndIOp::create(at, loc, isPast, isEqual));
      Value all = arith::AndIOp::create(at, loc, exists, counts);
      scf::YieldOp::create(at, loc, arith::SelectOp::create(at, loc, all, past, counted[0]).getResult());
    });
    YieldOp::create(b, loc, arith::TruncIOp::create(b, loc, b.getI32Type(), loop.getResult(0)).getResult());
    std::swap(map, own);
    return counts;
  }
};

struct PrecomputeLimitsPass : tegula::impl::PrecomputeLimitsPassBase<PrecomputeLimitsPass> {
  void runOnOperation() override {
    for (KernelOp kernel : kernelsWithoutPrepass(getOperation()))
      precompute(kernel);
  }

private:
  void precompute(KernelOp kernel) {
    bool isPacked = kernel.walk([](PackingOp) { return WalkResult::interrupt(); }).wasInterrupted(); // its rows are no positions
    std::optional<PairCondition> condition;
    SmallVector<std::pair<Region *, SmallVector<SortedRead>>> found;
    kernel.walk([&](Operation *op) {
      auto loop = dyn_cast<ForBlocksOp>(op->getParentOp());
      auto mask = dyn_cast<MaskOp>(op);
      auto zero = dyn_cast<ZeroUnseenOp>(op);
      if (!loop || isPacked || (!mask && !zero))
        return;
      Region &region = mask ? mask.getBody() : zero.getSeen();
      SmallVector<SortedRead> reads = sortedReads(region, mask ? loop.getUpper() : zero.getEnd());
      if (reads.empty())
        return;
      if (mask && !condition)
        condition = PairCondition::of(mask);
      found.push_back({&region, std::move(reads)});
    });
    if (!condition || !condition->queries)
      return;
    SmallVector<Search> searches;
    auto searchOf = [&](SortedRead read, Region &region) {
      return llvm::find_if(searches, [&](Search &search) { return search.isSameAs(read, region); }) - searches.begin();
    };
    for (auto &[region, reads] : found)
      for (SortedRead read : reads)
        if (region == condition->region && searchOf(read, *region) == static_cast<int64_t>(searches.size())) {
          searches.push_back({read, region});
          condition->parts.push_back(read.number);
          llvm::append_range(condition->parts, read.lookup.getIndices().drop_back());
        }
    std::optional<SmallVector<GridAxis>> axes = condition->axes();
    std::string queries = printPrefix(condition->queries);
    Attribute lead = axes ? leadExtent(&getContext(), *axes) : Attribute();
    if (!lead || queries.empty())
      return;
    Builder attributes(&getContext());
    SmallVector<Attribute> extents{attributes.getI64IntegerAttr(2 * searches.size()), lead, attributes.getStringAttr(queries)};
    BlockArgument table = addPrepassTable(kernel, attributes.getI32Type(), extents, /*isSorted=*/true);
    Writer(kernel, *condition, *axes).write(searches);
    OpBuilder b(kernel.getContext());
    b.setInsertionPoint(condition->region->getParentOp()->getParentOp());
    Value number = leadOf(b, kernel.getLoc(), *axes);
    for (auto &[region, reads] : found)
      for (SortedRead read : reads)
        if (int64_t search = searchOf(read, *region); search != static_cast<int64_t>(searches.size()))
          replace(read, *region, table, search, number);
    ++precomputed;
  }

  static void replace(SortedRead read, Region &region, Value table, int64_t search, Value lead) {
    OpBuilder b(read.compare);
    Location loc = read.compare.getLoc();
    auto test = [&](CmpIPredicate predicate, bool isPast) -> Value {
      Value which = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(countOf(search, isPast)));
      Value count = LookupOp::create(b, loc, b.getI32Type(), table, ValueRange{which, lead, region.getArgument(0)});
      return arith::CmpIOp::create(b, loc, predicate, region.getArgument(1), arith::ExtSIOp::create(b, loc, b.getI64Type(), count));
    };
    CmpIPredicate predicate = read.predicate;
    bool isLeast = predicate == CmpIPredicate::sge || predicate == CmpIPredicate::sgt;
    Value holds;
    if (predicate != CmpIPredicate::eq && predicate != CmpIPredicate::ne) {
      holds = test(isLeast ? CmpIPredicate::sge : CmpIPredicate::slt, /*isPast=*/predicate == CmpIPredicate::sgt || predicate == CmpIPredicate::sle);
    } else {
      Value from = test(CmpIPredicate::sge, /*isPast=*/false), before = test(CmpIPredicate::slt, /*isPast=*/true);
      holds = arith::AndIOp::create(b, loc, from, before);
      if (predicate == CmpIPredicate::ne)
        holds = arith::XOrIOp::create(b, loc, holds, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
    }
    Operation *compare = read.compare;
    compare->replaceAllUsesWith(ValueRange{holds});
    compare->erase();
  }
};

} // namespace
