// tegula-expand-random: tile.random -> integer arithmetic.
//
// In: scalar or elementwise random numbers. Out: the rounds of Philox4x32-10, always unrolled. The one idea: up to here a random number is one op, which can be printed; from here on
// it is arithmetic, which every target runs and LLVM moves out of loops.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tegula {
#define GEN_PASS_DEF_EXPANDRANDOMPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// Emits Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, SC 2011) on i32.
class Philox {
public:
  explicit Philox(RandomOp op) : b(op), loc(op.getLoc()), wide(op.getSeed().getType()), narrow(withElement(b.getI32Type())) {}

  /// The upper 24 bits of the first word as a number in [0, 1).
  Value run(RandomOp op) {
    Value bits = arith::ShRUIOp::create(b, loc, firstWord(op), constant(narrow, b.getI32IntegerAttr(8)));
    Type type = op.getResult().getType();
    Value whole = arith::UIToFPOp::create(b, loc, type, bits);
    return arith::MulFOp::create(b, loc, whole, constant(type, b.getFloatAttr(getElementTypeOrSelf(type), 0x1p-24)));
  }

private:
  Value firstWord(RandomOp op) {
    Value key[] = {low(op.getSeed()), high(op.getSeed())};
    Value counter[] = {low(op.getC0()), low(op.getC1()), low(op.getC2()), low(op.getC3())};
    for (int round = 0; round < 10; ++round) {
      Value first = product(0xD2511F53, counter[0]), second = product(0xCD9E8D57, counter[2]);
      Value next[] = {bitXor(bitXor(high(second), counter[1]), key[0]), low(second), bitXor(bitXor(high(first), counter[3]), key[1]), low(first)};
      std::copy(next, next + 4, counter);
      key[0] = add(key[0], 0x9E3779B9);
      key[1] = add(key[1], 0xBB67AE85);
    }
    return counter[0];
  }

  Type withElement(Type element) {
    auto tile = dyn_cast<RankedTensorType>(wide);
    return tile ? Type(tile.clone(element)) : element;
  }
  Value constant(Type type, TypedAttr element) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return arith::ConstantOp::create(b, loc, tile ? cast<TypedAttr>(DenseElementsAttr::get(tile, Attribute(element))) : element);
  }

  Value low(Value x) { return arith::TruncIOp::create(b, loc, narrow, x); }
  Value high(Value x) { return low(arith::ShRUIOp::create(b, loc, x, constant(wide, b.getI64IntegerAttr(32)))); }
  /// All 64 bits.
  Value product(uint32_t factor, Value x) {
    Value extended = arith::ExtUIOp::create(b, loc, wide, x);
    return arith::MulIOp::create(b, loc, extended, constant(wide, b.getI64IntegerAttr(factor)));
  }
  Value bitXor(Value x, Value y) { return arith::XOrIOp::create(b, loc, x, y); }
  Value add(Value x, uint32_t y) { return arith::AddIOp::create(b, loc, x, constant(narrow, b.getI32IntegerAttr(static_cast<int32_t>(y)))); }

  OpBuilder b;
  Location loc;
  Type wide, narrow;
};

struct ExpandRandomPass : tegula::impl::ExpandRandomPassBase<ExpandRandomPass> {
  void runOnOperation() override {
    getOperation()->walk([&](RandomOp op) {
      op.replaceAllUsesWith(Philox(op).run(op));
      op.erase();
      ++expanded;
    });
  }
};

} // namespace
