// From `.tg` text to numbers: what attention promises, whatever the tile.
#include "codegen/Compiler.h"
#include "test/unit/cpu/AttendProblem.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tegula;
using namespace tegula::test;
using rt::ElementType;

namespace {

constexpr int64_t headDim = 8, valueDim = 16;

/// Variants over f64 by default; `-D T=...` and the type of lse follow `type`.
std::string source(const std::string &type) {
  return "attention full(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: T[B,H,M,E], lse: " +
         std::string(type == "f64" ? "f64" : "f32") + "[B,H,M]) { static D = 8, E = 16, T = " + type + R"( }
    attention causal  = full with { mask i + (N - M) >= j }
    attention window  = causal with { param W: i32   mask i + (N - M) - j < W }
    attention alibi   = causal with { param slope: f32[H]   score s + slope[h] * (j - i - (N - M)) }
    attention softcap = causal with { param cap: f32   score cap * tanh(s / cap) }
    attention shifted = full with { param by: f32   score s + by }
    attention docs    = full with { param doc: i32[N] sorted   require M == N   mask doc[i] == doc[j] && i >= j }
    attention kept    = full with { param keep: bool[B,N]   mask keep[b, j] }
    attention nothing = full with { mask j < 0 }
    attention biased  = full with { param m: T[B,H,M,N]   score s + m[b,h,i,j] }
    attention scaled  = full with { scale 0.25 * (h + 1) }
    attention floored = full with { param P: i32   mask (i - j) / P == 0 - 1 || (i - j) % P == 1 }
  )";
}

std::unique_ptr<CpuKernel> compileItem(const std::string &item, const std::string &type = "f64",
                                       std::pair<int64_t, int64_t> blocks = {16, 16}) {
  static Compiler compiler;
  CompileRequest request;
  request.text = source(type);
  request.item = item;
  request.target = "cpu";
  request.schedule = {"block_m=" + std::to_string(blocks.first), "block_n=" + std::to_string(blocks.second)};
  CompileResult result;
  std::unique_ptr<CpuKernel> kernel = compiler.compileForCpu(request, result);
  EXPECT_TRUE(kernel) << item << " " << type << ": " << result.diagnostics;
  return kernel;
}

AttendProblem problemFor(const AttendShape &shape, const std::string &type = "f64") {
  return AttendProblem(shape, *rt::parseElementType(type), headDim, valueDim);
}

const std::pair<int64_t, int64_t> tileSizes[] = {{16, 16}, {64, 32}, {7, 5}, {1, 64}, {33, 1}};

TEST(Source, TiledEqualsDense) {
  for (std::string item : {"full", "causal"})
    for (auto blocks : tileSizes) {
      std::unique_ptr<CpuKernel> kernel = compileItem(item, "f64", blocks);
      ASSERT_TRUE(kernel);
      for (const AttendShape &shape : attendShapes()) {
        AttendProblem problem = problemFor(shape);
        ASSERT_TRUE(problem.run(*kernel));
        problem.expectDense(item == "full" ? Variant::full() : Variant::causal(shape), 1e-12);
      }
    }
}

TEST(Source, NullOutputsAreSkipped) {
  std::unique_ptr<CpuKernel> kernel = compileItem("causal");
  ASSERT_TRUE(kernel);
  AttendProblem whole = problemFor({2, 4, 2, 45, 61});
  ASSERT_TRUE(whole.run(*kernel));
  for (std::string name : {"o", "lse"})
    for (bool withShape : {false, true}) {
      AttendProblem problem = problemFor(whole.shape);
      ASSERT_TRUE(problem.run(*kernel, [&](rt::Arguments &arguments) {
        rt::TensorView null = (name == "o" ? problem.output : problem.lse).view();
        null.data = nullptr;
        return withShape ? arguments.set(name, null) : arguments.setNull(name);
      }));
      EXPECT_EQ(problem.output.sameBits(whole.output), name == "lse");
      EXPECT_EQ(problem.lse.sameBits(whole.lse), name == "o");
    }
}

TEST(Source, TileSizesDoNotMatter) {
  for (std::string type : {"f64", "f32", "bf16"}) {
    AttendProblem first = problemFor({2, 4, 2, 45, 61}, type);
    std::unique_ptr<CpuKernel> kernel = compileItem("causal", type, {64, 64});
    ASSERT_TRUE(kernel && first.run(*kernel));
    for (auto blocks : tileSizes) {
      AttendProblem other = problemFor(first.shape, type);
      kernel = compileItem("causal", type, blocks);
      ASSERT_TRUE(kernel && other.run(*kernel));
      double limit = type == "f64" ? 1e-13 : type == "f32" ? 2e-6 : 2e-2;
      EXPECT_LE(distance(first.output, other.output), limit) << type << " " << blocks.first << "x" << blocks.second;
      EXPECT_LE(distance(first.lse, other.lse), type == "f64" ? 1e-13 : 2e-6) << type;
    }
  }
}

TEST(Source, NarrowTypesStayInTolerance) {
  for (auto [type, limit] : {std::pair("f32", 1e-5), {"f16", 2e-3}, {"bf16", 2e-2}})
    for (std::string item : {"full", "causal"}) {
      std::unique_ptr<CpuKernel> kernel = compileItem(item, type);
      ASSERT_TRUE(kernel);
      for (const AttendShape &shape : attendShapes()) {
        AttendProblem problem = problemFor(shape, type);
        ASSERT_TRUE(problem.run(*kernel));
        problem.expectDense(item == "full" ? Variant::full() : Variant::causal(shape), limit);
      }
    }
}

TEST(Source, ARowDependsOnlyOnTheKeysThatItSees) {
  std::unique_ptr<CpuKernel> kernel = compileItem("causal");
  ASSERT_TRUE(kernel);
  AttendProblem before = problemFor({1, 2, 1, 20, 40});
  ASSERT_TRUE(before.run(*kernel));
  for (int64_t changed : {20, 21, 30, 39}) {
    AttendProblem after = problemFor(before.shape);
    for (int64_t j = changed; j != 40; ++j)
      for (int64_t d = 0; d != valueDim; ++d) {
        after.v.set({0, 0, j, d}, 1e6);
        if (d < headDim)
          after.k.set({0, 0, j, d}, d % 2 ? INFINITY : -50);
      }
    ASSERT_TRUE(after.run(*kernel));
    before.output.forEach([&](const std::vector<int64_t> &index) {
      bool sees = index[2] + 20 >= changed;
      if (!sees)
        EXPECT_EQ(before.output.get(index), after.output.get(index)) << "row " << index[2] << ", keys from " << changed;
      else
        EXPECT_NE(before.output.get(index), after.output.get(index)) << "row " << index[2] << ", keys from " << changed;
    });
  }
}

TEST(Source, AShiftOfAllLogitsChangesNothing) {
  for (auto [type, limit] : {std::pair("f64", 1e-12), {"f32", 2e-4}}) {
    std::unique_ptr<CpuKernel> kernel = compileItem("shifted", type);
    ASSERT_TRUE(kernel);
    AttendProblem plain = problemFor({1, 2, 2, 33, 47}, type), shifted = problemFor(plain.shape, type);
    ASSERT_TRUE(plain.run(*kernel, [](rt::Arguments &arguments) { return arguments.set("by", 0.0); }));
    ASSERT_TRUE(shifted.run(*kernel, [](rt::Arguments &arguments) { return arguments.set("by", 500.0); }));
    EXPECT_FALSE(std::isfinite(std::exp(500.0f))) << "what an unshifted softmax would sum";
    EXPECT_LE(distance(plain.output, shifted.output), limit) << type;
    plain.lse.forEach([&](const std::vector<int64_t> &index) { EXPECT_NEAR(shifted.lse.get(index), plain.lse.get(index) + 500, limit); });
  }
}

TEST(Source, RowsThatSeeNoKeyAreZero) {
  for (std::string type : {"f64", "f32", "f16", "bf16"}) {
    std::unique_ptr<CpuKernel> kernel = compileItem("nothing", type);
    ASSERT_TRUE(kernel);
    AttendProblem problem = problemFor({1, 2, 1, 20, 33}, type);
    ASSERT_TRUE(problem.run(*kernel));
    problem.output.forEach([&](const std::vector<int64_t> &index) { EXPECT_EQ(problem.output.get(index), 0); });
    problem.lse.forEach([&](const std::vector<int64_t> &index) { EXPECT_EQ(problem.lse.get(index), -INFINITY); });
  }
}

TEST(Source, Variants) {
  AttendShape shape = {2, 4, 2, 29, 37};
  Variant causal = Variant::causal(shape);
  int64_t shift = shape.keys - shape.queries;
  auto check = [&](const std::string &item, const AttendShape &shape, const Variant &variant,
                   const std::function<rt::Status(rt::Arguments &)> &parameters, double limit = 1e-12) {
    std::unique_ptr<CpuKernel> kernel = compileItem(item);
    AttendProblem problem = problemFor(shape);
    if (kernel && problem.run(*kernel, parameters))
      problem.expectDense(variant, limit);
  };

  Variant window = causal;
  window.visible = [&](int64_t b, int64_t h, int64_t i, int64_t j) { return causal.visible(b, h, i, j) && i + shift - j < 6; };
  check("window", shape, window, [](rt::Arguments &arguments) { return arguments.set("W", 6); });

  HostTensor slope(ElementType::f32, {4});
  slope.fill([](auto &index) { return std::exp2(-index[0] - 1); });
  Variant alibi = causal;
  alibi.score = [&](double s, int64_t, int64_t h, int64_t i, int64_t j) { return s + slope.get({h}) * (j - i - shift); };
  check("alibi", shape, alibi, [&](rt::Arguments &arguments) { return arguments.set("slope", slope.view()); });

  Variant softcap = causal;
  softcap.score = [](double s, int64_t, int64_t, int64_t, int64_t) { return 0.5 * std::tanh(s / 0.5); };
  check("softcap", shape, softcap, [](rt::Arguments &arguments) { return arguments.set("cap", 0.5); });

  AttendShape square = {1, 2, 2, 41, 41};
  HostTensor doc(ElementType::i32, {41});
  doc.fill([](auto &index) { return index[0] / 13; });
  Variant docs = Variant::full();
  docs.visible = [](int64_t, int64_t, int64_t i, int64_t j) { return i / 13 == j / 13 && i >= j; };
  check("docs", square, docs, [&](rt::Arguments &arguments) { return arguments.set("doc", doc.view()); });

  HostTensor keep(ElementType::boolean, {2, 37});
  keep.fill([](auto &index) { return (index[1] * 7 + index[0]) % 3 == 0; });
  Variant kept = Variant::full();
  kept.visible = [&](int64_t b, int64_t, int64_t, int64_t j) { return keep.get({b, j}) != 0; };
  check("kept", shape, kept, [&](rt::Arguments &arguments) { return arguments.set("keep", keep.view()); });

  HostTensor bias(ElementType::f64, {2, 4, 29, 37});
  bias.fillRandom(9).fill([&](auto &index) { return index[3] % 5 == 0 ? -INFINITY : bias.get(index); });
  Variant biased = Variant::full();
  biased.score = [&](double s, int64_t b, int64_t h, int64_t i, int64_t j) { return s + bias.get({b, h, i, j}); };
  check("biased", shape, biased, [&](rt::Arguments &arguments) { return arguments.set("m", bias.view()); });

  Variant scaled = Variant::full();
  scaled.score = [](double s, int64_t, int64_t h, int64_t, int64_t) {
    return s * std::sqrt(static_cast<double>(headDim)) * 0.25 * (h + 1);
  };
  check("scaled", shape, scaled, nullptr);

  for (int64_t p : {3, -4, 0}) {
    Variant floored = Variant::full();
    floored.visible = [p](int64_t, int64_t, int64_t i, int64_t j) {
      int64_t quotient = p == 0 ? 0 : static_cast<int64_t>(std::floor(static_cast<double>(i - j) / p));
      int64_t remainder = p == 0 ? 0 : i - j - p * quotient;
      return quotient == -1 || remainder == 1;
    };
    check("floored", shape, floored, [p](rt::Arguments &arguments) { return arguments.set("P", p); });
  }
}

TEST(Source, WhatMustHoldIsChecked) {
  std::unique_ptr<CpuKernel> kernel = compileItem("docs");
  ASSERT_TRUE(kernel);
  AttendProblem problem = problemFor({1, 2, 2, 5, 6});
  HostTensor doc(ElementType::i32, {6});
  doc.fill(0.0);
  rt::Arguments arguments = kernel->arguments();
  for (auto [name, tensor] :
       {std::pair("q", &problem.q), {"k", &problem.k}, {"v", &problem.v}, {"o", &problem.output}, {"lse", &problem.lse}, {"doc", &doc}})
    ASSERT_TRUE(arguments.set(name, tensor->view()).ok());
  rt::Status status = kernel->run(arguments);
  EXPECT_EQ(status.code(), rt::StatusCode::invalidArgument);
  EXPECT_NE(status.message().find("M == N"), std::string::npos) << status.message();
}

} // namespace
