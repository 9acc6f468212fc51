// shfl.sync moves 32 bits: narrower values widen, wider ones move in halves.
#include "passes/lower/Shuffle.h"
#include "passes/lower/LowerWarp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tegula;

Value tegula::shuffle(OpBuilder &b, Location loc, Value value, Value lane, NVVM::ShflKind kind) {
  Type type = value.getType(), i32 = b.getI32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  auto word = [&](Value part) -> Value {
    Value all = constantInt(b, loc, -1), lanes = constantInt(b, loc, 31);
    return NVVM::ShflOp::create(b, loc, part.getType(), all, part, lane, lanes, kind, UnitAttr());
  };
  if (width == 32)
    return word(value);
  Type bits = b.getIntegerType(width);
  Value whole = type == bits ? value : arith::BitcastOp::create(b, loc, bits, value).getResult();
  if (width < 32) {
    whole = arith::TruncIOp::create(b, loc, bits, word(arith::ExtUIOp::create(b, loc, i32, whole)));
  } else {
    Value half = constantInt(b, loc, 32, 64);
    Value low = word(arith::TruncIOp::create(b, loc, i32, whole));
    Value high = word(arith::TruncIOp::create(b, loc, i32, arith::ShRUIOp::create(b, loc, whole, half)));
    Value upper = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, bits, high), half);
    whole = arith::OrIOp::create(b, loc, upper, arith::ExtUIOp::create(b, loc, bits, low));
  }
  return type == bits ? whole : arith::BitcastOp::create(b, loc, type, whole).getResult();
}
