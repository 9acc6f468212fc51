// How a producer walks a list of live blocks.
//
// Consumers must know the count before their loop, so blocks are looked at twice; the first pass runs ahead of them, beside the end of the tile before. Nothing is stored: a group's ballots are
// the list's next 32 places.
#include "passes/schedule/BlockList.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tegula;

static constexpr int64_t lanes = warp::ClassifyBlocksOp::lanes;

Value BlockList::constant(OpBuilder &b, int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }
Value BlockList::word(OpBuilder &b, int64_t value) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value))); }
Value BlockList::widened(OpBuilder &b, Value value) { return arith::ExtUIOp::create(b, loc, b.getI64Type(), value); }

BlockList::BlockList(OpBuilder &b, tile::ListBlocksOp op, IRMapping &map)
    : op(op), loc(op.getLoc()), numClasses(op.getClasses().front().getTerminator()->getNumOperands()), hasOrder(op.getNumFlags() > 0), lower(map.lookup(op.getLower())),
      upper(map.lookup(op.getUpper())) {
  Value zero = constant(b, 0), width = constant(b, lanes * op.getStep());
  Value span = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, upper, lower), zero);
  Value all = arith::DivUIOp::create(b, loc, arith::AddIOp::create(b, loc, span, constant(b, lanes * op.getStep() - 1)), width);
  groups = arith::TruncIOp::create(b, loc, b.getI32Type(), all);
  Value none = word(b, 0);
  auto counts = scf::ForOp::create(b, loc, lower, upper, width, ValueRange{none, none}, [&](OpBuilder &inner, Location, Value first, ValueRange sums) {
    SmallVector<Value> bits = classify(inner, first, map);
    Value free = bits[0];
    if (hasOrder)
      free = arith::AndIOp::create(inner, loc, bits[0], arith::XOrIOp::create(inner, loc, bits[1], word(inner, -1)));
    auto add = [&](Value sum, Value of) -> Value { return arith::AddIOp::create(inner, loc, sum, math::CtPopOp::create(inner, loc, of)); };
    scf::YieldOp::create(inner, loc, ValueRange{add(sums[0], bits[0]), add(sums[1], free)});
  });
  map.map(op.getCount(), widened(b, counts.getResult(0)));
  map.map(op.getFree(), widened(b, counts.getResult(1)));
  state = {word(b, -1), none};
  state.append(numClasses - 1 - hasOrder, none);
}

SmallVector<Value> BlockList::classify(OpBuilder &b, Value first, const IRMapping &map) {
  SmallVector<Type> types(numClasses, b.getI64Type());
  auto classes = warp::ClassifyBlocksOp::create(b, loc, types, first, upper, b.getI64IntegerAttr(op.getStep()));
  IRMapping inside = map;
  op.getClasses().cloneInto(&classes.getClasses(), inside);
  return llvm::map_to_vector(classes.getBits(), [&](Value bits) -> Value { return arith::TruncIOp::create(b, loc, b.getI32Type(), bits); });
}

/// The first block of a group; in the second pass groups count on.
Value BlockList::firstOf(OpBuilder &b, Value group, Value isSecond) {
  Value before = arith::SelectOp::create(b, loc, isSecond, groups, word(b, 0));
  Value groups = widened(b, arith::SubIOp::create(b, loc, group, before)), blocks = arith::MulIOp::create(b, loc, groups, constant(b, lanes * op.getStep()));
  return arith::AddIOp::create(b, loc, lower, blocks);
}

SmallVector<Value> BlockList::next(OpBuilder &b, tile::ListedBlockOp block, IRMapping &map) {
  Value zero = word(b, 0), one = word(b, 1);
  Value end = hasOrder ? arith::AddIOp::create(b, loc, groups, groups).getResult() : groups;
  auto isSecond = [&](OpBuilder &at, Value group) -> Value { return arith::CmpIOp::create(at, loc, arith::CmpIPredicate::sge, group, groups); };
  auto search = scf::WhileOp::create(
      b, loc, TypeRange(ValueRange(state)), state,
      [&](OpBuilder &at, Location, ValueRange now) {
        Value isEmpty = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, now[1], zero);
        Value isMore = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::slt, arith::AddIOp::create(at, loc, now[0], one), end);
        scf::ConditionOp::create(at, loc, arith::AndIOp::create(at, loc, isEmpty, isMore), now);
      },
      [&](OpBuilder &at, Location, ValueRange now) {
        Value group = arith::AddIOp::create(at, loc, now[0], one), second = isSecond(at, group);
        SmallVector<Value> bits = classify(at, firstOf(at, group, second), map);
        SmallVector<Value> then{group, bits[0]};
        if (hasOrder) {
          Value others = arith::XOrIOp::create(at, loc, bits[1], word(at, -1));
          then[1] = arith::AndIOp::create(at, loc, bits[0], arith::SelectOp::create(at, loc, second, bits[1], others));
        }
        llvm::append_range(then, ArrayRef(bits).drop_front(1 + hasOrder));
        scf::YieldOp::create(at, loc, then);
      });
  state.assign(search.getResults().begin(), search.getResults().end());
  // Of an empty list, the range's first block, with all flags, for all parts.
  Value live = state[1], isNone = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, live, zero);
  Value lane = math::CountTrailingZerosOp::create(b, loc, live);
  lane = arith::AndIOp::create(b, loc, lane, word(b, lanes - 1));
  Value first = firstOf(b, state[0], isSecond(b, state[0])), wide = widened(b, lane), past = arith::MulIOp::create(b, loc, wide, constant(b, op.getStep()));
  Value number = arith::AddIOp::create(b, loc, first, past);
  number = arith::SelectOp::create(b, loc, isNone, lower, number);
  state[1] = arith::AndIOp::create(b, loc, live, arith::SubIOp::create(b, loc, live, one));
  map.map(block.getNumber(), number);
  SmallVector<Value> note{number, map.lookup(op.getCount()), map.lookup(op.getFree())};
  Value flags = zero;
  for (auto [index, bits] : llvm::enumerate(ArrayRef(state).drop_front(2))) {
    Value bit = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, lane), one);
    bit = arith::SelectOp::create(b, loc, isNone, one, bit);
    if (index < block.getFlags().size())
      map.map(block.getFlags()[index], arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, zero).getResult());
    flags = arith::OrIOp::create(b, loc, flags, arith::ShLIOp::create(b, loc, bit, word(b, index)));
  }
  if (state.size() > 2)
    note.push_back(widened(b, flags));
  return note;
}
