//===- KernelEvaluator.h - a tile program, interpreted ----------*- C++ -*-===//
//
// What a `kernel` item computes, from its text: the syntax tree is walked for
// each point of the grid, lane by lane. Written from the language's definition;
// of the compiler it uses the parser, and the signature that Sema resolved.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Tile.h"
#include "lang/AstKernel.h"
#include "lang/Sema.h"
#include "tools/tegula/Problem.h"
#include "llvm/ADT/StringMap.h"

namespace tegula::generated {

class KernelEvaluator {
public:
  /// `problem` holds the tensors as they are before the kernel runs.
  KernelEvaluator(const lang::ast::File &file, llvm::StringRef kernel,
                  const tool::Problem &problem);

  void run();
  /// Whether a branch or a length hung on a rounded value.
  bool isUndecided() const { return undecided; }
  /// The elements of tensor `number` in C order.
  const std::vector<Number> &elements(unsigned number) const {
    return memory[number];
  }

private:
  using Expr = lang::ast::Expr;
  using Stmt = lang::ast::Stmt;
  using Names = llvm::StringMap<Tile>;
  using Shape = llvm::SmallVector<int64_t, 3>;
  /// The elements of memory that a place names, in the order of its tile.
  struct Place {
    unsigned tensor;
    Tile tile;                     ///< without lanes
    std::vector<int64_t> elements; ///< or one of the two below
  };
  static constexpr int64_t outside = -1; ///< of memory
  static constexpr int64_t hidden = -2;  ///< at an unknown index

  // EvaluateKernel.cpp
  void declareStatics();
  void runBlock(const std::vector<Stmt> &stmts);
  void runStatement(const Stmt &stmt);
  Names afterDryRun(llvm::function_ref<void()> body);
  bool takeEnds(const Names &others);

  // EvaluateMemory.cpp
  /// `nearest`: an index of a tile goes to the nearest element.
  Place place(const Expr &e, bool nearest);
  Tile load(const Expr &e);
  void write(const Stmt &stmt);

  // EvaluateOperators.cpp
  int64_t number(const Expr &e);
  Shape shapeOf(const Expr &e);
  Tile value(const Expr &e);
  Tile name(const Expr &e);
  ElemType unify(std::vector<Tile> &args, bool toFloat = false);
  Tile elementwise(Op op, ElemType elem, ElemType result,
                   std::vector<Tile> args);
  Tile operation(const Expr &e);

  // EvaluateCalls.cpp
  /// Argument `position` of a call, which may be written by name.
  static const Expr *argument(const Expr &e, unsigned position,
                              llvm::StringRef name);
  Tile inlined(const lang::ast::Fn &fn, std::vector<Tile> args);
  Tile call(const Expr &e);
  Tile function(const Expr &e);
  Tile transposed(const Expr &e);
  Tile reshaped(const Expr &e);

  // EvaluateReductions.cpp
  Tile reduction(const Expr &e);
  Tile combined(const Expr &e);
  Tile cumulative(const Expr &e);
  Tile product(const Expr &e);

  const lang::ast::File &file;
  const lang::ast::Kernel &kernel;
  const tool::Problem &problem;
  const lang::Item &item;
  std::vector<std::vector<Number>> memory;
  Names names;
  llvm::StringMap<ElemType> typeNames;
  bool undecided = false;
  bool isDry = false; ///< nothing is written
};

} // namespace tegula::generated
