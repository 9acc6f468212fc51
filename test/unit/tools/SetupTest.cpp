//===- SetupTest.cpp - from a command line to numbers ---------------------===//
//
// Which lengths and values are asked for by name, and what is refused.
//
//===----------------------------------------------------------------------===//
#include "Problems.h"
#include "tools/tegula/Npy.h"

#include <cmath>

using namespace tegula;
using namespace tegula::tool;

TEST(Setup, AsksForMissingLengthsByName) {
  EXPECT_EQ(refusal(itemText(""), {.sizes = {{"B", 1}, {"H", 2}, {"G", 1}}}),
            "2: no length is given for `M`, `N`; add --size M=...,N=...");
  EXPECT_EQ(refusal(itemText(""), {.sizes = {{"X", 1}}}),
            "2: --size X: `t` has no such length; it has B, H, M, G, N");
  EXPECT_EQ(refusal(itemText(""), {.sizes = {{"D", 64}}}),
            "2: --size D=64, but `D` is static and 8; write -D D=64");
}

TEST(Setup, RefusesHeadsThatDoNotDivide) {
  for (auto [h, g] : {std::pair{33, 2}, {3, 2}, {5, 4}, {4, 5}, {4, 0}})
    EXPECT_EQ(refusal(itemText(""), {.sizes = sizes(1, h, g, 4, 4)}),
              "1: expected H (query heads) to be a multiple of G (key/value "
              "heads), but got H = " +
                  std::to_string(h) + ", G = " + std::to_string(g));
}

TEST(Setup, ChecksRequirements) {
  EXPECT_EQ(refusal("\n" + itemText("require M == N"),
                    {.sizes = sizes(1, 1, 1, 64, 96)})
                .substr(0, 57),
            "1: `require M == N` does not hold: M = 64, N = 96 (t.tg:2");
}

TEST(Setup, ReadsScalars) {
  std::string text = itemText(
      "param W: i32, cap: f32 mask i - j < W score cap * tanh(s / cap)");
  SetupRequest request{.sizes = sizes(1, 1, 1, 4, 4)};
  EXPECT_EQ(refusal(text, request),
            "2: `t` needs --arg W=VALUE (i32) and --arg cap=VALUE (f32)");
  request.arguments = {{"W", "3000000000"}, {"cap", "1"}};
  EXPECT_EQ(refusal(text, request), "2: expected a value that fits i32 for "
                                    "--arg W, but got '3000000000'");
  request.arguments = {{"W", "3"}, {"cap", "@cap.npy"}};
  EXPECT_EQ(refusal(text, request), "2: expected a number (`cap` is a scalar) "
                                    "for --arg cap, but got '@cap.npy'");
  request.arguments = {{"W", "-3"}, {"cap", "0.1"}};
  Case good = makeCase(text, request);
  EXPECT_EQ(good.problem.scalars[0].integer, -3);
  EXPECT_EQ(good.problem.scalars[1].real, static_cast<double>(0.1f));
  request.arguments = {{"w", "3"}};
  EXPECT_EQ(refusal(text, request), "2: --arg w: `t` has no such argument; it "
                                    "takes q, k, v, W, cap");
  request.arguments = {{"o", "@o.npy"}};
  EXPECT_EQ(refusal(text, request), "2: --arg o: `o` is an output; write it "
                                    "with --out o=@file.npy");
}

TEST(Setup, FillsTablesAsDeclared) {
  std::string text =
      itemText("require M == N param doc: i32[N] sorted in 0..3, plen: i32[B], "
               "slope: f32[H] mask doc[i] == doc[j] || j < "
               "plen[b] score s + slope[h]");
  Case tables = makeCase(text, {.sizes = sizes(40, 2, 1, 20, 20),
                                .arguments = {{"slope", "0.25"}}});
  std::vector<double> doc = tables.tensor("doc").reals();
  EXPECT_TRUE(std::is_sorted(doc.begin(), doc.end()));
  EXPECT_EQ(doc.front(), 0);
  EXPECT_EQ(doc.back(), 2);
  for (double length : tables.tensor("plen").reals())
    EXPECT_TRUE(length >= 0 && length <= 20);
  EXPECT_EQ(tables.tensor("slope").reals(), (std::vector<double>{0.25, 0.25}));
  EXPECT_TRUE(std::isnan(tables.tensor("o").real(0)));
}

TEST(Setup, LayoutIsForOperands) {
  Case both = makeCase(itemText(""),
                       {.sizes = sizes(1, 2, 2, 3, 3), .layout = Layout::bshd});
  EXPECT_EQ(both.tensor("k").strides(),
            (llvm::ArrayRef<int64_t>{48, 8, 16, 1}));
  EXPECT_EQ(both.tensor("lse").strides(), (llvm::ArrayRef<int64_t>{6, 3, 1}));
}

TEST(Setup, LogitOffsetIsWrittenInTheLanguage) {
  auto program = valueOf(Program::create(itemText(""), "t.tg", "", {}));
  std::string name;
  std::string text = program->withLogitOffset(-500, name);
  EXPECT_EQ(name, "t_logit_offset");
  EXPECT_TRUE(llvm::StringRef(text).ends_with(
      "attention t_logit_offset = t with { score s + (-500.0) }\n"));
  valueOf(Program::create(text, "t.tg", name, {}));
}
