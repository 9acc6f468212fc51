//===- EmitLoops.cpp - bounded reductions ---------------------------------===//
//
// `scf.for` with one carried value, or a few copies of its body.
//
//===----------------------------------------------------------------------===//
#include "dialect/tile/ElementLoop.h"
#include "lang/EmitScalar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tegula::lang;
namespace tile = tegula::tile;

/// Up to here a static extent becomes copies of the body.
static constexpr int64_t maxUnrolled = 8;
/// Of copies inside copies.
static constexpr int64_t maxCopies = 64;

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
  if (extent.isConstant() && extent.integer <= maxUnrolled &&
      extent.integer * copies <= maxCopies) {
    llvm::SaveAndRestore inside(copies, copies * extent.integer);
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
  tile::hoistElementCode(loop);
  return loop.getResult(0);
}
