//===- EmitSoftmaxState.cpp - the softmax state as a value ----------------===//
//
// A state is three values: the largest score of each row, the sum of its
// weights relative to that, and the accumulated output.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitKernelImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tegula::lang;
namespace tile = tegula::tile;

Emitted ProgramEmitter::emitState(const Term &v) {
  auto rows = tileType(v.type.shape[0], v.type.elem);
  return {{ops().constant(rows, -infinity), ops().constant(rows, 0.0),
           ops().constant(typeOf(v.type), 0.0)},
          {}};
}

/// Hidden scores become -inf: those that `keep` hides, and keys past their
/// bound.
Value ProgramEmitter::visibleScores(const Term &v, Value scores) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(scores.getType()).getShape();
  Value keep;
  if (const Term *written = v.args[3])
    keep = written->type.isScalar() ? splat(emitScalar(*written), shape)
                                    : emitTile(*written);
  if (v.keys)
    keep = both(keep, inBound(v.keys, 1, shape));
  if (!keep)
    return scores;
  return arith::SelectOp::create(b, loc, keep, scores,
                                 ops().constant(scores.getType(), -infinity));
}

Emitted ProgramEmitter::emitOnlineSoftmax(const Term &v) {
  Emitted state = emit(*v.args[0]);
  Value scores = visibleScores(v, emitTile(*v.args[1]));
  auto softmax = tile::OnlineSoftmaxOp::create(
      b, loc, scores, state.parts[0], state.parts[1], llvm::APFloat(1.0), 0);
  Value rescaled =
      tile::ScaleRowsOp::create(b, loc, state.parts[2], softmax.getRescale());
  Value weights = softmax.getWeights();
  if (const Term *weight = v.args[4])
    weights = weighted(weights,
                       weight->type.isScalar()
                           ? splat(emitScalar(*weight), v.args[1]->type.shape)
                           : emitTile(*weight));
  const Term &second = *v.args[2];
  if (second.type.elem != v.type.elem)
    weights = ops().emitConvert(weights, v.type.elem, second.type.elem);
  Value vTile = emitTile(second);
  // A weight of 0 does not silence what is not finite.
  if (v.keys && !(second.type.bounds[0] && (second.zeroPast & 1)))
    vTile = neutralise(
        vTile, v.keys, 0,
        ops().constant(elementType(second.type.elem, b.getContext()), 0.0));
  Value acc = tile::DotOp::create(b, loc, rescaled.getType(), weights, vTile,
                                  rescaled, /*transpose_b=*/false);
  return {{softmax.getNewMax(), softmax.getNewSum(), acc}, {}};
}

/// What has no weight stays without, whatever the factor is there.
Value ProgramEmitter::weighted(Value weights, Value factor) {
  Value none = ops().constant(weights.getType(), 0.0);
  Value isNone =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, weights, none);
  return arith::SelectOp::create(
      b, loc, isNone, none, arith::MulFOp::create(b, loc, weights, factor));
}

Emitted ProgramEmitter::emitMerge(const Term &v) {
  Emitted x = emit(*v.args[0]), y = emit(*v.args[1]);
  auto merged = tile::MergeOp::create(b, loc, x.parts[0], x.parts[1],
                                      x.parts[2], y.parts[0], y.parts[1],
                                      y.parts[2], b.getF64FloatAttr(1.0));
  return {{merged.getMax(), merged.getSum(), merged.getAcc()}, {}};
}

/// With the lse as maximum the sum is 1, and 0 where no key was seen.
Emitted ProgramEmitter::emitPartial(const Term &v) {
  Value output = emitTile(*v.args[0]), lse = emitTile(*v.args[1]);
  Type rows = lse.getType();
  Value none = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, lse,
                                     ops().constant(rows, -infinity));
  Value zero = ops().constant(rows, 0.0), one = ops().constant(rows, 1.0);
  Value sum = arith::SelectOp::create(b, loc, none, zero, one);
  return {{lse, sum, output}, {}};
}

/// The running maximum passes NaN over, the sum does not.
Value ProgramEmitter::rowMax(const Term &state) {
  Emitted parts = emit(state);
  Value sum = parts.parts[1];
  Value isNaN =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, sum, sum);
  return arith::SelectOp::create(b, loc, isNaN, sum, parts.parts[0]);
}

/// One op gives both output and lse, where both are asked for in one block.
tile::FinishOp ProgramEmitter::finish(const Term &state) {
  Emitted parts = emit(state);
  for (Operation *user : parts.parts[1].getUsers())
    if (auto op = dyn_cast<tile::FinishOp>(user))
      if (op->getBlock() == b.getInsertionBlock() &&
          op.getAcc() == parts.parts[2] && op.getMax() == parts.parts[0])
        return op;
  return tile::FinishOp::create(b, loc, parts.parts[0], parts.parts[1],
                                parts.parts[2], b.getF64FloatAttr(1.0));
}
