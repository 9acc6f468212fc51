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
    Call,        ///< `name(args)`; see `argNames`
    Bounded,     ///< `name(variable in args[0]: args[1])`, as `any(t in 8: c)`
    Operator,    ///< `op` of args: unary, binary or `?:`
    Shape,       ///< `[args]`, an argument of a kernel's built-ins
    Slice,       ///< an index of a kernel's place: `args[0] :+ args[1]`, `<
                 ///< args[2]` if there; or `:`, without args
    Load,        ///< `load args[0]`, then `fill` and `where` as args if there
    Text,        ///< `name` in quotes, an argument of `print`
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
  /// Of a call: beside `args`, empty where an argument has no name; or none at
  /// all where no argument has one.
  std::vector<ast::Name> argNames;
  ast::Name variable; ///< of a bounded reduction
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
ExprPtr bounded(llvm::StringRef reduction, Name variable, ExprPtr extent,
                ExprPtr value, llvm::SMRange nameRange = {},
                llvm::SMRange range = {});
ExprPtr shape(std::vector<ExprPtr> extents, llvm::SMRange range = {});
ExprPtr slice(std::vector<ExprPtr> parts, llvm::SMRange range = {});
ExprPtr load(std::vector<ExprPtr> parts, llvm::SMRange wordRange = {},
             llvm::SMRange range = {});
ExprPtr text(llvm::StringRef text, llvm::SMRange range = {});

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
    Static,   ///< name [= value]
    Param,    ///< tensor
    Require,  ///< value
    Let,      ///< name = value
    Scale,    ///< value
    Score,    ///< value
    Mask,     ///< value
    Reduce,   ///< value, a call: `softmax(extra = x)`
    Weight,   ///< value
    Emit,     ///< name [: type of tensor] = value
    Outputs,  ///< names
    Schedule, ///< name = value, one field
    Unsupported
  };
  Kind kind = Unsupported;
  Name word; ///< the clause word itself
  Name name;
  ExprPtr value;
  Tensor tensor;
  std::vector<Name> names;
};

/// What stands in an item's braces.
struct ClauseList {
  std::vector<Clause> clauses;
  /// A declaration in it did not parse, so an unknown name may not be wrong.
  bool incomplete = false;
};

/// `attention NAME sig { ... }`, or `attention NAME = BASE with ...`.
struct Attention : ClauseList {
  Name name;
  Name base; ///< empty where the item has a signature
  std::vector<Name> groups;
  std::vector<Tensor> inputs, outputs;
};

/// `clauses NAME { ... }`: what any item can take with `with NAME`.
struct Group : ClauseList {
  Name name;
};

/// `fn NAME(a, b: f32) = result`, or with a body of lets and a `return`.
struct Fn {
  Name name;
  std::vector<Tensor> params; ///< without a type, `elem` is empty
  struct Let {
    Name name;
    ExprPtr value;
  };
  std::vector<Let> lets;
  ExprPtr result;
};

/// `import "path"`, as written.
struct Import {
  std::string path;
  llvm::SMRange range; ///< of the text in quotes
};

/// That an item of any kind has a name.
struct Declaration {
  std::string word; ///< attention, clauses, fn, kernel
  Name name;
  bool imported = false;
};

struct Kernel; // AstKernel.h

/// A file, and what its imports add to it.
struct File {
  std::string fileName;
  std::vector<Attention> items;
  std::vector<Group> groups;
  std::vector<Fn> fns;
  std::vector<std::shared_ptr<const Kernel>> kernels;
  std::vector<Import> imports;
  /// All items, kernels included: those of imports, then the file's own.
  std::vector<Declaration> declarations;

  void add(Attention item);
  void add(Group group);
  void add(Fn fn);
  void add(Kernel kernel);
  const Attention *findItem(llvm::StringRef name) const;
  const Group *findGroup(llvm::StringRef name) const;
  const Fn *findFn(llvm::StringRef name) const;
  const Kernel *findKernel(llvm::StringRef name) const;
  /// The first item of any kind that has the name.
  const Declaration *findDeclaration(llvm::StringRef name) const;
};

} // namespace tegula::lang::ast

#endif
