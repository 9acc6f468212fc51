//===- SemaTileReductions.cpp - products and reductions of tiles ----------===//
//
// Lanes past a bound take no part, so that the reduced axis takes its bound
// along.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tegula::lang;
using llvm::StringRef;

/// `dot(a, b[, acc])`: f32, or f64 and i32 by operand.
const Term *KernelSema::typeDot(const Call &call) {
  const ast::Expr &e = call.e;
  const Written &args = call.written;
  const Term *a = call.values[0], *b = call.values[1], *acc = call.values[2];
  ElemType elem = a->type.elem;
  auto isNarrow = [](ElemType type) {
    return type == ElemType::F16 || type == ElemType::BF16;
  };
  if (elem != b->type.elem) {
    // What was computed is rounded to the type of what was loaded.
    bool narrowB = isNarrow(b->type.elem), narrowA = isNarrow(elem);
    std::string hint;
    if (narrowB != narrowA) {
      StringRef to = elemTypeName(narrowB ? b->type.elem : elem);
      std::string left = toText(*args[0]), right = toText(*args[1]);
      hint =
          narrowB
              ? (", write `dot(" + to + "(" + left + "), " + right + ")`").str()
              : (", write `dot(" + left + ", " + to + "(" + right + "))`")
                    .str();
    }
    report(e.range, "operand types " + elemTypeName(elem) + " and " +
                        elemTypeName(b->type.elem) + " differ" + hint);
    return errorValue();
  }
  if (elem == ElemType::Bool || elem == ElemType::U8 || elem == ElemType::I16 ||
      elem == ElemType::I64) {
    report(e.range, "`dot` takes f16, bf16, f32, f64, i8 or i32, but got " +
                        elemTypeName(elem));
    return errorValue();
  }
  int64_t rows = a->type.shape[0], cols = b->type.shape[1];
  if (a->type.shape[1] != b->type.shape[0]) {
    bool transposed = a->type.shape[1] == cols;
    report(e.range,
           "`dot` of " + describe(*a) + " and " + describe(*b) +
               ": the inner extents " + llvm::Twine(a->type.shape[1]) +
               " and " + llvm::Twine(b->type.shape[0]) + " differ" +
               (transposed ? "; write `transpose(" + toText(*args[1]) + ")`"
                           : ""));
    return errorValue();
  }
  Bound inner = a->type.bounds[1];
  if (b->type.bounds[0] && inner && inner != b->type.bounds[0]) {
    report(e.range, "the inner lanes are bounded by " + inner.text +
                        " in one operand and by " + b->type.bounds[0].text +
                        " in the other");
    return errorValue();
  }
  ElemType result = elem == ElemType::F64 ? ElemType::F64
                    : isInteger(elem)     ? ElemType::I32
                                          : ElemType::F32;
  TileType type(result, {rows, cols});
  type.bounds[0] = a->type.bounds[0];
  type.bounds[1] = b->type.bounds[1];
  Term value = node(Term::Dot, type, e.range, {a, b});
  if (acc) {
    if (acc->kind == Term::Splat && acc->args[0]->isConstant() &&
        isFloat(acc->type.elem) == isFloat(result))
      acc = convert(acc, result, acc->range);
    if (acc->type.elem != result || acc->type.shape != type.shape) {
      report(args[2]->range, "this `dot` gives " + describe(type) +
                                 ", but the accumulator is " + describe(*acc));
      return errorValue();
    }
    for (unsigned axis : {0, 1})
      if (!joinBound(e.range, axis, acc->type.bounds[axis],
                     value.type.bounds[axis]))
        return errorValue();
    value.args.push_back(acc);
  }
  return add(std::move(value));
}

/// The type of `tile` without `axis`.
static TileType without(const Term &tile, unsigned axis, ElemType elem,
                        unsigned &zeroPast) {
  TileType type = tile.type;
  type.elem = elem;
  type.shape.erase(type.shape.begin() + axis);
  type.bounds.erase(type.bounds.begin() + axis);
  unsigned low = (1u << axis) - 1;
  zeroPast = (tile.zeroPast & low) | (tile.zeroPast >> 1 & ~low);
  return type;
}

std::optional<TileReduction> KernelSema::reductionOf(StringRef name) {
  return llvm::StringSwitch<std::optional<TileReduction>>(name)
      .Case("sum", TileReduction::Sum)
      .Case("min", TileReduction::Min)
      .Case("max", TileReduction::Max)
      .Case("argmax", TileReduction::ArgMax)
      .Case("any", TileReduction::Any)
      .Case("all", TileReduction::All)
      .Default(std::nullopt);
}

/// `sum(x, axis = n)` and the like.
const Term *KernelSema::typeReduction(const Call &call) {
  const ast::Expr &e = call.e;
  TileReduction reduction = *reductionOf(e.name);
  const Term *tile = call.values[0];
  if (!tile->type.isTile()) {
    report(e.range,
           e.name == "min" || e.name == "max"
               ? "`" + e.name + "` takes two values, or a tile and `axis =`"
               : "`" + e.name + "` reduces a tile, but got " + describe(*tile));
    return errorValue();
  }
  if (!call.written[1]) {
    report(e.range, "`" + e.name + "` of a tile needs `axis =`");
    return errorValue();
  }
  std::optional<unsigned> axis = typeAxisNumber(*call.written[1], *tile);
  bool ofBools =
      reduction == TileReduction::Any || reduction == TileReduction::All;
  if (!axis || !(ofBools ? expectBools(e.name, {tile}, call.written)
                         : expectNumbers(e.name, {tile}, call.written)))
    return errorValue();
  tile = widen(tile);
  unsigned zeroPast;
  TileType type = without(*tile, *axis,
                          reduction == TileReduction::ArgMax ? ElemType::I32
                                                             : tile->type.elem,
                          zeroPast);
  Term value = node(Term::Reduce, type, e.range, {tile});
  value.reduction = reduction;
  value.axis = *axis;
  // The others give no 0 where the reduced axis has no lanes.
  if (reduction == TileReduction::Sum || reduction == TileReduction::Any)
    value.zeroPast = zeroPast;
  return add(std::move(value));
}

/// `cumsum(x, axis = n)`.
const Term *KernelSema::typeCumSum(const Call &call) {
  const Term *tile = call.values[0];
  if (!expectNumbers(call.e.name, {tile}, call.written))
    return errorValue();
  tile = widen(tile);
  Term value = node(Term::CumSum, tile->type, call.e.range, {tile});
  value.axis = call.axis;
  return add(std::move(value));
}

/// `reduce(x, f, init, axis = n)`: f is an associative `fn f(a, b)`, init its
/// neutral element.
const Term *KernelSema::typeCombine(const Call &call) {
  const ast::Expr &e = call.e;
  const Written &args = call.written;
  const ast::Fn *fn =
      args[1]->kind == ast::Expr::Name ? file.findFn(args[1]->name) : nullptr;
  if (!fn) {
    report(args[1]->range, "`reduce` takes the name of a `fn f(a, b)`, but "
                           "got `" +
                               toText(*args[1]) + "`");
    return errorValue();
  }
  const Term *tile = widen(call.values[0]), *init = call.values[2];
  ElemType elem = tile->type.elem;
  if (init->isConstant() && elem != ElemType::Bool &&
      init->type.elem != ElemType::Bool &&
      (isFloat(elem) || isInteger(init->type.elem)))
    init = convert(init, elem, init->range);
  if (!init->type.isScalar() || init->type.elem != elem) {
    report(args[2]->range, "`init` is a scalar of the tile's type " +
                               elemTypeName(elem) + ", but this is " +
                               describe(*init));
    return errorValue();
  }
  unsigned zeroPast;
  Term value = node(Term::Combine, without(*tile, call.axis, elem, zeroPast),
                    e.range, {tile, init});
  value.axis = call.axis;
  for (int i = 0; i < 2; ++i)
    value.parameters.push_back(local(elem, args[1]->range));
  value.result = inlineFn(*fn, {value.parameters[0], value.parameters[1]},
                          {args[1], args[1]}, *args[1]);
  if (value.result->type.isError())
    return errorValue();
  if (value.result->isConstant() &&
      isFloat(elem) == isFloat(value.result->type.elem))
    value.result = convert(value.result, elem, e.range);
  if (!value.result->type.isScalar() || value.result->type.elem != elem) {
    report(args[1]->range,
           "`" + fn->name.text + "` of two " + elemTypeName(elem) + " gives " +
               describe(*value.result) + ", not " + elemTypeName(elem))
        .note(fn->name.range, "defined here");
    return errorValue();
  }
  return add(std::move(value));
}
