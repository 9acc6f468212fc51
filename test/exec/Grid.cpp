//===- Grid.cpp - the table of end-to-end cases ---------------------------===//
//
// Five variants in each type, head dim, shape, layout and schedule. Head ratios
// 1, 4 and 7; lengths that no tile divides, 0 and 1; M below and above N.
//
//===----------------------------------------------------------------------===//
#include "Case.h"

using namespace tegula;
using namespace tegula::exec;
using tool::Layout;
using tool::RunTarget;

static const std::string variants = "attention vanilla" + signature + R"(}
attention causal  = vanilla with { mask i + (N - M) >= j }
attention window  = causal  with { param W: i32   mask i + (N - M) - j < W }
attention alibi   = causal  with { param slope: f32[H]   score s + slope[h] * (j - i - (N - M)) }
attention softcap = causal  with { param cap: f32   score cap * tanh(s / cap) }
)";

namespace {
struct Variant {
  const char *name;
  tool::Pairs arguments;
};
struct Shape {
  int64_t b, h, g, m, n;
  bool smoke = false;
};
struct Precision {
  const char *type;
  /// On the GPU; f64 runs on the CPU only.
  bool direct, pipelined;
};
} // namespace

static const Variant variantList[] = {
    {"vanilla", {}},
    {"causal", {}},
    {"window", {{"W", "70"}}},
    {"alibi", {}},
    {"softcap", {{"cap", "2.5"}}},
};

static const Precision precisions[] = {
    {"bf16", true, true},
    {"f16", true, true},
    {"f32", true, false},
    {"f64", false, false},
};

static const Shape shapes[] = {
    // Lengths 0 and 1, and no batch.
    {1, 4, 1, 1, 1, true},
    {2, 4, 4, 0, 5},
    {1, 7, 1, 5, 0, true},
    {0, 4, 1, 3, 3},
    {1, 4, 1, 1, 300},
    {2, 7, 7, 77, 1},
    {1, 2, 2, 5, 2, true},
    // Around tile borders, M = N.
    {1, 4, 4, 63, 63},
    {2, 7, 1, 64, 64},
    {1, 4, 1, 127, 127},
    {1, 4, 4, 128, 128},
    {1, 8, 2, 129, 129, true},
    {1, 7, 1, 300, 300},
    // M != N both ways.
    {2, 4, 1, 65, 257, true},
    {1, 7, 7, 257, 65},
    {1, 4, 1, 100, 513},
    {1, 7, 1, 333, 150},
    // More key blocks than a ring has slots, many tiles a head.
    {1, 4, 1, 513, 1025},
    {1, 4, 4, 700, 640},
    // More tiles than a GPU has multiprocessors.
    {3, 28, 4, 200, 190},
};

static std::string shapeName(const Shape &shape) {
  return "b" + std::to_string(shape.b) + "h" + std::to_string(shape.h) + "g" +
         std::to_string(shape.g) + "m" + std::to_string(shape.m) + "n" +
         std::to_string(shape.n);
}

/// The schedules that a case runs under; the first is part of the smoke run.
static std::vector<std::vector<std::string>>
schedulesOf(RunTarget target, const Precision &precision, const Shape &shape) {
  if (target == RunTarget::cuda) {
    std::vector<std::vector<std::string>> forms;
    // TMA takes no empty tensor: where the form is open, such a problem goes to
    // the direct kernel.
    bool isEmpty = shape.b == 0 || shape.m == 0 || shape.n == 0;
    if (precision.pipelined)
      forms.push_back(isEmpty ? std::vector<std::string>{}
                              : std::vector<std::string>{"form=pipelined"});
    if (precision.direct)
      forms.push_back({"form=direct"});
    return forms;
  }
  // The answer does not depend on tiles, ragged ones included.
  if (llvm::StringRef(precision.type) == "f64" && shape.m > 1 && shape.n > 1)
    return {{}, {"block_m=16", "block_n=48"}, {"block_m=128", "block_n=32"}};
  return {{}};
}

static std::string scheduleName(const std::vector<std::string> &schedule) {
  std::string name;
  for (llvm::StringRef field : schedule) {
    auto [key, value] = field.split('=');
    name += "/" + (key == "form" ? value.str() : field.str());
  }
  return name;
}

static void addCases(RunTarget target, const Variant &variant,
                     const Precision &precision, int d, const Shape &shape,
                     std::vector<Case> &cases) {
  std::string depth = std::to_string(d);
  std::string key = std::string(variant.name) + "/" + precision.type + "/d" +
                    depth + "/" + shapeName(shape);
  bool isDouble = llvm::StringRef(precision.type) == "f64";
  bool first = true;
  for (const auto &schedule : schedulesOf(target, precision, shape))
    for (Layout layout : {Layout::bhsd, Layout::bshd}) {
      Case c;
      c.name = key + (layout == Layout::bhsd ? "/bhsd" : "/bshd") +
               scheduleName(schedule);
      c.source = variants;
      c.item = variant.name;
      c.defines = {{"D", depth}, {"E", depth}, {"T", precision.type}};
      if (isDouble)
        c.defines.emplace_back("L", "f64");
      c.setup.sizes = {{"B", shape.b},
                       {"H", shape.h},
                       {"G", shape.g},
                       {"M", shape.m},
                       {"N", shape.n}};
      c.setup.layout = layout;
      c.setup.arguments = variant.arguments;
      c.setup.seed = 1;
      c.schedule = schedule;
      c.referenceKey = key;
      if (llvm::StringRef(variant.name) == "alibi")
        c.edit = [](tool::Problem &problem) {
          tool::Tensor &slope = tensorOf(problem, "slope");
          for (int64_t h = 0; h < slope.size(); ++h)
            slope.setReal(h, 0.25 / static_cast<double>(1 + h));
        };
      // On the GPU both forms are part of the smoke run, as kernels cost more
      // than launches.
      c.smoke = shape.smoke && (d == 64 || target == RunTarget::cuda) &&
                (first || target == RunTarget::cuda);
      first = false;
      cases.push_back(std::move(c));
    }
}

std::vector<Case> tegula::exec::gridCases(RunTarget target) {
  std::vector<Case> cases;
  for (const Variant &variant : variantList)
    for (const Precision &precision : precisions)
      for (int d : {64, 128})
        for (const Shape &shape : shapes)
          addCases(target, variant, precision, d, shape, cases);
  return cases;
}
