//===- EmitLoops.cpp - bounded reductions and random numbers --------------===//
//
// The two expressions whose code is a loop: a bounded reduction, `scf.for` with
// one carried value or a few copies of its body; and the rounds of Philox,
// always unrolled.
//
//===----------------------------------------------------------------------===//
#include "dialect/tile/TileDialect.h"
#include "lang/EmitScalar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tegula::lang;
namespace tile = tegula::tile;

//===----------------------------------------------------------------------===//
// Bounded reductions
//===----------------------------------------------------------------------===//

/// Up to here a static extent becomes copies of the body.
static constexpr int64_t maxUnrolled = 8;

/// `before` with the body's value at `variable`. What the body emits may stand
/// inside a loop, so it is forgotten.
Value ScalarEmitter::emitIteration(const Expr &e, Value variable, Value before,
                                   Location loc) {
  llvm::SaveAndRestore forget(known);
  variables[e.number] = variable;
  Value value = emit(*e.args[1]);
  if (e.type == ElemType::Bool)
    return ops(loc).emitBool(e.op, {before, value});
  return lang::isFloat(e.type)
             ? ops(loc).emitFloat(e.op, {before, value})
             : ops(loc).emitInteger(e.op, {before, value}, {});
}

Value ScalarEmitter::emitBounded(const Expr &e, Location loc) {
  const Expr &extent = *e.args[0];
  Value start = lang::isFloat(e.type) ? realConstant(realIdentity(e.op), loc)
                : e.type == ElemType::Bool
                    ? boolConstant(integerIdentity(e.op), loc)
                    : integerConstant(integerIdentity(e.op), loc);
  if (extent.isConstant() && extent.integer <= maxUnrolled) {
    Value result = start;
    for (int64_t n = 0; n < extent.integer; ++n)
      result = emitIteration(e, integerConstant(n, loc), result, loc);
    return result;
  }
  Value upper = emit(extent);
  auto loop = scf::ForOp::create(builder, loc, integerConstant(0, loc), upper,
                                 integerConstant(1, loc), ValueRange{start});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value result =
        emitIteration(e, loop.getInductionVar(), loop.getRegionIterArg(0), loc);
    scf::YieldOp::create(builder, loc, result);
  }
  // A divided index, say, need not be divided again for each value. No op of
  // an element's code traps.
  moveLoopInvariantCode(
      {&loop.getRegion()},
      [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
      [](Operation *op, Region *) {
        return !op->hasTrait<OpTrait::IsTerminator>() &&
               (isMemoryEffectFree(op) || isa<tile::LookupOp>(op));
      },
      [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
  return loop.getResult(0);
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

namespace {
/// Emits Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as
/// easy as 1, 2, 3, SC 2011) on i32.
class Philox {
public:
  Philox(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  /// The first of the four words. Operands are i64: the key, then counters of
  /// which the low 32 bits count.
  Value firstWord(ValueRange args) {
    Value key[] = {low(args[0]), high(args[0])};
    Value counter[] = {low(args[1]), low(args[2]), low(args[3]), low(args[4])};
    for (int round = 0; round < 10; ++round) {
      Value first = product(0xD2511F53, counter[0]);
      Value second = product(0xCD9E8D57, counter[2]);
      Value next[] = {
          bitXor(bitXor(high(second), counter[1]), key[0]), low(second),
          bitXor(bitXor(high(first), counter[3]), key[1]), low(first)};
      std::copy(next, next + 4, counter);
      key[0] = add(key[0], 0x9E3779B9);
      key[1] = add(key[1], 0xBB67AE85);
    }
    return counter[0];
  }

private:
  Value low(Value wide) {
    return arith::TruncIOp::create(builder, loc, builder.getI32Type(), wide);
  }
  Value high(Value wide) {
    Value shift =
        arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32));
    return low(arith::ShRUIOp::create(builder, loc, wide, shift));
  }
  /// All 64 bits.
  Value product(uint32_t factor, Value x) {
    Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), x);
    Value by = arith::ConstantOp::create(builder, loc,
                                         builder.getI64IntegerAttr(factor));
    return arith::MulIOp::create(builder, loc, wide, by);
  }
  Value bitXor(Value a, Value b) {
    return arith::XOrIOp::create(builder, loc, a, b);
  }
  Value add(Value a, uint32_t b) {
    Value by = arith::ConstantOp::create(builder, loc,
                                         builder.getI32IntegerAttr(int32_t(b)));
    return arith::AddIOp::create(builder, loc, a, by);
  }

  OpBuilder &builder;
  Location loc;
};
} // namespace

/// The upper 24 bits of the word as a number in [0, 1).
Value ScalarEmitter::emitRandom(ValueRange args, Location loc) {
  Value word = Philox(builder, loc).firstWord(args);
  Value eight =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(8));
  Value bits = arith::ShRUIOp::create(builder, loc, word, eight);
  Value whole = arith::UIToFPOp::create(builder, loc, accumulator(), bits);
  return arith::MulFOp::create(builder, loc, whole, realConstant(0x1p-24, loc));
}
