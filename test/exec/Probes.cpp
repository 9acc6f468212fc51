//===- Probes.cpp - problems with an answer known beforehand --------------===//
//
// Each is the minimal input of a fault that another attention system had:
// values that identify keys and heads, scores where exp overflows, rows without
// keys, constants that a wrong path replaces.
//
//===----------------------------------------------------------------------===//
#include "Case.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

using namespace tegula;
using namespace tegula::exec;
using tool::Layout;
using tool::Problem;
using tool::RunTarget;
using tool::Tensor;

static std::vector<std::pair<std::string, int64_t>>
sizes(int64_t b, int64_t h, int64_t g, int64_t m, int64_t n) {
  return {{"B", b}, {"H", h}, {"G", g}, {"M", m}, {"N", n}};
}

/// A case of its own item with `clauses`.
static Case probe(const std::string &name, const std::string &clauses,
                  const std::string &type, int d,
                  std::vector<std::pair<std::string, int64_t>> lengths) {
  Case c;
  c.name = "probe/" + name + "/" + type;
  c.source = "attention probe" + signature + clauses + " }\n";
  c.item = "probe";
  std::string depth = std::to_string(d);
  c.defines = {{"D", depth}, {"E", depth}, {"T", type}};
  if (type == "f64")
    c.defines.emplace_back("L", "f64");
  c.setup.sizes = std::move(lengths);
  c.smoke = true;
  return c;
}

/// Sets every element to a function of its logical index.
static void setEach(Tensor &tensor,
                    llvm::function_ref<double(llvm::ArrayRef<int64_t>)> value) {
  llvm::SmallVector<int64_t, 4> index(tensor.shape().size());
  tensor.forEach([&](int64_t linear, int64_t offset) {
    for (size_t axis = index.size(); axis-- > 0;) {
      index[axis] = linear % tensor.shape()[axis];
      linear /= tensor.shape()[axis];
    }
    tensor.setReal(offset, value(index));
  });
}

/// One score for each key, in every row: q is 1 in column 0, k holds it there.
static void setScores(Problem &problem, llvm::ArrayRef<double> scores) {
  setEach(tensorOf(problem, "q"), [](auto at) { return at[3] == 0; });
  setEach(tensorOf(problem, "k"),
          [&](auto at) { return at[3] == 0 ? scores[at[2]] : 0.0; });
}

static std::string wrong(const char *what, llvm::ArrayRef<int64_t> index,
                         double value, double expected) {
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, " is %.9g, expected %.9g", value,
                expected);
  return what + tool::shapeText(index) + numbers;
}

/// Compares every element of an output with a function of its index.
static std::string
expectEach(const Problem &problem, const char *name, double tolerance,
           llvm::function_ref<double(llvm::ArrayRef<int64_t>)> expected) {
  const Tensor &tensor = tensorOf(problem, name);
  std::string result;
  llvm::SmallVector<int64_t, 4> index(tensor.shape().size());
  tensor.forEach([&](int64_t linear, int64_t offset) {
    for (size_t axis = index.size(); axis-- > 0;) {
      index[axis] = linear % tensor.shape()[axis];
      linear /= tensor.shape()[axis];
    }
    double value = tensor.real(offset), right = expected(index);
    bool good = value == right || std::fabs(value - right) <= tolerance;
    if (!good && result.empty())
      result = wrong(name, index, value, right);
  });
  return result;
}

/// Mask tables: a row that sees nothing, one that sees a single key.
static Case deadRows(const char *type) {
  Case c = probe("dead-rows", "param keep: bool[B,M,N] mask keep[b,i,j]", type,
                 64, sizes(2, 3, 3, 40, 40));
  c.edit = [](Problem &p) {
    Tensor &keep = tensorOf(p, "keep");
    for (int64_t j = 0; j < 40; ++j) {
      keep.setInteger(keep.offsetOf({1, 7, j}), 0);
      keep.setInteger(keep.offsetOf({1, 39, j}), 0);
      keep.setInteger(keep.offsetOf({1, 8, j}), j == 39);
    }
  };
  c.expect = [](const Problem &p) -> std::string {
    const Tensor &o = tensorOf(p, "o"), &v = tensorOf(p, "v"),
                 &lse = tensorOf(p, "lse");
    for (int64_t h = 0; h < 3; ++h)
      for (int64_t e = 0; e < 64; ++e)
        for (int64_t i : {7, 8, 39}) {
          double value = o.real(o.offsetOf({1, h, i, e}));
          double right = i == 8 ? v.real(v.offsetOf({1, h, 39, e})) : 0;
          // f32 on the GPU: the parts of a split product add up to within a
          // rounding.
          double slack =
              p.item->tensors[p.item->q.tensor].elem == lang::ElemType::F32
                  ? std::fabs(right) * 0x1p-22
                  : 0;
          if (std::fabs(value - right) > slack)
            return wrong("o", {1, h, i, e}, value, right);
          if (i != 8 && lse.real(lse.offsetOf({1, h, i})) !=
                            -std::numeric_limits<double>::infinity())
            return wrong("lse", {1, h, i}, lse.real(lse.offsetOf({1, h, i})),
                         -std::numeric_limits<double>::infinity());
        }
    return "";
  };
  return c;
}

/// Logits near -52000 in every row.
static Case veryNegative(const char *type) {
  Case c = probe("very-negative", "", type, 128, sizes(1, 2, 1, 40, 33));
  c.setup.arguments = {{"q", "48"}, {"k", "-96"}, {"v", "1"}};
  c.expect = [](const Problem &p) {
    // The sum of 33 ones, divided by 33 within 2 ulp.
    std::string o = expectEach(p, "o", 2.5e-7, [](auto) { return 1.0; });
    double lse = -48.0 * 96 * 128 / std::sqrt(128.0) + std::log(33);
    return o.empty() ? expectEach(p, "lse", 0.02, [&](auto) { return lse; })
                     : o;
  };
  return c;
}

/// Equal keys so large that a folded scale leaves a residue.
static Case foldedScale(const char *type, double a, int64_t n) {
  Case c = probe("folded-scale-" + std::to_string(static_cast<int64_t>(a)),
                 "scale 0.125", type, 64, sizes(1, 1, 1, 70, n));
  std::string text = std::to_string(static_cast<int64_t>(a));
  c.setup.arguments = {{"q", text}, {"k", text}};
  c.edit = [](Problem &p) {
    setEach(tensorOf(p, "v"), [](auto at) { return double(at[2] + 1); });
  };
  c.expect = [n](const Problem &p) {
    double mean = (double(n) + 1) / 2;
    return expectEach(p, "o", mean / 128, [&](auto) { return mean; });
  };
  return c;
}

/// A logit above 88, and all of them above it.
static Case largeLogits(const char *type, bool one) {
  Case c = probe(one ? "one-large-logit" : "all-logits-95", "scale 1.0", type,
                 128, sizes(1, 2, 2, 9, 70));
  c.edit = [one](Problem &p) {
    std::vector<double> scores(70);
    for (int j = 0; j < 70; ++j)
      scores[j] = one ? j == 37 ? 151 : (j % 9) * 0.5 - 2 : 95;
    setScores(p, scores);
    setEach(tensorOf(p, "v"), [](auto at) { return double(at[2] + 1); });
  };
  c.expect = [one](const Problem &p) {
    double right = one ? 38 : 35.5;
    return expectEach(p, "o", right / 128, [&](auto) { return right; });
  };
  return c;
}

static Case alignedCausal(bool bottomRight, int64_t m, int64_t n) {
  Case c = probe(std::string(bottomRight ? "bottom-right-" : "top-left-") +
                     std::to_string(m) + "x" + std::to_string(n),
                 bottomRight ? "mask i + (N - M) >= j" : "mask i >= j", "bf16",
                 64, sizes(1, 2, 1, m, n));
  c.edit = [](Problem &p) {
    setScores(p, std::vector<double>(tensorOf(p, "k").shape()[2], 0));
    // V is the key's number plus 1, so that o is the middle of what is seen.
    setEach(tensorOf(p, "v"), [](auto at) { return double(at[2] + 1); });
  };
  c.expect = [=](const Problem &p) {
    return expectEach(p, "o", 1, [&](auto at) {
      int64_t seen =
          std::clamp<int64_t>(at[2] + 1 + (bottomRight ? n - m : 0), 0, n);
      return seen == 0 ? 0.0 : (double(seen) + 1) / 2;
    });
  };
  return c;
}

/// More batches or heads than a grid has in y or z.
static Case manyPrograms(int64_t b, int64_t h, bool smoke) {
  Case c = probe("many-programs-" + std::to_string(b) + "x" + std::to_string(h),
                 "", "bf16", 64, sizes(b, h, h, 2, 3));
  c.smoke = smoke;
  return c;
}

/// One operand is a transposed view of the other layout.
static Case transposedOperand(const char *operand, int64_t n) {
  Case c = probe("transposed-" + std::string(operand) + "-" + std::to_string(n),
                 "mask i >= j", "bf16", 64, sizes(2, 3, 3, n, n));
  std::string name = operand;
  c.edit = [name](Problem &p) {
    Tensor &tensor = tensorOf(p, name);
    Tensor view = llvm::cantFail(Tensor::create(
        tensor.type(), tensor.shape(), tool::axisOrder(Layout::bshd, 4)));
    view.assignDense(tensor.denseBytes());
    tensor = std::move(view);
  };
  return c;
}

/// V is the number of the key head.
static Case headNumbers(const char *type) {
  Case c = probe("head-numbers", "", type, 64, sizes(2, 6, 3, 5, 70));
  c.edit = [](Problem &p) {
    setEach(tensorOf(p, "v"), [](auto at) { return double(at[1]); });
  };
  c.expect = [](const Problem &p) {
    return expectEach(p, "o", 1.0 / 64, [](auto at) {
      return double(at[1] / 2); // blocks of H/G heads, not every third
    });
  };
  return c;
}

/// The softcap's factor and its tails.
static Case softcap(const char *type, double cap,
                    const std::vector<double> &scores) {
  Case c = probe("softcap-" + std::to_string(static_cast<int>(cap)),
                 "param cap: f32 scale 1.0 score cap * tanh(s / cap)", type, 64,
                 sizes(1, 1, 1, 1, int64_t(scores.size())));
  c.setup.arguments = {{"cap", std::to_string(cap)}};
  c.edit = [scores](Problem &p) { setScores(p, scores); };
  return c;
}

/// Seven keys, of which each row sees one: lse is that key's capped score.
static Case softcapByKey(const char *type) {
  std::vector<double> scores{-6016, -30, -1, 0, 1, 30, 6016};
  Case c = probe("softcap-by-key",
                 "param cap: f32 scale 1.0 mask i == j score cap * tanh(s / "
                 "cap)",
                 type, 64, sizes(1, 1, 1, 7, 7));
  c.setup.arguments = {{"cap", "30"}};
  c.edit = [scores](Problem &p) { setScores(p, scores); };
  c.expect = [scores](const Problem &p) {
    return expectEach(p, "lse", 1e-5, [&](auto at) {
      return 30 * std::tanh(scores[at[2]] / 30);
    });
  };
  return c;
}

/// Scale 0 is a scale and not the default.
static Case zeroScale(const char *type) {
  Case c = probe("zero-scale", "scale 0.0 mask i + (N - M) >= j", type, 64,
                 sizes(1, 4, 1, 90, 90));
  c.expect = [](const Problem &p) {
    return expectEach(p, "lse", 1e-5,
                      [](auto at) { return std::log(at[2] + 1.0); });
  };
  return c;
}

/// Inputs five times as large as usual.
static Case timesFive(const char *type) {
  Case c = probe("times-five", "mask i + (N - M) >= j", type, 128,
                 sizes(1, 4, 1, 150, 170));
  c.edit = [](Problem &p) {
    for (const char *name : {"q", "k"}) {
      Tensor &tensor = tensorOf(p, name);
      for (int64_t offset = 0; offset < tensor.size(); ++offset)
        tensor.setReal(offset, tensor.real(offset) * 5);
    }
  };
  return c;
}

/// A shift of every score, where exp without the maximum overflows in f32.
static Case shifted(const char *type) {
  Case c = probe("logits-plus-500", "mask i + (N - M) >= j", type, 64,
                 sizes(1, 4, 1, 70, 130));
  c.setup.logitOffset = 500;
  c.expect = [](const Problem &p) -> std::string {
    for (const char *name : {"o", "lse"}) {
      const Tensor &tensor = tensorOf(p, name);
      for (int64_t offset = 0; offset < tensor.size(); ++offset)
        if (!std::isfinite(tensor.real(offset)))
          return std::string(name) + " is not finite";
    }
    return "";
  };
  return c;
}

/// Keys that every row hides hold NaN.
static Case hiddenNan(const char *type) {
  Case c =
      probe("hidden-nan-keys", "mask j < 33", type, 64, sizes(1, 2, 1, 40, 70));
  c.edit = [](Problem &p) {
    Tensor &k = tensorOf(p, "k");
    for (int64_t g = 0; g < k.shape()[1]; ++g)
      for (int64_t j = 33; j < 70; ++j)
        for (int64_t d = 0; d < 64; ++d)
          k.setReal(k.offsetOf({0, g, j, d}), std::nan(""));
  };
  return c;
}

/// Keys that every row of the problem hides, by arithmetic, by a table and by
/// the border of a triangle, hold NaN as values.
static Case hiddenNanValues(const char *type, int64_t m, int64_t n) {
  Case c = probe("hidden-nan-values",
                 "param keep: bool[N] mask j % 7 != 3 && i + 20 >= j mask "
                 "keep[j]",
                 type, 64, sizes(1, 2, 1, m, n));
  c.name += "/m" + std::to_string(m) + "n" + std::to_string(n);
  c.edit = [m, n](Problem &p) {
    Tensor &v = tensorOf(p, "v"), &keep = tensorOf(p, "keep");
    for (int64_t j = 0; j < n; ++j) {
      bool isKept = j % 11 != 5;
      keep.setInteger(keep.offsetOf({j}), isKept);
      if (isKept && j % 7 != 3 && m - 1 + 20 >= j)
        continue;
      for (int64_t g = 0; g < v.shape()[1]; ++g)
        for (int64_t e = 0; e < 64; ++e)
          v.setReal(v.offsetOf({0, g, j, e}), std::nan(""));
    }
  };
  return c;
}

/// Tables of several types, read inside, below and above their extents.
static Case tables(const char *type) {
  Case c = probe("tables",
                 "param ids: i32[P], w: f16[H,P], m: T[B,H,M,N], skip: i64[2] "
                 "score s + w[h, ids[i - 5] + j] + m[b,h,i,j] mask ids[j] != "
                 "skip[1] && skip[b - 1] + i >= j - 40",
                 type, 64, sizes(2, 4, 2, 50, 64));
  c.setup.sizes.emplace_back("P", 20);
  return c;
}

/// Integer arithmetic: floored, and zero where the divisor is.
static Case integers(const char *type) {
  Case c =
      probe("integers",
            "param step: i32, zero: i32 let a = (i - 20) / step let r = (j "
            "- 30) % step mask a + r * 2 >= -3 && (i - j) / zero == 0 && "
            "(j - i) % 5 != 3 score s + 0.25 * abs(min(i, j) - max(a, r))",
            type, 64, sizes(1, 2, 1, 50, 60));
  c.setup.arguments = {{"step", "7"}, {"zero", "0"}};
  return c;
}

/// The math functions of scores.
static Case functions(const char *type) {
  Case c = probe("functions",
                 "param a: f32 score log(1.0 + exp(clamp(s, -3.0, 3.0))) + "
                 "sqrt(abs(s)) + tanh(s * a) - (s > 1.0 ? 0.5 : s * 0.125)",
                 type, 64, sizes(1, 4, 2, 70, 80));
  c.setup.arguments = {{"a", "0.3"}};
  return c;
}

static void addNumericProbes(RunTarget target, std::vector<Case> &cases) {
  std::vector<const char *> types{"bf16", "f16", "f32"};
  if (target == RunTarget::cpu)
    types.push_back("f64");
  for (const char *type : types) {
    cases.push_back(deadRows(type));
    cases.push_back(largeLogits(type, true));
    cases.push_back(largeLogits(type, false));
    cases.push_back(headNumbers(type));
    cases.push_back(softcapByKey(type));
    cases.push_back(zeroScale(type));
    cases.push_back(timesFive(type));
    cases.push_back(shifted(type));
    cases.push_back(hiddenNan(type));
    cases.push_back(hiddenNanValues(type, 40, 70));
    cases.push_back(hiddenNanValues(type, 150, 300));
    cases.push_back(tables(type));
    cases.push_back(integers(type));
    cases.push_back(functions(type));
    cases.push_back(veryNegative(type));
    cases.push_back(foldedScale(type, 12288, 70));
  }
  for (const char *type : {"bf16", "f32"}) {
    cases.push_back(foldedScale(type, 98304, 70));
    cases.push_back(foldedScale(type, 147456, 200));
    for (double score : {4400.0, 5000.0, 1e4, -1e4, 3e38, -3e38})
      cases.push_back(softcap(type, 50, {score}));
    cases.push_back(softcap(type, 50, {3e38, -3e38, 1e4, 0}));
  }
}

std::vector<Case> tegula::exec::probeCases(RunTarget target) {
  std::vector<Case> cases;
  addNumericProbes(target, cases);
  for (auto [m, n] : {std::pair{3, 128}, {5, 2}, {1, 77}, {77, 1}, {128, 200}})
    for (bool bottomRight : {false, true})
      cases.push_back(alignedCausal(bottomRight, m, n));
  for (const char *operand : {"q", "k", "v", "o"})
    for (int64_t n : {62, 64})
      cases.push_back(transposedOperand(operand, n));
  cases.push_back(manyPrograms(300, 1, true));
  cases.push_back(manyPrograms(65536, 1, false));
  cases.push_back(manyPrograms(1, 65536, false));
  // Under both forms where there are two.
  if (target == RunTarget::cuda) {
    size_t count = cases.size();
    for (size_t n = 0; n < count; ++n) {
      bool narrow = !llvm::StringRef(cases[n].name).contains("/f32");
      Case other = cases[n];
      cases[n].name += "/direct";
      cases[n].schedule = {"form=direct"};
      if (!narrow)
        continue;
      other.name += "/pipelined";
      other.schedule = {"form=pipelined"};
      cases.push_back(std::move(other));
    }
  }
  return cases;
}
