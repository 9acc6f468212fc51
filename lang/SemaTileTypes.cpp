//===- SemaTileTypes.cpp - operands of tile operations meet ---------------===//
//
// Ranks and extents have to match, bounds of axes are joined, numbers come to
// one type.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Shapes and bounds
//===----------------------------------------------------------------------===//

bool KernelSema::joinBound(SMRange range, unsigned axis, const Bound &bound,
                           Bound &into) {
  if (!bound || into == bound)
    return true;
  if (!into) {
    into = bound;
    return true;
  }
  report(range, "lanes of axis " + llvm::Twine(axis) + " are bounded by " +
                    into.text + " on one side and by " + bound.text +
                    " on the other; load with `fill`, or slice both alike");
  return false;
}

std::string KernelSema::briefText(const ast::Expr &e) {
  std::string text = toText(e);
  return text.size() <= 24 ? text : "x";
}

bool KernelSema::joinShapes(SMRange range, const Terms &args,
                            const Written &written, TileType &type) {
  const Term *first = nullptr;
  for (size_t i = 0; i < args.size(); ++i) {
    const Term &arg = *args[i];
    if (!arg.type.isTile())
      continue;
    if (!first) {
      first = &arg;
      type.shape = arg.type.shape;
      type.bounds = arg.type.bounds;
      continue;
    }
    unsigned rank = type.rank(), other = arg.type.rank();
    if (rank != other) {
      const ast::Expr *low = written[i];
      if (rank < other)
        for (size_t k = 0; k < i; ++k)
          if (args[k]->type.isTile() && args[k]->type.rank() == rank)
            low = written[k];
      std::string text = briefText(*low);
      report(range,
             "ranks " + llvm::Twine(rank) + " and " + llvm::Twine(other) +
                 " differ" +
                 (std::min(rank, other) == 1 && std::max(rank, other) == 2
                      ? ", use `row(" + text + ")` or `col(" + text + ")`"
                      : std::string("; use `reshape`")));
      return false;
    }
    for (unsigned axis = 0; axis < rank; ++axis) {
      int64_t &extent = type.shape[axis], given = arg.type.shape[axis];
      Bound &bound = type.bounds[axis];
      const Bound &given_bound = arg.type.bounds[axis];
      if (extent == given) {
        if (!joinBound(range, axis, given_bound, bound))
          return false;
      } else if (extent != 1 && given != 1) {
        report(range, "extents " + llvm::Twine(extent) + " and " +
                          llvm::Twine(given) + " of axis " + llvm::Twine(axis) +
                          " differ");
        return false;
      } else {
        const Bound &narrow = extent == 1 ? bound : given_bound;
        if (narrow) {
          report(range, "axis " + llvm::Twine(axis) +
                            " of extent 1 is bounded by " + narrow.text +
                            " and cannot stretch; load it with `fill`, or "
                            "with an index");
          return false;
        }
        if (extent == 1)
          bound = given_bound;
        extent = std::max(extent, given);
      }
    }
  }
  return true;
}

/// `value` with its axes of extent 1, or a scalar, stretched to `shape`.
const Term *KernelSema::stretch(const Term *value,
                                llvm::ArrayRef<int64_t> shape, SMRange range) {
  if (value->type.isError() || value->type.shape == shape)
    return value;
  TileType type(value->type.elem, shape);
  if (value->type.isScalar())
    return add(node(Term::Splat, type, range, {value}));
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    if (value->type.shape[axis] == shape[axis])
      type.bounds[axis] = value->type.bounds[axis];
  Term result = node(Term::Broadcast, type, range, {value});
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    if (type.bounds[axis])
      result.zeroPast |= value->zeroPast & (1u << axis);
  return add(std::move(result));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Folds an operator of scalar constants; null where it is none.
const Term *KernelSema::foldScalar(Op op, ElemType result, const Terms &args,
                                   SMRange range) {
  if (!llvm::all_of(args, [](auto *arg) { return arg->isConstant(); }))
    return nullptr;
  if (op == Op::Select)
    return args[args[0]->integer ? 1 : 2];
  if (op == Op::And || op == Op::Or)
    return bool(args[0]->integer) == (op == Op::And) ? args[1] : args[0];
  Expr operands[3], folded;
  for (size_t i = 0; i < args.size(); ++i) {
    operands[i].type = args[i]->type.elem;
    operands[i].integer = args[i]->integer;
    operands[i].real = args[i]->real;
    folded.args.push_back(&operands[i]);
  }
  folded.op = op;
  folded.type = folded.castType = result;
  if (!foldOperator(folded))
    return nullptr;
  if (isFloat(result))
    return real(folded.real, result, range);
  // Constants are exact; one that leaves i32 is an i64.
  if (result == ElemType::I32 && op != Op::Convert &&
      !llvm::isInt<32>(folded.integer))
    result = ElemType::I64;
  return integer(folded.integer, result, range);
}

const Term *KernelSema::convert(const Term *value, ElemType elem,
                                SMRange range) {
  if (value->type.isError() || value->type.elem == elem)
    return value;
  if (value->kind == Term::Splat) // so that a constant stays one
    return stretch(convert(value->args[0], elem, range), value->type.shape,
                   range);
  if (const Term *folded = foldScalar(Op::Convert, elem, {value}, range))
    return folded;
  TileType type = value->type;
  type.elem = elem;
  Term result = node(Term::Operator, std::move(type), range, {value});
  result.op = Op::Convert;
  return add(std::move(result));
}

/// The type that a narrow one computes in.
static ElemType computeType(ElemType elem) {
  switch (elem) {
  case ElemType::F16:
  case ElemType::BF16:
    return ElemType::F32;
  case ElemType::I8:
  case ElemType::U8:
  case ElemType::I16:
    return ElemType::I32;
  default:
    return elem;
  }
}

const Term *KernelSema::widen(const Term *value) {
  return convert(value, computeType(value->type.elem), value->range);
}

/// An integer that becomes a float where the program does not say so.
const Term *KernelSema::asFloat(const Term *value, const ast::Expr &written,
                                ElemType target) {
  if (isInteger(value->type.elem) && !value->isConstant() &&
      written.kind == ast::Expr::Operator && written.op == Op::Div &&
      warned.insert(&written).second)
    diagnostics.warning(written.range, "the integer quotient `" +
                                           toText(written) +
                                           "` is floored before it becomes a "
                                           "float; for a fraction write `" +
                                           floatSpelling(written) + "`");
  return convert(value, target, written.range);
}

ElemType KernelSema::unifyTiles(Terms &args, const Written &written,
                                bool toFloat) {
  bool anyFloat = toFloat, anyDouble = false, anyValue = false, anyWide = false;
  bool anySingle = false;
  auto isLiteral = [](const Term *value) {
    return value->isConstant() ||
           (value->kind == Term::Splat && value->args[0]->isConstant());
  };
  for (const Term *&arg : args) {
    arg = widen(arg);
    ElemType elem = arg->type.elem;
    anyFloat |= isFloat(elem);
    if (isLiteral(arg)) {
      anyWide |=
          arg->isConstant() && !isFloat(elem) && !llvm::isInt<32>(arg->integer);
      continue;
    }
    anyValue = true;
    anySingle |= elem == ElemType::F32;
    anyDouble |= elem == ElemType::F64;
    anyWide |= elem == ElemType::I64;
  }
  if (anyFloat) {
    ElemType target = anyDouble   ? ElemType::F64
                      : anySingle ? ElemType::F32
                                  : item.accumulator;
    for (size_t i = 0; i < args.size(); ++i)
      args[i] = asFloat(args[i], *written[i], target);
    return target;
  }
  if (!anyValue) // literals alone keep the widest
    for (const Term *arg : args)
      anyWide |= arg->type.elem == ElemType::I64;
  ElemType target = anyWide ? ElemType::I64 : ElemType::I32;
  for (const Term *&arg : args)
    arg = convert(arg, target, arg->range);
  return target;
}
