//===- Language.cpp - what the language can say, end to end ---------------===//
//
// The variants that a user meets first, and one program for each thing that an
// attention item can do beside scores and masks: sinks, other reductions,
// weights, further outputs, functions, bounded reductions, random numbers.
//
//===----------------------------------------------------------------------===//
#include "Case.h"

#include "llvm/ADT/STLExtras.h"

using namespace tegula;
using namespace tegula::exec;
using tool::Problem;
using tool::RunTarget;
using tool::Tensor;

static const std::string programs = "attention vanilla" + signature + R"(}
attention causal  = vanilla with { mask i + (N - M) >= j }
attention window  = causal  with { param W: i32   mask i + (N - M) - j < W }
attention docs    = vanilla with { param doc: i32[N] sorted   require M == N   mask doc[i] == doc[j] && i >= j }
attention prefix  = vanilla with { param plen: i32[B]   mask j < plen[b] || i >= j }
attention sinks   = window  with { param sink: f32[H]   reduce softmax(extra = sink[h]) }
attention bias    = vanilla with { param m: T[B,H,M,N]   score s + m[b,h,i,j] }

attention gpt_oss = causal with {
  param W: i32, A: i32, sink: f32[H]
  mask i + (N - M) - j < W || j < A
  reduce softmax(extra = sink[h])
  emit psink: f32[B,H,M] = exp(sink[h] - lse)   emit smax: f32[B,H,M] = rowmax
}
attention packed_prefix = vanilla with {
  param doc: i32[N] sorted in 0..ND, start: i32[ND+1] sorted, plen: i32[ND]   require M == N
  let li = i - start[doc[i]]   let lj = j - start[doc[j]]
  mask doc[i] == doc[j] && (li >= lj || lj < plen[doc[j]])
}
fn t5_bucket(r, NB, MAXD) {
  let half = NB / 2   let n = abs(r)   let exact = half / 2
  let far = exact + i32(log(f32(n) / exact) / log(f32(MAXD) / exact) * (half - exact))
  return (r > 0 ? half : 0) + (n < exact ? n : min(far, half - 1))
}
attention t5 = vanilla with { param rel: f32[NB,H]   scale 1.0   score s + rel[t5_bucket(j - i - (N - M), NB, 128), h] }
fn near(x, y, K, LEN) = abs(clamp(x, K / 2, LEN - 1 - K / 2) - y) <= K / 2
attention na2d = vanilla with { param X: i32, Y: i32, K: i32   require M == X * Y && N == X * Y
  mask near(i / Y, j / Y, K, X) && near(i % Y, j % Y, K, Y) }
attention nsa_selected = causal with { static KS = 16   param BS: i32, sel: i32[B,G,M,KS]   mask any(t in KS: sel[b, g, i, t] == j / BS) }
fn sigmoid(x) = 1.0 / (1.0 + exp(-x))
attention sigmoid_attn = causal with { outputs o   reduce sum(sigmoid(s - log(f32(N)))) }
attention dropout = causal with { param seed: i64, p: f32   weight random(seed, i, j, h, b) < p ? 0.0 : 1.0 / (1.0 - p) }

attention plus_one = causal with { reduce softmax(extra = 0.0) }
attention linear   = causal with { outputs o, total   reduce mean(s * s)   emit total: f32[B,H,M] = rowsum }
attention cosine   = causal with { outputs o   score max(s, 0.0)   reduce sum(s) }
attention weighted = window with { param f: f32[N]   weight f[j] * 2.0   weight s > 0.0 ? 1.0 : 0.5 }
attention gated    = causal with {
  param gate: f32[B,H,M]
  emit o = o * gate[b,h,i] + 0.125 * e
  emit n: i32[B,H,M] = i32(rowsum * 0.0) + i * 2 + b   emit alive: bool[B,H,M] = rowsum > 0.0
  emit scaled: f32[B,H,M,E] = o * rowsum   emit entropy: T[B,H,M] = lse - rowmax
}
attention unbounded = causal with {  # rows of NaN, one of +inf; weights of keys that have none
  score i % 8 == 1 && j == 5 ? inf : i % 8 == 2 && j >= 4 ? s - inf + inf : j % 3 == 1 ? -inf : s
  weight j % 3 == 1 ? s : 1.0
  emit top: f32[B,H,M] = rowmax   emit total: f32[B,H,M] = rowsum
}
attention lists = vanilla with {
  param KD: i32, sel: i32[B,M,KD], w: f32[4]
  mask all(t in 4: j != 3 * t + 1) && (any(t in KD: sel[b,i,t] == j) || j < 2)
  score s + sum(t in 4: w[t] * f32((i + t) % 3)) - max(t in KD: min(u in 2: f32(sel[b,i,t] + u))) * 0.01
}
clauses capped { param cap: f32   score cap * tanh(s / cap) }
clauses alibi  { param slope: f32[H]   score s + slope[h] * (j - i - (N - M)) }
attention grouped = window with capped, alibi { scale 0.25 }
)";

namespace {
struct Program {
  const char *name;
  tool::Pairs arguments = {};
  /// Lengths that the shapes below do not give.
  std::vector<std::pair<std::string, int64_t>> sizes = {};
  bool square = false;
  std::function<void(Problem &)> edit = nullptr;
  /// Of a table of pairs, which need rows of 16 bytes.
  bool hasBlocks = false;
};
} // namespace

static void setIntegers(Problem &problem, const char *name,
                        llvm::function_ref<int64_t(int64_t)> value) {
  Tensor &tensor = tensorOf(problem, name);
  tensor.forEach([&](int64_t linear, int64_t offset) {
    tensor.setInteger(offset, value(linear));
  });
}

/// Block numbers -1 to 5, most of them small.
static void selectBlocks(Problem &problem) {
  setIntegers(problem, "sel", [](int64_t n) { return n * 7 % 11 % 7 - 1; });
}

static std::vector<Program> programList() {
  return {
      {"docs", {}, {}, true},
      {"prefix"},
      {"sinks", {{"W", "20"}}},
      {.name = "bias", .hasBlocks = true},
      {"gpt_oss", {{"W", "20"}, {"A", "4"}}},
      {"packed_prefix", {}, {{"ND", 5}}, true},
      {"t5", {}, {{"NB", 32}}},
      {"na2d", {{"X", "8"}, {"Y", "9"}, {"K", "5"}}, {}, true},
      {"nsa_selected", {{"BS", "8"}}, {}, false, selectBlocks},
      {"sigmoid_attn"},
      {"dropout", {{"seed", "123456789012"}, {"p", "0.3"}}},
      {"plus_one"},
      {"linear"},
      {"cosine"},
      {"weighted", {{"W", "20"}}},
      {"gated"},
      {"unbounded"},
      {"lists", {{"KD", "3"}}},
      {"grouped", {{"W", "40"}, {"cap", "2.5"}}},
  };
}

static Case programCase(const Program &program, const std::string &type,
                        int64_t m, int64_t n) {
  if (program.square)
    m = n = 72;
  if (program.hasBlocks)
    n = (n + 7) / 8 * 8;
  Case c;
  c.name = "language/" + std::string(program.name) + "/" + type + "/m" +
           std::to_string(m) + "n" + std::to_string(n);
  c.source = programs;
  c.item = program.name;
  c.defines = {{"D", "64"}, {"E", "64"}, {"T", type}};
  if (type == "f64")
    c.defines.emplace_back("L", "f64");
  c.setup.sizes = {{"B", 2}, {"H", 4}, {"G", 2}, {"M", m}, {"N", n}};
  llvm::append_range(c.setup.sizes, program.sizes);
  c.setup.arguments = program.arguments;
  c.setup.seed = 3;
  c.edit = program.edit;
  c.referenceKey = c.name;
  return c;
}

std::vector<Case> tegula::exec::languageCases(RunTarget target) {
  std::vector<Case> cases;
  std::vector<std::string> types{"bf16", "f16", "f32"};
  std::vector<std::vector<std::string>> forms{{}};
  if (target == RunTarget::cpu)
    types.push_back("f64");
  else
    forms = {{"form=pipelined"}, {"form=direct"}};
  for (const Program &program : programList())
    for (const std::string &type : types)
      for (auto [m, n] :
           {std::pair{70, 90}, {90, 33}, {1, 200}, {5, 1}, {200, 333}}) {
        if (program.square && m != 70)
          continue;
        for (const auto &form : forms) {
          if (type == "f32" && !form.empty() && form[0] == "form=pipelined")
            continue;
          Case c = programCase(program, type, m, n);
          c.schedule = form;
          if (!form.empty())
            c.name += "/" + llvm::StringRef(form[0]).split('=').second.str();
          c.smoke = m > 1 && (type == "bf16" || type == "f32") && n > 1;
          cases.push_back(std::move(c));
        }
      }
  return cases;
}
