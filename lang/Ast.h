//===- Ast.h - the program as it was written --------------------*- C++ -*-===//
//
// A small tree that the parser makes from text, and that a program may make
// itself (see the factories): ranges are then invalid and messages carry no
// place. Names are unresolved and nothing is typed; Sema does both.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_AST_H
#define TEGULA_LANG_AST_H

#include "lang/Op.h"
#include "llvm/Support/SMLoc.h"
#include <memory>
#include <string>
#include <vector>

namespace tegula::lang::ast {

/// A name and where it stands.
struct Name {
  std::string text;
  llvm::SMRange range;
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct Expr {
  enum Kind {
    Error,       ///< a diagnostic was given
    Integer,     ///< value `integer`
    Float,       ///< value `real`
    Bool,        ///< value `integer`
    Name,        ///< `name`
    Index,       ///< `name[args]`
    Call,        ///< `name(args)`
    Operator,    ///< `op` of args: unary, binary or `?:`
    Unsupported, ///< parsed, but later work; `name` says what
  };
  Kind kind = Error;
  llvm::SMRange range;     ///< the whole expression
  llvm::SMRange nameRange; ///< of the name or operator
  std::string name;
  int64_t integer = 0;
  double real = 0;
  Op op = Op::Add;
  std::vector<ExprPtr> args;
  unsigned depth = 1; ///< 1 + the largest depth of an argument
};

ExprPtr integer(int64_t value, llvm::SMRange range = {});
ExprPtr real(double value, llvm::SMRange range = {});
ExprPtr boolean(bool value, llvm::SMRange range = {});
ExprPtr name(llvm::StringRef name, llvm::SMRange range = {});
ExprPtr index(llvm::StringRef name, std::vector<ExprPtr> indices,
              llvm::SMRange nameRange = {}, llvm::SMRange range = {});
ExprPtr call(llvm::StringRef callee, std::vector<ExprPtr> args,
             llvm::SMRange nameRange = {}, llvm::SMRange range = {});
ExprPtr op(Op op, std::vector<ExprPtr> args, llvm::SMRange opRange = {},
           llvm::SMRange range = {});

/// The expression as source text, with single blanks and the fewest brackets.
std::string toText(const Expr &expr);

/// A tensor, or a scalar where there are no brackets: `doc: i32[N] sorted`.
struct Tensor {
  Name name;
  Name elem; ///< a type, or a static that binds one
  bool isTensor = false;
  std::vector<ExprPtr> extents;
  bool inout = false;
  bool sorted = false;
  ExprPtr low, high; ///< `in low..high`, both or neither
};

/// One clause of an item. A list, as in `static D = 128, T = bf16`, is several.
struct Clause {
  enum Kind {
    Static,  ///< name [= value]
    Param,   ///< tensor
    Require, ///< value
    Let,     ///< name = value
    Scale,   ///< value
    Score,   ///< value
    Mask,    ///< value
    Reduce,  ///< name, args; later work except `softmax()`
    Unsupported
  };
  Kind kind = Unsupported;
  Name word; ///< the clause word itself
  Name name;
  ExprPtr value;
  Tensor tensor;
  std::vector<ExprPtr> args;
};

/// `attention NAME sig { ... }`, or `attention NAME = BASE with ...`.
struct Attention {
  Name name;
  Name base; ///< empty where the item has a signature
  std::vector<Name> groups;
  std::vector<Tensor> inputs, outputs;
  std::vector<Clause> clauses;
  /// A declaration in it did not parse, so an unknown name may not be wrong.
  bool incomplete = false;
};

/// An item that is parsed over, because it is later work.
struct OtherItem {
  Name word; ///< fn, clauses, kernel
  Name name;
};

struct File {
  std::string fileName;
  std::vector<Attention> items;
  std::vector<OtherItem> others;
};

} // namespace tegula::lang::ast

#endif
