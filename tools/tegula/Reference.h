//===- Reference.h - dense attention in float64 -----------------*- C++ -*-===//
//
// The answer that a kernel is judged by: whole score rows, a softmax in double,
// no tiles; and beside it the error of a plain 16-bit implementation on the
// same rows, from which the tolerance follows. Nothing here is shared with the
// compiler but the typed syntax tree.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Evaluate.h"

namespace tegula::tool {

/// One query row of the answer.
struct ReferenceRow {
  Row at;
  std::vector<double> o;
  double lse = 0;
  /// Whether no key has any weight: `o` is exactly 0.
  bool empty = false;
  /// Elements of each output of the item: one for each `e`, or one.
  std::vector<std::vector<double>> outputs;
  /// Largest error of the plain implementation near this row, for each output
  /// (see Reference).
  std::vector<double> errors;
};

/// Dense attention for all query rows, or for evenly spread blocks of rows
/// where all would take too long.
///
/// The plain implementation computes, from the same inputs: scores and softmax
/// in f32 (f64 where the inputs are), probabilities rounded to the inputs'
/// type, products summed in f32 in order of keys. Its error is measured over a
/// block of `rowsPerBlock` query rows of one head, so that a head with small
/// outputs is held to a small limit. A few elements can be right by luck, so
/// the error is at least what rounding makes likely:
///   2 u sqrt(sum (p_j v_j)^2 / 3)    u = half an ulp of the inputs' type, and
///   2^-23 (1 + max |s_j|) sum p_j |v_j|    for f32 arithmetic on scores of
///   that size (2^-46 for f64).
/// For lse and rowmax it is at least 2^-22 max(1, |lse|, max |s_j|) (2^-46 for
/// f64), for rowsum 2^-22 (1 + max |s_j|) sum |p_j|. An output of several of
/// these is evaluated once more with each of them moved by its error; the sum
/// of the differences is its error.
struct Reference {
  static constexpr int64_t rowsPerBlock = 16;
  std::vector<ReferenceRow> rows;
  int64_t totalRows = 0;
  /// For each output, the relative L2 error of the plain implementation over
  /// all rows.
  std::vector<double> plainL2;
};

/// Computes the answer; at most about `workLimit` multiply-adds are spent (of
/// which a core does some 10^9 a second).
Reference computeReference(const Problem &problem, double workLimit = 2e10);

/// How an output compares.
struct OutputCheck {
  double maxAbs = 0;
  double relL2 = 0;
  /// The allowed error where it is largest; `worst` compares each element with
  /// the limit of its own block of rows.
  double limit = 0;
  double relL2Limit = 0;
  /// Largest error divided by its limit; at most 1 where the output is right.
  double worst = 0;
  int64_t nan = 0;
  bool ok = true;
  /// The first element outside its limit: "o[0, 3, 17, 5] is 0.5, expected 0.25
  /// within 0.004".
  std::string firstWrong;
};

/// Compares an output of the item, by its number in Item::outputs, as the
/// kernel wrote it. The limit of an element is twice the plain implementation's
/// error plus one rounding to the output's type. Of a row without keys `o` must
/// be exactly 0; NaN and infinities must be where the reference has them.
OutputCheck checkOutput(const Reference &reference, const Problem &problem,
                        unsigned output);

} // namespace tegula::tool
