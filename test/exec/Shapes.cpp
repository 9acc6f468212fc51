//===- Shapes.cpp - head dims, strides and addresses ----------------------===//
//
// Head dims that no panel or matrix step divides, and a value dim of its own;
// operands with gaps, broadcast, reversed, unaligned, or far apart. On the GPU
// a case of the second kind also says which kernel its launch takes.
//
//===----------------------------------------------------------------------===//
#include "Case.h"

using namespace tegula;
using namespace tegula::exec;
using tool::Problem;
using tool::RunTarget;
using tool::Tensor;

static Case causalCase(const std::string &name, const std::string &type,
                       int64_t d, int64_t e) {
  Case c;
  c.name = name + "/" + type;
  c.source = "attention causal" + signature + "mask i + (N - M) >= j }\n";
  c.item = "causal";
  c.defines = {{"D", std::to_string(d)}, {"E", std::to_string(e)}, {"T", type}};
  return c;
}

//===----------------------------------------------------------------------===//
// Head dims
//===----------------------------------------------------------------------===//

static void addHeadDims(RunTarget target, int64_t d, int64_t e, bool smoke,
                        std::vector<Case> &cases) {
  for (const char *type : {"bf16", "f16", "f32"}) {
    bool narrow = llvm::StringRef(type) != "f32";
    Case c =
        causalCase("head-dims/d" + std::to_string(d) + "e" + std::to_string(e),
                   type, d, e);
    c.setup.sizes = {{"B", 2}, {"H", 4}, {"G", 2}, {"M", 129}, {"N", 200}};
    c.referenceKey = c.name;
    c.smoke =
        smoke &&
        (target == RunTarget::cuda ? llvm::StringRef(type) != "f16" : !narrow);
    if (target == RunTarget::cpu) {
      cases.push_back(c);
      continue;
    }
    Case other = c;
    c.name += "/direct";
    c.schedule = {"form=direct"};
    cases.push_back(std::move(c));
    if (!narrow || d < 32 || e < 32)
      continue;
    other.name += "/pipelined";
    other.schedule = {"form=pipelined"};
    cases.push_back(std::move(other));
  }
}

//===----------------------------------------------------------------------===//
// Strides and addresses
//===----------------------------------------------------------------------===//

/// Gives a tensor other strides and its elements again.
static void restride(Problem &problem, llvm::StringRef name,
                     llvm::ArrayRef<int64_t> strides, int64_t shift = 0) {
  Tensor &tensor = tensorOf(problem, name);
  Tensor view = llvm::cantFail(
      Tensor::createStrided(tensor.type(), tensor.shape(), strides, shift));
  view.assignDense(tensor.denseBytes());
  tensor = std::move(view);
}

static Case strideCase(const std::string &name, const char *type,
                       const char *form, int64_t batch,
                       std::function<void(Problem &)> edit) {
  Case c = causalCase("strides/" + name, type, 64, 64);
  c.setup.sizes = {{"B", batch}, {"H", 4}, {"G", 2}, {"M", 70}, {"N", 130}};
  c.edit = std::move(edit);
  c.form = form;
  c.smoke = true;
  return c;
}

static void addStrides(RunTarget target, std::vector<Case> &cases) {
  const char *fast = "pipelined", *any = "direct";
  cases.push_back(strideCase("pitch", "bf16", fast, 2, [](Problem &p) {
    restride(p, "q", {4 * 70 * 72, 70 * 72, 72, 1});
    restride(p, "k", {2 * 130 * 80, 130 * 80, 80, 1});
    restride(p, "v", {2 * 130 * 96, 130 * 96, 96, 1});
    restride(p, "o", {4 * 70 * 66, 70 * 66, 66, 1});
  }));
  cases.push_back(strideCase("odd-pitch", "bf16", any, 2, [](Problem &p) {
    restride(p, "k", {2 * 130 * 67, 130 * 67, 67, 1});
    restride(p, "o", {4 * 70 * 65, 70 * 65, 65, 1});
  }));
  cases.push_back(strideCase("broadcast", "f16", fast, 2, [](Problem &p) {
    restride(p, "k", {0, 0, 64, 1});
    restride(p, "v", {0, 130 * 64, 64, 1});
  }));
  cases.push_back(strideCase("reversed", "bf16", any, 2, [](Problem &p) {
    restride(p, "q", {4 * 70 * 64, 70 * 64, -64, 1});
    restride(p, "v", {-2 * 130 * 64, -130 * 64, 64, 1});
  }));
  cases.push_back(strideCase("unaligned", "bf16", any, 2, [](Problem &p) {
    restride(p, "q", {4 * 70 * 64, 70 * 64, 64, 1}, 1);
  }));
  cases.push_back(strideCase("column-stride", "f16", any, 2, [](Problem &p) {
    restride(p, "v", {2 * 130 * 128, 130 * 128, 128, 2});
    restride(p, "o", {4 * 70 * 64, 70 * 64, 1, 70});
  }));
  cases.push_back(strideCase("one-batch", "bf16", fast, 1, [](Problem &p) {
    for (const char *name : {"q", "k", "v"})
      restride(p, name, {7, tensorOf(p, name).strides()[1], 64, 1});
  }));
  cases.push_back(strideCase("f32", "f32", any, 2, [](Problem &p) {
    restride(p, "q", {4 * 70 * 64, 70 * 64, -64, 1});
    restride(p, "k", {0, 130 * 65, 65, 1});
    restride(p, "v", {2 * 130 * 128, 130 * 128, 128, 2});
  }));
  // Batches more than 2^31 bytes apart: 2 GiB of memory, mostly untouched.
  for (const char *form : {fast, any}) {
    Case c = strideCase(
        std::string("far-apart-") + form, "bf16", form, 2, [](Problem &p) {
          restride(p, "k", {(int64_t(1) << 30) + 64, 130 * 64, 64, 1});
          restride(p, "o", {(int64_t(1) << 30) + 64, 70 * 64, 64, 1});
        });
    if (target == RunTarget::cuda)
      c.schedule = {std::string("form=") + form};
    c.smoke = false;
    cases.push_back(std::move(c));
  }
}

std::vector<Case> tegula::exec::shapeCases(RunTarget target) {
  std::vector<Case> cases;
  auto isSmoke = [](int64_t d) {
    return d == 8 || d == 40 || d == 72 || d == 96 || d == 192 || d == 256;
  };
  for (int64_t d = 8; d <= 256; d += 8)
    if (d != 64 && d != 128) // in the grid
      addHeadDims(target, d, d, isSmoke(d), cases);
  for (auto [d, e] : {std::pair<int64_t, int64_t>{192, 128}, {64, 128}})
    addHeadDims(target, d, e, true, cases);
  for (auto [d, e] : {std::pair<int64_t, int64_t>{128, 64},
                      {40, 136},
                      {256, 32},
                      {32, 256},
                      {8, 256},
                      {72, 24}})
    addHeadDims(target, d, e, false, cases);
  addStrides(target, cases);
  return cases;
}
