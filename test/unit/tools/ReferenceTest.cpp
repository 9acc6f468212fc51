//===- ReferenceTest.cpp - the float64 answer by hand ---------------------===//
//
// The reference is judged by closed forms, and the check by answers that are a
// little, or in one place, wrong.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Reference.h"
#include "Problems.h"

#include <cmath>
#include <limits>

using namespace tegula;
using namespace tegula::tool;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// The reference's answer, stored into the problem's outputs.
static Reference answer(Case &c) {
  Reference reference = computeReference(c.problem);
  for (const ReferenceRow &row : reference.rows) {
    for (size_t e = 0; e < row.o.size(); ++e)
      c.tensor("o").setReal(
          c.tensor("o").offsetOf({row.at.b, row.at.h, row.at.i, int64_t(e)}),
          row.o[e]);
    c.tensor("lse").setReal(
        c.tensor("lse").offsetOf({row.at.b, row.at.h, row.at.i}), row.lse);
  }
  return reference;
}

/// One row whose scores are `scores` and whose values are `values`.
static Case oneRow(llvm::ArrayRef<double> scores, llvm::ArrayRef<double> values,
                   const std::string &clauses = "scale 1.0") {
  Case c = makeCase(itemText(clauses, "f64"),
                    {.sizes = sizes(1, 1, 1, 1, scores.size()),
                     .arguments = {{"q", "0"}, {"k", "0"}}});
  c.tensor("q").setReal(0, 1);
  for (size_t j = 0; j < scores.size(); ++j) {
    c.tensor("k").setReal(j * 8, scores[j]);
    for (int e = 0; e < 8; ++e)
      c.tensor("v").setReal(j * 8 + e, values[j]);
  }
  return c;
}

TEST(Reference, ClosedForms) {
  Case c = oneRow({0, std::log(2), std::log(3)}, {1, 2, 4});
  ReferenceRow row = computeReference(c.problem).rows[0];
  EXPECT_NEAR(row.o[0], 17.0 / 6, 1e-15);
  EXPECT_NEAR(row.lse, std::log(6), 1e-15);
  c = oneRow({0, std::log(3), std::log(2)}, {2, 6, 10});
  EXPECT_NEAR(computeReference(c.problem).rows[0].o[0], 20.0 / 3, 1e-15);
  c = oneRow({0, 0, 0, 0}, {1, 2, 3, 6});
  EXPECT_EQ(computeReference(c.problem).rows[0].o[0], 3);
}

TEST(Reference, DefaultAndExplicitScale) {
  EXPECT_NEAR(computeReference(oneRow({0, 8}, {0, 1}, "").problem).rows[0].lse,
              std::log1p(std::exp(8 / std::sqrt(8))), 1e-15);
  ReferenceRow zero =
      computeReference(oneRow({0, 8}, {0, 1}, "scale 0.0").problem).rows[0];
  EXPECT_EQ(zero.o[0], 0.5);
  EXPECT_NEAR(zero.lse, std::log(2), 1e-15);
}

TEST(Reference, SoftcapAtTheBrink) {
  for (double s : {4400.0, 5000.0, 1e4, -1e4, 3e38, -3e38}) {
    Case c = oneRow({s}, {1}, "scale 1.0 score 50.0 * tanh(s / 50.0)");
    EXPECT_EQ(computeReference(c.problem).rows[0].lse, s > 0 ? 50 : -50);
  }
}

TEST(Reference, LargeScoresKeepTheirWeights) {
  Case c = oneRow({95, 95, 151}, {1, 2, 7});
  EXPECT_NEAR(computeReference(c.problem).rows[0].o[0], 7, 1e-15);
  c = oneRow({-52133.57, -52133.57}, {1, 1});
  EXPECT_EQ(computeReference(c.problem).rows[0].o[0], 1);
}

TEST(Reference, EmptyRowsAndInfinities) {
  // Bottom-right causal, M = 5, N = 2: rows 0 to 2 see nothing.
  Case c = makeCase(itemText("mask i + (N - M) >= j"),
                    {.sizes = sizes(1, 1, 1, 5, 2)});
  Reference reference = computeReference(c.problem);
  for (int i : {0, 1, 2}) {
    EXPECT_TRUE(reference.rows[i].empty);
    EXPECT_EQ(reference.rows[i].lse, -infinity);
    EXPECT_EQ(reference.rows[i].o, std::vector<double>(8, 0));
  }
  EXPECT_EQ(reference.rows[3].o[0], c.tensor("v").real(0));
  // A visible -inf has no weight; a row of them is empty.
  c = oneRow({0, 1}, {3, 5}, "scale 1.0 score j == 0 ? -inf : s");
  EXPECT_EQ(computeReference(c.problem).rows[0].o[0], 5);
  c = oneRow({0, 1}, {3, 5}, "scale 1.0 score -inf");
  EXPECT_TRUE(computeReference(c.problem).rows[0].empty);
  c = oneRow({0, 1}, {3, 5}, "scale 1.0 score j == 0 ? inf : s");
  EXPECT_TRUE(std::isnan(computeReference(c.problem).rows[0].o[0]));
}

TEST(Reference, HiddenKeysDoNotMatter) {
  Case c = makeCase(itemText("mask j != 5"), {.sizes = sizes(1, 1, 1, 3, 9)});
  for (int d = 0; d < 8; ++d) {
    c.tensor("k").setReal(5 * 8 + d, std::nan(""));
    c.tensor("v").setReal(5 * 8 + d, std::nan(""));
  }
  for (const ReferenceRow &row : computeReference(c.problem).rows)
    for (double value : row.o)
      EXPECT_TRUE(std::isfinite(value));
}

TEST(Reference, GroupsHeadsInBlocks) {
  Case c = makeCase(itemText(""), {.sizes = sizes(1, 6, 3, 1, 2)});
  Tensor &v = c.tensor("v");
  v.forEach([&](int64_t linear, int64_t offset) {
    v.setReal(offset, static_cast<double>(linear / 16));
  });
  for (const ReferenceRow &row : computeReference(c.problem).rows)
    EXPECT_EQ(row.o[0], static_cast<double>(row.at.h / 2));
}

TEST(Reference, IntegersAreFlooredAndTablesClamped) {
  // (i - 3) / 2 for i = 0..5: -2 -1 -1 0 0 1; % 2: 1 0 1 0 1 0.
  std::string text =
      itemText("param t: i32[3] let a = (i - 3) / 2 let b0 = (i - "
               "3) % 2 mask t[a] + 10 * b0 == j");
  Case c = makeCase(text, {.sizes = sizes(1, 1, 1, 6, 16)});
  int table[] = {1, 2, 3}, lane = 0;
  for (int value : table)
    c.tensor("t").setInteger(lane++, value);
  int expected[] = {11, 1, 11, 1, 11, 2};
  Reference reference = computeReference(c.problem);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(reference.rows[i].o[0], c.tensor("v").real(c.tensor("v").offsetOf(
                                          {0, 0, expected[i], 0})))
        << i;
}

TEST(Reference, LogitOffsetMovesLseOnly) {
  SetupRequest request{.sizes = sizes(1, 2, 1, 5, 7)};
  Case c = makeCase(itemText("", "f64"), request);
  Reference plain = computeReference(c.problem);
  c.problem.logitOffset = 500;
  Reference moved = computeReference(c.problem);
  for (size_t n = 0; n < plain.rows.size(); ++n) {
    EXPECT_NEAR(plain.rows[n].o[3], moved.rows[n].o[3], 1e-12);
    EXPECT_NEAR(plain.rows[n].lse + 500, moved.rows[n].lse, 1e-12);
  }
}

/// Elements of output number `output` in the first row.
static std::vector<double> outputOf(Case &c, unsigned output) {
  return computeReference(c.problem).rows[0].outputs[output];
}

TEST(Reference, ExtraTermOfTheNormaliser) {
  Case c =
      oneRow({0, std::log(2)}, {1, 4}, "scale 1.0 reduce softmax(extra = 0.0)");
  ReferenceRow row = computeReference(c.problem).rows[0];
  EXPECT_NEAR(row.o[0], 9.0 / 4, 1e-15);
  EXPECT_NEAR(row.lse, std::log(4), 1e-15);
  // Far above every score, and in a row that sees no key.
  c = oneRow({-1000, -2000}, {1, 4}, "scale 1.0 reduce softmax(extra = 7.0)");
  row = computeReference(c.problem).rows[0];
  EXPECT_EQ(row.o[0], 0);
  EXPECT_EQ(row.lse, 7);
  EXPECT_FALSE(row.empty);
  c = oneRow({1, 2}, {1, 4},
             "scale 1.0 mask j < 0 reduce softmax(extra = 3.5)");
  row = computeReference(c.problem).rows[0];
  EXPECT_TRUE(row.empty);
  EXPECT_EQ(row.o[0], 0);
  EXPECT_EQ(row.lse, 3.5);
}

TEST(Reference, OtherReductions) {
  auto o = [](const std::string &clauses) {
    Case c = oneRow({1, 2, -3}, {1, 4, 2}, "scale 1.0 outputs o " + clauses);
    return computeReference(c.problem).rows[0].o[0];
  };
  EXPECT_EQ(o("reduce sum(s)"), 1 + 8 - 6);
  EXPECT_EQ(o("reduce mean(s * s)"), (1 + 16 + 18) / 14.0);
  EXPECT_EQ(o("reduce mean(s)"), 0); // the weights sum to 0
  EXPECT_EQ(o("reduce sum(s) mask j != 1"), 1 - 6);
  EXPECT_EQ(o("reduce mean(s) mask j < 0"), 0);
  EXPECT_EQ(o("score s * s reduce sum(s + 1.0)"), 2 + 20 + 20);
  // The weight is not part of the normaliser.
  EXPECT_EQ(o("reduce mean(s * s) weight 1.0 * j"), (16 + 36) / 14.0);
}

TEST(Reference, WeightsEnterTheOutputOnly) {
  Case c = oneRow({0, std::log(3)}, {1, 4},
                  "scale 1.0 weight f32(j) weight s > 1.0 ? 2.0 : 5.0");
  ReferenceRow row = computeReference(c.problem).rows[0];
  EXPECT_NEAR(row.o[0], 4 * 2 * 3 / 4.0, 1e-14);
  EXPECT_NEAR(row.lse, std::log(4), 1e-15);
}

TEST(Reference, EmittedOutputs) {
  Case c = oneRow({1, 1 + std::log(2), 5}, {1, 4, 9},
                  "scale 1.0 mask j < 2 emit o = o + 1.0 * e emit m: "
                  "f32[B,H,M] = rowmax emit n: i32[B,H,M] = i32(rowsum * 10.0) "
                  "emit p: bool[B,H,M] = lse > 2.0 "
                  "emit x: f32[B,H,M,E] = o * rowsum");
  EXPECT_NEAR(outputOf(c, 0)[5], 3 + 5, 1e-14);
  EXPECT_NEAR(outputOf(c, 1)[0], 1 + std::log(3), 1e-14);
  EXPECT_NEAR(outputOf(c, 2)[0], 1 + std::log(2), 1e-15);
  EXPECT_EQ(outputOf(c, 3)[0], 15);
  EXPECT_EQ(outputOf(c, 4)[0], 1);
  EXPECT_NEAR(outputOf(c, 5)[7], 4.5, 1e-14);
  c = oneRow({1}, {1},
             "mask j > 0 emit m: f32[B,H,M] = rowmax emit n: "
             "f32[B,H,M] = rowsum");
  EXPECT_EQ(outputOf(c, 2)[0], -infinity);
  EXPECT_EQ(outputOf(c, 3)[0], 0);
}

// Vectors of Random123's kat_vectors, first words.
TEST(Reference, Philox) {
  EXPECT_EQ(philox(0, {0, 0, 0, 0}), 0x6627e8d5u);
  EXPECT_EQ(philox(~0ull, {~0u, ~0u, ~0u, ~0u}), 0x408f276du);
  EXPECT_EQ(philox(0x299f31d0a4093822,
                   {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            0xd16cfe09u);
  Case c = oneRow({0}, {1},
                  "scale 1.0 outputs o reduce sum(random(2999170649027065890, "
                  "608135816, j - 2052912941, 320440878, 57701188))");
  EXPECT_EQ(computeReference(c.problem).rows[0].o[0],
            (0xd16cfe09u >> 8) * 0x1p-24);
}

TEST(Reference, BoundedReductions) {
  auto o = [](const std::string &value) {
    Case c =
        oneRow({0, 0}, {1, 100},
               "scale 1.0 outputs o static K = 4 reduce sum(" + value + ")");
    return computeReference(c.problem).rows[0].o[0];
  };
  EXPECT_EQ(o("1.0 * sum(t in K: t * (j + 1))"), 6 + 1200);
  EXPECT_EQ(o("any(t in K: t == j + 3) ? 1.0 : 0.0"), 1);
  EXPECT_EQ(o("all(t in K: t + j < 4) ? 1.0 : 0.0"), 1);
  EXPECT_EQ(o("min(t in K: 2.5 - t + j)"), -0.5 + 50);
  EXPECT_EQ(o("1.0 * max(t in K: (t - 2) * (t - 2) - j)"), 4 + 300);
  EXPECT_EQ(o("1.0 * sum(t in K: max(u in 3: t * u) + j)"), 12 + 1600);
  EXPECT_EQ(o("any(t in N - 2: true) ? 1.0 : 2.0"), 202);
}

TEST(Reference, FunctionsComputeArgumentsOnce) {
  Case c = makeCase(
      "attention t" + std::string(signature) +
          "{ static D = 8, E = 8, T = f64 scale 1.0 outputs o reduce sum(f(s, "
          "j)) }\nfn f(x, s) { let y = x + g(s) return y * y }\n"
          "fn g(i) = 2 * i\n",
      {.sizes = sizes(1, 1, 1, 1, 2), .arguments = {{"q", "0"}, {"v", "1"}}});
  EXPECT_EQ(computeReference(c.problem).rows[0].o[0], 4);
}

TEST(Reference, LargeProblemsAreSampled) {
  Case c = makeCase(itemText(""), {.sizes = sizes(1, 2, 1, 1000, 100)});
  Reference reference = computeReference(c.problem, 1e6);
  EXPECT_EQ(reference.totalRows, 2000);
  EXPECT_LT(reference.rows.size(), 600u);
  EXPECT_EQ(reference.rows.front().at.i, 0);
  EXPECT_EQ(reference.rows.back().at.i, 999);
  EXPECT_EQ(reference.rows.back().at.h, 1);
}

TEST(Check, AcceptsARoundedAnswerAndSeesErrors) {
  for (const char *type : {"bf16", "f16", "f32", "f64"}) {
    Case c = makeCase(itemText("mask i + (N - M) >= j", type, 64),
                      {.sizes = sizes(2, 2, 1, 40, 50)});
    Reference reference = answer(c);
    EXPECT_TRUE(checkOutput(reference, c.problem, 0).ok);
    EXPECT_TRUE(checkOutput(reference, c.problem, 1).ok);

    // One element off by 3 %.
    Tensor &o = c.tensor("o");
    int64_t at = o.offsetOf({1, 1, 17, 5});
    double right = o.real(at);
    o.setReal(at, right + 0.03);
    OutputCheck check = checkOutput(reference, c.problem, 0);
    EXPECT_FALSE(check.ok);
    EXPECT_EQ(check.firstWrong.substr(0, 16), "o[1, 1, 17, 5] i");
    EXPECT_GT(check.worst, 1);
    o.setReal(at, std::nan(""));
    check = checkOutput(reference, c.problem, 0);
    EXPECT_FALSE(check.ok);
    EXPECT_EQ(check.nan, 1);
    o.setReal(at, right);

    Tensor &lse = c.tensor("lse");
    lse.setReal(3, lse.real(3) * (1 + 1e-5) + 1e-5);
    EXPECT_FALSE(checkOutput(reference, c.problem, 1).ok);
  }
}

TEST(Check, EmptyRowsAreExact) {
  Case c = makeCase(itemText("mask i + (N - M) >= j"),
                    {.sizes = sizes(1, 1, 1, 5, 2)});
  Reference reference = answer(c);
  EXPECT_TRUE(checkOutput(reference, c.problem, 0).ok);
  c.tensor("o").setReal(0, 1e-30);
  EXPECT_FALSE(checkOutput(reference, c.problem, 0).ok);
  c.tensor("lse").setReal(0, -1e30);
  EXPECT_FALSE(checkOutput(reference, c.problem, 1).ok);
}

TEST(Check, EmittedOutputsHaveLimitsOfTheirOwn) {
  Case c = makeCase(
      itemText("param w: f32[H] emit p: f32[B,H,M] = exp(w[h] - lse) emit n: "
               "i32[B,H,M] = i32(rowmax) + i",
               "bf16", 64),
      {.sizes = sizes(1, 2, 1, 20, 50)});
  Reference reference = answer(c);
  Tensor &p = c.tensor("p"), &n = c.tensor("n");
  for (const ReferenceRow &row : reference.rows) {
    int64_t index[] = {row.at.b, row.at.h, row.at.i};
    p.setReal(p.offsetOf(index), row.outputs[2][0]);
    n.setInteger(n.offsetOf(index), int64_t(row.outputs[3][0]));
  }
  EXPECT_TRUE(checkOutput(reference, c.problem, 2).ok);
  EXPECT_TRUE(checkOutput(reference, c.problem, 3).ok);
  EXPECT_LT(checkOutput(reference, c.problem, 2).limit, 1e-4);
  p.setReal(7, p.real(7) * 1.001);
  n.setInteger(9, n.integer(9) + 1);
  EXPECT_FALSE(checkOutput(reference, c.problem, 2).ok);
  EXPECT_FALSE(checkOutput(reference, c.problem, 3).ok);
}

TEST(Check, TheLimitIsThatOfAPlainImplementation) {
  // bf16 weights carry an error near 2^-9 of the output's size; the limit is
  // a small multiple of it, and f32 a small multiple of 2^-24.
  for (auto [type, low, high] : {std::tuple{"bf16", 1e-3, 2e-2},
                                 {"f16", 1e-4, 3e-3},
                                 {"f32", 1e-8, 3e-6}}) {
    Case c =
        makeCase(itemText("", type, 64), {.sizes = sizes(1, 1, 1, 64, 64)});
    Reference reference = answer(c);
    OutputCheck check = checkOutput(reference, c.problem, 0);
    EXPECT_GT(check.limit, low) << type;
    EXPECT_LT(check.limit, high) << type;
    EXPECT_LT(check.relL2Limit, 8 * high) << type;
  }
}
