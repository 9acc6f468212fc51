// Orders of tiles: as the grid says, or longest first.
//
// Longest first, for masks under which later rows see more keys: from the last block of rows to the first, heads fastest, so that the shortest tiles fill the end. Heads go in groups whose
// keys and values fit in L2 together, as each is read again by every block of rows.
#include "passes/schedule/TileNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;
using namespace tegula;

namespace {

// Measured on an H200 with 50 MB of L2: a third of it serves short sequences, whose tiles change heads often; from 8192 keys on, a last wave of short tiles is worth more than L2. So it is for wide
// heads: their groups are as many heads as those of 128 + 128 columns, whatever their bytes (at 256 + 256 columns 2 to 3 % faster with twice the budget).
constexpr int64_t shortKeys = 2048, shortBytes = 16 << 20, longKeys = 8192, longBytes = 32 << 20, ordinaryBytesPerRow = 512;

Value constant(OpBuilder &b, Location loc, int64_t value, unsigned bits = 64) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(b.getIntegerType(bits), value));
}

Value narrowed(OpBuilder &b, Location loc, Value value) { return arith::TruncIOp::create(b, loc, b.getI32Type(), value); }
Value widened(OpBuilder &b, Location loc, Value value) { return arith::ExtUIOp::create(b, loc, b.getI64Type(), value); }

Value atLeastOne(OpBuilder &b, Location loc, Value value) { return arith::MaxUIOp::create(b, loc, value, constant(b, loc, 1, 32)); }

} // namespace

TileNumbers::TileNumbers(OpBuilder &b, Location loc, ValueRange extents, tile::TileOrder order, Keys keys) : order(order) {
  count = constant(b, loc, 1);
  Value others = count;
  for (auto [number, extent] : llvm::enumerate(extents)) {
    count = arith::MulIOp::create(b, loc, count, extent);
    if (number > 0)
      others = arith::MulIOp::create(b, loc, others, extent);
    wide.push_back(extent);
  }
  if (order == tile::TileOrder::Stride)
    return;
  // Numbers beyond the last tile are decoded too, so nothing is divided by 0.
  for (Value extent : wide)
    narrow.push_back(atLeastOne(b, loc, narrowed(b, loc, extent)));
  if (order == tile::TileOrder::Counter)
    return;
  heads = atLeastOne(b, loc, narrowed(b, loc, others));
  group = keys.rows ? narrowed(b, loc, headsPerGroup(b, loc, keys, others)) : heads;
}

Value TileNumbers::headsPerGroup(OpBuilder &b, Location loc, Keys keys, Value all) {
  auto atMost = [&](int64_t rows) -> Value { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, keys.rows, constant(b, loc, rows)); };
  Value one = constant(b, loc, 1);
  Value bytes = arith::MaxSIOp::create(b, loc, arith::MulIOp::create(b, loc, keys.rows, constant(b, loc, keys.bytesPerRow)), one);
  double width = std::max(1.0, static_cast<double>(keys.bytesPerRow) / ordinaryBytesPerRow);
  Value isShort = atMost(shortKeys), least = constant(b, loc, width * shortBytes), most = constant(b, loc, width * longBytes);
  Value budget = arith::SelectOp::create(b, loc, isShort, least, most);
  Value fitting = arith::MaxSIOp::create(b, loc, arith::DivUIOp::create(b, loc, budget, bytes), one);
  Value isLimited = atMost(longKeys), few = arith::MinSIOp::create(b, loc, fitting, all);
  return arith::SelectOp::create(b, loc, isLimited, few, all);
}

SmallVector<Value> TileNumbers::decode(OpBuilder &b, Location loc, Value number) const {
  return order == tile::TileOrder::Stride ? decodeWide(b, loc, number) : decodeNarrow(b, loc, number);
}

/// The first extent fastest.
SmallVector<Value> TileNumbers::decodeWide(OpBuilder &b, Location loc, Value number) const {
  SmallVector<Value> result;
  for (Value extent : ArrayRef<Value>(wide).drop_back()) {
    result.push_back(arith::RemSIOp::create(b, loc, number, extent));
    number = arith::DivSIOp::create(b, loc, number, extent);
  }
  result.push_back(number);
  return result;
}

/// In 32 bits, which the consumers' time between two tiles is worth.
SmallVector<Value> TileNumbers::decodeNarrow(OpBuilder &b, Location loc, Value number) const {
  auto div = [&](Value x, Value y) -> Value { return arith::DivUIOp::create(b, loc, x, y); };
  auto mul = [&](Value x, Value y) -> Value { return arith::MulIOp::create(b, loc, x, y); };
  auto sub = [&](Value x, Value y) -> Value { return arith::SubIOp::create(b, loc, x, y); };
  // Never more than the extent; saying so lets index code be 32 bits wide.
  SmallVector<Value> result;
  auto add = [&](Value x) {
    Value most = narrow[result.size()];
    result.push_back(widened(b, loc, arith::MinUIOp::create(b, loc, x, most)));
  };
  SmallVector<Value> extents;
  Value rest = narrowed(b, loc, number);
  // A tile's number is not negative, so its sign is 0. Adding it to divisors makes them look different for each tile: else ptxas keeps their reciprocals in registers over all tiles.
  Value sign = arith::ShRSIOp::create(b, loc, rest, constant(b, loc, 31, 32));
  auto once = [&](Value x) -> Value { return arith::AddIOp::create(b, loc, x, sign); };
  for (Value extent : narrow)
    extents.push_back(once(extent));
  if (order == tile::TileOrder::LongestFirst) {
    Value width = once(group), tiles = mul(width, extents[0]), which = div(rest, tiles), inGroup = sub(rest, mul(which, tiles));
    Value first = mul(which, width);
    width = atLeastOne(b, loc, arith::MinUIOp::create(b, loc, width, sub(heads, first)));
    Value block = div(inGroup, width);
    add(sub(sub(extents[0], constant(b, loc, 1, 32)), block));
    rest = arith::AddIOp::create(b, loc, first, sub(inGroup, mul(block, width)));
    extents.erase(extents.begin());
  }
  for (Value extent : ArrayRef<Value>(extents).drop_back()) {
    Value next = div(rest, extent);
    add(sub(rest, mul(next, extent)));
    rest = next;
  }
  if (!extents.empty())
    add(rest);
  return result;
}
