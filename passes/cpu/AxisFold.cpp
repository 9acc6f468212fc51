// The neutral element and the step of each kind of reduction.
#include "passes/cpu/AxisFold.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

std::optional<AxisFold> AxisFold::of(Operation *op) {
  if (!isa<ReduceOp, CombineOp>(op))
    return std::nullopt;
  return AxisFold(op);
}

int64_t AxisFold::axis() const {
  if (auto combine = dyn_cast<CombineOp>(op))
    return combine.getAxis();
  return cast<ReduceOp>(op).getReducedAxis();
}

static TypedAttr neutralFloat(ReduceKind kind, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  switch (kind) {
  case ReduceKind::Add:
    return FloatAttr::get(type, APFloat::getZero(semantics));
  case ReduceKind::Max: // NaN is neutral in maxnum: a row of NaNs alone stays NaN
    return FloatAttr::get(type, APFloat::getNaN(semantics));
  case ReduceKind::Minimum:
    return FloatAttr::get(type, APFloat::getInf(semantics));
  default:
    return FloatAttr::get(type, APFloat::getInf(semantics, /*Negative=*/true));
  }
}

static TypedAttr neutralInteger(ReduceKind kind, IntegerType type) {
  unsigned width = type.getWidth();
  switch (kind) {
  case ReduceKind::And:
    return IntegerAttr::get(type, APInt::getAllOnes(width));
  case ReduceKind::Minimum:
    return IntegerAttr::get(type, APInt::getSignedMaxValue(width));
  case ReduceKind::Maximum:
  case ReduceKind::Argmax:
    return IntegerAttr::get(type, APInt::getSignedMinValue(width));
  default:
    return IntegerAttr::get(type, APInt::getZero(width));
  }
}

SmallVector<Value> AxisFold::start(ImplicitLocOpBuilder &b) const {
  auto type = cast<RankedTensorType>(tile().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis());
  SmallVector<Value> neutral;
  if (auto combine = dyn_cast<CombineOp>(op)) {
    neutral.push_back(combine.getInit());
  } else {
    ReduceKind kind = cast<ReduceOp>(op).getKind();
    auto element = dyn_cast<FloatType>(type.getElementType());
    TypedAttr value = element ? neutralFloat(kind, element) : neutralInteger(kind, cast<IntegerType>(type.getElementType()));
    neutral.push_back(arith::ConstantOp::create(b, value));
    if (kind == ReduceKind::Argmax)
      neutral.push_back(arith::ConstantOp::create(b, b.getI32IntegerAttr(0)));
  }
  return llvm::map_to_vector(neutral, [&](Value value) {
    Value empty = tensor::EmptyOp::create(b, shape, value.getType());
    return linalg::FillOp::create(b, value, empty).getResult(0);
  });
}

/// The first of the largest elements; a NaN is larger than any number.
static SmallVector<Value> argmaxStep(ImplicitLocOpBuilder &b, ValueRange carried, Value x, int64_t axis) {
  Value best = carried[0], larger;
  if (isa<FloatType>(x.getType())) {
    Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
    Value wasNumber = arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, best, best);
    Value firstNaN = arith::AndIOp::create(b, isNaN, wasNumber);
    larger = arith::OrIOp::create(b, arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, best), firstNaN);
  } else {
    larger = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, x, best);
  }
  Value place = arith::IndexCastOp::create(b, b.getI32Type(), linalg::IndexOp::create(b, axis));
  return {arith::SelectOp::create(b, larger, x, best), arith::SelectOp::create(b, larger, place, carried[1])};
}

SmallVector<Value> AxisFold::step(ImplicitLocOpBuilder &b, ValueRange carried, Value x) const {
  Value so = carried[0];
  if (auto combine = dyn_cast<CombineOp>(op)) {
    Block &body = combine.getBody().front();
    IRMapping map;
    map.map(body.getArguments(), ValueRange{so, x});
    for (Operation &inner : body.without_terminator())
      b.clone(inner, map);
    return {map.lookupOrDefault(body.getTerminator()->getOperand(0))};
  }
  bool isFloat = isa<FloatType>(x.getType());
  switch (cast<ReduceOp>(op).getKind()) {
  case ReduceKind::Add:
    return {isFloat ? arith::AddFOp::create(b, so, x).getResult() : arith::AddIOp::create(b, so, x).getResult()};
  case ReduceKind::Max:
    return {arith::MaxNumFOp::create(b, so, x)};
  case ReduceKind::Maximum:
    return {isFloat ? arith::MaximumFOp::create(b, so, x).getResult() : arith::MaxSIOp::create(b, so, x).getResult()};
  case ReduceKind::Minimum:
    return {isFloat ? arith::MinimumFOp::create(b, so, x).getResult() : arith::MinSIOp::create(b, so, x).getResult()};
  case ReduceKind::Argmax:
    return argmaxStep(b, carried, x, axis());
  case ReduceKind::And:
    return {arith::AndIOp::create(b, so, x)};
  case ReduceKind::Or:
    return {arith::OrIOp::create(b, so, x)};
  }
  llvm_unreachable("every kind has a step");
}
