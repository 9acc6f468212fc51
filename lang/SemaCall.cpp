//===- SemaCall.cpp - calls -----------------------------------------------===//
//
// A call is a cast by the name of a type or of a static that binds one, a
// built-in function, or a `fn` (SemaFn.cpp).
//
//===----------------------------------------------------------------------===//
#include "lang/SemaImpl.h"

using namespace tegula::lang;
using llvm::StringRef;

bool Sema::checkArity(const ast::Expr &e, unsigned arity) {
  if (e.args.size() == arity)
    return true;
  diagnostics.error(e.range, "`" + e.name + "` takes " + llvm::Twine(arity) +
                                 (arity == 1 ? " argument" : " arguments") +
                                 ", but got " + llvm::Twine(e.args.size()));
  return false;
}

/// Functions of attention items; `fn`s may not take their names.
static constexpr StringRef elementFunctions[] = {
    "min", "max",  "abs",  "clamp", "ceildiv", "exp", "exp2",
    "log", "log2", "tanh", "sqrt",  "rsqrt",   "pow", "random"};

bool tegula::lang::isBuiltinFunction(StringRef name) {
  return llvm::is_contained(elementFunctions, name) || isTileFunction(name) ||
         elemTypeFromName(name);
}

const Expr *Sema::typeCall(const ast::Expr &e) {
  std::optional<ElemType> target = elemTypeFromName(e.name);
  auto symbol = scope->fn ? symbols.end() : symbols.find(e.name);
  if (symbol != symbols.end() && symbol->second.kind == Symbol::Static) {
    const Static &entry = item.statics[symbol->second.number];
    if (!evaluateStatic(symbol->second.number))
      return errorExpr();
    if (entry.kind == Static::Type)
      target = entry.elem;
  }
  if (!target && !isBuiltinFunction(e.name))
    if (const ast::Fn *fn = file.findFn(e.name))
      return typeFnCall(e, *fn);
  if (!e.argNames.empty() &&
      (target || llvm::is_contained(elementFunctions, e.name))) {
    diagnostics.error(e.range, "`" + e.name +
                                   "` takes its arguments in order, without "
                                   "names");
    return errorExpr();
  }
  if (target)
    return typeCast(e, *target);
  if (std::optional<Op> op = functionOp(e.name))
    return typeFunction(e, *op);
  if (e.name == "clamp")
    return typeClamp(e);
  if (e.name == "random")
    return typeRandom(e);
  return unknownFunction(e);
}

const Expr *Sema::unknownFunction(const ast::Expr &e) {
  auto symbol = symbols.find(e.name);
  if (!scope->fn && symbol != symbols.end()) {
    bool isTensor = symbol->second.kind == Symbol::Tensor;
    diagnostics
        .error(e.nameRange,
               "`" + e.name + "` is no function" +
                   (isTensor ? "; write `" + e.name + "[...]`" : std::string()))
        .note(symbol->second.range, "declared here");
    return errorExpr();
  }
  if (isTileFunction(e.name)) {
    bool bounded = e.name == "sum" || e.name == "any" || e.name == "all";
    diagnostics.error(
        e.nameRange, "`" + e.name + "` is for tiles of a `kernel`; " +
                         (e.name == "where" ? std::string("write `c ? a : b`")
                          : bounded ? "over a bounded index write `" + e.name +
                                          "(t in K: ...)`"
                                    : "an attention item sees one (query, key, "
                                      "head)"));
    return errorExpr();
  }
  std::vector<StringRef> known(std::begin(elementFunctions),
                               std::end(elementFunctions));
  for (const ast::Fn &fn : file.fns)
    known.push_back(fn.name.text);
  StringRef near;
  std::string hint = didYouMean(e.name, known, &near);
  if (hint.empty()) {
    hint = "; known:";
    for (StringRef name : known)
      hint += " " + name.str();
  }
  Diagnostic &d = diagnostics.error(e.nameRange,
                                    "unknown function `" + e.name + "`" + hint);
  if (!near.empty())
    d.fix(e.nameRange, near);
  return errorExpr();
}

/// `random(seed, c0, c1, c2, c3)`.
const Expr *Sema::typeRandom(const ast::Expr &e) {
  if (!checkArity(e, opArity(Op::Random)))
    return errorExpr();
  llvm::SmallVector<const Expr *, 5> operands;
  bool ok = true;
  for (const ast::ExprPtr &arg : e.args) {
    operands.push_back(type(*arg));
    ok &= expectInteger(*arg, *operands.back(), e.name);
  }
  return ok ? make(Op::Random, item.accumulator, operands, e.range)
            : errorExpr();
}

const Expr *Sema::typeCast(const ast::Expr &e, ElemType target) {
  if (!checkArity(e, 1))
    return errorExpr();
  const Expr *operand = type(*e.args[0]);
  if (operand->type == ElemType::Error)
    return errorExpr();
  if (target == ElemType::E4M3 || target == ElemType::E5M2) {
    diagnostics.error(e.range, "a cast to " + elemTypeName(target) +
                                   " is not supported yet");
    return errorExpr();
  }
  if (target == ElemType::Bool) {
    if (operand->type == ElemType::Bool)
      return operand;
    diagnostics.error(e.range, "a number is no bool; write `" +
                                   toText(*e.args[0]) + " != 0`");
    return errorExpr();
  }
  if (target == ElemType::F64 && item.accumulator != ElemType::F64) {
    diagnostics.error(e.range, "floats of this item are f32, because q is not "
                               "f64; write `f32(...)`");
    return errorExpr();
  }
  // Where q is f64 all floats are.
  if (target == ElemType::F32)
    target = item.accumulator;
  ElemType result = isFloat(target)           ? item.accumulator
                    : target == ElemType::I64 ? ElemType::I64
                                              : ElemType::I32;
  bool same = operand->type == target && target != ElemType::I32;
  return same ? operand : make(Op::Convert, result, {operand}, e.range, target);
}

const Expr *Sema::typeClamp(const ast::Expr &e) {
  if (!checkArity(e, 3))
    return errorExpr();
  const Expr *operands[3];
  const ast::Expr *written[3];
  bool ok = true;
  for (int i : {0, 1, 2}) {
    written[i] = e.args[i].get();
    operands[i] = type(*written[i]);
    ok &= expectNumber(*written[i], *operands[i], "clamp");
  }
  if (!ok)
    return errorExpr();
  ElemType result = unify(operands, written);
  const Expr *low = make(Op::Max, result, {operands[0], operands[1]}, e.range);
  return make(Op::Min, result, {low, operands[2]}, e.range);
}

const Expr *Sema::typeFunction(const ast::Expr &e, Op op) {
  if (!checkArity(e, opArity(op)))
    return errorExpr();
  llvm::SmallVector<const Expr *, 2> operands;
  llvm::SmallVector<const ast::Expr *, 2> written;
  bool ok = true;
  for (const ast::ExprPtr &arg : e.args) {
    const Expr *operand = type(*arg);
    ok &= op == Op::CeilDiv ? expectInteger(*arg, *operand, e.name)
                            : expectNumber(*arg, *operand, e.name);
    operands.push_back(operand);
    written.push_back(arg.get());
  }
  if (!ok)
    return errorExpr();
  if (op == Op::Min || op == Op::Max || op == Op::Abs || op == Op::CeilDiv) {
    ElemType result = unify(operands, written);
    if (op == Op::CeilDiv && operands[1]->isConstant() &&
        operands[1]->integer == 0) {
      diagnostics.error(e.range, "division of an integer by zero");
      return errorExpr();
    }
    return make(op, result, operands, e.range);
  }
  for (size_t i = 0; i < operands.size(); ++i)
    operands[i] = toFloat(*written[i], operands[i]);
  return make(op, item.accumulator, operands, e.range);
}
