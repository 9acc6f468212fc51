//===- SemaTile.cpp - names and operators of a tile program ---------------===//
//
// Elementwise typing: ranks and extents have to meet, bounds of axes are
// joined, numbers come to one type. Scalars fold where they are constants, and
// are numbered so that equal ones are known to be.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;

/// Terms that one program may have, functions inlined.
static constexpr size_t maxValues = 1 << 20;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Diagnostic &KernelSema::report(SMRange range, const llvm::Twine &text) {
  Diagnostic &d = diagnostics.error(range, text);
  constexpr size_t most = 3;
  for (size_t i = 0; i < std::min(frames.size(), most); ++i) {
    const Frame &frame = frames[frames.size() - 1 - i];
    d.note(frame.call, "in this call of `" + frame.fn->name.text + "`");
  }
  return d;
}

const Term *KernelSema::errorValue() {
  if (!errorNode)
    errorNode = &program.values.emplace_back();
  return errorNode;
}

Term KernelSema::node(Term::Kind kind, TileType type, SMRange range,
                      llvm::ArrayRef<const Term *> args) const {
  Term value;
  value.kind = kind;
  value.type = std::move(type);
  value.range = range;
  value.args.append(args.begin(), args.end());
  return value;
}

const Term *KernelSema::add(Term value) {
  for (const Term *arg : value.args) {
    if (!arg)
      continue;
    if (arg->type.isError())
      return errorValue();
    value.loopDepth = std::max(value.loopDepth, arg->loopDepth);
    value.depth = std::max(value.depth, arg->depth + 1);
  }
  if (value.depth > maxItemDepth || program.values.size() >= maxValues) {
    if (!tooLarge)
      report(value.range, value.depth > maxItemDepth
                              ? "this expression is more than " +
                                    llvm::Twine(maxItemDepth) +
                                    " operators deep; name parts of it with "
                                    "`let`"
                              : llvm::Twine("this program is too large, "
                                            "its functions inlined"));
    tooLarge = true;
    return errorValue();
  }
  if (isInteger(value.type.elem))
    noteRange(value);
  number(value);
  if (value.kind == Term::Operator)
    noteZeros(value);
  return &program.values.emplace_back(std::move(value));
}

/// Equal pure scalars get one number, everything else one of its own.
void KernelSema::number(Term &value) {
  auto fresh = [&] { value.valueNumber = ++lastNumber; };
  if (!value.type.isScalar() || value.type.isState)
    return fresh();
  std::vector<uint64_t> key = {uint64_t(value.kind)};
  switch (value.kind) {
  case Term::Constant:
    if (isFloat(value.type.elem))
      key.insert(key.end(), {1, llvm::bit_cast<uint64_t>(value.real)});
    else
      key.push_back(uint64_t(value.integer));
    break;
  case Term::Dim:
    key.push_back(uint64_t(find(int(value.number))));
    break;
  case Term::Scalar:
  case Term::Coordinate:
    key.push_back(value.number);
    break;
  case Term::Operator: {
    const Term &first = *value.args[0];
    if (value.op == Op::Convert && value.type.elem == ElemType::I64 &&
        isInteger(first.type.elem)) {
      value.valueNumber = first.valueNumber; // the same integer
      return;
    }
    key.insert(key.end(), {uint64_t(value.op), uint64_t(value.type.elem)});
    for (const Term *arg : value.args)
      key.push_back(arg->valueNumber);
    if ((value.op == Op::Add || value.op == Op::Mul) && key[4] < key[3])
      std::swap(key[3], key[4]);
    break;
  }
  default:
    return fresh();
  }
  unsigned &known = numbers[std::move(key)];
  if (known == 0)
    known = ++lastNumber;
  value.valueNumber = known;
}

/// A result that may wrap is only known to have its type.
void KernelSema::noteRange(Term &value) const {
  ElemType type = value.type.elem;
  IntegerRange range = IntegerRange::ofType(type);
  switch (value.kind) {
  case Term::Constant:
    range = IntegerRange::ofConstant(value.integer);
    break;
  case Term::Dim:
    range = IntegerRange::ofDim();
    break;
  case Term::Coordinate:
    range = {program.grid[value.number].extent->values.bits, true};
    break;
  case Term::Local: // what made it says more
    range = value.values;
    break;
  case Term::Iota:
    range = IntegerRange::ofConstant(value.type.shape[0]);
    break;
  case Term::Splat:
  case Term::Spread:
  case Term::Broadcast:
  case Term::Transpose:
  case Term::Reshape:
    range = value.args[0]->values;
    break;
  case Term::Operator: {
    llvm::SmallVector<IntegerRange, 3> args;
    for (const Term *arg : value.args)
      args.push_back(arg->values);
    if (value.op != Op::Convert)
      range = IntegerRange::ofOperator(value.op, args);
    else if (isInteger(value.args[0]->type.elem))
      range = args[0];
    break;
  }
  default:
    break;
  }
  value.values = range.wrapped(type);
}

static bool isZero(const Term &value) {
  if (value.kind == Term::Splat)
    return isZero(*value.args[0]);
  return value.isConstant() && value.integer == 0 && value.real == 0;
}

static bool isFinite(const Term &value) {
  if (value.kind == Term::Splat)
    return isFinite(*value.args[0]);
  return !isFloat(value.type.elem) ||
         (value.isConstant() && std::isfinite(value.real));
}

/// Which axes of an elementwise result hold 0 past their bounds, because the
/// operands do.
void KernelSema::noteZeros(Term &value) const {
  for (unsigned axis = 0; axis < value.type.rank(); ++axis) {
    auto zero = [&](const Term *arg) {
      return isZero(*arg) || (arg->type.isTile() &&
                              arg->type.shape[axis] == value.type.shape[axis] &&
                              (arg->zeroPast >> axis & 1));
    };
    bool isZeroPast = false;
    switch (value.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Max:
    case Op::Min:
    case Op::Neg:
    case Op::Abs:
    case Op::Tanh:
    case Op::Sqrt:
    case Op::Convert:
    case Op::Or:
      isZeroPast = llvm::all_of(value.args, zero);
      break;
    case Op::Mul:
      isZeroPast = (zero(value.args[0]) &&
                    (zero(value.args[1]) || isFinite(*value.args[1]))) ||
                   (zero(value.args[1]) && isFinite(*value.args[0]));
      break;
    case Op::And:
    case Op::BitAnd:
      isZeroPast = llvm::any_of(value.args, zero);
      break;
    case Op::Select:
      isZeroPast = zero(value.args[1]) && zero(value.args[2]);
      break;
    default:
      break;
    }
    value.zeroPast |= unsigned(isZeroPast) << axis;
  }
}

const Term *KernelSema::integer(int64_t value, ElemType elem, SMRange range) {
  Term constant = node(Term::Constant, elem, range);
  constant.integer = value;
  return add(std::move(constant));
}

const Term *KernelSema::real(double value, ElemType elem, SMRange range) {
  Term constant = node(Term::Constant, elem, range);
  constant.real = value;
  return add(std::move(constant));
}

const Term *KernelSema::local(const TileType &type, SMRange range) {
  Term value = node(Term::Local, type, range);
  value.loopDepth = blockDepth;
  return add(std::move(value));
}

std::string KernelSema::describe(const TileType &type) {
  std::string text =
      type.isState ? "a softmax state" : elemTypeName(type.elem).str();
  if (type.isScalar())
    return text;
  text += '[';
  for (int64_t extent : type.shape)
    text += (text.back() == '[' ? "" : ", ") + std::to_string(extent);
  return text + ']';
}

std::string KernelSema::describe(const Term &value) const {
  std::string text = describe(value.type);
  if (value.isConstant() && isInteger(value.type.elem))
    text += " (value " + std::to_string(value.integer) + ")";
  return text;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

const Term *KernelSema::typeTile(const ast::Expr &e) {
  if (depth > maxItemDepth || tooLarge)
    return errorValue();
  ++depth;
  llvm::scope_exit leave([&] { --depth; });
  switch (e.kind) {
  case ast::Expr::Error:
    return errorValue();
  case ast::Expr::Integer:
    return integer(e.integer,
                   llvm::isInt<32>(e.integer) ? ElemType::I32 : ElemType::I64,
                   e.range);
  case ast::Expr::Float:
    return real(e.real, item.accumulator, e.range);
  case ast::Expr::Bool:
    return integer(e.integer, ElemType::Bool, e.range);
  case ast::Expr::Name:
    return typeTileName(e);
  case ast::Expr::Index:
    return typeElement(e);
  case ast::Expr::Load:
    return typeLoad(e);
  case ast::Expr::Call:
    return typeTileCall(e);
  case ast::Expr::Operator:
    return typeTileOperator(e);
  case ast::Expr::Shape:
    report(e.range, "a shape is an argument, as in `full([64, 64], 0.0)`");
    return errorValue();
  case ast::Expr::Slice:
    report(e.range, "a slice is an index of a place, as in `load x[0 :+ 64]`");
    return errorValue();
  case ast::Expr::Text:
    report(e.range, "a text is an argument of `print`");
    return errorValue();
  case ast::Expr::Bounded:
    report(e.range, "`" + e.name + "(" + e.variable.text +
                        " in ...)` belongs to an attention item; load a tile "
                        "and write `" +
                        e.name + "(tile, axis = n)`");
    return errorValue();
  case ast::Expr::Unsupported:
    report(e.range, e.name + " is not supported yet");
    return errorValue();
  }
  return errorValue();
}

const Term *KernelSema::typeTileName(const ast::Expr &e) {
  if (!frames.empty()) {
    auto known = frames.back().names.find(e.name);
    if (known != frames.back().names.end())
      return known->second;
  } else {
    auto known = names.find(e.name);
    if (known != names.end())
      return known->second.value;
    auto symbol = symbols.find(e.name);
    if (symbol != symbols.end())
      return symbolValue(e, symbol->second);
  }
  if (elemTypeFromName(e.name)) {
    report(e.range, "`" + e.name + "` is a type, and has no value; write `" +
                        e.name + "(x)` for a cast");
    return errorValue();
  }
  return unknownTileName(e);
}

const Term *KernelSema::unknownTileName(const ast::Expr &e) {
  if (incomplete && frames.empty())
    return errorValue();
  std::vector<StringRef> known;
  StringRef near;
  auto collect = [&](const auto &map) {
    for (const auto &entry : map)
      known.push_back(entry.first());
  };
  if (!frames.empty()) {
    collect(frames.back().names);
  } else {
    collect(names);
    collect(symbols);
  }
  llvm::sort(known);
  bool groups = e.name == "g" && names.count("h") && item.findDim("H") >= 0 &&
                item.findDim("G") >= 0;
  std::string hint = groups           ? ", write `let g = h / (H / G)`"
                     : frames.empty() ? didYouMean(e.name, known, &near)
                                      : didYouMean(e.name, known, &near) +
                                            "; a `fn` sees its parameters only";
  Diagnostic &d = report(e.range, "unknown name `" + e.name + "`" + hint);
  if (!near.empty())
    d.fix(e.range, near);
  return errorValue();
}

const Term *KernelSema::symbolValue(const ast::Expr &e, Symbol &symbol) {
  switch (symbol.kind) {
  case Symbol::Static: {
    if (!evaluateStatic(symbol.number))
      return errorValue();
    const Static &entry = item.statics[symbol.number];
    if (entry.kind == Static::Integer)
      return integer(entry.integer,
                     llvm::isInt<32>(entry.integer) ? ElemType::I32
                                                    : ElemType::I64,
                     e.range);
    if (entry.kind == Static::Bool)
      return integer(entry.integer, ElemType::Bool, e.range);
    if (entry.kind == Static::Float)
      return real(entry.real, item.accumulator, e.range);
    report(e.range, "`" + e.name + "` is an element type, and has no value")
        .note(symbol.range, "declared here");
    return errorValue();
  }
  case Symbol::Scalar: {
    if (item.scalars[symbol.number].type == ElemType::Error)
      return errorValue();
    Term scalar = node(Term::Scalar, item.scalars[symbol.number].type, e.range);
    scalar.number = symbol.number;
    return add(std::move(scalar));
  }
  case Symbol::Dim: {
    Term dim = node(Term::Dim, ElemType::I64, e.range);
    dim.number = symbol.number;
    return add(std::move(dim));
  }
  case Symbol::Tensor:
    report(e.range, "`" + e.name + "` is a tensor; read it with `load " +
                        e.name + "[...]`")
        .note(symbol.range, "declared here");
    return errorValue();
  default:
    return errorValue();
  }
}

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

/// The name to put into a hint such as `row(m)`.
static std::string briefText(const ast::Expr &e) {
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

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// False where an operand is an error, or is no value that operators take.
bool KernelSema::checkOperand(const Term &value, const ast::Expr &written,
                              StringRef op) {
  if (value.type.isError())
    return false;
  if (!value.type.isState)
    return true;
  report(written.range, "`" + op + "` takes tiles and scalars, but `" +
                            briefText(written) +
                            "` is a softmax state; its output is `finish(" +
                            briefText(written) + ")`");
  return false;
}

bool KernelSema::expectNumbers(StringRef op, const Terms &args,
                               const Written &written, bool integers) {
  bool ok = true;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!checkOperand(*args[i], *written[i], op)) {
      ok = false;
    } else if (args[i]->type.elem == ElemType::Bool) {
      report(written[i]->range,
             "`" + op + "` takes " + (integers ? "integers" : "numbers") +
                 ", but got " + describe(*args[i]) +
                 (integers ? "" : "; write `i32(...)` to count it as 0 or 1"));
      ok = false;
    } else if (integers && !isInteger(args[i]->type.elem)) {
      report(written[i]->range,
             "`" + op + "` takes integers, but got " + describe(*args[i]));
      ok = false;
    }
  }
  return ok;
}

bool KernelSema::expectBools(StringRef op, const Terms &args,
                             const Written &written) {
  bool ok = true;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!checkOperand(*args[i], *written[i], op)) {
      ok = false;
    } else if (args[i]->type.elem != ElemType::Bool) {
      report(written[i]->range, "`" + op + "` takes bools, but got " +
                                    describe(*args[i]) +
                                    "; write a comparison");
      ok = false;
    }
  }
  return ok;
}

const Term *KernelSema::elementwise(Op op, ElemType result, const Terms &args,
                                    const Written &written, SMRange range) {
  for (const Term *arg : args)
    if (arg->type.isError())
      return errorValue();
  if (const Term *folded = foldScalar(op, result, args, range))
    return folded;
  TileType type(result);
  if (!joinShapes(range, args, written, type) || !checkSize(range, type.shape))
    return errorValue();
  Term value = node(Term::Operator, std::move(type), range, args);
  value.op = op;
  return add(std::move(value));
}

const Term *KernelSema::typeTileOperator(const ast::Expr &e) {
  if (opArity(e.op) == 1)
    return typeTileUnary(e);
  Terms args;
  Written written;
  for (const ast::ExprPtr &arg : e.args) {
    args.push_back(typeTile(*arg));
    written.push_back(arg.get());
  }
  StringRef spelling = opSpelling(e.op);
  switch (e.op) {
  case Op::Shl:
  case Op::Shr:
  case Op::BitAnd:
  case Op::BitXor:
  case Op::BitOr:
    return typeTileBits(e, std::move(args), std::move(written));
  case Op::And:
  case Op::Or:
    if (!expectBools(spelling, args, written))
      return errorValue();
    return elementwise(e.op, ElemType::Bool, args, written, e.range);
  case Op::Select:
    return typeTileSelect(e, std::move(args), std::move(written));
  default:
    break;
  }
  bool equality = e.op == Op::Eq || e.op == Op::Ne;
  if (equality && args[0]->type.elem == ElemType::Bool &&
      args[1]->type.elem == ElemType::Bool)
    return elementwise(e.op, ElemType::Bool, args, written, e.range);
  if (!expectNumbers(spelling, args, written, e.op == Op::Rem))
    return errorValue();
  ElemType result = unifyTiles(args, written);
  if ((e.op == Op::Div || e.op == Op::Rem) && isInteger(result) &&
      args[1]->isConstant() && args[1]->integer == 0) {
    report(e.range, "division of an integer by zero");
    return errorValue();
  }
  return elementwise(e.op, isComparison(e.op) ? ElemType::Bool : result, args,
                     written, e.range);
}

const Term *KernelSema::typeTileUnary(const ast::Expr &e) {
  Terms args = {typeTile(*e.args[0])};
  Written written = {e.args[0].get()};
  if (e.op == Op::Not) {
    if (!expectBools("!", args, written))
      return errorValue();
    return elementwise(e.op, ElemType::Bool, args, written, e.range);
  }
  if (e.op == Op::BitNot && args[0]->type.elem == ElemType::Bool) {
    report(e.range, "`~` inverts the bits of integers, but got bool; write `!`")
        .fix(e.nameRange, "!");
    return errorValue();
  }
  if (!expectNumbers(opSpelling(e.op), args, written, e.op == Op::BitNot))
    return errorValue();
  args[0] = widen(args[0]);
  return elementwise(e.op, args[0]->type.elem, args, written, e.range);
}

const Term *KernelSema::typeTileBits(const ast::Expr &e, Terms args,
                                     Written written) {
  StringRef spelling = opSpelling(e.op);
  if (args[0]->type.elem == ElemType::Bool &&
      args[1]->type.elem == ElemType::Bool) {
    if (e.op == Op::BitAnd || e.op == Op::BitOr)
      return elementwise(e.op == Op::BitAnd ? Op::And : Op::Or, ElemType::Bool,
                         args, written, e.range);
    if (e.op == Op::BitXor) {
      report(e.range, "`^` takes integers, but got bool; write `!=`")
          .fix(e.nameRange, "!=");
      return errorValue();
    }
  }
  if (!expectNumbers(spelling, args, written, /*integers=*/true))
    return errorValue();
  ElemType result;
  if (e.op == Op::Shl || e.op == Op::Shr) { // the amount adapts to the value
    for (const Term *&arg : args)
      arg = widen(arg);
    result = args[0]->type.elem;
    if (args[1]->type.elem == ElemType::I64 && result == ElemType::I32) {
      // An amount past 31 shifts everything out, and stays past it.
      const Term *width = integer(63, ElemType::I64, e.range);
      const Term *none = integer(-1, ElemType::I64, e.range);
      args[1] = elementwise(Op::Max, ElemType::I64, {args[1], none},
                            {written[1], written[1]}, e.range);
      args[1] = elementwise(Op::Min, ElemType::I64, {args[1], width},
                            {written[1], written[1]}, e.range);
    }
    args[1] = convert(args[1], result, written[1]->range);
  } else {
    result = unifyTiles(args, written);
  }
  return elementwise(e.op, result, args, written, e.range);
}

/// `c ? a : b`, or `where(c, a, b)`.
const Term *KernelSema::typeTileSelect(const ast::Expr &e, Terms args,
                                       Written written) {
  StringRef name = e.kind == ast::Expr::Call ? "where" : "?:";
  if (!expectBools(name, {args[0]}, {written[0]}) ||
      !checkOperand(*args[1], *written[1], name) ||
      !checkOperand(*args[2], *written[2], name))
    return errorValue();
  Terms sides = {args[1], args[2]};
  bool isBool = sides[0]->type.elem == ElemType::Bool;
  if (isBool != (sides[1]->type.elem == ElemType::Bool)) {
    report(e.range, "the two sides of `" + name + "` are " +
                        describe(*sides[0]) + " and " + describe(*sides[1]));
    return errorValue();
  }
  ElemType result =
      isBool ? ElemType::Bool : unifyTiles(sides, {written[1], written[2]});
  // The unused side of a constant choice is dropped.
  if (args[0]->isConstant() && sides[0]->type.isScalar() &&
      sides[1]->type.isScalar())
    return sides[args[0]->integer ? 0 : 1];
  return elementwise(Op::Select, result, {args[0], sides[0], sides[1]}, written,
                     e.range);
}
