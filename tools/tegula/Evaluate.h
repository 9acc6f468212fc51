//===- Evaluate.h - the language, interpreted -------------------*- C++ -*-===//
//
// Evaluates a typed expression for one query row and all its keys at once. It
// is written from the language's definition and shares no code with the
// compiler: integers are 64 bits with floored division, a table index goes to
// the nearest element, and floats are `Real`: double for the reference, float
// for the plain implementation that the tolerance is measured with.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Problem.h"

namespace tegula::tool {

/// The value of an expression at each key of a row, or one value for all.
/// Bools and integers are in `integers`, floats in `reals`.
template <typename Real> struct Column {
  std::vector<int64_t> integers;
  std::vector<Real> reals;

  int64_t integer(int64_t j) const {
    return integers.size() == 1 ? integers[0] : integers[j];
  }
  Real real(int64_t j) const { return reals.size() == 1 ? reals[0] : reals[j]; }
};

/// A query row: the implicit indices but for `j`.
struct Row {
  int64_t b = 0, h = 0, g = 0, i = 0;
};

/// What a row's output is made of.
template <typename Real> struct RowValues {
  std::vector<Real> o; ///< by position in the head dim
  Real lse = 0, max = 0, sum = 0;
};

template <typename Real> class RowEvaluator {
public:
  /// Evaluates over `lanes` values of `j`, or of `e` in an output, from 0 on.
  RowEvaluator(const Problem &problem, const Row &row, int64_t lanes)
      : problem(problem), row(row), laneCount(lanes) {}

  /// `scores` is what `s` stands for, one value a key.
  Column<Real> evaluate(const lang::Expr &expr,
                        const std::vector<Real> *scores = nullptr);
  /// The element of an output.
  Column<Real> evaluateOutput(const lang::Expr &expr,
                              const RowValues<Real> &values);

private:
  using Lanes = Column<Real>;
  Lanes value(const lang::Expr &expr);
  Lanes index(lang::IndexVar var);
  Lanes rowValue(lang::RowValue which);
  Lanes let(unsigned number);
  Lanes lookup(const lang::Expr &expr);
  Lanes apply(const lang::Expr &expr);
  Lanes bounded(const lang::Expr &expr);

  const Problem &problem;
  const Row row;
  const int64_t laneCount;
  const std::vector<Real> *scores = nullptr;
  const RowValues<Real> *values = nullptr;
  /// Values of `let`s by number; and of variables of bounded reductions, with
  /// which those of `let`s inside come and go.
  std::vector<std::pair<unsigned, Lanes>> lets;
  std::vector<std::pair<unsigned, int64_t>> variables;
};

extern template class RowEvaluator<float>;
extern template class RowEvaluator<double>;

/// The first word of Philox4x32-10 for a 64-bit key and four counters.
uint32_t philox(uint64_t key, llvm::ArrayRef<uint32_t> counters);

/// The value of an integer or bool expression over dims and scalars.
int64_t evaluateOnHost(const Problem &problem, const lang::Expr &expr);
/// The same for a float expression.
double evaluateRealOnHost(const Problem &problem, const lang::Expr &expr);

} // namespace tegula::tool
