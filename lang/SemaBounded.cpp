//===- SemaBounded.cpp - reductions over a bounded index ------------------===//
//
// `any(t in K: condition)`: a small loop inside one element's code.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tegula::lang;
using llvm::StringRef;

/// The variable hides nothing.
bool Sema::checkVariable(const ast::Name &variable) {
  StringRef name = variable.text;
  llvm::SMRange first;
  for (const Local &local : scope->locals)
    if (local.name == name)
      first = local.range;
  auto symbol = symbols.find(name);
  if (!scope->fn && symbol != symbols.end())
    first = symbol->second.range;
  if (first.isValid()) {
    diagnostics.error(variable.range, "`" + name + "` is declared twice")
        .note(first, "first here");
    return false;
  }
  return scope->fn || checkFreeName(variable);
}

const Expr *Sema::typeBounded(const ast::Expr &e) {
  auto op = *llvm::StringSwitch<std::optional<Op>>(e.name)
                 .Case("any", Op::Or)
                 .Case("all", Op::And)
                 .Case("sum", Op::Add)
                 .Case("min", Op::Min)
                 .Case("max", Op::Max)
                 .Default(std::nullopt);
  const ast::Expr &writtenExtent = *e.args[0], &writtenBody = *e.args[1];
  const Expr *extent = type(writtenExtent);
  bool ok = extent->type != ElemType::Error;
  if (ok && !isInteger(extent->type)) {
    diagnostics.error(writtenExtent.range,
                      "expected an integer extent, but got " +
                          describe(*extent));
    ok = false;
  } else if (ok && !hasPrefixForm(*extent)) {
    diagnostics.error(writtenExtent.range,
                      "the extent of `" + e.name +
                          "` is of dims, statics and scalars, but this changes "
                          "from element to element");
    ok = false;
  } else if (ok && extent->isConstant() && extent->integer > maxExtent) {
    diagnostics.error(writtenExtent.range,
                      "the extent of `" + e.name + "` is at most " +
                          llvm::Twine(maxExtent) + ", but this is " +
                          llvm::Twine(extent->integer));
    ok = false;
  }
  if (!checkVariable(e.variable))
    return errorExpr();
  Expr &variable = node(Expr::Variable, ElemType::I32, e.variable.range);
  variable.number = variables++;
  scope->locals.push_back({e.variable.text, &variable, e.variable.range});
  const Expr *body = type(writtenBody);
  scope->locals.pop_back();
  bool ofBools = op == Op::Or || op == Op::And;
  ok &= ofBools ? expectBool(writtenBody, *body, e.name)
                : expectNumber(writtenBody, *body, e.name);
  if (!ok)
    return errorExpr();
  if (extent->isConstant() && extent->integer <= 0)
    return isFloat(body->type)
               ? realConstant(realIdentity(op), e.range)
               : integerConstant(integerIdentity(op), body->type, e.range);
  Expr &reduction = node(Expr::Bounded, body->type, e.range);
  reduction.op = op;
  reduction.number = variable.number;
  reduction.args = {extent, body};
  reduction.indices = body->indices;
  reduction.depth = std::max(extent->depth, body->depth) + 1;
  return &reduction;
}
