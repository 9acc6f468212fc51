//===- Reported.cpp - faults that users of other systems reported ---------===//
//
// A table of their minimal inputs, beside those whose answer Probes.cpp knows:
// the float64 reference judges them, and a row may say which queries see
// nothing.
//
//===----------------------------------------------------------------------===//
#include "Case.h"

#include <cmath>

using namespace tegula;
using namespace tegula::exec;
using tool::Problem;
using tool::RunTarget;
using tool::Tensor;

namespace {
struct Reported {
  std::string name;
  const char *clauses, *type;
  int d;
  int64_t b, h, g, m, n;
  std::function<void(Problem &)> edit = nullptr;
  /// Whether query (b, i) sees no key: its output is 0, its lse -inf.
  std::function<bool(int64_t, int64_t)> isEmpty = nullptr;
};
} // namespace

static std::string checkEmpty(const Problem &problem, const Reported &row) {
  const Tensor &o = tensorOf(problem, "o"), &lse = tensorOf(problem, "lse");
  for (int64_t b = 0; b < row.b; ++b)
    for (int64_t h = 0; h < row.h; ++h)
      for (int64_t i = 0; i < row.m; ++i) {
        bool isZero = true;
        for (int64_t e = 0; e < row.d; ++e)
          isZero &= o.real(o.offsetOf({b, h, i, e})) == 0;
        double sum = lse.real(lse.offsetOf({b, h, i}));
        bool isHidden = std::isinf(sum) && sum < 0;
        bool expected = row.isEmpty(b, i);
        if (isHidden != expected || (expected && !isZero))
          return "row " + tool::shapeText({b, h, i}) + " should see " +
                 (expected ? "nothing" : "something");
      }
  return "";
}

static void setLengths(Problem &problem) {
  Tensor &len = tensorOf(problem, "len");
  for (auto [b, length] : {std::pair(0, 0), {1, 1}, {2, 300}})
    len.setInteger(len.offsetOf({b}), length);
}

/// Scores of which a few are far out.
static void makeHeavyTailed(Problem &problem) {
  for (const char *name : {"q", "k"}) {
    Tensor &tensor = tensorOf(problem, name);
    for (int64_t offset = 0; offset < tensor.size(); ++offset) {
      double x = tensor.real(offset);
      tensor.setReal(offset, x * x * x / 3);
    }
  }
}

/// One buffer holds q, k and v row by row; its base may not be aligned.
static void sliceFromOneBuffer(Problem &problem, int64_t shift) {
  for (const char *name : {"q", "k", "v"}) {
    Tensor &tensor = tensorOf(problem, name);
    std::vector<double> values = tensor.reals();
    int64_t heads = tensor.shape()[1], rows = tensor.shape()[2],
            depth = tensor.shape()[3], pitch = 3 * heads * depth;
    tensor = cantFail(Tensor::createStrided(
        tensor.type(), tensor.shape(), {rows * pitch, depth, pitch, 1}, shift));
    tensor.forEach([&](int64_t linear, int64_t offset) {
      tensor.setReal(offset, values[linear]);
    });
  }
}

static std::vector<Reported> reportedFaults() {
  const char *causal = "mask i + (N - M) >= j";
  std::vector<Reported> rows = {
      {"hidden-row", "mask i > 0", "f32", 32, 1, 2, 1, 33, 33, nullptr,
       [](int64_t, int64_t i) { return i == 0; }},
      {"decode-lengths", "param len: i32[B] mask j < len[b]", "bf16", 64, 3, 4,
       4, 1, 300, setLengths, [](int64_t b, int64_t) { return b == 0; }},
      {"masks-without-a-key", "mask j < 3 mask j > 5", "f16", 64, 1, 2, 1, 9,
       70, nullptr, [](int64_t, int64_t) { return true; }},
      {"mask-and-causal",
       "param keep: bool[M,N] mask keep[i,j] mask i + (N - M) >= j", "bf16", 64,
       1, 2, 1, 90, 70, nullptr, nullptr},
      {"heavy-tails", causal, "bf16", 64, 1, 2, 1, 70, 300, makeHeavyTailed},
      {"one-buffer", causal, "bf16", 64, 2, 4, 4, 70, 70,
       [](Problem &p) { sliceFromOneBuffer(p, 0); }},
      {"one-buffer-unaligned", causal, "bf16", 64, 2, 4, 4, 70, 70,
       [](Problem &p) { sliceFromOneBuffer(p, 1); }},
      {"bias-of-key-heads", "param bias: f32[B,G,M,N] score s + bias[b,g,i,j]",
       "bf16", 64, 2, 8, 2, 1, 100},
      {"bias-of-heads", "param bias: f32[B,H,M,N] score s + bias[b,h,i,j]",
       "bf16", 64, 2, 8, 2, 1, 100},
      {"bias-of-keys", "param bias: f32[N] score s + bias[j]", "bf16", 64, 2, 8,
       2, 1, 100},
  };
  for (auto [h, g] : {std::pair(12, 2), {28, 4}})
    rows.push_back({"score-of-head-" + std::to_string(h),
                    "score s * (1.0 + 0.25 * h) + h", "f16", 16, 1, h, g, 1,
                    500});
  for (int64_t m : {1, 3, 17, 129})
    rows.push_back({"five-heads-a-key-head-m" + std::to_string(m), causal,
                    "bf16", 64, 1, 20, 4, m, 140});
  for (int64_t ratio : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 32})
    for (int64_t m : {1, 20})
      rows.push_back(
          {"ratio-" + std::to_string(ratio) + "-m" + std::to_string(m), causal,
           "f16", 64, 1, ratio * 2, 2, m, 70});
  for (int64_t n : {43, 77, 498})
    rows.push_back({"bias-width-" + std::to_string(n),
                    "param bias: T[B,H,M,N] score s + bias[b,h,i,j]", "bf16",
                    64, 1, 2, 1, 40, n});
  for (const char *scale : {"scale 0.3", "scale 5.0", "scale 0.125"})
    rows.push_back({"scale-" + std::string(scale).substr(6), scale, "f16", 64,
                    1, 2, 1, 70, 130});
  return rows;
}

std::vector<Case> tegula::exec::reportedCases() {
  std::vector<Case> cases;
  for (const Reported &row : reportedFaults()) {
    Case c;
    c.name = "reported/" + row.name + "/" + row.type;
    c.source =
        "attention reported" + signature + row.clauses + std::string(" }\n");
    c.item = "reported";
    std::string depth = std::to_string(row.d);
    c.defines = {{"D", depth}, {"E", depth}, {"T", row.type}};
    c.setup.sizes = {
        {"B", row.b}, {"H", row.h}, {"G", row.g}, {"M", row.m}, {"N", row.n}};
    c.edit = row.edit;
    if (row.isEmpty)
      c.expect = [row](const Problem &p) { return checkEmpty(p, row); };
    c.smoke = true;
    cases.push_back(std::move(c));
  }
  return cases;
}
