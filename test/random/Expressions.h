//===- Expressions.h - random scalar expressions ----------------*- C++ -*-===//
//
// Expressions of an attention item and of functions. What is asked for is never
// a constant, so that no divisor folds to 0; sizes of floats are estimated, so
// that scores stay in the range where softmax has something to weigh.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Choices.h"

#include <string>

namespace tegula::generated {

/// A captured tensor.
struct Table {
  std::string name;
  char kind; ///< 'i', 'f' or 'b'
  /// For each axis the index that runs over it ('b', 'h', 'g', 'i', 'j', 'e'),
  /// or 0.
  std::string axes;
  double size; ///< of a float: largest magnitude
};

struct Fn {
  std::string name;
  std::string params; ///< kinds
  char kind;
  double size = 0;
};

/// A float expression and about how large it gets.
struct Real {
  std::string text;
  double size;
};

/// What an expression may mention.
struct Scope {
  std::vector<std::string> integers; ///< indices, dims, parameters, lets
  std::vector<std::string> bools;
  std::vector<Real> reals;
  std::vector<Table> tables;
  std::vector<Fn> fns;
  std::string indices;     ///< those that may index a table by themselves
  std::string constant;    ///< an integer that is known when it is compiled
  bool isDouble = true;    ///< so that decisions may hang on rounded values
  bool hasBounded = false; ///< whether `any(t in ...)` may be written
  bool hasRandom = false;
};

/// Two operands and their operator, in brackets.
std::string binary(const std::string &a, const char *op, const std::string &b);

class Expressions {
public:
  Expressions(Choices &choices, const Scope &scope)
      : choices(choices), scope(scope) {}

  std::string integer(int depth);
  std::string boolean(int depth);
  Real real(int depth);
  /// At most about `limit` large.
  std::string realWithin(int depth, double limit);
  /// A positive one that is neither large nor small.
  std::string positive(int depth);
  std::string integerLiteral();
  std::string realLiteral();

private:
  std::string integerLeaf();
  std::string integerOrLiteral(int depth);
  std::string divisor(int depth);
  std::string comparison(int depth);
  std::string lookup(const Table &table, int depth);
  const Table *tableOf(char kind);
  std::string call(const Fn &fn, int depth);
  const Fn *fnOf(char kind);
  std::string bounded(const char *reduction, char kind, int depth);
  Real realLeaf(int depth);
  std::string exactReal();

  Choices &choices;
  Scope scope;
};

} // namespace tegula::generated
