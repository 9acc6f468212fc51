//===- SemaTile.cpp - expressions and names of a tile program -------------===//
//
// A name is one of the inlined function, of the program or of the signature.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;

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
  case ast::Expr::Text:
    llvm_unreachable("the parser makes these in places and prints only");
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
  } else if (refused.contains(e.name)) {
    return errorValue();
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
