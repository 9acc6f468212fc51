// Reductions, combinations by a function, running sums and votes along an axis of a blocked layout.
//
// The one idea: an axis is a few digits, of registers, lanes and warps, and each is combined by itself: registers in the thread, a lane's bit by one
// shuffle, all bits of the warp through shared memory. By rising stride the elements stay in order, which functions that do not commute and running sums need.
#include "passes/lower/BlockedScratch.h"
#include "passes/lower/BlockedThread.h"
#include "passes/lower/InlinePtx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tegula;

namespace {

/// One element, or what several were combined to: the value, and for argmax its place.
using Item = SmallVector<Value, 2>;
using Combine = function_ref<Item(const Item &, const Item &)>;

/// Combines what the threads hold, one step at a time.
class AxisMeeting {
public:
  AxisMeeting(BlockedThread &t, Operation *op, warp::BlockedAttr layout, SmallVector<Item> items, Combine combine)
      : t(t), b(t.b), loc(t.loc), op(op), layout(layout), open(layout), combine(combine), items(std::move(items)) {}

  /// `ordered`: the function does not commute.
  void reduce(int64_t axis, bool ordered) {
    isOrdered = ordered;
    for (const AxisStep &step : axisSteps(layout, axis, ordered))
      take(step, nullptr);
  }

  /// Adds to each of `prefixes`, one a register, what stands before its element.
  void scan(int64_t axis, SmallVectorImpl<Value> &prefixes) {
    for (const AxisStep &step : axisSteps(layout, axis, /*ordered=*/true))
      take(step, &prefixes);
  }

private:
  void take(const AxisStep &step, SmallVectorImpl<Value> *prefixes) {
    SmallVector<int64_t> groups = groupsOf(prefixes);
    SmallVector<Item> before(items.size()); // what stands before this thread's (or register's) part; empty: nothing
    if (step.kind == AxisStep::Register)
      takeRegisters(step.index, before, prefixes != nullptr);
    else if (step.kind == AxisStep::Lane)
      takeLanes(step.index, before, prefixes != nullptr);
    else
      takeWarps(step, before, prefixes != nullptr);
    close(open, step);
    if (prefixes)
      for (auto [prefix, group] : llvm::zip(*prefixes, groups))
        if (!before[group].empty())
          prefix = combine(before[group], {prefix}).front();
  }

  /// For each register of the layout: which item holds its part.
  SmallVector<int64_t> groupsOf(SmallVectorImpl<Value> *prefixes) {
    if (!prefixes)
      return {};
    SmallVector<int64_t> groups{0};
    int64_t weight = 1;
    for (auto [now, whole] : llvm::zip(open.registers, layout.getRegisters())) {
      size_t known = groups.size();
      for (int64_t step = 1; step < whole.count; ++step)
        for (size_t i = 0; i < known; ++i)
          groups.push_back(groups[i] + (now.count == 1 ? 0 : step * weight));
      weight *= now.count;
    }
    return groups;
  }

  /// A digit of the register's number: pairwise, so that chains are short.
  void takeRegisters(unsigned index, SmallVectorImpl<Item> &before, bool wantsBefore) {
    int64_t count = open.registers[index].count, weight = 1;
    for (const warp::Digit &digit : ArrayRef(open.registers).take_front(index))
      weight *= digit.count;
    SmallVector<Item> combined(items.size() / count);
    for (size_t i = 0; i < combined.size(); ++i) {
      int64_t first = i % weight + i / weight * weight * count;
      if (wantsBefore) { // each part needs the sum of those before it
        Item sum = items[first];
        for (int64_t d = 1; d < count; ++d) {
          before[first + d * weight] = sum;
          sum = combine(sum, items[first + d * weight]);
        }
        combined[i] = sum;
        continue;
      }
      SmallVector<Item> parts;
      for (int64_t d = 0; d < count; ++d)
        parts.push_back(items[first + d * weight]);
      combined[i] = inPairs(parts);
    }
    items = std::move(combined);
  }

  Item inPairs(SmallVector<Item> parts) {
    while (parts.size() > 1) {
      SmallVector<Item> next;
      for (size_t i = 0; i + 1 < parts.size(); i += 2)
        next.push_back(combine(parts[i], parts[i + 1]));
      if (parts.size() % 2)
        next.push_back(parts.back());
      parts = std::move(next);
    }
    return parts.front();
  }

  /// One bit of the lane: both sides compute the same, where order matters the lower lane's part first.
  void takeLanes(unsigned bit, SmallVectorImpl<Item> &before, bool wantsBefore) {
    Value upper = isOrdered ? t.bit(bit) : Value();
    for (auto [item, prior] : llvm::zip(items, before)) {
      Item other = llvm::map_to_vector<2>(item, [&](Value value) { return t.exchange(value, bit); });
      if (!isOrdered) {
        item = combine(item, other);
        continue;
      }
      if (wantsBefore)
        prior = {select(upper, other[0], zero(other[0].getType()))};
      Item low, high;
      for (auto [mine, theirs] : llvm::zip(item, other)) {
        low.push_back(select(upper, theirs, mine));
        high.push_back(select(upper, mine, theirs));
      }
      item = combine(low, high);
    }
  }

  /// All bits of the warp: each writes its part, all read all parts of what they hold.
  void takeWarps(const AxisStep &step, SmallVectorImpl<Item> &before, bool wantsBefore) {
    PartsPlan plan(open, step.bits);
    int64_t next = op->getAttrOfType<IntegerAttr>(scratchAttr).getInt();
    if (op->hasAttr(guardedAttr) || met)
      t.meet();
    met = true;
    SmallVector<int64_t> base;
    for (Value value : items.front()) {
      base.push_back(next);
      next += llvm::alignTo(plan.parts * plan.values * bytesOf(value), 16);
    }
    SmallVector<int64_t> places = registerPlaces(plan);
    Value value = t.sum(plan.threadWeights), part = t.sum(plan.partWeights);
    Value first = t.add(arith::MulIOp::create(b, loc, value, t.constant(plan.parts)), part);
    auto writes = scf::IfOp::create(b, loc, isWriter(step), /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(writes.thenBlock());
      for (auto [i, item] : llvm::enumerate(items))
        for (auto [c, each] : llvm::enumerate(item))
          t.storeShared(each, pointer(first, bytesOf(each), base[c]), places[i] * plan.parts * bytesOf(each));
    }
    t.meet();
    Value from = arith::MulIOp::create(b, loc, value, t.constant(plan.parts));
    int64_t words = plan.parts * items.size() * items.front().size();
    if (!wantsBefore && words > mostAtOnce)
      return takeInLoop(plan, from, places, base);
    for (auto [i, item] : llvm::enumerate(items)) {
      SmallVector<Item> parts(plan.parts);
      for (auto [c, each] : llvm::enumerate(item)) {
        int64_t size = bytesOf(each), run = std::min(plan.parts, 16 / size);
        Value source = pointer(from, size, base[c]);
        for (int64_t p = 0; p < plan.parts; p += run) {
          Value loaded = t.loadShared(source, (places[i] * plan.parts + p) * size, each.getType(), run);
          for (auto [n, element] : llvm::enumerate(t.elementsOf(loaded)))
            parts[p + n].push_back(element);
        }
      }
      if (wantsBefore)
        before[i] = {partsBefore(parts, part)};
      item = inPairs(parts);
    }
  }

  /// One part after the other, where all of them would need too many registers.
  void takeInLoop(const PartsPlan &plan, Value from, ArrayRef<int64_t> places, ArrayRef<int64_t> base) {
    auto load = [&](Value part, size_t i, unsigned c) {
      Type type = items[i][c].getType();
      int64_t size = storedType(type).getIntOrFloatBitWidth() / 8;
      Value source = pointer(t.add(from, part), size, base[c]);
      return t.elementsOf(t.loadShared(source, places[i] * plan.parts * size, type, 1)).front();
    };
    auto loadItem = [&](Value part, size_t i) {
      Item item;
      for (unsigned c = 0; c < items[i].size(); ++c)
        item.push_back(load(part, i, c));
      return item;
    };
    SmallVector<Value> flat;
    for (size_t i = 0; i < items.size(); ++i)
      llvm::append_range(flat, loadItem(t.constant(0), i));
    Value one = t.constant(1), parts = t.constant(plan.parts);
    auto loop = scf::ForOp::create(b, loc, one, parts, one, flat);
    auto unflatten = [&](ValueRange values, size_t i) {
      auto item = values.slice(i * items[i].size(), items[i].size());
      return Item(item.begin(), item.end());
    };
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> next;
      for (size_t i = 0; i < items.size(); ++i)
        llvm::append_range(next, combine(unflatten(loop.getRegionIterArgs(), i), loadItem(loop.getInductionVar(), i)));
      scf::YieldOp::create(b, loc, next);
    }
    for (size_t i = 0; i < items.size(); ++i)
      items[i] = unflatten(loop.getResults(), i);
  }

  Value partsBefore(ArrayRef<Item> parts, Value part) {
    Value none = zero(parts[0][0].getType()), sum = none;
    for (auto [p, item] : llvm::enumerate(parts.drop_back())) {
      Value stands = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, part, t.constant(p));
      sum = combine({sum}, {select(stands, item[0], none)}).front();
    }
    return sum;
  }

  /// One of the threads that hold a part.
  Value isWriter(const AxisStep &step) {
    int64_t copies = 0;
    for (auto [bit, digit] : llvm::enumerate(open.threads))
      if (digit.axis < 0 && !llvm::is_contained(step.bits, bit))
        copies |= int64_t(1) << bit;
    Value masked = arith::AndIOp::create(b, loc, t.state.place.thread, t.constant(copies));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, masked, t.constant(0));
  }

  SmallVector<int64_t> registerPlaces(const PartsPlan &plan) {
    SmallVector<int64_t> places{0};
    for (auto [digit, weight] : llvm::zip(open.registers, plan.registerWeights)) {
      size_t known = places.size();
      for (int64_t step = 1; step < digit.count; ++step)
        for (size_t i = 0; i < known; ++i)
          places.push_back(places[i] + step * weight);
    }
    return places;
  }

  Value pointer(Value index, int64_t size, int64_t base) { return t.sharedPointer(arith::MulIOp::create(b, loc, index, t.constant(size)), base); }
  static int64_t bytesOf(Value value) { return storedType(value.getType()).getIntOrFloatBitWidth() / 8; }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }
  Value zero(Type type) { return arith::ConstantOp::create(b, loc, b.getZeroAttr(type)); }

  static constexpr int64_t mostAtOnce = 32; ///< values read from shared memory before any is combined

  BlockedThread &t;
  OpBuilder &b;
  Location loc;
  Operation *op;
  warp::BlockedAttr layout;
  OpenDigits open;
  Combine combine;
  bool met = false, isOrdered = true;

public:
  SmallVector<Item> items; ///< one for each number of the open register digits
};

/// The elements of the operand as items; places past the extent of `axis` hold `neutral`.
SmallVector<Item> itemsOf(BlockedThread &t, RankedTensorType tile, int64_t axis, Value elements, Value neutral) {
  warp::BlockedAttr layout = blockedLayout(tile);
  SmallVector<int64_t> offsets = layout.getRegisterOffsets(axis);
  SmallVector<Item> items;
  for (auto [i, element] : llvm::enumerate(t.elementsOf(elements))) {
    Value inside = t.isInside(layout, axis, tile.getDimSize(axis), offsets[i]);
    items.push_back({inside ? arith::SelectOp::create(t.b, t.loc, inside, element, neutral).getResult() : element});
  }
  return items;
}

/// A vector of what is left, or the one value of a scalar result.
Value resultOf(BlockedThread &t, ArrayRef<Item> items, unsigned component, Type result) {
  SmallVector<Value> values;
  for (const Item &item : items)
    values.push_back(item[component]);
  return isa<RankedTensorType>(result) ? t.vectorOf(values) : values.front();
}

Value neutralOf(tile::ReduceKind kind, Type type, OpBuilder &b, Location loc) {
  auto constant = [&](TypedAttr value) -> Value { return arith::ConstantOp::create(b, loc, value); };
  bool least = kind != tile::ReduceKind::Minimum;
  switch (kind) {
  case tile::ReduceKind::Add:
  case tile::ReduceKind::Or:
    return constant(b.getZeroAttr(type));
  case tile::ReduceKind::And:
    return constant(b.getBoolAttr(true));
  default:
    break;
  }
  if (auto number = dyn_cast<FloatType>(type))
    return constant(b.getFloatAttr(type, APFloat::getInf(number.getFloatSemantics(), /*Negative=*/least)));
  unsigned width = type.getIntOrFloatBitWidth();
  return constant(b.getIntegerAttr(type, least ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width)));
}

Value combineKind(tile::ReduceKind kind, Value x, Value y, OpBuilder &b, Location loc) {
  bool isFloat = isa<FloatType>(x.getType());
  switch (kind) {
  case tile::ReduceKind::Add:
    return isFloat ? arith::AddFOp::create(b, loc, x, y).getResult() : arith::AddIOp::create(b, loc, x, y).getResult();
  case tile::ReduceKind::Max:
    return arith::MaxNumFOp::create(b, loc, x, y);
  case tile::ReduceKind::Maximum:
    return isFloat ? arith::MaximumFOp::create(b, loc, x, y).getResult() : arith::MaxSIOp::create(b, loc, x, y).getResult();
  case tile::ReduceKind::Minimum:
    return isFloat ? arith::MinimumFOp::create(b, loc, x, y).getResult() : arith::MinSIOp::create(b, loc, x, y).getResult();
  case tile::ReduceKind::And:
    return arith::AndIOp::create(b, loc, x, y);
  case tile::ReduceKind::Or:
    return arith::OrIOp::create(b, loc, x, y);
  case tile::ReduceKind::Argmax:
    break;
  }
  llvm_unreachable("argmax combines pairs");
}

/// The larger value, the first of equals; NaN counts as largest.
Item combineArgmax(const Item &x, const Item &y, OpBuilder &b, Location loc) {
  auto both = [&](Value p, Value q) -> Value { return arith::AndIOp::create(b, loc, p, q); };
  auto either = [&](Value p, Value q) -> Value { return arith::OrIOp::create(b, loc, p, q); };
  Value greater, equal, earlier = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, y[1], x[1]);
  if (isa<FloatType>(x[0].getType())) {
    auto compare = [&](arith::CmpFPredicate predicate, Value p, Value q) -> Value { return arith::CmpFOp::create(b, loc, predicate, p, q); };
    Value xIsNan = compare(arith::CmpFPredicate::UNO, x[0], x[0]), yIsNan = compare(arith::CmpFPredicate::UNO, y[0], y[0]);
    Value xIsNumber = compare(arith::CmpFPredicate::ORD, x[0], x[0]);
    Value isGreater = compare(arith::CmpFPredicate::OGT, y[0], x[0]), isEqual = compare(arith::CmpFPredicate::OEQ, y[0], x[0]);
    greater = either(isGreater, both(yIsNan, xIsNumber));
    equal = either(isEqual, both(xIsNan, yIsNan));
  } else {
    greater = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, y[0], x[0]);
    equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y[0], x[0]);
  }
  Value second = either(greater, both(equal, earlier));
  return {arith::SelectOp::create(b, loc, second, y[0], x[0]), arith::SelectOp::create(b, loc, second, y[1], x[1])};
}

struct ConvertReduce : BlockedPattern<tile::ReduceOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tile::ReduceOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType tile = op.getTile().getType();
    warp::BlockedAttr layout = blockedLayout(tile);
    if (!layout)
      return rewriter.notifyMatchFailure(op, "not a blocked tile");
    Location loc = op.getLoc();
    BlockedThread t(rewriter, loc, state);
    tile::ReduceKind kind = op.getKind();
    bool isArgmax = kind == tile::ReduceKind::Argmax;
    int64_t axis = op.getReducedAxis();
    SmallVector<Item> items = itemsOf(t, tile, axis, adaptor.getTile(), neutralOf(kind, tile.getElementType(), rewriter, loc));
    if (isArgmax)
      addPlaces(t, layout, axis, items);
    auto combine = [&](const Item &x, const Item &y) -> Item {
      return isArgmax ? combineArgmax(x, y, rewriter, loc) : Item{combineKind(kind, x[0], y[0], rewriter, loc)};
    };
    AxisMeeting meeting(t, op, layout, std::move(items), combine);
    meeting.reduce(axis, /*ordered=*/false);
    rewriter.replaceOp(op, resultOf(t, meeting.items, isArgmax, op.getResult().getType()));
    return success();
  }

  static void addPlaces(BlockedThread &t, warp::BlockedAttr layout, int64_t axis, SmallVectorImpl<Item> &items) {
    SmallVector<int64_t> offsets = layout.getRegisterOffsets(axis);
    Value place = t.coordinate(layout, axis);
    for (auto [item, offset] : llvm::zip(items, offsets))
      item.push_back(t.add(place, offset)); // past the extent: after all others, so that it loses to equals
  }
};

struct ConvertCombine : BlockedPattern<tile::CombineOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tile::CombineOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType tile = op.getTile().getType();
    warp::BlockedAttr layout = blockedLayout(tile);
    BlockedThread t(rewriter, op.getLoc(), state);
    auto combine = [&](const Item &x, const Item &y) -> Item {
      IRMapping map;
      Block &body = op.getBody().front();
      map.map(body.getArgument(0), x[0]);
      map.map(body.getArgument(1), y[0]);
      for (Operation &inner : body.without_terminator())
        rewriter.clone(inner, map);
      return {map.lookupOrDefault(body.getTerminator()->getOperand(0))};
    };
    AxisMeeting meeting(t, op, layout, itemsOf(t, tile, op.getAxis(), adaptor.getTile(), adaptor.getInit()), combine);
    meeting.reduce(op.getAxis(), /*ordered=*/true);
    rewriter.replaceOp(op, resultOf(t, meeting.items, 0, op.getResult().getType()));
    return success();
  }
};

struct ConvertCumsum : BlockedPattern<tile::CumsumOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tile::CumsumOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType tile = op.getTile().getType();
    warp::BlockedAttr layout = blockedLayout(tile);
    BlockedThread t(rewriter, op.getLoc(), state);
    Value zero = arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getZeroAttr(tile.getElementType()));
    SmallVector<Item> items = itemsOf(t, tile, op.getAxis(), adaptor.getTile(), zero);
    SmallVector<Value> sums = llvm::map_to_vector(items, [](const Item &item) { return item[0]; });
    auto combine = [&](const Item &x, const Item &y) -> Item { return {combineKind(tile::ReduceKind::Add, x[0], y[0], rewriter, op.getLoc())}; };
    AxisMeeting(t, op, layout, std::move(items), combine).scan(op.getAxis(), sums);
    rewriter.replaceOp(op, t.vectorOf(sums));
    return success();
  }
};

/// All threads of the CTA vote, since they stay in step.
struct ConvertAny : BlockedPattern<tile::AnyOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tile::AnyOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (!blockedLayout(op.getFlags().getType()))
      return rewriter.notifyMatchFailure(op, "not a blocked tile");
    BlockedThread t(rewriter, op.getLoc(), state);
    SmallVector<Value> flags = t.elementsOf(adaptor.getFlags());
    Value some = flags.front();
    for (Value flag : llvm::drop_begin(flags))
      some = arith::OrIOp::create(rewriter, op.getLoc(), some, flag);
    Value barrier = t.constant(0), threads = t.constant(state.threads);
    rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, rewriter.getI1Type(), ptx::barrierAny(rewriter, op.getLoc(), barrier, some, threads));
    return success();
  }
};

} // namespace

void tegula::populateBlockedReducePatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertReduce, ConvertCombine, ConvertCumsum, ConvertAny>(types, patterns.getContext(), state);
}
