// Blocks that some warpgroups of a tile need and others do not.
//
// A ring's slot is filled again when all warpgroups have released it, so one that ends early waits for and releases what is left, once it holds no slot that the producer needs to go on.
#include "passes/schedule/ConsumerRole.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tegula;

/// A scalar as the producer computes it, for all rows of the tile; what is the same for each warpgroup stays what it is.
Value ConsumerRole::forWholeTile(Value value, IRMapping &whole) {
  if (Value known = whole.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (auto rows = dyn_cast_or_null<tile::RowSpanOp>(op)) {
    mapRowSpan(rows, whole, zero, rows.getCount());
    return whole.lookup(value);
  }
  Value here = map.lookup(value);
  if (!op || !isMemoryEffectFree(op) || op->getNumRegions() != 0)
    return here;
  IRMapping operands;
  bool differs = false;
  for (Value operand : op->getOperands()) {
    operands.map(operand, forWholeTile(operand, whole));
    differs |= operands.lookup(operand) != map.lookup(operand);
  }
  if (!differs) {
    whole.map(value, here);
    return here;
  }
  Operation *copy = b.clone(*op, operands);
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
    whole.map(from, to);
  return whole.lookup(value);
}

/// Notes what is left of `blocks` behind `upper`.
void ConsumerRole::leaveRest(tile::ForBlocksOp blocks, Value upper, Value wholeUpper) {
  Location loc = blocks.getLoc();
  auto constant = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
  Rest rest{{}, static_cast<int64_t>(blocks.getStep()), {}, wholeUpper, blocks};
  for (Operation &op : blocks.getBody().front())
    if (auto load = dyn_cast<tile::LoadOp>(op))
      if (std::optional<unsigned> ring = rings.of(load))
        rest.rings.push_back(*ring);
  if (rest.rings.empty())
    return;
  Value lower = map.lookup(blocks.getLower()), span = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, upper, lower), zero);
  Value step = constant(rest.step), padded = arith::AddIOp::create(b, loc, span, constant(rest.step - 1)), count = arith::DivUIOp::create(b, loc, padded, step);
  rest.from = arith::AddIOp::create(b, loc, lower, arith::MulIOp::create(b, loc, count, step));
  // Loads behind the loop, as of the values of its last block, come first.
  for (Operation &op : llvm::make_range(std::next(blocks->getIterator()), blocks->getBlock()->end())) {
    if (op.getNumRegions() != 0)
      break;
    auto load = dyn_cast<tile::LoadOp>(op);
    if (load && llvm::is_contained(rest.rings, rings.of(load)))
      rest.last = load;
  }
  rests.push_back(rest);
}

/// Passes over each rest whose rings have no slot in use any more.
void ConsumerRole::passOverRest() {
  llvm::erase_if(rests, [&](Rest &rest) {
    bool inUse = llvm::any_of(slots, [&](auto &entry) { return llvm::is_contained(rest.rings, entry.second.ring); });
    if (rest.last || inUse)
      return false;
    Location loc = rest.to.getLoc();
    SmallVector<Value> inits;
    for (unsigned ring : rest.rings)
      inits.push_back(counters[ring]);
    Value step = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(rest.step));
    auto loop = scf::ForOp::create(b, loc, rest.from, rest.to, step, inits, [&](OpBuilder &inner, Location, Value, ValueRange carried) {
      SmallVector<Value> next;
      Value one = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(1));
      for (auto [number, counter] : llvm::zip(rest.rings, carried)) {
        warp::RingOp ring = rings.rings[number].op;
        auto type = ring.getRing().getType();
        auto slot = warp::SlotType::get(inner.getContext(), type.getRows(), type.getColumns(), type.getElementType());
        Value copy = ring.getCopies() > 1 ? warp::WarpgroupOp::create(inner, loc, inner.getI64Type()).getResult() : zero;
        warp::WaitOp::create(inner, loc, slot, ring, counter, copy);
        warp::ReleaseOp::create(inner, loc, ring, counter, copy);
        next.push_back(arith::AddIOp::create(inner, loc, counter, one));
      }
      scf::YieldOp::create(inner, loc, next);
    });
    for (auto [ring, counter] : llvm::zip(rest.rings, loop.getResults()))
      counters[ring] = counter;
    return true;
  });
}
