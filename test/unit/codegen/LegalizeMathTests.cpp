//===- LegalizeMathTests.cpp - errors of the math expansions
//---------------===//
//
// The operations that tegula-legalize-math writes, evaluated as a GPU does,
// against double precision: over all binades densely, with the approximate
// instructions exact and at both ends of their error bounds, and on special
// values.
//
//===----------------------------------------------------------------------===//
#include "ScalarInterpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/lower/LegalizeMath.h"
#include "passes/lower/MathExpansions.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>

using namespace mlir;
using tegula::test::ScalarInterpreter;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

struct LegalizeMath : testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;

  LegalizeMath() {
    context.loadDialect<arith::ArithDialect, math::MathDialect,
                        func::FuncDialect>();
  }

  LogicalResult legalize(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return failure();
    PassManager pm(&context);
    pm.addPass(tegula::createLegalizeMathPass());
    return pm.run(*module);
  }

  ScalarInterpreter function(const std::string &op) {
    bool two = op == "powf";
    EXPECT_TRUE(succeeded(
        legalize("func.func @f(%x: f32, %y: f32) -> f32 { %r = math." + op +
                 " %x" + (two ? ", %y" : "") + " : f32  return %r : f32 }")));
    return ScalarInterpreter(*module->getOps<func::FuncOp>().begin());
  }
};

/// The distance of `got` from `exact` in units in the last place of f32 at
/// `exact`; denormals count as 0.
double ulps(float got, double exact) {
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) == std::isnan(got) ? 0 : 1e30;
  if (std::fabs(exact) < 0x1p-126)
    return std::fabs(double(got)) <= 0x1p-126 ? 0 : 1e30;
  if (std::fabs(exact) >= 0x1.ffffffp127)
    return std::fabs(double(got)) >= 0x1.fffff0p127 &&
                   std::signbit(got) == std::signbit(exact)
               ? 0
               : 1e30;
  if (std::isinf(got))
    return std::fabs(exact) > 0x1.fffff0p127 &&
                   std::signbit(got) == std::signbit(exact)
               ? 0
               : 1e30;
  int exponent;
  std::frexp(exact, &exponent);
  double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  // A result at the smallest normal may be flushed.
  if (got == 0 && std::fabs(exact) < 0x1.00001p-126)
    return 0;
  return std::fabs(got - exact) / unit;
}

/// Visits about `count` floats, spread evenly over the bit patterns from `low`
/// to `high` of one sign.
template <typename Visit>
void overFloats(float low, float high, unsigned count, Visit visit) {
  uint32_t from = llvm::bit_cast<uint32_t>(low),
           to = llvm::bit_cast<uint32_t>(high);
  if (from > to)
    std::swap(from, to);
  uint64_t step = std::max<uint64_t>(1, (to - from) / count);
  for (uint64_t bits = from; bits <= to; bits += step)
    visit(llvm::bit_cast<float>(uint32_t(bits)));
}

/// Largest errors in ulp: with exact instructions, and at their error bounds.
struct Limits {
  double exact, bound;
};

template <typename Exact>
void checkOver(ScalarInterpreter &f, Exact exact, float low, float high,
               unsigned count, Limits limits, const char *what) {
  for (float approximation : {0.0f, -1.0f, 1.0f}) {
    f.approximation = approximation;
    double worst = 0;
    float at = 0;
    overFloats(low, high, count, [&](float x) {
      double error = ulps(f({x, 0.0f}), exact(double(x)));
      if (error > worst)
        worst = error, at = x;
    });
    EXPECT_LE(worst, approximation == 0 ? limits.exact : limits.bound)
        << what << " at " << at << " with instruction errors of "
        << approximation;
    if (std::getenv("TEGULA_SHOW_ULPS"))
      printf("%-8s %+.0f: %.2f ulp at %.9g\n", what, approximation, worst, at);
  }
  f.approximation = 0;
}

/// All bit patterns of both signs, denormals and infinities too, then the range
/// where the work is, densely.
template <typename Exact>
void checkAll(ScalarInterpreter &f, Exact exact, float low, float high,
              Limits limits, const char *what) {
  auto flushed = [&](double x) {
    return std::fabs(x) < 0x1p-126 ? exact(std::copysign(0.0, x)) : exact(x);
  };
  checkOver(f, flushed, 0.0f, inf, 300000, limits, what);
  checkOver(f, flushed, low, high, 300000, limits, what);
  checkOver(f, flushed, -0.0f, -inf, 300000, limits, what);
  checkOver(f, flushed, -low, -high, 300000, limits, what);
}

TEST_F(LegalizeMath, Exp) {
  ScalarInterpreter f = function("exp");
  checkAll(
      f, [](double x) { return std::exp(x); }, 0.001f, 105.0f, {1, 5}, "exp");
  EXPECT_EQ(f({inf}), inf);
  EXPECT_EQ(f({-inf}), 0.0f);
  EXPECT_TRUE(std::isnan(f({nan})));
  EXPECT_EQ(f({0.0f}), 1.0f);
}

TEST_F(LegalizeMath, Log) {
  ScalarInterpreter f = function("log");
  checkAll(
      f, [](double x) { return std::log(x); }, 0.3f, 3.0f, {1.5, 7}, "log");
  EXPECT_EQ(f({0.0f}), -inf);
  EXPECT_EQ(f({-0.0f}), -inf);
  EXPECT_EQ(f({inf}), inf);
  EXPECT_TRUE(std::isnan(f({nan})));
  EXPECT_TRUE(std::isnan(f({-1.0f})));
  EXPECT_EQ(f({1.0f}), 0.0f);
}

TEST_F(LegalizeMath, OtherLogarithms) {
  ScalarInterpreter log2 = function("log2");
  checkAll(
      log2, [](double x) { return std::log2(x); }, 0.3f, 3.0f, {2, 9}, "log2");
  ScalarInterpreter log10 = function("log10");
  checkAll(
      log10, [](double x) { return std::log10(x); }, 0.3f, 3.0f, {2.5, 12},
      "log10");
  ScalarInterpreter log1p = function("log1p");
  checkAll(
      log1p, [](double x) { return std::log1p(x); }, 1e-6f, 3.0f, {3, 9},
      "log1p");
}

TEST_F(LegalizeMath, Tanh) {
  ScalarInterpreter f = function("tanh");
  checkAll(
      f, [](double x) { return std::tanh(x); }, 0.01f, 12.0f, {2, 2.5}, "tanh");
  EXPECT_EQ(f({inf}), 1.0f);
  EXPECT_EQ(f({-inf}), -1.0f);
  EXPECT_EQ(f({3e38f}), 1.0f);
  EXPECT_TRUE(std::isnan(f({nan})));
  EXPECT_TRUE(std::signbit(f({-0.0f})));
}

/// 2^x by a polynomial, for what may be off by 3e-6: no bit below -126.5, so that
/// a hidden key weighs nothing, and a number too great for any sum above 126.
TEST_F(LegalizeMath, Exp2Polynomial) {
  module = parseSourceString<ModuleOp>(
      "func.func @f(%x: f32, %y: f32) -> f32 { return %x : f32 }", &context);
  auto f = *module->getOps<func::FuncOp>().begin();
  Operation *end = f.getBody().front().getTerminator();
  OpBuilder b(end);
  end->setOperand(0, tegula::expandExp2(b, f.getLoc(), f.getArgument(0)));
  ScalarInterpreter exp2(f);
  double worst = 0;
  for (float x = -126; x < 126; x += 0.00371f)
    worst = std::max(worst, std::abs(exp2({x, 0.0f}) / std::exp2(double(x)) - 1));
  EXPECT_LT(worst, 3.1e-6);
  EXPECT_GT(worst, 2.5e-6);
  EXPECT_EQ(exp2({0.0f, 0.0f}), 1);
  for (float x : {-inf, -3e38f, -1000.0f, -127.0f})
    EXPECT_EQ(exp2({x, 0.0f}), 0) << x;
  for (float x : {inf, 3e38f, 1000.0f, 126.0f})
    EXPECT_EQ(exp2({x, 0.0f}), 0x1p126f) << x;
}

TEST_F(LegalizeMath, Rsqrt) {
  ScalarInterpreter f = function("rsqrt");
  checkAll(
      f, [](double x) { return 1 / std::sqrt(x); }, 0.1f, 10.0f, {0.5, 3},
      "rsqrt");
}

TEST_F(LegalizeMath, Pow) {
  ScalarInterpreter f = function("powf");
  for (float approximation : {0.0f, -1.0f, 1.0f}) {
    f.approximation = approximation;
    double worst = 0;
    std::string at;
    overFloats(0x1p-126f, 0x1.fffffep127f, 3000, [&](float x) {
      overFloats(1e-9f, 1e9f, 100, [&](float y) {
        for (float signedY : {y, -y}) {
          double error =
              ulps(f({x, signedY}), std::pow(double(x), double(signedY)));
          if (error > worst)
            worst = error,
            at = std::to_string(x) + " ^ " + std::to_string(signedY);
        }
      });
    });
    overFloats(0.3f, 3.0f, 3000, [&](float x) {
      overFloats(0.5f, 100.0f, 100, [&](float y) {
        double error = ulps(f({x, y}), std::pow(double(x), double(y)));
        if (error > worst)
          worst = error, at = std::to_string(x) + " ^ " + std::to_string(y);
      });
    });
    if (std::getenv("TEGULA_SHOW_ULPS"))
      printf("powf %+.0f: %.2f ulp at %s\n", approximation, worst, at.c_str());
    EXPECT_LE(worst, approximation == 0 ? 2 : 6) << at;
  }
}

TEST_F(LegalizeMath, PowSpecialValues) {
  ScalarInterpreter f = function("powf");
  const float values[] = {0.0f,   -0.0f, 1.0f,        -1.0f,        2.0f,
                          -2.0f,  0.5f,  -0.5f,       3.0f,         -3.0f,
                          0.25f,  -1.5f, 16777215.0f, -16777216.0f, 1e30f,
                          -1e30f, inf,   -inf,        nan};
  for (float x : values)
    for (float y : values) {
      float expected = std::pow(x, y), got = f({x, y});
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(got)) << x << " ^ " << y << " gave " << got;
      else
        EXPECT_LE(ulps(got, expected), 5)
            << x << " ^ " << y << " gave " << got << ", expected " << expected;
      if (expected == 0 && got == 0) {
        EXPECT_EQ(std::signbit(expected), std::signbit(got)) << x << " ^ " << y;
      }
    }
}

TEST_F(LegalizeMath, RefusesWhatHasNoLowering) {
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(failed(legalize("func.func @f(%x: f32) -> f32 { %r = math.sin %x "
                              ": f32  return %r : f32 }")));
  EXPECT_EQ(message, "'math.sin' on 'f32' has no lowering for the GPU");
  EXPECT_TRUE(failed(legalize("func.func @f(%x: f64) -> f64 { %r = math.exp %x "
                              ": f64  return %r : f64 }")));
  EXPECT_EQ(message, "'math.exp' on 'f64' has no lowering for the GPU");
}

} // namespace
