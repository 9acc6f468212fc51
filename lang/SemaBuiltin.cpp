//===- SemaBuiltin.cpp - functions of a tile program ----------------------===//
//
// Each built-in checks its operands and gives the shape and the bounds of its
// result. A `fn` is inlined: its body is typed afresh with the arguments of
// each call.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;

/// Elements that a tile may have.
static constexpr int64_t maxElements = 1 << 20;
static constexpr size_t maxFrames = 100;

static constexpr StringRef tileFunctions[] = {"iota",
                                              "full",
                                              "span",
                                              "row",
                                              "col",
                                              "transpose",
                                              "reshape",
                                              "broadcast",
                                              "where",
                                              "dot",
                                              "sum",
                                              "min",
                                              "max",
                                              "argmax",
                                              "any",
                                              "all",
                                              "cumsum",
                                              "reduce",
                                              "clamp",
                                              "softmax_state",
                                              "online_softmax",
                                              "merge",
                                              "partial",
                                              "finish",
                                              "lse",
                                              "abs",
                                              "ceildiv",
                                              "exp",
                                              "exp2",
                                              "log",
                                              "log2",
                                              "tanh",
                                              "sqrt",
                                              "rsqrt",
                                              "pow"};

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Brings the arguments of `e` into the order of `params`, the first `required`
/// of which are needed.
bool KernelSema::bind(const ast::Expr &e, llvm::ArrayRef<StringRef> params,
                      unsigned required, Arguments &arguments) {
  arguments.written.assign(params.size(), nullptr);
  for (size_t i = 0; i < e.args.size(); ++i) {
    StringRef name = i < e.argNames.size() ? StringRef(e.argNames[i].text) : "";
    size_t slot = i;
    if (!name.empty()) {
      slot = llvm::find(params, name) - params.begin();
      if (slot == params.size()) {
        StringRef near;
        Diagnostic &d = report(e.argNames[i].range,
                               "`" + e.name + "` has no argument `" + name +
                                   "`" + didYouMean(name, params, &near));
        if (!near.empty())
          d.fix(e.argNames[i].range, near);
        return false;
      }
    }
    if (slot >= params.size()) {
      report(e.range, "`" + e.name + "` takes " + llvm::Twine(params.size()) +
                          (params.size() == 1 ? " argument" : " arguments") +
                          ", but got " + llvm::Twine(e.args.size()));
      return false;
    }
    if (arguments.written[slot]) {
      report(e.args[i]->range,
             "argument `" + params[slot] + "` is given twice");
      return false;
    }
    arguments.written[slot] = e.args[i].get();
  }
  for (unsigned i = 0; i < required; ++i)
    if (!arguments.written[i]) {
      report(e.range,
             "`" + e.name + "` needs its argument `" + params[i] + "`");
      return false;
    }
  return true;
}

/// A constant number of lanes.
std::optional<int64_t> KernelSema::constantLength(const ast::Expr &e,
                                                  StringRef what) {
  const Term *value = typeTile(e);
  if (value->type.isError())
    return std::nullopt;
  if (!value->isConstant() || !isInteger(value->type.elem)) {
    report(e.range, what + " is a constant integer, but this is " +
                        describe(*value) +
                        (isInteger(value->type.elem) && value->type.isScalar()
                             ? " that is known at run time"
                             : ""));
    return std::nullopt;
  }
  if (value->integer < 0 || value->integer > maxElements) {
    report(e.range, what + " is from 1 to " + llvm::Twine(maxElements) +
                        ", but this is " + llvm::Twine(value->integer));
    return std::nullopt;
  }
  return value->integer;
}

bool KernelSema::checkSize(SMRange range, llvm::ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (elements > maxElements / std::max<int64_t>(extent, 1)) {
      report(range, "this tile has more than " + llvm::Twine(maxElements) +
                        " elements");
      return false;
    }
    elements *= extent;
  }
  return true;
}

/// `[64, 128]`, or one extent without brackets.
bool KernelSema::typeShape(const ast::Expr &e,
                           llvm::SmallVectorImpl<int64_t> &shape) {
  Written parts;
  if (e.kind == ast::Expr::Shape)
    for (const ast::ExprPtr &arg : e.args)
      parts.push_back(arg.get());
  else
    parts.push_back(&e);
  for (const ast::Expr *part : parts) {
    std::optional<int64_t> extent = constantLength(*part, "an extent");
    if (!extent)
      return false;
    if (*extent == 0) {
      report(part->range, "a tile has at least one lane on each axis");
      return false;
    }
    shape.push_back(*extent);
  }
  if (shape.empty()) {
    report(e.range, "expected extents, as in `[64, 128]`");
    return false;
  }
  return checkSize(e.range, shape);
}

std::optional<unsigned> KernelSema::typeAxisNumber(const ast::Expr &e,
                                                   const Term &tile) {
  const Term *axis = typeTile(e);
  if (axis->type.isError())
    return std::nullopt;
  if (!axis->isConstant() || !isInteger(axis->type.elem) || axis->integer < 0 ||
      axis->integer >= tile.type.rank()) {
    report(e.range, "`axis` is from 0 to " + llvm::Twine(tile.type.rank() - 1) +
                        " for " + describe(tile) + ", but this is " +
                        describe(*axis));
    return std::nullopt;
  }
  return unsigned(axis->integer);
}

/// A tile, of that rank if one is given.
const Term *KernelSema::expectTile(const ast::Expr &e, StringRef callee,
                                   unsigned rank) {
  const Term *tile = typeTile(e);
  if (tile->type.isError())
    return tile;
  if (tile->type.isTile() && (rank == 0 || tile->type.rank() == rank))
    return tile;
  report(e.range, "`" + callee + "` takes a tile" +
                      (rank ? " of rank " + std::to_string(rank) : "") +
                      ", but got " + describe(*tile));
  return errorValue();
}

const Term *KernelSema::expectState(const ast::Expr &e, StringRef callee) {
  const Term *state = typeTile(e);
  if (state->type.isError() || state->type.isState)
    return state;
  report(e.range,
         "`" + callee + "` takes a softmax state, but got " + describe(*state));
  return errorValue();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

const Term *KernelSema::typeTileCall(const ast::Expr &e) {
  std::optional<ElemType> target = elemTypeFromName(e.name);
  auto symbol = symbols.find(e.name);
  if (symbol != symbols.end() && symbol->second.kind == Symbol::Static) {
    if (!evaluateStatic(symbol->second.number))
      return errorValue();
    const Static &entry = item.statics[symbol->second.number];
    if (entry.kind == Static::Type)
      target = entry.elem;
  }
  if (target)
    return typeTileCast(e, *target);
  bool known = true;
  const Term *value = typeBuiltin(e, known);
  if (known)
    return value;
  const ast::Fn *fn = file.findFn(e.name);
  if (!fn)
    return unknownTileFunction(e);
  Terms args;
  Written written;
  for (const ast::ExprPtr &arg : e.args) {
    args.push_back(typeTile(*arg));
    written.push_back(arg.get());
  }
  if (!e.argNames.empty())
    for (const ast::Name &name : e.argNames)
      if (!name.text.empty()) {
        report(name.range, "the arguments of a `fn` are given in order, "
                           "without names");
        return errorValue();
      }
  return inlineFn(*fn, args, written, e);
}

const Term *KernelSema::typeBuiltin(const ast::Expr &e, bool &known) {
  StringRef name = e.name;
  auto reduction = llvm::StringSwitch<std::optional<TileReduction>>(name)
                       .Case("sum", TileReduction::Sum)
                       .Case("min", TileReduction::Min)
                       .Case("max", TileReduction::Max)
                       .Case("argmax", TileReduction::ArgMax)
                       .Case("any", TileReduction::Any)
                       .Case("all", TileReduction::All)
                       .Default(std::nullopt);
  bool mayBeElementwise = name == "min" || name == "max";
  if (reduction &&
      !(mayBeElementwise && e.args.size() == 2 && e.argNames.empty()))
    return typeReduction(e, *reduction);
  if (std::optional<Op> op = functionOp(name))
    return typeElementwise(e, *op);
  using Method = const Term *(KernelSema::*)(const ast::Expr &);
  auto method = llvm::StringSwitch<Method>(name)
                    .Case("clamp", &KernelSema::typeTileClamp)
                    .Case("iota", &KernelSema::typeIota)
                    .Case("full", &KernelSema::typeFull)
                    .Case("span", &KernelSema::typeSpan)
                    .Case("transpose", &KernelSema::typeTranspose)
                    .Case("reshape", &KernelSema::typeReshape)
                    .Case("broadcast", &KernelSema::typeBroadcast)
                    .Case("where", &KernelSema::typeWhere)
                    .Case("dot", &KernelSema::typeDot)
                    .Case("cumsum", &KernelSema::typeCumSum)
                    .Case("reduce", &KernelSema::typeCombine)
                    .Case("softmax_state", &KernelSema::typeState)
                    .Case("online_softmax", &KernelSema::typeOnlineSoftmax)
                    .Case("merge", &KernelSema::typeMerge)
                    .Case("partial", &KernelSema::typePartial)
                    .Default(nullptr);
  if (method)
    return (this->*method)(e);
  if (name == "row" || name == "col")
    return typeSpread(e, name == "row" ? 1 : 0);
  if (name == "finish" || name == "lse")
    return typeFinish(e, name == "lse");
  known = false;
  return nullptr;
}

const Term *KernelSema::unknownTileFunction(const ast::Expr &e) {
  auto binding = names.find(e.name);
  auto symbol = symbols.find(e.name);
  if (frames.empty() && (binding != names.end() || symbol != symbols.end())) {
    bool isTensor =
        symbol != symbols.end() && symbol->second.kind == Symbol::Tensor;
    report(e.nameRange,
           "`" + e.name + "` is no function" +
               (isTensor ? "; write `load " + e.name + "[...]`" : ""))
        .note(binding != names.end() ? binding->second.range
                                     : symbol->second.range,
              "declared here");
    return errorValue();
  }
  if (e.name == "random") {
    report(e.range, "`random` belongs to an attention item");
    return errorValue();
  }
  std::vector<StringRef> known(std::begin(tileFunctions),
                               std::end(tileFunctions));
  for (const ast::Fn &fn : file.fns)
    known.push_back(fn.name.text);
  StringRef near;
  Diagnostic &d = report(e.nameRange, "unknown function `" + e.name + "`" +
                                          didYouMean(e.name, known, &near));
  if (!near.empty())
    d.fix(e.nameRange, near);
  return errorValue();
}

/// The argument as its parameter declares it.
const Term *KernelSema::bindParameter(const ast::Fn &fn,
                                      const ast::Tensor &param,
                                      const Term *value,
                                      const ast::Expr &written) {
  if (value->type.isError() || param.elem.text.empty())
    return value;
  ElemType declared = resolveElem(param.elem);
  if (declared == ElemType::Error)
    return errorValue();
  ElemType given = value->type.elem;
  bool sameKind = isFloat(declared)     ? isFloat(given) || isInteger(given)
                  : isInteger(declared) ? isInteger(given)
                                        : given == ElemType::Bool;
  bool sameRank =
      !value->type.isState &&
      (!param.isTensor || param.extents.size() == value->type.rank());
  if (!sameKind || !sameRank) {
    report(written.range,
           "parameter `" + param.name.text + "` of `" + fn.name.text + "` is " +
               param.elem.text +
               (param.isTensor
                    ? " of rank " + std::to_string(param.extents.size())
                    : "") +
               ", but got " + describe(*value))
        .note(param.name.range, "declared here");
    return errorValue();
  }
  return isFloat(declared) ? asFloat(value, written, declared) : value;
}

const Term *KernelSema::inlineFn(const ast::Fn &fn, const Terms &args,
                                 const Written &written,
                                 const ast::Expr &call) {
  for (const Frame &frame : frames)
    if (frame.fn == &fn) {
      report(call.nameRange, "`" + fn.name.text +
                                 "` calls itself, and recursion is not in the "
                                 "language; use `for` with `if`")
          .note(fn.name.range, "defined here");
      return errorValue();
    }
  if (frames.size() >= maxFrames) {
    report(call.range,
           "calls are nested more than " + llvm::Twine(maxFrames) + " deep");
    return errorValue();
  }
  if (args.size() != fn.params.size()) {
    report(call.range,
           "`" + fn.name.text + "` takes " + llvm::Twine(fn.params.size()) +
               (fn.params.size() == 1 ? " argument" : " arguments") +
               ", but got " + llvm::Twine(args.size()))
        .note(fn.name.range, "defined here");
    return errorValue();
  }
  Frame frame{&fn, call.nameRange, {}};
  for (size_t i = 0; i < args.size(); ++i) {
    const Term *value = bindParameter(fn, fn.params[i], args[i], *written[i]);
    if (value->type.isError())
      return errorValue();
    frame.names[fn.params[i].name.text] = value;
  }
  frames.push_back(std::move(frame));
  for (const ast::Fn::Let &let : fn.lets) {
    const Term *value = let.value ? typeTile(*let.value) : errorValue();
    frames.back().names[let.name.text] = value;
  }
  const Term *result = fn.result ? typeTile(*fn.result) : errorValue();
  frames.pop_back();
  return result;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// `bf16(x)`: floats round, float to integer truncates and saturates, integers
/// wrap; the result has the type, and widens where it is computed with.
const Term *KernelSema::typeTileCast(const ast::Expr &e, ElemType target) {
  Arguments args;
  if (!bind(e, {"x"}, 1, args))
    return errorValue();
  const Term *value = typeTile(*args[0]);
  if (!checkOperand(*value, *args[0], e.name))
    return errorValue();
  if (target == ElemType::E4M3 || target == ElemType::E5M2) {
    report(e.range,
           "a cast to " + elemTypeName(target) + " is not supported yet");
    return errorValue();
  }
  if (target == ElemType::Bool && value->type.elem != ElemType::Bool) {
    report(e.range,
           "a number is no bool; write `" + toText(*args[0]) + " != 0`");
    return errorValue();
  }
  return convert(value, target, e.range);
}

const Term *KernelSema::typeElementwise(const ast::Expr &e, Op op) {
  static constexpr StringRef one[] = {"x"}, two[] = {"x", "y"};
  unsigned arity = opArity(op);
  Arguments arguments;
  if (!bind(e, arity == 1 ? llvm::ArrayRef(one) : llvm::ArrayRef(two), arity,
            arguments))
    return errorValue();
  Terms args;
  for (const ast::Expr *written : arguments.written)
    args.push_back(typeTile(*written));
  Written written(arguments.written.begin(), arguments.written.end());
  if (!expectNumbers(e.name, args, written, op == Op::CeilDiv))
    return errorValue();
  bool keepsIntegers =
      op == Op::Min || op == Op::Max || op == Op::Abs || op == Op::CeilDiv;
  ElemType result = unifyTiles(args, written, /*toFloat=*/!keepsIntegers);
  if (op == Op::CeilDiv && args[1]->isConstant() && args[1]->integer == 0) {
    report(e.range, "division of an integer by zero");
    return errorValue();
  }
  return elementwise(op, result, args, written, e.range);
}

const Term *KernelSema::typeTileClamp(const ast::Expr &e) {
  Arguments arguments;
  if (!bind(e, {"x", "low", "high"}, 3, arguments))
    return errorValue();
  Terms args;
  for (const ast::Expr *written : arguments.written)
    args.push_back(typeTile(*written));
  Written written(arguments.written.begin(), arguments.written.end());
  if (!expectNumbers(e.name, args, written))
    return errorValue();
  ElemType result = unifyTiles(args, written);
  const Term *low = elementwise(Op::Max, result, {args[0], args[1]},
                                {written[0], written[1]}, e.range);
  return elementwise(Op::Min, result, {low, args[2]}, {&e, written[2]},
                     e.range);
}

const Term *KernelSema::typeWhere(const ast::Expr &e) {
  Arguments arguments;
  if (!bind(e, {"c", "a", "b"}, 3, arguments))
    return errorValue();
  Terms args;
  for (const ast::Expr *written : arguments.written)
    args.push_back(typeTile(*written));
  return typeTileSelect(
      e, args, Written(arguments.written.begin(), arguments.written.end()));
}

//===----------------------------------------------------------------------===//
// Making and shaping tiles
//===----------------------------------------------------------------------===//

/// `iota(n)`: 0 .. n - 1, i32.
const Term *KernelSema::typeIota(const ast::Expr &e) {
  Arguments args;
  llvm::SmallVector<int64_t> shape;
  if (!bind(e, {"n"}, 1, args) || !typeShape(*args[0], shape))
    return errorValue();
  if (shape.size() != 1) {
    report(args[0]->range, "`iota` makes one axis; use `row` and `col`");
    return errorValue();
  }
  return add(node(Term::Iota, TileType(ElemType::I32, shape), e.range));
}

/// `full(shape, x)`.
const Term *KernelSema::typeFull(const ast::Expr &e) {
  Arguments args;
  llvm::SmallVector<int64_t> shape;
  if (!bind(e, {"shape", "x"}, 2, args) || !typeShape(*args[0], shape))
    return errorValue();
  const Term *value = typeTile(*args[1]);
  if (value->type.isError())
    return value;
  if (!value->type.isScalar()) {
    report(args[1]->range, "`full` repeats a scalar, but this is " +
                               describe(*value) + "; use `broadcast`");
    return errorValue();
  }
  return stretch(value, shape, e.range);
}

/// `span(lo, n, hi)`: lo + iota(n), whose lanes end at hi.
const Term *KernelSema::typeSpan(const ast::Expr &e) {
  Arguments args;
  if (!bind(e, {"lo", "n", "hi"}, 3, args))
    return errorValue();
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
const Term *KernelSema::typeSpread(const ast::Expr &e, unsigned axis) {
  Arguments args;
  if (!bind(e, {"x"}, 1, args))
    return errorValue();
  const Term *value = expectTile(*args[0], e.name, 1);
  if (value->type.isError())
    return value;
  TileType type(value->type.elem, {1, 1});
  type.shape[axis] = value->type.shape[0];
  type.bounds[axis] = value->type.bounds[0];
  Term result = node(Term::Spread, type, e.range, {value});
  result.axis = axis;
  result.zeroPast = value->zeroPast << axis;
  return add(std::move(result));
}

/// `transpose(x)` of rank 2, or `transpose(x, [axes])`.
const Term *KernelSema::typeTranspose(const ast::Expr &e) {
  Arguments args;
  if (!bind(e, {"x", "axes"}, 1, args))
    return errorValue();
  const Term *value = expectTile(*args[0], e.name, args[1] ? 0 : 2);
  if (value->type.isError())
    return value;
  unsigned rank = value->type.rank();
  llvm::SmallVector<int64_t, 4> permutation;
  if (!args[1]) {
    permutation = {1, 0};
  } else {
    Written parts;
    if (args[1]->kind == ast::Expr::Shape)
      for (const ast::ExprPtr &arg : args[1]->args)
        parts.push_back(arg.get());
    for (const ast::Expr *part : parts) {
      std::optional<unsigned> axis = typeAxisNumber(*part, *value);
      if (!axis)
        return errorValue();
      if (!llvm::is_contained(permutation, *axis))
        permutation.push_back(*axis);
    }
    if (permutation.size() != rank || parts.size() != rank) {
      report(args[1]->range, "`axes` names each of the " + llvm::Twine(rank) +
                                 " axes once, as in `[1, 0]`");
      return errorValue();
    }
  }
  TileType type(value->type.elem, value->type.shape);
  Term result = node(Term::Transpose, type, e.range, {value});
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
const Term *KernelSema::typeReshape(const ast::Expr &e) {
  Arguments args;
  llvm::SmallVector<int64_t> shape;
  if (!bind(e, {"x", "shape"}, 2, args))
    return errorValue();
  const Term *value = expectTile(*args[0], e.name);
  if (value->type.isError() || !typeShape(*args[1], shape))
    return errorValue();
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
const Term *KernelSema::typeBroadcast(const ast::Expr &e) {
  Arguments args;
  llvm::SmallVector<int64_t> shape;
  if (!bind(e, {"x", "shape"}, 2, args))
    return errorValue();
  const Term *value = typeTile(*args[0]);
  if (!checkOperand(*value, *args[0], e.name) || !typeShape(*args[1], shape))
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

//===----------------------------------------------------------------------===//
// Products and reductions
//===----------------------------------------------------------------------===//

/// `dot(a, b[, acc])`: f32, or f64 and i32 by operand.
const Term *KernelSema::typeDot(const ast::Expr &e) {
  Arguments args;
  if (!bind(e, {"a", "b", "acc"}, 2, args))
    return errorValue();
  const Term *a = expectTile(*args[0], e.name, 2);
  const Term *b = expectTile(*args[1], e.name, 2);
  const Term *acc = args[2] ? expectTile(*args[2], e.name, 2) : nullptr;
  if (a->type.isError() || b->type.isError() || (acc && acc->type.isError()))
    return errorValue();
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

/// `sum(x, axis = n)` and the like.
const Term *KernelSema::typeReduction(const ast::Expr &e,
                                      TileReduction reduction) {
  Arguments args;
  if (e.args.size() == 1 && e.argNames.empty()) {
    const Term *value = typeTile(*e.args[0]);
    if (value->type.isTile())
      report(e.range, "`" + e.name + "` of a tile needs `axis =`");
    else if (!value->type.isError())
      report(e.range, (e.name == "min" || e.name == "max")
                          ? "`" + e.name +
                                "` takes two values, or a tile and "
                                "`axis =`"
                          : "`" + e.name + "` reduces a tile, but got " +
                                describe(*value));
    return errorValue();
  }
  if (!bind(e, {"x", "axis"}, 2, args))
    return errorValue();
  const Term *tile = expectTile(*args[0], e.name);
  if (tile->type.isError())
    return tile;
  std::optional<unsigned> axis = typeAxisNumber(*args[1], *tile);
  bool ofBools =
      reduction == TileReduction::Any || reduction == TileReduction::All;
  if (!axis || !(ofBools ? expectBools(e.name, {tile}, {args[0]})
                         : expectNumbers(e.name, {tile}, {args[0]})))
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
const Term *KernelSema::typeCumSum(const ast::Expr &e) {
  Arguments args;
  if (!bind(e, {"x", "axis"}, 2, args))
    return errorValue();
  const Term *tile = expectTile(*args[0], e.name);
  if (tile->type.isError())
    return tile;
  std::optional<unsigned> axis = typeAxisNumber(*args[1], *tile);
  if (!axis || !expectNumbers(e.name, {tile}, {args[0]}))
    return errorValue();
  tile = widen(tile);
  Term value = node(Term::CumSum, tile->type, e.range, {tile});
  value.axis = *axis;
  return add(std::move(value));
}

/// `reduce(x, f, init, axis = n)`: f is an associative `fn f(a, b)`, init its
/// neutral element.
const Term *KernelSema::typeCombine(const ast::Expr &e) {
  Arguments args;
  if (!bind(e, {"x", "f", "init", "axis"}, 4, args))
    return errorValue();
  const Term *tile = expectTile(*args[0], e.name);
  const ast::Fn *fn =
      args[1]->kind == ast::Expr::Name ? file.findFn(args[1]->name) : nullptr;
  if (!fn) {
    report(args[1]->range, "`reduce` takes the name of a `fn f(a, b)`, but "
                           "got `" +
                               toText(*args[1]) + "`");
    return errorValue();
  }
  if (tile->type.isError())
    return tile;
  const Term *init = typeTile(*args[2]);
  std::optional<unsigned> axis = typeAxisNumber(*args[3], *tile);
  if (!axis || init->type.isError())
    return errorValue();
  tile = widen(tile);
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
  Term value = node(Term::Combine, without(*tile, *axis, elem, zeroPast),
                    e.range, {tile, init});
  value.axis = *axis;
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

//===----------------------------------------------------------------------===//
// Softmax states
//===----------------------------------------------------------------------===//

/// `softmax_state(rows, E)`: no key seen; f64 where a tensor of the kernel is.
const Term *KernelSema::typeState(const ast::Expr &e) {
  Arguments args;
  llvm::SmallVector<int64_t> shape;
  if (!bind(e, {"rows", "E"}, 2, args))
    return errorValue();
  if (!typeShape(*args[0], shape) || !typeShape(*args[1], shape))
    return errorValue();
  if (shape.size() != 2 || args[0]->kind == ast::Expr::Shape) {
    report(e.range, "`softmax_state` takes its rows and the width of V");
    return errorValue();
  }
  TileType type(item.accumulator, shape);
  type.isState = true;
  return add(node(Term::State, type, e.range));
}

/// `online_softmax(st, S, V, keep =, weight =)`: takes the keys of S and V into
/// the state. A key that `keep` hides from a row, or that lies past its bound,
/// adds nothing.
const Term *KernelSema::typeOnlineSoftmax(const ast::Expr &e) {
  Arguments args;
  if (!bind(e, {"st", "S", "V", "keep", "weight"}, 3, args))
    return errorValue();
  const Term *state = expectState(*args[0], e.name);
  const Term *scores = expectTile(*args[1], e.name, 2);
  const Term *values = expectTile(*args[2], e.name, 2);
  const Term *keep = args[3] ? typeTile(*args[3]) : nullptr;
  const Term *weight = args[4] ? typeTile(*args[4]) : nullptr;
  for (const Term *value : {state, scores, values, keep, weight})
    if (value && value->type.isError())
      return errorValue();
  ElemType elem = state->type.elem;
  for (auto [value, written] :
       {std::pair(&scores, args[1]), std::pair(&weight, args[4])}) {
    if (!*value)
      continue;
    if ((*value)->type.isState || !isFloat((*value)->type.elem)) {
      report(written->range, "expected " + elemTypeName(elem) + ", but got " +
                                 describe(**value));
      return errorValue();
    }
    *value = convert(*value, elem, written->range);
  }
  if (!isFloat(values->type.elem)) {
    report(args[2]->range, "expected floats, but got " + describe(*values));
    return errorValue();
  }
  if (keep && (keep->type.isState || keep->type.elem != ElemType::Bool)) {
    report(args[3]->range, "`keep` takes bools, but got " + describe(*keep));
    return errorValue();
  }
  int64_t rows = state->type.shape[0], width = state->type.shape[1];
  int64_t keys = scores->type.shape[1];
  if (scores->type.shape[0] != rows || values->type.shape[0] != keys ||
      values->type.shape[1] != width) {
    report(e.range, "for a state of " + llvm::Twine(rows) + " rows and width " +
                        llvm::Twine(width) + ", S is [" + llvm::Twine(rows) +
                        ", keys] and V is "
                        "[keys, " +
                        llvm::Twine(width) + "], but S is " +
                        describe(*scores) + " and V is " + describe(*values));
    return errorValue();
  }
  // Bounds of rows and keys, of S, keep and weight alike.
  TileType pairs = scores->type;
  for (auto [value, written] :
       {std::pair(&keep, args[3]), std::pair(&weight, args[4])}) {
    if (!*value)
      continue;
    if (!joinShapes(written->range, {scores, *value}, {args[1], written},
                    pairs))
      return errorValue();
    if (pairs.shape != scores->type.shape) {
      report(written->range, "S is " + describe(*scores) + ", but this is " +
                                 describe(**value));
      return errorValue();
    }
    *value = stretch(*value, pairs.shape, written->range);
  }
  TileType type = state->type;
  if (!joinBound(e.range, 1, values->type.bounds[0], pairs.bounds[1]) ||
      !joinBound(e.range, 0, pairs.bounds[0], type.bounds[0]) ||
      !joinBound(e.range, 1, values->type.bounds[1], type.bounds[1]))
    return errorValue();
  Term result = node(Term::OnlineSoftmax, type, e.range,
                     {state, scores, values, keep, weight});
  result.keys = pairs.bounds[1];
  return add(std::move(result));
}

/// `merge(a, b)`: two states over disjoint keys.
const Term *KernelSema::typeMerge(const ast::Expr &e) {
  Arguments args;
  if (!bind(e, {"a", "b"}, 2, args))
    return errorValue();
  const Term *a = expectState(*args[0], e.name);
  const Term *b = expectState(*args[1], e.name);
  if (a->type.isError() || b->type.isError())
    return errorValue();
  if (a->type.shape != b->type.shape || a->type.elem != b->type.elem) {
    report(e.range, "`merge` takes states of one shape, but got " +
                        describe(*a) + " and " + describe(*b));
    return errorValue();
  }
  TileType type = a->type;
  for (unsigned axis : {0, 1})
    if (!joinBound(e.range, axis, b->type.bounds[axis], type.bounds[axis]))
      return errorValue();
  return add(node(Term::Merge, type, e.range, {a, b}));
}

/// `partial(o, lse)`: the state of a stored result.
const Term *KernelSema::typePartial(const ast::Expr &e) {
  Arguments args;
  if (!bind(e, {"o", "lse"}, 2, args))
    return errorValue();
  const Term *output = expectTile(*args[0], e.name, 2);
  const Term *lse = expectTile(*args[1], e.name, 1);
  if (output->type.isError() || lse->type.isError())
    return errorValue();
  for (auto [value, written] :
       {std::pair(&output, args[0]), std::pair(&lse, args[1])}) {
    if (!isFloat((*value)->type.elem)) {
      report(written->range, "expected floats, but got " + describe(**value));
      return errorValue();
    }
    *value = convert(*value, item.accumulator, written->range);
  }
  if (output->type.shape[0] != lse->type.shape[0]) {
    report(e.range, "`partial` takes one lse a row, but o is " +
                        describe(*output) + " and lse is " + describe(*lse));
    return errorValue();
  }
  TileType type = output->type;
  type.isState = true;
  if (!joinBound(e.range, 0, lse->type.bounds[0], type.bounds[0]))
    return errorValue();
  return add(node(Term::Partial, type, e.range, {output, lse}));
}

/// `finish(st)` is the output [rows, E], `lse(st)` the log-sum-exp [rows].
const Term *KernelSema::typeFinish(const ast::Expr &e, bool lse) {
  Arguments args;
  if (!bind(e, {"st"}, 1, args))
    return errorValue();
  const Term *state = expectState(*args[0], e.name);
  if (state->type.isError())
    return state;
  TileType type = state->type;
  type.isState = false;
  if (lse) {
    type.shape.pop_back();
    type.bounds.pop_back();
  }
  return add(node(lse ? Term::Lse : Term::Finish, type, e.range, {state}));
}
