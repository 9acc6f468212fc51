//===- SemaFn.cpp - calls of functions ------------------------------------===//
//
// A call is its function's body, typed with the arguments: each is computed
// once, as a `let` of its own. The body sees parameters, its `let`s and other
// functions, so an item's names mean nothing there and nothing is hidden.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaImpl.h"

using namespace tegula::lang;
using llvm::StringRef;

/// Calls double from one function to the next: a text of a page may ask for
/// 2^40 of them.
static constexpr unsigned maxCalls = 10000;

const Expr *Sema::findLocal(StringRef name) const {
  for (const Local &local : llvm::reverse(scope->locals))
    if (local.name == name)
      return local.value;
  return nullptr;
}

bool Sema::checkFnCall(const ast::Expr &e, const ast::Fn &fn) {
  for (const Scope *outer = scope; outer; outer = outer->caller)
    if (outer->fn == &fn) {
      diagnostics
          .error(e.nameRange, "`" + e.name +
                                  "` calls itself, but recursion is not in "
                                  "the language")
          .note(fn.name.range, "`" + e.name + "` is defined here");
      return false;
    }
  if (++calls > maxCalls) {
    diagnostics.error(e.nameRange, "this item makes more than " +
                                       llvm::Twine(maxCalls) +
                                       " calls of functions");
    return false;
  }
  if (!e.argNames.empty()) {
    diagnostics
        .error(e.range,
               "`" + e.name + "` takes its arguments in order, without names")
        .note(fn.name.range, "`" + e.name + "` is defined here");
    return false;
  }
  if (!checkArity(e, fn.params.size())) {
    diagnostics.noteSince(diagnostics.all().size() - 1, fn.name.range,
                          "`" + e.name + "` is defined here");
    return false;
  }
  return true;
}

/// A value that a body may use several times.
const Expr *Sema::sharedValue(const ast::Name &name, const Expr *value) {
  // The host computes prefix expressions, which have no `let`.
  if (value->isLeaf() || value->type == ElemType::Error || onHost())
    return value;
  item.lets.push_back({name.text, value, name.range});
  Expr &use = node(Expr::Let, value->type, value->range);
  use.number = item.lets.size() - 1;
  use.indices = value->indices;
  use.depth = value->depth + 1;
  return &use;
}

/// The argument as its parameter declares it.
const Expr *Sema::bindArgument(const ast::Fn &fn, const ast::Tensor &param,
                               const ast::Expr &written) {
  const Expr *value = type(written);
  if (value->type == ElemType::Error || param.elem.text.empty())
    return value;
  std::optional<ElemType> declared = elemTypeFromName(param.elem.text);
  if (!declared) {
    diagnostics.error(param.elem.range, "unknown element type `" +
                                            param.elem.text +
                                            "`; known: " + elemTypeList());
    return errorExpr();
  }
  if (param.isTensor) {
    diagnostics
        .error(written.range, "parameter `" + param.name.text + "` of `" +
                                  fn.name.text +
                                  "` is a tile, which only a `kernel` "
                                  "has")
        .note(param.name.range, "declared here");
    return errorExpr();
  }
  if (isFloat(*declared) && isInteger(value->type))
    return toFloat(written, value);
  bool fits = isFloat(*declared)     ? isFloat(value->type)
              : isInteger(*declared) ? isInteger(value->type)
                                     : value->type == ElemType::Bool;
  if (fits)
    return value;
  diagnostics
      .error(written.range, "parameter `" + param.name.text + "` of `" +
                                fn.name.text + "` is " + param.elem.text +
                                ", but got " + describe(*value))
      .note(param.name.range, "declared here");
  return errorExpr();
}

const Expr *Sema::typeFnCall(const ast::Expr &e, const ast::Fn &fn) {
  bool didNotParse = fn.result->kind == ast::Expr::Error;
  if (didNotParse || !checkFnCall(e, fn))
    return errorExpr();
  Scope body;
  body.fn = &fn;
  body.caller = scope;
  for (size_t n = 0; n < fn.params.size(); ++n) {
    const ast::Name &name = fn.params[n].name;
    const Expr *value = bindArgument(fn, fn.params[n], *e.args[n]);
    body.locals.push_back({name.text, sharedValue(name, value), name.range});
  }
  size_t first = diagnostics.all().size();
  Scope *saved = std::exchange(scope, &body);
  for (const ast::Fn::Let &let : fn.lets) {
    auto first = llvm::find_if(body.locals, [&](const Local &local) {
      return local.name == let.name.text;
    });
    if (first != body.locals.end()) { // reported where it is declared
      first->value = errorExpr();
      continue;
    }
    const Expr *value = type(*let.value);
    body.locals.push_back(
        {let.name.text, sharedValue(let.name, value), let.name.range});
  }
  const Expr *result = type(*fn.result);
  scope = saved;
  diagnostics.noteSince(first, e.nameRange,
                        "in this call of `" + fn.name.text + "`");
  return result;
}
