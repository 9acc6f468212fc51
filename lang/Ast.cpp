//===- Ast.cpp - factories and printing of expressions --------------------===//
//
// The factories are what the parser and a building program share; printing is
// for messages and for the text of a `require`.
//
//===----------------------------------------------------------------------===//
#include "lang/AstKernel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace tegula::lang;
using namespace tegula::lang::ast;
using llvm::SMRange;
using llvm::StringRef;

static ExprPtr make(Expr::Kind kind, SMRange range, SMRange nameRange = {}) {
  auto e = std::make_unique<Expr>();
  e->kind = kind;
  e->range = range;
  e->nameRange = nameRange;
  return e;
}

static void setArgs(Expr &e, std::vector<ExprPtr> args) {
  for (const ExprPtr &arg : args)
    e.depth = std::max(e.depth, arg->depth + 1);
  e.args = std::move(args);
}

ExprPtr ast::integer(int64_t value, SMRange range) {
  ExprPtr e = make(Expr::Integer, range);
  e->integer = value;
  return e;
}

ExprPtr ast::real(double value, SMRange range) {
  ExprPtr e = make(Expr::Float, range);
  e->real = value;
  return e;
}

ExprPtr ast::boolean(bool value, SMRange range) {
  ExprPtr e = make(Expr::Bool, range);
  e->integer = value;
  return e;
}

ExprPtr ast::name(StringRef name, SMRange range) {
  ExprPtr e = make(Expr::Name, range, range);
  e->name = name.str();
  return e;
}

ExprPtr ast::index(StringRef name, std::vector<ExprPtr> indices,
                   SMRange nameRange, SMRange range) {
  ExprPtr e = make(Expr::Index, range, nameRange);
  e->name = name.str();
  setArgs(*e, std::move(indices));
  return e;
}

ExprPtr ast::call(StringRef callee, std::vector<ExprPtr> args,
                  SMRange nameRange, SMRange range) {
  ExprPtr e = make(Expr::Call, range, nameRange);
  e->name = callee.str();
  setArgs(*e, std::move(args));
  return e;
}

ExprPtr ast::op(Op op, std::vector<ExprPtr> args, SMRange opRange,
                SMRange range) {
  ExprPtr e = make(Expr::Operator, range, opRange);
  e->op = op;
  setArgs(*e, std::move(args));
  return e;
}

ExprPtr ast::bounded(StringRef reduction, Name variable, ExprPtr extent,
                     ExprPtr value, SMRange nameRange, SMRange range) {
  ExprPtr e = make(Expr::Bounded, range, nameRange);
  e->name = reduction.str();
  e->variable = std::move(variable);
  std::vector<ExprPtr> args;
  args.push_back(std::move(extent));
  args.push_back(std::move(value));
  setArgs(*e, std::move(args));
  return e;
}

static ExprPtr make(Expr::Kind kind, std::vector<ExprPtr> args, SMRange range) {
  ExprPtr e = make(kind, range);
  setArgs(*e, std::move(args));
  return e;
}

ExprPtr ast::shape(std::vector<ExprPtr> extents, SMRange range) {
  return make(Expr::Shape, std::move(extents), range);
}

ExprPtr ast::slice(std::vector<ExprPtr> parts, SMRange range) {
  return make(Expr::Slice, std::move(parts), range);
}

ExprPtr ast::load(std::vector<ExprPtr> parts, SMRange wordRange,
                  SMRange range) {
  ExprPtr e = make(Expr::Load, std::move(parts), range);
  e->nameRange = wordRange;
  return e;
}

ExprPtr ast::text(StringRef text, SMRange range) {
  ExprPtr e = make(Expr::Text, range);
  e->name = text.str();
  return e;
}

void File::add(Attention item) {
  declarations.push_back({"attention", item.name});
  items.push_back(std::move(item));
}

void File::add(Group group) {
  declarations.push_back({"clauses", group.name});
  groups.push_back(std::move(group));
}

void File::add(Fn fn) {
  declarations.push_back({"fn", fn.name});
  fns.push_back(std::move(fn));
}

void File::add(Kernel kernel) {
  declarations.push_back({"kernel", kernel.header.name});
  kernels.push_back(std::make_shared<const Kernel>(std::move(kernel)));
}

template <typename List>
static auto findNamed(const List &list, StringRef name) {
  auto found = llvm::find_if(
      list, [&](const auto &item) { return item.name.text == name; });
  return found == list.end() ? nullptr : &*found;
}

const Attention *File::findItem(StringRef name) const {
  return findNamed(items, name);
}

const Group *File::findGroup(StringRef name) const {
  return findNamed(groups, name);
}

const Fn *File::findFn(StringRef name) const { return findNamed(fns, name); }

const Kernel *File::findKernel(StringRef name) const {
  auto found = llvm::find_if(kernels, [&](const auto &kernel) {
    return kernel->header.name.text == name;
  });
  return found == kernels.end() ? nullptr : found->get();
}

const Declaration *File::findDeclaration(StringRef name) const {
  return findNamed(declarations, name);
}

static std::string realText(double value) {
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  for (int digits = 1; digits <= 17; ++digits) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, value);
    if (std::strtod(text.c_str(), nullptr) == value || digits == 17)
      return StringRef(text).find_first_of(".en") == StringRef::npos
                 ? text + ".0"
                 : text;
  }
  return "";
}

/// Prints `e`, in brackets where it binds less tightly than `precedence`.
/// Unary operators bind at 10, `?:` at 0.
static void print(llvm::raw_ostream &os, const Expr &e, int precedence) {
  auto list = [&] {
    size_t number = 0;
    llvm::interleaveComma(e.args, os, [&](const ExprPtr &arg) {
      if (number < e.argNames.size() && !e.argNames[number].text.empty())
        os << e.argNames[number].text << " = ";
      print(os, *arg, 0);
      ++number;
    });
  };
  switch (e.kind) {
  case Expr::Error:
    os << "...";
    return;
  case Expr::Integer:
    os << e.integer;
    return;
  case Expr::Float:
    os << realText(e.real);
    return;
  case Expr::Bool:
    os << (e.integer ? "true" : "false");
    return;
  case Expr::Name:
  case Expr::Unsupported:
    os << e.name;
    return;
  case Expr::Index:
    os << e.name << '[';
    list();
    os << ']';
    return;
  case Expr::Call:
    os << e.name << '(';
    list();
    os << ')';
    return;
  case Expr::Bounded:
    os << e.name << '(' << e.variable.text << " in ";
    print(os, *e.args[0], 0);
    os << ": ";
    print(os, *e.args[1], 0);
    os << ')';
    return;
  case Expr::Shape:
    os << '[';
    list();
    os << ']';
    return;
  case Expr::Slice:
    os << (e.args.empty() ? ":" : "");
    for (size_t part = 0; part < e.args.size(); ++part) {
      os << (part == 0 ? "" : part == 1 ? " :+ " : " < ");
      print(os, *e.args[part], part == 0 ? 0 : binaryPrecedence(Op::Add));
    }
    return;
  case Expr::Load:
    os << "load ";
    print(os, *e.args[0], 0);
    if (e.args.size() > 2) {
      os << " where ";
      print(os, *e.args[2], 0);
    }
    if (e.args.size() > 1) {
      os << " fill ";
      print(os, *e.args[1], 10);
    }
    return;
  case Expr::Text:
    os << '"' << e.name << '"';
    return;
  case Expr::Operator:
    break;
  }
  int own = e.op == Op::Select   ? 0
            : opArity(e.op) == 1 ? 10
                                 : binaryPrecedence(e.op);
  os << (own < precedence ? "(" : "");
  if (e.op == Op::Select) {
    print(os, *e.args[0], 1);
    os << " ? ";
    print(os, *e.args[1], 0);
    os << " : ";
    print(os, *e.args[2], 0);
  } else if (opArity(e.op) == 1) {
    os << opSpelling(e.op);
    print(os, *e.args[0], 10);
  } else {
    print(os, *e.args[0], own == 3 ? own + 1 : own);
    os << ' ' << opSpelling(e.op) << ' ';
    print(os, *e.args[1], own + 1);
  }
  os << (own < precedence ? ")" : "");
}

std::string ast::toText(const Expr &expr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os, expr, 0);
  return text;
}
