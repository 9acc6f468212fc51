//===- EvaluateReductions.cpp - reductions and products, interpreted ------===//
//
// Along an axis, the lanes inside its bound are looked at only.
//
//===----------------------------------------------------------------------===//
#include "KernelEvaluator.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace tegula;
using namespace tegula::generated;
using lang::isFloat;
using lang::isInteger;

/// Calls `visit(at, numbers)` for each line of lanes along `axis` that is
/// inside the other axes' bounds, with the lanes inside.
template <typename Visit>
static void forLines(const Tile &tile, unsigned axis, Visit visit) {
  llvm::SmallVector<int64_t, 3> outer = tile.shape;
  outer[axis] = 1;
  forLanes(outer, [&](int64_t line, llvm::ArrayRef<int64_t> at) {
    llvm::SmallVector<int64_t, 3> index(at.begin(), at.end());
    std::vector<Number> numbers;
    for (unsigned other = 0; other < tile.rank(); ++other)
      if (other != axis && index[other] >= tile.live[other])
        return;
    for (index[axis] = 0; index[axis] < tile.live[axis]; ++index[axis])
      numbers.push_back(tile.lanes[laneAt(tile.shape, index)]);
    index[axis] = 0;
    visit(line, llvm::ArrayRef<int64_t>(index), numbers);
  });
}

static Tile without(const Tile &tile, unsigned axis, ElemType elem) {
  llvm::SmallVector<int64_t, 3> shape = tile.shape;
  shape.erase(shape.begin() + axis);
  Tile result = blank(elem, shape);
  result.live = tile.live;
  result.live.erase(result.live.begin() + axis);
  return result;
}

static Number indexOfLargest(ElemType elem, llvm::ArrayRef<Number> numbers) {
  if (numbers.empty())
    return Number::unknown();
  size_t best = 0;
  for (size_t n = 1; n < numbers.size(); ++n) {
    if (isFloat(elem) && std::isnan(numbers[best].real))
      break;
    if (isFloat(elem) && std::isnan(numbers[n].real)) {
      best = n;
      break;
    }
    Number larger = apply(Op::Gt, elem, {numbers[n], numbers[best]});
    if (!larger.isKnown())
      return Number::unknown();
    if (larger.integer)
      best = n;
  }
  return Number::ofInteger(static_cast<int64_t>(best));
}

Tile KernelEvaluator::reduction(const Expr &e) {
  Tile tile = value(*e.args[0]);
  unsigned axis = number(*argument(e, 1, "axis"));
  tile = converted(tile, computeType(tile.elem));
  bool isArgMax = e.name == "argmax";
  Tile result = without(tile, axis, isArgMax ? ElemType::I32 : tile.elem);
  forLines(tile, axis, [&](int64_t line, auto, const auto &numbers) {
    Number &into = result.lanes[line];
    if (isArgMax) {
      into = indexOfLargest(tile.elem, numbers);
    } else if (e.name == "sum") {
      into = sum(tile.elem, numbers);
    } else {
      bool ofBools = e.name == "any" || e.name == "all";
      Op op = llvm::StringSwitch<Op>(e.name)
                  .Case("any", Op::Or)
                  .Case("all", Op::And)
                  .Case("min", Op::Min)
                  .Default(Op::Max);
      into =
          ofBools ? Number::ofInteger(op == Op::And) : identity(op, tile.elem);
      for (const Number &number : numbers)
        into = apply(op, tile.elem, {into, number});
    }
  });
  return result;
}

Tile KernelEvaluator::combined(const Expr &e) {
  Tile tile = value(*argument(e, 0, "x"));
  tile = converted(tile, computeType(tile.elem));
  const lang::ast::Fn &fn = *file.findFn(argument(e, 1, "f")->name);
  Tile init = converted(value(*argument(e, 2, "init")), tile.elem);
  unsigned axis = number(*argument(e, 3, "axis"));
  Tile result = without(tile, axis, tile.elem);
  forLines(tile, axis, [&](int64_t line, auto, const auto &numbers) {
    Tile into = init;
    into.isConstant = false;
    Tile next = into;
    for (const Number &number : numbers) {
      next.lanes = {number};
      into = converted(inlined(fn, {into, next}), tile.elem);
    }
    result.lanes[line] = into.scalar();
  });
  return result;
}

Tile KernelEvaluator::cumulative(const Expr &e) {
  Tile tile = value(*e.args[0]);
  unsigned axis = number(*argument(e, 1, "axis"));
  tile = converted(tile, computeType(tile.elem));
  Tile result = blank(tile.elem, tile.shape);
  result.live = tile.live;
  forLines(tile, axis, [&](int64_t, auto at, llvm::ArrayRef<Number> numbers) {
    llvm::SmallVector<int64_t, 3> index(at.begin(), at.end());
    for (size_t n = 0; n < numbers.size(); ++n) {
      index[axis] = static_cast<int64_t>(n);
      result.lanes[laneAt(tile.shape, index)] =
          sum(tile.elem, numbers.take_front(n + 1));
    }
  });
  return result;
}

Tile KernelEvaluator::product(const Expr &e) {
  Tile a = value(*e.args[0]), b = value(*e.args[1]);
  ElemType elem = a.elem == ElemType::F64 ? ElemType::F64
                  : isInteger(a.elem)     ? ElemType::I32
                                          : ElemType::F32;
  Tile result = blank(elem, {a.shape[0], b.shape[1]});
  result.live = {a.live[0], b.live[1]};
  int64_t inner = std::min(a.live[1], b.live[0]);
  Tile accumulator;
  if (e.args.size() > 2) {
    accumulator = converted(value(*e.args[2]), elem);
    for (unsigned axis : {0, 1})
      result.live[axis] = std::min(result.live[axis], accumulator.live[axis]);
  }
  forLanes(result.shape, [&](int64_t lane, auto at) {
    std::vector<Number> left, right;
    for (int64_t k = 0; k < inner; ++k) {
      left.push_back(a.lanes[at[0] * a.shape[1] + k]);
      right.push_back(b.lanes[k * b.shape[1] + at[1]]);
    }
    if (!isLive(result, at))
      return;
    result.lanes[lane] = sum(elem, left, right);
    if (accumulator.rank())
      result.lanes[lane] =
          apply(Op::Add, elem, {accumulator.lanes[lane], result.lanes[lane]});
  });
  return result;
}
