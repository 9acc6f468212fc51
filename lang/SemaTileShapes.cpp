//===- SemaTileShapes.cpp - making and shaping tiles ----------------------===//
//
// Each function gives the shape and the bounds of its result.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;

/// `iota(n)`: 0 .. n - 1, i32.
const Term *KernelSema::typeIota(const Call &call) {
  if (call.shape.size() != 1) {
    report(call.written[0]->range,
           "`iota` makes one axis; use `row` and `col`");
    return errorValue();
  }
  return add(
      node(Term::Iota, TileType(ElemType::I32, call.shape), call.e.range));
}

/// `full(shape, x)`.
const Term *KernelSema::typeFull(const Call &call) {
  const Term *value = call.values[1];
  if (!value->type.isScalar()) {
    report(call.written[1]->range, "`full` repeats a scalar, but this is " +
                                       describe(*value) + "; use `broadcast`");
    return errorValue();
  }
  return stretch(value, call.shape, call.e.range);
}

/// `span(lo, n, hi)`: lo + iota(n), whose lanes end at hi.
const Term *KernelSema::typeSpan(const Call &call) {
  const ast::Expr &e = call.e;
  const Written &args = call.written;
  const Term *low = scalarInteger(*args[0], "the begin of a span");
  std::optional<int64_t> length =
      constantLength(*args[1], "the length of a span");
  const Term *high = scalarInteger(*args[2], "the end of a span");
  if (low->type.isError() || high->type.isError() || !length)
    return errorValue();
  if (*length == 0) {
    report(args[1]->range, "this span has no lanes");
    return errorValue();
  }
  const Term *lanes =
      add(node(Term::Iota, TileType(ElemType::I32, {*length}), e.range));
  lanes = convert(lanes, ElemType::I64, e.range);
  TileType type(ElemType::I64, {*length});
  Bound bound{low, high,
              "`" + toText(*args[0]) + "` against `" + toText(*args[2]) + "`"};
  if (!covers(bound, *length))
    type.bounds[0] = bound;
  Term sum = node(Term::Operator, type, e.range, {low, lanes});
  sum.op = Op::Add;
  return add(std::move(sum));
}

/// `row(x)` is [1, n], `col(x)` is [n, 1].
const Term *KernelSema::typeSpread(const Call &call) {
  unsigned axis = call.e.name == "row" ? 1 : 0;
  const Term *value = call.values[0];
  TileType type(value->type.elem, {1, 1});
  type.shape[axis] = value->type.shape[0];
  type.bounds[axis] = value->type.bounds[0];
  Term result = node(Term::Spread, type, call.e.range, {value});
  result.axis = axis;
  result.zeroPast = value->zeroPast << axis;
  return add(std::move(result));
}

/// `transpose(x)` of rank 2, or `transpose(x, [axes])`.
const Term *KernelSema::typeTranspose(const Call &call) {
  const ast::Expr *axes = call.written[1];
  const Term *value =
      axes ? call.values[0] : expectTile(*call.written[0], call.e.name, 2);
  if (value->type.isError())
    return value;
  unsigned rank = value->type.rank();
  llvm::SmallVector<int64_t, 4> permutation = {1, 0};
  if (axes) {
    permutation.clear();
    if (axes->kind == ast::Expr::Shape)
      for (const ast::ExprPtr &part : axes->args) {
        std::optional<unsigned> axis = typeAxisNumber(*part, *value);
        if (!axis)
          return errorValue();
        permutation.push_back(*axis);
      }
    llvm::SmallVector<int64_t, 4> sorted = permutation;
    llvm::sort(sorted);
    if (!llvm::equal(sorted, llvm::seq<int64_t>(0, rank))) {
      report(axes->range, "`axes` names each of the " + llvm::Twine(rank) +
                              " axes once, as in `[1, 0]`");
      return errorValue();
    }
  }
  Term result = node(Term::Transpose, value->type, call.e.range, {value});
  result.permutation = permutation;
  for (unsigned axis = 0; axis < rank; ++axis) {
    unsigned from = permutation[axis];
    result.type.shape[axis] = value->type.shape[from];
    result.type.bounds[axis] = value->type.bounds[from];
    result.zeroPast |= (value->zeroPast >> from & 1) << axis;
  }
  return add(std::move(result));
}

/// `reshape(x, shape)`: row-major; an axis that has a bound stays as it is.
const Term *KernelSema::typeReshape(const Call &call) {
  const ast::Expr &e = call.e;
  const Term *value = call.values[0];
  llvm::ArrayRef<int64_t> shape = call.shape;
  auto count = [](llvm::ArrayRef<int64_t> extents) {
    int64_t elements = 1;
    for (int64_t extent : extents)
      elements *= extent;
    return elements;
  };
  if (count(shape) != count(value->type.shape)) {
    report(e.range, "`reshape` keeps the elements, but " + describe(*value) +
                        " has " + llvm::Twine(count(value->type.shape)) +
                        " and the shape " + llvm::Twine(count(shape)));
    return errorValue();
  }
  TileType type(value->type.elem, shape);
  Term result = node(Term::Reshape, type, e.range, {value});
  unsigned from = value->type.rank(), to = shape.size();
  for (unsigned axis = 0; axis < from; ++axis) {
    const Bound &bound = value->type.bounds[axis];
    if (!bound)
      continue;
    // The axis is kept where what stands before and behind it is.
    llvm::ArrayRef<int64_t> old = value->type.shape, now = shape;
    int kept = -1;
    for (unsigned other = 0; other < to; ++other)
      if (now[other] == old[axis] &&
          count(now.take_front(other)) == count(old.take_front(axis)))
        kept = int(other);
    if (kept < 0) {
      report(e.range, "`reshape` mixes axis " + llvm::Twine(axis) +
                          ", whose lanes end at a bound (" + bound.text +
                          "); load with `fill` first");
      return errorValue();
    }
    result.type.bounds[kept] = bound;
    result.zeroPast |= (value->zeroPast >> axis & 1) << kept;
  }
  return add(std::move(result));
}

/// `broadcast(x, shape)`: axes of extent 1, or a scalar, stretch.
const Term *KernelSema::typeBroadcast(const Call &call) {
  const ast::Expr &e = call.e;
  const Term *value = call.values[0];
  llvm::ArrayRef<int64_t> shape = call.shape;
  if (!checkOperand(*value, *call.written[0], e.name))
    return errorValue();
  if (value->type.isTile()) {
    bool fits = value->type.rank() == shape.size();
    for (size_t axis = 0; fits && axis < shape.size(); ++axis)
      fits = value->type.shape[axis] == shape[axis] ||
             (value->type.shape[axis] == 1 && !value->type.bounds[axis]);
    if (!fits) {
      report(e.range, "`broadcast` stretches axes of extent 1, but this is " +
                          describe(*value) +
                          (value->type.rank() == 1 && shape.size() == 2
                               ? "; use `row` or `col`"
                               : ""));
      return errorValue();
    }
  }
  return stretch(value, shape, e.range);
}
