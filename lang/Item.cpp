//===- Item.cpp - a resolved attention item -------------------------------===//
//
// Look-ups by name, and the prefix form in which extents and requirements
// travel to the runtime.
//
//===----------------------------------------------------------------------===//
#include "lang/Item.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace tegula::lang;

int64_t Item::headDim() const {
  return tensors[q.tensor].extents.back().length->integer;
}

int64_t Item::valueDim() const {
  return tensors[v.tensor].extents.back().length->integer;
}

template <typename List>
static int find(const List &list, llvm::StringRef name) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name)
      return int(i);
  return -1;
}

int Item::findDim(llvm::StringRef name) const { return find(dims, name); }

int Item::findTensor(llvm::StringRef name) const { return find(tensors, name); }

static llvm::StringRef prefixOperator(Op op) {
  switch (op) {
  case Op::Neg:
    return "neg";
  case Op::Select:
    return "?";
  case Op::Not:
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
  case Op::Div:
  case Op::Rem:
  case Op::Eq:
  case Op::Ne:
  case Op::Lt:
  case Op::Le:
  case Op::Gt:
  case Op::Ge:
  case Op::And:
  case Op::Or:
  case Op::Min:
  case Op::Max:
  case Op::Abs:
  case Op::CeilDiv:
    return opSpelling(op);
  default:
    return "";
  }
}

/// A tree may share nodes, so its text can be far longer than its depth says.
static bool hasPrefixForm(const Expr &e, unsigned &budget) {
  if (budget == 0)
    return false;
  --budget;
  switch (e.kind) {
  case Expr::Constant:
    return !isFloat(e.type) || !std::isnan(e.real);
  case Expr::Dim:
  case Expr::Scalar:
    return true;
  case Expr::Operator:
    if (e.op == Op::Convert
            ? !(isFloat(e.castType) && isInteger(e.args[0]->type))
            : prefixOperator(e.op).empty())
      return false;
    return llvm::all_of(e.args,
                        [&](auto *arg) { return hasPrefixForm(*arg, budget); });
  default:
    return false;
  }
}

bool tegula::lang::hasPrefixForm(const Expr &expr) {
  unsigned budget = 1000;
  return ::hasPrefixForm(expr, budget);
}

llvm::StringRef tegula::lang::reductionName(Reduction reduction) {
  static constexpr llvm::StringLiteral names[] = {"softmax", "sum", "mean"};
  return names[int(reduction)];
}

static void print(llvm::raw_ostream &os, const Item &item, const Expr &e) {
  switch (e.kind) {
  case Expr::Constant:
    if (!isFloat(e.type))
      os << e.integer;
    else if (std::isinf(e.real))
      os << (e.real < 0 ? "(neg inf)" : "inf");
    else
      os << llvm::format("%.17g", e.real)
         << (e.real == std::trunc(e.real) && std::fabs(e.real) < 1e15 ? ".0"
                                                                      : "");
    return;
  case Expr::Dim:
    os << item.dims[e.number].name;
    return;
  case Expr::Scalar:
    os << item.scalars[e.number].name;
    return;
  default:
    break;
  }
  if (e.op == Op::Convert) { // An integer that becomes a float.
    os << "(+ 0.0 ";
    print(os, item, *e.args[0]);
    os << ')';
    return;
  }
  os << '(' << prefixOperator(e.op);
  for (const Expr *arg : e.args) {
    os << ' ';
    print(os, item, *arg);
  }
  os << ')';
}

std::string tegula::lang::prefixText(const Item &item, const Expr &expr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os, item, expr);
  return text;
}
