//===- AstKernel.h - a tile program as it was written -----------*- C++ -*-===//
//
// What a `kernel` item has beside a signature: its grid and its statements.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_ASTKERNEL_H
#define TEGULA_LANG_ASTKERNEL_H

#include "lang/Ast.h"

namespace tegula::lang::ast {

struct Stmt {
  enum Kind {
    Let,    ///< name = value
    Var,    ///< name = value
    Assign, ///< name = value
    Store,  ///< place = value [where condition]
    Atomic, ///< place += value [where condition]
    For,    ///< name in range(args) body
    If,     ///< condition body [else otherwise]
    Print,  ///< args, texts among them
    Assert, ///< condition [, text]
  };
  Kind kind = Let;
  Name word; ///< the statement's first word
  Name name;
  ExprPtr place; ///< an Index
  ExprPtr value;
  ExprPtr condition;
  std::vector<ExprPtr> args;
  std::string text;
  std::vector<Stmt> body, otherwise;
};

/// `kernel NAME sig { static | require | grid | schedule, then statements }`.
struct Kernel {
  /// Name, signature and the clauses that an attention item also has.
  Attention header;
  struct Axis {
    Name name;
    ExprPtr extent;
  };
  Name gridWord; ///< empty where there is no grid: one program runs
  std::vector<Axis> grid;
  std::vector<Stmt> body;
};

} // namespace tegula::lang::ast

#endif
