//===- Reference.cpp - dense attention in float64 -------------------------===//
//
// One pass over query rows, in parallel: each row is computed in double, and by
// the plain implementation in float; blocks of rows then share an error.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Reference.h"
#include "tools/tegula/Deviation.h"
#include "tools/tegula/Fill.h"
#include "tools/tegula/FloatBits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"

#include <cmath>
#include <limits>

using namespace tegula;
using namespace tegula::tool;

namespace {
/// Keys and values of one (batch, key head): keys as [D][N], values as [N][E],
/// so that the inner loops run over keys and over columns.
template <typename Real> struct KeysAndValues {
  std::vector<Real> keys, values;

  KeysAndValues(const Tensor &k, const Tensor &v, int64_t b, int64_t g) {
    int64_t count = k.shape()[2], depth = k.shape()[3], width = v.shape()[3];
    keys.resize(depth * count);
    values.resize(count * width);
    for (int64_t j = 0; j < count; ++j) {
      for (int64_t d = 0; d < depth; ++d)
        keys[d * count + j] =
            static_cast<Real>(k.real(k.offsetOf({b, g, j, d})));
      for (int64_t e = 0; e < width; ++e)
        values[j * width + e] =
            static_cast<Real>(v.real(v.offsetOf({b, g, j, e})));
    }
  }
};

/// A row's answer in one arithmetic.
template <typename Real> struct RowAnswer {
  RowValues<Real> values;
  bool empty = false;
  /// Largest |s_j| over visible keys, sum |p_j| before the normalisation, and
  /// over columns the largest sum (p_j v_j)^2 and sum |p_j v_j|.
  double maxScore = 0, weightSize = 0, squares = 0, absolute = 0;
};

/// What rounding makes likely for the values of a row.
struct RowErrors {
  double o = 0, lse = 0, max = 0, sum = 0;
};

/// Everything about a problem that rows share.
class Dense {
public:
  explicit Dense(const Problem &problem)
      : problem(problem), item(*problem.item),
        q(problem.tensors[item.q.tensor]), k(problem.tensors[item.k.tensor]),
        v(problem.tensors[item.v.tensor]) {}

  template <typename Real>
  RowAnswer<Real> row(const Row &at, const KeysAndValues<Real> &kv,
                      bool plain) const;
  /// The elements of an output.
  template <typename Real>
  std::vector<Real> output(const Row &at, const lang::Output &output,
                           const RowValues<Real> &values) const;
  double outputError(const Row &at, const lang::Output &output,
                     const RowValues<double> &exact,
                     const RowErrors &errors) const;

  int64_t batches() const { return q.shape()[0]; }
  int64_t heads() const { return q.shape()[1]; }
  int64_t queries() const { return q.shape()[2]; }
  int64_t keyHeads() const { return k.shape()[1]; }
  int64_t keys() const { return k.shape()[2]; }
  int64_t depth() const { return q.shape()[3]; }
  int64_t width() const { return v.shape()[3]; }

  const Problem &problem;
  const lang::Item &item;
  const Tensor &q, &k, &v;

private:
  template <typename Real>
  std::vector<Real> scores(const Row &at, const KeysAndValues<Real> &kv,
                           RowEvaluator<Real> &evaluator) const;
  template <typename Real>
  std::vector<char> visibleKeys(RowEvaluator<Real> &evaluator) const;
  /// Turns scores into weights before `weight`, and fills in lse, max and sum.
  template <typename Real>
  void reduce(const Row &at, const std::vector<char> &visible,
              std::vector<Real> &s, RowEvaluator<Real> &evaluator,
              RowAnswer<Real> &answer) const;
  template <typename Real>
  void accumulate(const std::vector<char> &visible,
                  const std::vector<Real> &weights,
                  const KeysAndValues<Real> &kv, bool plain,
                  RowAnswer<Real> &answer) const;
};
} // namespace

template <typename Real>
std::vector<Real> Dense::scores(const Row &at, const KeysAndValues<Real> &kv,
                                RowEvaluator<Real> &evaluator) const {
  int64_t count = keys();
  std::vector<Real> s(count, 0);
  for (int64_t d = 0; d < depth(); ++d) {
    auto x = static_cast<Real>(q.real(q.offsetOf({at.b, at.h, at.i, d})));
    const Real *column = kv.keys.data() + d * count;
    for (int64_t j = 0; j < count; ++j)
      s[j] += x * column[j];
  }
  Real scale = 1 / std::sqrt(static_cast<Real>(depth()));
  if (item.scale)
    scale = evaluator.evaluate(*item.scale).real(0);
  for (Real &value : s)
    value *= scale;
  for (const lang::Expr *score : item.scores) {
    Column<Real> column = evaluator.evaluate(*score, &s);
    for (int64_t j = 0; j < count; ++j)
      s[j] = column.real(j);
  }
  if (problem.logitOffset != 0)
    for (Real &value : s)
      value += static_cast<Real>(problem.logitOffset);
  return s;
}

/// Rounds to the 16-bit type of the inputs.
static double roundTo(ElementType type, double value) {
  return type == ElementType::f16 ? doubleFromF16(f16FromDouble(value))
                                  : doubleFromBf16(bf16FromDouble(value));
}

template <typename Real>
std::vector<char> Dense::visibleKeys(RowEvaluator<Real> &evaluator) const {
  std::vector<char> visible(keys(), true);
  for (const lang::Expr *mask : item.masks) {
    Column<Real> column = evaluator.evaluate(*mask);
    for (int64_t j = 0; j < keys(); ++j)
      visible[j] = visible[j] && column.integer(j);
  }
  return visible;
}

template <typename Real>
void Dense::reduce(const Row &at, const std::vector<char> &visible,
                   std::vector<Real> &s, RowEvaluator<Real> &evaluator,
                   RowAnswer<Real> &answer) const {
  constexpr Real low = -std::numeric_limits<Real>::infinity();
  RowValues<Real> &values = answer.values;
  if (item.reduction != lang::Reduction::Softmax) {
    Column<Real> column = evaluator.evaluate(*item.pairWeight, &s);
    answer.empty = true;
    for (int64_t j = 0; j < keys(); ++j)
      if (visible[j]) {
        s[j] = column.real(j);
        values.sum += s[j];
        // A weight moves with its score, whose terms may cancel.
        answer.weightSize += std::max<Real>(std::fabs(s[j]), 1);
        answer.empty = false;
      }
    return;
  }
  Real top = low;
  for (int64_t j = 0; j < keys(); ++j)
    if (visible[j])
      top = std::isnan(s[j]) || std::isnan(top) ? s[j] + top
                                                : std::max(top, s[j]);
  values.max = top == -low ? std::numeric_limits<Real>::quiet_NaN() : top;
  answer.empty = top == low;
  // The largest term of the normaliser, `extra` included.
  Real largest = top, extra = low;
  if (item.extra) {
    extra = evaluator.evaluate(*item.extra).real(0);
    largest = std::isnan(extra) ? extra : std::max(top, extra);
  }
  values.lse = largest;
  if (largest == low)
    return;
  Real total = std::exp(extra - largest), sum = 0;
  for (int64_t j = 0; j < keys(); ++j)
    if (visible[j] && !answer.empty) {
      total += s[j] = std::exp(s[j] - largest);
      sum += s[j];
    }
  values.lse = largest + std::log(total);
  values.sum = answer.empty ? 0 : sum * std::exp(largest - top);
  answer.weightSize = values.sum;
  for (Real &weight : s)
    weight /= total;
}

template <typename Real>
void Dense::accumulate(const std::vector<char> &visible,
                       const std::vector<Real> &weights,
                       const KeysAndValues<Real> &kv, bool plain,
                       RowAnswer<Real> &answer) const {
  std::vector<Real> &o = answer.values.o;
  std::vector<Real> squares(width(), 0), absolute(width(), 0);
  ElementType type = q.type();
  bool narrow = plain && elementSize(type) == 2;
  for (int64_t j = 0; j < keys(); ++j) {
    if (!visible[j])
      continue;
    Real weight = weights[j];
    if (narrow)
      weight = static_cast<Real>(roundTo(type, weight));
    const Real *value = kv.values.data() + j * width();
    for (int64_t e = 0; e < width(); ++e)
      o[e] += weight * value[e];
    if (plain)
      for (int64_t e = 0; e < width(); ++e) {
        Real part = std::fabs(weight * value[e]);
        squares[e] += part * part;
        absolute[e] += part;
      }
  }
  for (int64_t e = 0; e < width(); ++e) {
    answer.squares = std::max<double>(answer.squares, squares[e]);
    answer.absolute = std::max<double>(answer.absolute, absolute[e]);
  }
}

template <typename Real>
RowAnswer<Real> Dense::row(const Row &at, const KeysAndValues<Real> &kv,
                           bool plain) const {
  RowEvaluator<Real> evaluator(problem, at, keys());
  std::vector<Real> s = scores(at, kv, evaluator);
  std::vector<char> visible = visibleKeys(evaluator);
  RowAnswer<Real> answer;
  answer.values.o.assign(width(), 0);
  for (int64_t j = 0; j < keys(); ++j)
    if (visible[j] && std::isfinite(s[j]))
      answer.maxScore = std::max<double>(answer.maxScore, std::fabs(s[j]));
  std::vector<std::vector<Real>> factors;
  for (const lang::Expr *weight : item.weights) {
    Column<Real> column = evaluator.evaluate(*weight, &s);
    std::vector<Real> &factor = factors.emplace_back(keys());
    for (int64_t j = 0; j < keys(); ++j)
      factor[j] = column.real(j);
  }
  reduce(at, visible, s, evaluator, answer);
  if (answer.empty)
    return answer;
  for (const std::vector<Real> &factor : factors)
    for (int64_t j = 0; j < keys(); ++j)
      if (s[j] != 0) // what has no weight stays without
        s[j] *= factor[j];
  accumulate(visible, s, kv, plain, answer);
  if (item.reduction != lang::Reduction::Mean)
    return answer;
  Real sum = answer.values.sum;
  for (Real &value : answer.values.o)
    value = sum == 0 ? 0 : value / sum;
  if (sum != 0) {
    answer.squares /= double(sum) * sum;
    answer.absolute /= std::fabs(sum);
  }
  return answer;
}

template <typename Real>
std::vector<Real> Dense::output(const Row &at, const lang::Output &output,
                                const RowValues<Real> &values) const {
  const lang::Tensor &tensor = item.tensors[output.tensor];
  int64_t count = tensor.extents.size() == 4 ? width() : 1;
  RowEvaluator<Real> evaluator(problem, at, count);
  Column<Real> column = evaluator.evaluateOutput(*output.element, values);
  std::vector<Real> elements(count);
  for (int64_t e = 0; e < count; ++e)
    elements[e] = lang::isFloat(tensor.elem)
                      ? column.real(e)
                      : static_cast<Real>(column.integer(e));
  return elements;
}

/// The error of an output whose parts have errors: each part is moved by its
/// own, and the differences are added.
double Dense::outputError(const Row &at, const lang::Output &output,
                          const RowValues<double> &exact,
                          const RowErrors &errors) const {
  if (output.element->kind == lang::Expr::Row)
    switch (output.element->row) {
    case lang::RowValue::O:
      return errors.o;
    case lang::RowValue::Lse:
      return errors.lse;
    case lang::RowValue::RowMax:
      return errors.max;
    case lang::RowValue::RowSum:
      return errors.sum;
    }
  std::vector<double> base = this->output(at, output, exact);
  std::vector<double> sums(base.size(), 0);
  auto move = [&](auto change) {
    RowValues<double> moved = exact;
    change(moved);
    std::vector<double> there = this->output(at, output, moved);
    for (size_t e = 0; e < base.size(); ++e)
      if (double error = errorOf(there[e], base[e]); std::isfinite(error))
        sums[e] += error;
  };
  move([&](RowValues<double> &v) {
    for (double &o : v.o)
      o += errors.o;
  });
  move([&](RowValues<double> &v) { v.lse += errors.lse; });
  move([&](RowValues<double> &v) { v.max += errors.max; });
  move([&](RowValues<double> &v) { v.sum += errors.sum; });
  double largest = 0;
  for (size_t e = 0; e < base.size(); ++e)
    // The expression itself is computed in the same arithmetic.
    largest = std::max(largest, sums[e] + 0x1p-21 * std::fabs(base[e]));
  return largest;
}

namespace {
/// A block of rows of one head, and what it adds to the plain L2 error of each
/// output.
struct Block {
  Row first;
  int64_t rows;
  std::vector<L2> l2;
};
} // namespace

/// What rounding makes likely for a row of which the plain answer is `plain`.
template <typename Plain>
static RowErrors likelyErrors(const Dense &dense,
                              const RowValues<double> &exact,
                              const RowAnswer<Plain> &plain) {
  bool wide = sizeof(Plain) == 8;
  double step = wide ? 0x1p-46 : 0x1p-22;
  auto size = [](double x) { return std::isfinite(x) ? std::fabs(x) : 0; };
  RowErrors errors;
  errors.o = std::max(
      2 * unitRoundoff(dense.q.type()) * std::sqrt(plain.squares / 3),
      (wide ? step : step / 2) * (1 + plain.maxScore) * plain.absolute);
  errors.lse = step * std::max({1.0, size(exact.lse), plain.maxScore});
  errors.max = step * std::max({1.0, size(exact.max), plain.maxScore});
  errors.sum = step * (1 + plain.maxScore) * plain.weightSize;
  if (dense.item.reduction == lang::Reduction::Mean && exact.sum != 0)
    for (double o : exact.o)
      errors.o =
          std::max(errors.o, std::fabs(o) * errors.sum / std::fabs(exact.sum));
  return errors;
}

template <typename Plain>
static void computeBlock(const Dense &dense, Block &block,
                         const KeysAndValues<double> &exactKv,
                         const KeysAndValues<Plain> &plainKv,
                         ReferenceRow *out) {
  const std::vector<lang::Output> &outputs = dense.item.outputs;
  block.l2.resize(outputs.size());
  std::vector<double> largest(outputs.size(), 0);
  for (int64_t n = 0; n < block.rows; ++n) {
    ReferenceRow &row = out[n];
    row.at = block.first;
    row.at.i += n;
    RowAnswer<double> exact = dense.row<double>(row.at, exactKv, false);
    RowAnswer<Plain> plain = dense.row<Plain>(row.at, plainKv, true);
    RowErrors likely = likelyErrors(dense, exact.values, plain);
    for (auto [number, output] : llvm::enumerate(outputs)) {
      std::vector<double> right = dense.output(row.at, output, exact.values);
      std::vector<Plain> rounded = dense.output(row.at, output, plain.values);
      double error = dense.outputError(row.at, output, exact.values, likely);
      bool isO = output.element->kind == lang::Expr::Row &&
                 output.element->row == lang::RowValue::O;
      for (size_t e = 0; e < right.size(); ++e) {
        double own = errorOf(rounded[e], right[e]);
        block.l2[number].add(isO ? own : std::max(own, error), right[e]);
        largest[number] = std::max(largest[number], own);
      }
      if (isO) // a likely error is large, half of it usual
        block.l2[number].error += error * error / 4 * right.size();
      largest[number] = std::max(largest[number], error);
      row.outputs.push_back(std::move(right));
    }
    row.o = std::move(exact.values.o);
    row.lse = exact.values.lse;
    row.empty = exact.empty;
  }
  for (int64_t n = 0; n < block.rows; ++n)
    out[n].errors = largest;
}

/// All blocks of rows, or a spread of them that keeps to the limit.
static std::vector<Block> chooseBlocks(const Dense &dense, double workLimit) {
  constexpr int64_t size = Reference::rowsPerBlock;
  int64_t ratio = dense.keyHeads() ? dense.heads() / dense.keyHeads() : 1;
  int64_t perHead = llvm::divideCeil(dense.queries(), size);
  int64_t total = dense.batches() * dense.heads() * perHead;
  double work = 2.0 * size * dense.keys() * (dense.depth() + dense.width());
  auto count = static_cast<int64_t>(
      std::min<double>(total, std::max(16.0, workLimit / std::max(work, 1.0))));
  std::vector<Block> blocks;
  for (int64_t n = 0; n < count; ++n) {
    // One block of each of `count` equal parts, the very first and last
    // included, otherwise anywhere in its part.
    int64_t begin = total * n / count, end = total * (n + 1) / count;
    int64_t number = n + 1 == count ? end - 1 : begin;
    if (n > 0 && n + 1 < count)
      number += randomBits(0, n) % (end - begin);
    int64_t i = number % perHead * size, h = number / perHead % dense.heads();
    blocks.push_back({{number / perHead / dense.heads(), h, h / ratio, i},
                      std::min(size, dense.queries() - i),
                      {}});
  }
  return blocks;
}

template <typename Plain>
static void computeAll(const Dense &dense, std::vector<Block> &blocks,
                       Reference &reference) {
  std::vector<size_t> firstRow;
  for (const Block &block : blocks) {
    firstRow.push_back(reference.rows.size());
    reference.rows.resize(reference.rows.size() + block.rows);
  }
  // Blocks are in order of heads, so one key head is unpacked at a time.
  for (size_t begin = 0; begin < blocks.size();) {
    const Row &at = blocks[begin].first;
    size_t end = begin;
    while (end < blocks.size() && blocks[end].first.b == at.b &&
           blocks[end].first.g == at.g)
      ++end;
    KeysAndValues<double> exact(dense.k, dense.v, at.b, at.g);
    KeysAndValues<Plain> plain(dense.k, dense.v, at.b, at.g);
    llvm::parallelFor(begin, end, [&](size_t n) {
      computeBlock(dense, blocks[n], exact, plain,
                   reference.rows.data() + firstRow[n]);
    });
    begin = end;
  }
}

Reference tegula::tool::computeReference(const Problem &problem,
                                         double workLimit) {
  Dense dense(problem);
  Reference reference;
  reference.totalRows = dense.batches() * dense.heads() * dense.queries();
  std::vector<Block> blocks = chooseBlocks(dense, workLimit);
  if (dense.q.type() == ElementType::f64)
    computeAll<double>(dense, blocks, reference);
  else
    computeAll<float>(dense, blocks, reference);
  std::vector<L2> l2(problem.item->outputs.size());
  for (const Block &block : blocks)
    for (auto [sum, part] : llvm::zip(l2, block.l2)) {
      sum.error += part.error;
      sum.size += part.size;
    }
  for (const L2 &each : l2)
    reference.plainL2.push_back(each.relative());
  return reference;
}
