//===- SemaOperators.cpp - typing of operators ----------------------------===//
//
// Unary and binary operators and `?:`: what their operands have to be, and how
// numbers of two types are brought to one.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaImpl.h"

using namespace tegula::lang;
using llvm::StringRef;

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
