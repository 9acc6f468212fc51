//===- SemaExpr.cpp - typing of expressions -------------------------------===//
//
// One function a form of expression. Conversions become nodes, constants fold,
// and a name is judged by the context that it stands in.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaImpl.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SaveAndRestore.h"
#include <cmath>

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
// Expressions
//===----------------------------------------------------------------------===//

const Expr *Sema::typeIn(Context newContext, const ast::Expr &e) {
  Scope clauseScope;
  llvm::SaveAndRestore saveContext(context, newContext);
  llvm::SaveAndRestore saveValue(clauseValue, &e);
  llvm::SaveAndRestore saveScope(scope, &clauseScope);
  return type(e);
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
    if (context != Context::Static && item.accumulator != ElemType::F64 &&
        std::isfinite(e.real) && std::isinf(float(e.real))) {
      diagnostics.error(e.range, "this number does not fit in f32, in which "
                                 "the item computes; write `inf`");
      return errorExpr();
    }
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
  case ast::Expr::Bounded:
    return typeBounded(e);
  case ast::Expr::Shape:
  case ast::Expr::Slice:
  case ast::Expr::Load:
  case ast::Expr::Text:
    diagnostics.error(e.range,
                      "`" + toText(e) + "` belongs to a `kernel` item");
    return errorExpr();
  case ast::Expr::Unsupported:
    diagnostics.error(e.range, e.name + " is not supported yet");
    return errorExpr();
  }
  return errorExpr();
}

std::vector<StringRef> Sema::visibleNames() const {
  std::vector<StringRef> names;
  for (const Local &local : scope->locals)
    names.push_back(local.name);
  if (scope->fn)
    return names;
  if (!onHost() && !isKernel)
    names.insert(names.end(), {"b", "h", "g", "i"});
  if (seesKey())
    names.push_back("j");
  if (context == Context::Emit)
    names.insert(names.end(), {"o", "lse", "rowmax", "rowsum"});
  for (const auto &symbol : symbols)
    names.push_back(symbol.first());
  llvm::sort(names); // The map's order is not that of the text.
  return names;
}

StringRef Sema::contextName() const {
  switch (context) {
  case Context::Static:
    return "a `static`";
  case Context::Extent:
    return "an extent";
  case Context::Require:
    return "a `require`";
  case Context::Let:
    return "a `let`";
  case Context::Scale:
    return "`scale`";
  case Context::Score:
    return "a score";
  case Context::Mask:
    return "a mask";
  case Context::Reduce:
    return "`reduce`";
  case Context::Extra:
    return "`extra`";
  case Context::Weight:
    return "`weight`";
  case Context::Emit:
    return "an output";
  }
  return "";
}

const Expr *Sema::unknownName(const ast::Expr &e, const llvm::Twine &what) {
  if (incomplete && !scope->fn)
    return errorExpr();
  StringRef near;
  std::string hint = didYouMean(e.name, visibleNames(), &near);
  if (hint.empty() && scope->fn)
    hint = "; a `fn` sees its parameters and `let`s only";
  Diagnostic &d = diagnostics.error(e.nameRange, "unknown " + what + " `" +
                                                     e.name + "`" + hint);
  if (!near.empty())
    d.fix(e.nameRange, near);
  return errorExpr();
}

const Expr *Sema::typeName(const ast::Expr &e) {
  if (const Expr *local = findLocal(e.name))
    return local;
  if (!scope->fn) {
    if (refused.contains(e.name))
      return errorExpr();
    if (const Expr *implicit = typeImplicit(e))
      return implicit;
    auto symbol = symbols.find(e.name);
    if (symbol != symbols.end())
      return typeSymbol(e, symbol->second);
  }
  if (context == Context::Extent && !scope->fn && !elemTypeFromName(e.name)) {
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
  if (context == Context::Static && !scope->fn) {
    diagnostics.error(e.range,
                      "expected a constant, but `" + e.name + "` is no static");
    return errorExpr();
  }
  return unknownName(e, "name");
}

std::optional<IndexVar> tegula::lang::indexNamed(StringRef name) {
  return llvm::StringSwitch<std::optional<IndexVar>>(name)
      .Case("b", IndexVar::B)
      .Case("h", IndexVar::H)
      .Case("g", IndexVar::G)
      .Case("i", IndexVar::I)
      .Case("j", IndexVar::J)
      .Default(std::nullopt);
}

/// `b h g i j s`, values of a row in an output, or null for another name.
const Expr *Sema::typeImplicit(const ast::Expr &e) {
  if (isKernel)
    return nullptr;
  if (const Expr *value = typeRowValue(e))
    return value;
  bool isScore = e.name == "s";
  std::optional<IndexVar> index = indexNamed(e.name);
  if (!isScore && !index)
    return nullptr;
  std::string refusal;
  if (context == Context::Static)
    refusal = "expected a constant, but `" + e.name +
              "` differs from element to element";
  else if (onHost())
    refusal = contextName().str() + " sees dims, statics and scalars, but `" +
              e.name + "` differs from element to element";
  else if (isScore && !seesScore())
    refusal = refuseScore();
  else if (index == IndexVar::J && !seesKey())
    refusal = contextName().str() + " may not depend on the key position `j`" +
              (context == Context::Scale ? "; use `score`" : "");
  if (!refusal.empty()) {
    diagnostics.error(e.range, refusal);
    return errorExpr();
  }
  if (isScore)
    return &node(Expr::Score, item.accumulator, e.range);
  Expr &typed = node(Expr::Index, ElemType::I32, e.range);
  typed.index = *index;
  typed.indices = uint8_t(1u << int(*index));
  return &typed;
}

/// What is wrong with `s` here.
std::string Sema::refuseScore() const {
  switch (context) {
  case Context::Mask:
    return "`s` is not known in a mask; write `score " + toText(*clauseValue) +
           " ? s : -inf`";
  case Context::Scale:
    return "`s` is not known in `scale`; use `score`";
  case Context::Let:
    return "`s` changes from clause to clause; write it in the `score`, or as "
           "a `fn`";
  case Context::Weight:
    return ("`s` is not known in `weight` under `reduce " +
            reductionName(item.reduction) + "`; write it in the `reduce`")
        .str();
  default:
    return "`s` is not known in " + contextName().str() +
           ", which is of a row, not of a key";
  }
}

const Expr *Sema::typeSymbol(const ast::Expr &e, Symbol &symbol) {
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
    if (onHost()) {
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
  if (!onHost() && !seesKey() && value.dependsOn(IndexVar::J)) {
    diagnostics
        .error(e.range, contextName() +
                            " may not depend on the key position `j`, which "
                            "`" +
                            let.name + "` does" +
                            (context == Context::Scale ? "; use `score`" : ""))
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
