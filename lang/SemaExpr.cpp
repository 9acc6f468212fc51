//===- SemaExpr.cpp - typing of expressions -------------------------------===//
//
// One function a form of expression. Conversions become nodes, constants fold,
// and a name is judged by the context that it stands in.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaImpl.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Expr &Sema::node(Expr::Kind kind, ElemType type, SMRange range) {
  Expr &e = item.pool.emplace_back();
  e.kind = kind;
  e.type = type;
  e.range = range;
  return e;
}

const Expr *Sema::integerConstant(int64_t value, ElemType type, SMRange range) {
  Expr &e = node(Expr::Constant, type, range);
  e.integer = value;
  return &e;
}

const Expr *Sema::realConstant(double value, SMRange range) {
  Expr &e = node(Expr::Constant, item.accumulator, range);
  e.real = value;
  return &e;
}

/// An operator node, folded where its value is known.
const Expr *Sema::make(Op op, ElemType type, llvm::ArrayRef<const Expr *> args,
                       SMRange range, ElemType castType) {
  for (const Expr *arg : args)
    if (arg->type == ElemType::Error)
      return errorExpr();
  // The unused side of a constant choice is dropped.
  if (op == Op::Select && args[0]->isConstant())
    return args[args[0]->integer ? 1 : 2];
  if (op == Op::And || op == Op::Or)
    for (int side : {0, 1})
      if (args[side]->isConstant())
        return bool(args[side]->integer) == (op == Op::And) ? args[1 - side]
                                                            : args[side];
  Expr &e = node(Expr::Operator, type, range);
  e.op = op;
  e.castType = castType;
  e.args.append(args.begin(), args.end());
  for (const Expr *arg : args) {
    e.indices |= arg->indices;
    e.depth = std::max(e.depth, arg->depth + 1);
  }
  if (llvm::all_of(args, [](auto *arg) { return arg->isConstant(); }) &&
      foldOperator(e)) {
    e.kind = Expr::Constant;
    e.args.clear();
    e.depth = 1;
  }
  if (e.depth > maxItemDepth) {
    diagnostics.error(range, "this expression is more than " +
                                 llvm::Twine(maxItemDepth) +
                                 " operators deep, its `let`s included");
    return errorExpr();
  }
  return &e;
}

std::string Sema::describe(const Expr &e) const {
  std::string text = elemTypeName(e.type).str();
  if (!e.isConstant())
    return text;
  if (isInteger(e.type))
    return text + " (value " + std::to_string(e.integer) + ")";
  if (e.type == ElemType::Bool)
    return text + (e.integer ? " (value true)" : " (value false)");
  return text;
}

//===----------------------------------------------------------------------===//
// What operands have to be
//===----------------------------------------------------------------------===//

bool Sema::expectNumber(const ast::Expr &e, const Expr &typed, StringRef op) {
  if (typed.type == ElemType::Error)
    return false;
  if (typed.type != ElemType::Bool)
    return true;
  diagnostics.error(e.range, "`" + op +
                                 "` takes numbers, but got bool; write `" +
                                 "i32(...)` to count it as 0 or 1");
  return false;
}

bool Sema::expectInteger(const ast::Expr &e, const Expr &typed, StringRef op) {
  if (typed.type == ElemType::Error)
    return false;
  if (isInteger(typed.type))
    return true;
  diagnostics.error(e.range,
                    "`" + op + "` takes integers, but got " + describe(typed));
  return false;
}

bool Sema::expectBool(const ast::Expr &e, const Expr &typed, StringRef op) {
  if (typed.type == ElemType::Error)
    return false;
  if (typed.type == ElemType::Bool)
    return true;
  diagnostics.error(e.range, "`" + op + "` takes bools, but got " +
                                 describe(typed) + "; write a comparison");
  return false;
}

std::string Sema::floatSpelling(const ast::Expr &e) const {
  StringRef cast = elemTypeName(item.accumulator);
  const ast::Expr *first = &e;
  while (first->kind == ast::Expr::Operator && opArity(first->op) == 2)
    first = first->args[0].get();
  std::string text = toText(e), leaf = toText(*first);
  if (!StringRef(text).starts_with(leaf)) // it stands in brackets
    return (cast + "(" + text + ")").str();
  std::string rest = text.substr(leaf.size());
  return first->kind == ast::Expr::Integer
             ? leaf + ".0" + rest
             : (cast + "(" + leaf + ")" + rest).str();
}

const Expr *Sema::toFloat(const ast::Expr &written, const Expr *typed) {
  if (!isInteger(typed->type))
    return typed;
  if (written.kind == ast::Expr::Operator && written.op == Op::Div)
    diagnostics.warning(written.range, "the integer quotient `" +
                                           toText(written) +
                                           "` is floored before it becomes a "
                                           "float; for a fraction write `" +
                                           floatSpelling(written) + "`");
  return make(Op::Convert, item.accumulator, {typed}, written.range,
              item.accumulator);
}

ElemType Sema::unify(llvm::MutableArrayRef<const Expr *> typed,
                     llvm::ArrayRef<const ast::Expr *> written) {
  bool anyFloat = false, anyWide = false;
  for (const Expr *e : typed) {
    anyFloat |= isFloat(e->type);
    anyWide |= e->type == ElemType::I64;
  }
  if (anyFloat)
    for (size_t i = 0; i < typed.size(); ++i)
      typed[i] = toFloat(*written[i], typed[i]);
  return anyFloat ? item.accumulator : anyWide ? ElemType::I64 : ElemType::I32;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

const Expr *Sema::typeIn(Context newContext, const ast::Expr &e) {
  Context savedContext = context;
  const ast::Expr *savedValue = clauseValue;
  context = newContext;
  clauseValue = &e;
  const Expr *typed = type(e);
  context = savedContext;
  clauseValue = savedValue;
  return typed;
}

const Expr *Sema::type(const ast::Expr &e) {
  if (depth > maxItemDepth) {
    diagnostics.error(e.range, "this expression is more than " +
                                   llvm::Twine(maxItemDepth) +
                                   " operators deep, its `let`s included");
    return errorExpr();
  }
  ++depth;
  llvm::scope_exit leave([&] { --depth; });
  switch (e.kind) {
  case ast::Expr::Error:
    return errorExpr();
  case ast::Expr::Integer:
    return integerConstant(
        e.integer, llvm::isInt<32>(e.integer) ? ElemType::I32 : ElemType::I64,
        e.range);
  case ast::Expr::Float:
    return realConstant(e.real, e.range);
  case ast::Expr::Bool:
    return integerConstant(e.integer, ElemType::Bool, e.range);
  case ast::Expr::Name:
    return typeName(e);
  case ast::Expr::Index:
    return typeIndex(e);
  case ast::Expr::Call:
    return typeCall(e);
  case ast::Expr::Operator:
    return typeOperator(e);
  case ast::Expr::Unsupported:
    diagnostics.error(e.range, e.name + " is not supported yet");
    return errorExpr();
  }
  return errorExpr();
}

std::vector<StringRef> Sema::visibleNames() const {
  std::vector<StringRef> names;
  if (context != Context::Static && context != Context::Extent &&
      context != Context::Require)
    names = {"b", "h", "g", "i", "j"};
  for (const auto &symbol : symbols)
    names.push_back(symbol.first());
  llvm::sort(names); // The map's order is not that of the text.
  return names;
}

const Expr *Sema::unknownName(const ast::Expr &e, const llvm::Twine &what) {
  if (incomplete)
    return errorExpr();
  StringRef near;
  Diagnostic &d = diagnostics.error(
      e.nameRange, "unknown " + what + " `" + e.name + "`" +
                       didYouMean(e.name, visibleNames(), &near));
  if (!near.empty())
    d.fix(e.nameRange, near);
  return errorExpr();
}

const Expr *Sema::typeName(const ast::Expr &e) {
  if (const Expr *implicit = typeImplicit(e))
    return implicit;
  auto symbol = symbols.find(e.name);
  if (symbol != symbols.end())
    return typeSymbol(e, symbol->second);
  if (context == Context::Extent && !elemTypeFromName(e.name)) {
    Expr &dim = node(Expr::Dim, ElemType::I32, e.range);
    dim.number = addDim(e.name, e.range, std::nullopt);
    return &dim;
  }
  if (elemTypeFromName(e.name)) {
    diagnostics.error(e.range, "`" + e.name +
                                   "` is a type, and has no value; "
                                   "write `" +
                                   e.name + "(x)` for a cast");
    return errorExpr();
  }
  if (functionOp(e.name) || e.name == "clamp") {
    diagnostics.error(e.range, "`" + e.name + "` is a function; write `" +
                                   e.name + "(x)`");
    return errorExpr();
  }
  if (context == Context::Static) {
    diagnostics.error(e.range,
                      "expected a constant, but `" + e.name + "` is no static");
    return errorExpr();
  }
  return unknownName(e, "name");
}

static std::optional<IndexVar> indexNamed(StringRef name) {
  return llvm::StringSwitch<std::optional<IndexVar>>(name)
      .Case("b", IndexVar::B)
      .Case("h", IndexVar::H)
      .Case("g", IndexVar::G)
      .Case("i", IndexVar::I)
      .Case("j", IndexVar::J)
      .Default(std::nullopt);
}

/// `b h g i j s`, or null for another name.
const Expr *Sema::typeImplicit(const ast::Expr &e) {
  bool isScore = e.name == "s";
  std::optional<IndexVar> index = indexNamed(e.name);
  if (!isScore && !index)
    return nullptr;
  std::string text;
  switch (context) {
  case Context::Score:
    break;
  case Context::Mask:
    if (isScore)
      text = "`s` is not known in a mask; write `score " +
             toText(*clauseValue) + " ? s : -inf`";
    break;
  case Context::Scale:
    if (isScore)
      text = "`s` is not known in `scale`; use `score`";
    else if (*index == IndexVar::J)
      text = "`scale` may not depend on the key position `j`; use `score`";
    break;
  case Context::Let:
    if (isScore)
      text = "`s` changes from clause to clause; write it in the `score`, or "
             "as a `fn`";
    break;
  case Context::Require:
    text = "a `require` sees dims, statics and scalars, but `" + e.name +
           "` differs from element to element";
    break;
  case Context::Extent:
    text = "an extent sees dims, statics and scalars, but `" + e.name +
           "` differs from element to element";
    break;
  case Context::Static:
    text = "expected a constant, but `" + e.name +
           "` differs from element to element";
    break;
  }
  if (!text.empty()) {
    diagnostics.error(e.range, text);
    return errorExpr();
  }
  if (isScore)
    return &node(Expr::Score, item.accumulator, e.range);
  Expr &typed = node(Expr::Index, ElemType::I32, e.range);
  typed.index = *index;
  typed.indices = uint8_t(1u << int(*index));
  return &typed;
}

const Expr *Sema::typeSymbol(const ast::Expr &e, Symbol &symbol) {
  symbol.read = true;
  switch (symbol.kind) {
  case Symbol::Static: {
    if (!evaluateStatic(symbol.number))
      return errorExpr();
    const Static &entry = item.statics[symbol.number];
    if (entry.kind == Static::Integer)
      return integerConstant(entry.integer,
                             llvm::isInt<32>(entry.integer) ? ElemType::I32
                                                            : ElemType::I64,
                             e.range);
    if (entry.kind == Static::Bool)
      return integerConstant(entry.integer, ElemType::Bool, e.range);
    if (entry.kind == Static::Float)
      return realConstant(entry.real, e.range);
    diagnostics
        .error(e.range, "`" + e.name +
                            "` is an element type, and has "
                            "no value")
        .note(symbol.range, "declared here");
    return errorExpr();
  }
  case Symbol::Scalar: {
    ElemType type = item.scalars[symbol.number].type;
    if (isFloat(type))
      type = item.accumulator;
    Expr &scalar = node(Expr::Scalar, type, e.range);
    scalar.number = symbol.number;
    return &scalar;
  }
  case Symbol::Dim: {
    Expr &dim = node(Expr::Dim, ElemType::I32, e.range);
    dim.number = symbol.number;
    return &dim;
  }
  case Symbol::Let:
    if (context == Context::Require || context == Context::Extent) {
      diagnostics
          .error(e.range, "expected dims, statics and scalars only, but "
                          "`" +
                              e.name + "` is a `let`")
          .note(symbol.range, "declared here");
      return errorExpr();
    }
    return typeLet(e, symbol.number);
  case Symbol::Tensor: {
    const Tensor &tensor = item.tensors[symbol.number];
    if (refuseTensorOnHost(e) || refuseOperand(e, tensor))
      return errorExpr();
    std::string indices;
    for (size_t i = 0; i < tensor.extents.size(); ++i)
      indices += i ? ",..." : "...";
    diagnostics
        .error(e.range, "`" + e.name +
                            "` is a tensor; read an element "
                            "of it, as in `" +
                            e.name + "[" + indices + "]`")
        .note(symbol.range, "declared here");
    return errorExpr();
  }
  }
  return errorExpr();
}

/// A use of a `let` (or, from the list of lets, its definition): types the
/// value on first need, so that a `let` may be used before its line.
const Expr *Sema::typeLet(const ast::Expr &e, unsigned number) {
  LetState &state = lets[number];
  Let &let = item.lets[number];
  if (state.state == LetState::Busy) {
    diagnostics.error(e.range, "`" + let.name + "` is defined by itself")
        .note(let.range, "declared here");
    return errorExpr();
  }
  if (state.state == LetState::Open) {
    state.state = LetState::Busy;
    let.value = typeIn(Context::Let, *state.clause->value);
    state.state = LetState::Done;
  }
  const Expr &value = *let.value;
  if (value.type == ElemType::Error)
    return errorExpr();
  if (context == Context::Scale && value.dependsOn(IndexVar::J)) {
    diagnostics
        .error(e.range, "`scale` may not depend on the key position `j`, which "
                        "`" +
                            let.name + "` does; use `score`")
        .note(let.range, "declared here");
    return errorExpr();
  }
  Expr &use = node(Expr::Let, value.type, e.range);
  if (value.isConstant()) {
    use = value;
    use.range = e.range;
    return &use;
  }
  use.number = number;
  use.indices = value.indices;
  use.depth = value.depth + 1;
  return &use;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// What an element widens to when it is read.
static ElemType widened(ElemType elem, ElemType accumulator) {
  if (isFloat(elem))
    return accumulator;
  return isInteger(elem) && elem != ElemType::I64 ? ElemType::I32 : elem;
}

/// Extents and requirements are computed without reading tensors.
bool Sema::refuseTensorOnHost(const ast::Expr &e) {
  if (context != Context::Require && context != Context::Extent &&
      context != Context::Static)
    return false;
  diagnostics.error(e.range, "expected dims, statics and scalars only, but `" +
                                 e.name +
                                 "` is a tensor, whose elements the host does "
                                 "not see");
  return true;
}

/// Operands and outputs are no tables.
bool Sema::refuseOperand(const ast::Expr &e, const Tensor &tensor) {
  bool isOperand = e.name == "q" || e.name == "k" || e.name == "v";
  if (!isOperand && tensor.role == Role::Input)
    return false;
  StringRef where = context == Context::Mask    ? "a mask"
                    : context == Context::Scale ? "`scale`"
                    : context == Context::Let   ? "a `let`"
                                                : "a score";
  diagnostics.error(e.range, "`" + e.name + "` cannot be read in " + where +
                                 "; it sees " +
                                 (context == Context::Score ? "s, " : "") +
                                 "indices, scalars and captured tensors");
  return true;
}

const Expr *Sema::typeIndex(const ast::Expr &e) {
  auto symbol = symbols.find(e.name);
  if (symbol == symbols.end())
    return unknownName(e, "tensor");
  symbol->second.read = true;
  if (symbol->second.kind != Symbol::Tensor) {
    diagnostics
        .error(e.nameRange, "`" + e.name +
                                "` is no tensor, and takes "
                                "no index")
        .note(symbol->second.range, "declared here");
    return errorExpr();
  }
  const Tensor &tensor = item.tensors[symbol->second.number];
  if (refuseTensorOnHost(e))
    return errorExpr();
  if (refuseOperand(e, tensor))
    return errorExpr();
  if (e.args.size() != tensor.extents.size()) {
    diagnostics
        .error(e.range, "`" + e.name + "` has " +
                            llvm::Twine(tensor.extents.size()) +
                            (tensor.extents.size() == 1 ? " dim" : " dims") +
                            ", but got " + llvm::Twine(e.args.size()) +
                            (e.args.size() == 1 ? " index" : " indices"))
        .note(symbol->second.range, "declared here");
    return errorExpr();
  }
  Expr &lookup =
      node(Expr::Lookup, widened(tensor.elem, item.accumulator), e.range);
  lookup.number = symbol->second.number;
  bool ok = tensor.elem != ElemType::Error;
  for (size_t axis = 0; axis < e.args.size(); ++axis) {
    const Expr *index = type(*e.args[axis]);
    if (index->type == ElemType::Error) {
      ok = false;
    } else if (!isInteger(index->type)) {
      diagnostics.error(e.args[axis]->range,
                        "an index is an integer, but got " + describe(*index));
      ok = false;
    } else if (index->kind == Expr::Index) {
      checkBareIndex(e, tensor, axis, *index);
    }
    lookup.args.push_back(index);
    lookup.indices |= index->indices;
    lookup.depth = std::max(lookup.depth, index->depth + 1);
  }
  return ok ? &lookup : errorExpr();
}

/// `doc[j]` where `doc` has extent M: over another of the dims B H G M N a bare
/// index is refused, unless a `require` makes the two equal.
void Sema::checkBareIndex(const ast::Expr &e, const Tensor &tensor,
                          unsigned axis, const Expr &index) {
  static constexpr StringRef dims[] = {"B", "H", "G", "M", "N"};
  static constexpr StringRef positions[] = {
      "batch indices (0..B)", "query heads (0..H)", "key heads (0..G)",
      "query positions (0..M)", "key positions (0..N)"};
  const Extent &extent = tensor.extents[axis];
  if (extent.dim < 0)
    return;
  const Dim &over = item.dims[extent.dim];
  StringRef home = dims[int(index.index)];
  if (!llvm::is_contained(dims, over.name) || over.name == home)
    return;
  int homeDim = item.findDim(home);
  if (homeDim >= 0 && (find(homeDim) == find(extent.dim) ||
                       (over.value && over.value == item.dims[homeDim].value)))
    return;
  const ast::Tensor &written = *writtenTensors[&tensor - item.tensors.data()];
  std::string suggestion = tensor.name + ": " + written.elem.text + "[";
  for (size_t a = 0; a < written.extents.size(); ++a)
    suggestion +=
        (a ? "," : "") + (a == axis ? home.str() : toText(*written.extents[a]));
  std::string has = tensor.extents.size() == 1
                        ? "`" + tensor.name + "` has extent "
                        : "axis " + std::to_string(axis) + " of `" +
                              tensor.name + "` has extent ";
  diagnostics
      .error(e.range, "`" + toText(e) + "` reads " +
                          positions[int(index.index)] + " but " + has +
                          over.name)
      .note(tensor.range, "declared here; declare `" + suggestion +
                              "]`, or add `require " + over.name +
                              " == " + home + "`");
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

const Expr *Sema::typeOperator(const ast::Expr &e) {
  switch (e.op) {
  case Op::Neg:
  case Op::Not:
  case Op::BitNot:
    return typeUnary(e);
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
  case Op::Div:
  case Op::Rem:
    return typeArithmetic(e);
  case Op::Shl:
  case Op::Shr:
  case Op::BitAnd:
  case Op::BitXor:
  case Op::BitOr:
    return typeBits(e);
  case Op::And:
  case Op::Or:
    return typeLogic(e);
  case Op::Select:
    return typeSelect(e);
  default:
    return typeComparison(e);
  }
}

const Expr *Sema::typeUnary(const ast::Expr &e) {
  const Expr *operand = type(*e.args[0]);
  if (e.op == Op::Neg) {
    if (!expectNumber(*e.args[0], *operand, "-"))
      return errorExpr();
    return make(e.op, operand->type, {operand}, e.range);
  }
  if (e.op == Op::Not) {
    if (!expectBool(*e.args[0], *operand, "!"))
      return errorExpr();
    return make(e.op, ElemType::Bool, {operand}, e.range);
  }
  if (operand->type == ElemType::Bool) {
    diagnostics
        .error(e.range, "`~` inverts the bits of integers, but got "
                        "bool; write `!`")
        .fix(e.nameRange, "!");
    return errorExpr();
  }
  if (!expectInteger(*e.args[0], *operand, "~"))
    return errorExpr();
  return make(e.op, operand->type, {operand}, e.range);
}

const Expr *Sema::typeArithmetic(const ast::Expr &e) {
  const Expr *operands[] = {type(*e.args[0]), type(*e.args[1])};
  const ast::Expr *written[] = {e.args[0].get(), e.args[1].get()};
  StringRef spelling = opSpelling(e.op);
  bool ok = true;
  for (int i : {0, 1})
    ok &= e.op == Op::Rem ? expectInteger(*written[i], *operands[i], spelling)
                          : expectNumber(*written[i], *operands[i], spelling);
  if (!ok)
    return errorExpr();
  ElemType result = unify(operands, written);
  if ((e.op == Op::Div || e.op == Op::Rem) && isInteger(result) &&
      operands[1]->isConstant() && operands[1]->integer == 0) {
    diagnostics.error(e.range, "division of an integer by zero");
    return errorExpr();
  }
  return make(e.op, result, operands, e.range);
}

const Expr *Sema::typeBits(const ast::Expr &e) {
  const Expr *a = type(*e.args[0]), *b = type(*e.args[1]);
  StringRef spelling = opSpelling(e.op);
  if (a->type == ElemType::Bool && b->type == ElemType::Bool) {
    if (e.op == Op::BitAnd || e.op == Op::BitOr)
      return make(e.op == Op::BitAnd ? Op::And : Op::Or, ElemType::Bool, {a, b},
                  e.range);
    if (e.op == Op::BitXor) {
      diagnostics.error(e.range, "`^` takes integers, but got bool; write `!=`")
          .fix(e.nameRange, "!=");
      return errorExpr();
    }
  }
  bool ok = expectInteger(*e.args[0], *a, spelling);
  ok &= expectInteger(*e.args[1], *b, spelling);
  if (!ok)
    return errorExpr();
  bool wide = a->type == ElemType::I64 ||
              (b->type == ElemType::I64 && e.op != Op::Shl && e.op != Op::Shr);
  return make(e.op, wide ? ElemType::I64 : ElemType::I32, {a, b}, e.range);
}

const Expr *Sema::typeComparison(const ast::Expr &e) {
  const Expr *operands[] = {type(*e.args[0]), type(*e.args[1])};
  const ast::Expr *written[] = {e.args[0].get(), e.args[1].get()};
  bool equality = e.op == Op::Eq || e.op == Op::Ne;
  bool bools = operands[0]->type == ElemType::Bool &&
               operands[1]->type == ElemType::Bool;
  if (equality && bools)
    return make(e.op, ElemType::Bool, operands, e.range);
  bool ok = true;
  for (int i : {0, 1})
    ok &= expectNumber(*written[i], *operands[i], opSpelling(e.op));
  if (!ok)
    return errorExpr();
  unify(operands, written);
  return make(e.op, ElemType::Bool, operands, e.range);
}

const Expr *Sema::typeLogic(const ast::Expr &e) {
  const Expr *a = type(*e.args[0]), *b = type(*e.args[1]);
  StringRef spelling = opSpelling(e.op);
  bool ok = expectBool(*e.args[0], *a, spelling);
  ok &= expectBool(*e.args[1], *b, spelling);
  return ok ? make(e.op, ElemType::Bool, {a, b}, e.range) : errorExpr();
}

const Expr *Sema::typeSelect(const ast::Expr &e) {
  const Expr *condition = type(*e.args[0]);
  const Expr *sides[] = {type(*e.args[1]), type(*e.args[2])};
  const ast::Expr *written[] = {e.args[1].get(), e.args[2].get()};
  bool ok = expectBool(*e.args[0], *condition, "?:");
  if (!ok || sides[0]->type == ElemType::Error ||
      sides[1]->type == ElemType::Error)
    return errorExpr();
  bool isBool = sides[0]->type == ElemType::Bool;
  if (isBool != (sides[1]->type == ElemType::Bool)) {
    diagnostics.error(e.range, "the two sides of `?:` are " +
                                   describe(*sides[0]) + " and " +
                                   describe(*sides[1]));
    return errorExpr();
  }
  ElemType result = isBool ? ElemType::Bool : unify(sides, written);
  return make(Op::Select, result, {condition, sides[0], sides[1]}, e.range);
}
