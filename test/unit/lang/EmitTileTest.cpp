//===- EmitTileTest.cpp - items as tile.attention -------------------------===//
//
// What an item becomes: the kernel's signature and attributes, and the scalar
// code of the regions for the operators that arith does not define everywhere.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitTile.h"
#include "Analyze.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace tegula::lang;
using testing::Test;

namespace {

/// The verified module as text, or the messages.
std::string emit(llvm::StringRef text, llvm::StringRef name = "",
                 std::vector<Define> defines = {}) {
  Analysis a(text, name, std::move(defines));
  if (!a.item)
    return a.messages();
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      emitTile(*a.item, a.sources, context);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
  std::string out;
  llvm::raw_string_ostream os(out);
  module->print(os);
  return out;
}

/// The lines of region `name`, blanks around each cut off.
std::string region(llvm::StringRef module, llvm::StringRef name) {
  size_t begin = module.find((name + " {\n").str());
  size_t end = module.find("}", begin);
  llvm::SmallVector<llvm::StringRef> lines;
  module.slice(begin, end).split(lines, '\n', -1, false);
  std::string out;
  for (llvm::StringRef line : llvm::ArrayRef(lines).drop_front(2))
    if (!line.trim().empty())
      out += line.trim().str() + "\n";
  return out;
}

TEST(EmitTile, Signature) {
  std::string text = emit(itemWith(
      "param W: i32, doc: i32[N] sorted in 0..ND, start: i64[ND+1], ok: "
      "bool[P,8], f: bool require M == N, W > 0 ? P >= 8 : true"));
  // The comma is a mistake: a `require` is one condition.
  EXPECT_NE(text.find("write `&&` to join conditions"), std::string::npos);
  text = emit(itemWith(
      "param W: i32, doc: i32[N] sorted in 0..ND, start: i64[ND+1], ok: "
      "bool[P,8], f: bool require M == N && (W > 0 || f) "
      "mask W > 0 && doc[j] > 0 && start[j] > 0 && ok[i,j] || f"));
  for (const char *part :
       {"tile.kernel @a(",
        "%arg0: memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>> {tile.dims = "
        "[\"B\", \"H\", \"M\", 64], tile.name = \"q\", tile.role = \"in\"}",
        "%arg3: i32 {tile.name = \"W\"}",
        "%arg4: memref<?xi32, strided<[?]>> {tile.dims = [\"N\"], tile.name = "
        "\"doc\", tile.range = [\"0\", \"ND\"], tile.role = \"in\", "
        "tile.sorted}",
        "%arg5: memref<?xi64, strided<[?]>> {tile.dims = [\"(+ ND 1)\"]",
        "%arg6: memref<?x8xi8, strided<[?, ?]>> {tile.dims = [\"P\", 8], "
        "tile.elem = \"bool\"",
        "%arg7: i1 {tile.name = \"f\"}",
        "%arg9: memref<?x?x?xf32, strided<[?, ?, ?]>> {tile.dims = [\"B\", "
        "\"H\", \"M\"], tile.name = \"lse\", tile.optional, tile.role = "
        "\"out\"}",
        "%arg10: i64 {tile.dim = \"B\"}, %arg11: i64 {tile.dim = \"H\"}, "
        "%arg12: i64 {tile.dim = \"M\"}, %arg13: i64 {tile.dim = \"G\"}, "
        "%arg14: i64 {tile.dim = \"N\"}, %arg15: i64 {tile.dim = \"ND\"}, "
        "%arg16: i64 {tile.dim = \"P\"})",
        "{expr = \"(&& (== M N) (|| (> W 0) f))\", place = "
        "\"t.tg:2:87\", text = \"M == N && (W > 0 || f)\"}]"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(EmitTile, StaticDimsAreNoArguments) {
  std::string text =
      emit(itemWith("", "static D = 64, E = 32, T = f16, G = 1, M = 1024"));
  EXPECT_NE(text.find("memref<?x1x?x32xf16"), std::string::npos) << text;
  EXPECT_EQ(text.find("tile.dim = \"G\""), std::string::npos) << text;
  EXPECT_EQ(text.find("tile.dim = \"M\""), std::string::npos) << text;
  EXPECT_NE(text.find("arith.constant 1024 : i64"), std::string::npos) << text;
}

TEST(EmitTile, Defaults) {
  std::string text = emit(itemWith(""));
  EXPECT_EQ(region(text, "scale"), "%cst = arith.constant 1.250000e-01 : f32\n"
                                   "tile.yield %cst : f32\n");
  EXPECT_EQ(region(text, "score"), "tile.yield %arg10 : f32\n");
  EXPECT_EQ(region(text, "mask"), "%true = arith.constant true\n"
                                  "tile.yield %true : i1\n");
}

TEST(EmitTile, ScoresComposeAndMasksAreAnded) {
  std::string text = emit(
      itemWith("param c: f32 score s + c score c * s mask i >= j mask j < 5"));
  EXPECT_EQ(region(text, "score"), "%0 = arith.addf %arg11, %arg3 : f32\n"
                                   "%1 = arith.mulf %arg3, %0 : f32\n"
                                   "tile.yield %1 : f32\n");
  EXPECT_EQ(region(text, "mask"), "%0 = arith.cmpi sge, %arg14, %arg15 : i64\n"
                                  "%c5_i64 = arith.constant 5 : i64\n"
                                  "%1 = arith.cmpi slt, %arg15, %c5_i64 : i64\n"
                                  "%2 = arith.andi %0, %1 : i1\n"
                                  "tile.yield %2 : i1\n");
}

TEST(EmitTile, ReductionsWeightsAndExtra) {
  std::string text =
      emit(itemWith("param x: f32[H] reduce softmax(extra = x[h] * 2.0) weight "
                    "s weight 1.0 * j"));
  EXPECT_NE(text.find("reduction(softmax)"), std::string::npos);
  EXPECT_EQ(region(text, "extra"),
            "%0 = tile.lookup %arg3[%arg12] : memref<?xf32, strided<[?]>>\n"
            "%cst = arith.constant 2.000000e+00 : f32\n"
            "%1 = arith.mulf %0, %cst : f32\n"
            "tile.yield %1 : f32\n");
  EXPECT_EQ(region(text, "weight"), "%cst = arith.constant 1.000000e+00 : f32\n"
                                    "%0 = arith.sitofp %arg16 : i64 to f32\n"
                                    "%1 = arith.mulf %cst, %0 : f32\n"
                                    "%2 = arith.mulf %arg11, %1 : f32\n"
                                    "tile.yield %2 : f32\n");
  text = emit(itemWith("outputs o score s + 1.0 reduce mean(exp(s))"));
  EXPECT_NE(text.find("reduction(mean)"), std::string::npos);
  EXPECT_EQ(region(text, "score"), "%cst = arith.constant 1.000000e+00 : f32\n"
                                   "%0 = arith.addf %arg9, %cst : f32\n"
                                   "%1 = math.exp %0 : f32\n"
                                   "tile.yield %1 : f32\n");
}

TEST(EmitTile, Outputs) {
  std::string text = emit(itemWith(
      "outputs o, n, p emit o = o * rowsum + e emit n: i16[B,H,M] = i16(lse) "
      "emit p: bool[B,H,M] = rowmax > 1.0"));
  EXPECT_EQ(region(text, "emit"), "%0 = arith.mulf %arg11, %arg14 : f32\n"
                                  "%1 = arith.sitofp %arg19 : i64 to f32\n"
                                  "%2 = arith.addf %0, %1 : f32\n"
                                  "tile.yield %2 : f32\n");
  EXPECT_NE(text.find(" : i64 to i16\n      tile.yield %"), std::string::npos)
      << text;
  EXPECT_NE(text.find("arith.cmpf ogt, %arg12, %cst"), std::string::npos)
      << text;
}

TEST(EmitTile, BoundedReductions) {
  // A few copies where the extent is static and small, else a loop, out of
  // which goes what does not change in it.
  std::string text = emit(itemWith("param t: i32[4] mask any(u in 4: t[u] == "
                                   "j)"));
  EXPECT_EQ(llvm::StringRef(text).count("tile.lookup"), 4u) << text;
  EXPECT_EQ(text.find("scf.for"), std::string::npos) << text;
  text = emit(itemWith("param K: i32, t: i32[K] mask any(u in K: t[u] == j / "
                       "8)"));
  size_t loop = text.find("scf.for"), divided = text.find("divsi");
  ASSERT_NE(loop, std::string::npos) << text;
  EXPECT_LT(divided, loop) << text;
  EXPECT_EQ(llvm::StringRef(text).count("tile.lookup"), 1u) << text;
}

TEST(EmitTile, ArgumentsAreEmittedOnce) {
  std::string text = emit(itemWith("score f(exp(s)) + f(1.0)") +
                              "fn f(x) = x * x + x * sum(t in 9: x)\n",
                          "a");
  EXPECT_EQ(llvm::StringRef(text).count("math.exp"), 1u) << text;
}

TEST(EmitTile, LetsAreEmittedOnce) {
  std::string text =
      emit(itemWith("mask a * a > 2 let a = c + j let c = i - j"));
  EXPECT_EQ(region(text, "mask"), "%0 = arith.subi %arg13, %arg14 : i64\n"
                                  "%1 = arith.addi %0, %arg14 : i64\n"
                                  "%2 = arith.muli %1, %1 : i64\n"
                                  "%c2_i64 = arith.constant 2 : i64\n"
                                  "%3 = arith.cmpi sgt, %2, %c2_i64 : i64\n"
                                  "tile.yield %3 : i1\n");
}

TEST(EmitTile, DivisionByConstant) {
  EXPECT_EQ(region(emit(itemWith("mask i / 4 == -i % 4")), "mask"),
            "%c4_i64 = arith.constant 4 : i64\n"
            "%0 = arith.divsi %arg13, %c4_i64 : i64\n"
            "%c0_i64 = arith.constant 0 : i64\n"
            "%1 = arith.subi %c0_i64, %arg13 : i64\n"
            "%2 = arith.floordivsi %1, %c4_i64 : i64\n"
            "%3 = arith.muli %2, %c4_i64 : i64\n"
            "%4 = arith.subi %1, %3 : i64\n"
            "%5 = arith.cmpi eq, %0, %4 : i64\n"
            "tile.yield %5 : i1\n");
}

TEST(EmitTile, DivisionByZeroGivesZero) {
  EXPECT_EQ(region(emit(itemWith("mask h / (H / G) == g")), "mask"),
            "%c0_i64 = arith.constant 0 : i64\n"
            "%0 = arith.cmpi eq, %arg8, %c0_i64 : i64\n"
            "%c1_i64 = arith.constant 1 : i64\n"
            "%1 = arith.select %0, %c1_i64, %arg8 : i64\n"
            "%2 = arith.divsi %arg6, %1 : i64\n"
            "%3 = arith.select %0, %c0_i64, %2 : i64\n"
            "%4 = arith.cmpi eq, %3, %c0_i64 : i64\n"
            "%5 = arith.select %4, %c1_i64, %3 : i64\n"
            "%6 = arith.divsi %arg11, %5 : i64\n"
            "%7 = arith.select %4, %c0_i64, %6 : i64\n"
            "%8 = arith.cmpi eq, %7, %arg12 : i64\n"
            "tile.yield %8 : i1\n");
}

// The smallest i64 divided by -1 does not fit, and traps on some machines.
TEST(EmitTile, DivisionThatMayOverflow) {
  std::string text =
      region(emit(itemWith("param a: i64, c: i64 mask a / c > 0")), "mask");
  EXPECT_NE(text.find("arith.constant -1 : i64"), std::string::npos) << text;
  text = region(emit(itemWith("param a: i32, c: i64 mask a / c > 0")), "mask");
  EXPECT_EQ(text.find("arith.constant -1 : i64"), std::string::npos) << text;
}

TEST(EmitTile, Shifts) {
  EXPECT_EQ(
      region(emit(itemWith("param a: i32 mask (1 << a) > (i >> 2)")), "mask"),
      "%c1_i64 = arith.constant 1 : i64\n"
      "%0 = arith.extsi %arg3 : i32 to i64\n"
      "%c0_i64 = arith.constant 0 : i64\n"
      "%c64_i64 = arith.constant 64 : i64\n"
      "%1 = arith.cmpi ult, %0, %c64_i64 : i64\n"
      "%2 = arith.select %1, %0, %c0_i64 : i64\n"
      "%3 = arith.shli %c1_i64, %2 : i64\n"
      "%4 = arith.select %1, %3, %c0_i64 : i64\n"
      "%c2_i64 = arith.constant 2 : i64\n"
      "%5 = arith.shrsi %arg14, %c2_i64 : i64\n"
      "%6 = arith.cmpi sgt, %4, %5 : i64\n"
      "tile.yield %6 : i1\n");
}

TEST(EmitTile, TablesWidenWhenRead) {
  std::string text = region(
      emit(itemWith("param a: u8[N], c: i8[N], d: bool[N], e: f16[N], f: f64[N]"
                    " score d[j] ? e[j] + f[j] : s + a[j] + c[j]")),
      "score");
  for (const char *part :
       {"arith.extui %", ": i8 to i64", "arith.extsi %", "arith.cmpi ne, %",
        "arith.extf %", ": f16 to f32", "arith.truncf %", ": f64 to f32"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(EmitTile, FloatToIntegerSaturates) {
  std::string text =
      region(emit(itemWith("param x: f32 mask i32(x) > 0")), "mask");
  EXPECT_EQ(text.find("arith.fptosi %arg3"), std::string::npos) << text;
  EXPECT_NE(text.find("arith.constant 2147483647 : i32"), std::string::npos)
      << text;
  EXPECT_NE(text.find("arith.constant 2.14748365E+9 : f32"), std::string::npos)
      << text;
}

TEST(EmitTile, DoubleThroughout) {
  std::string text = emit(itemWith("param c: f32, t: f32[H] score c * tanh(s) "
                                   "+ t[h] scale 1.0 / 3"),
                          "", {{"T", "f64"}});
  EXPECT_NE(text.find("arith.constant 0.33333333333333331 : f64"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("math.tanh %arg12 : f64"), std::string::npos) << text;
  EXPECT_NE(text.find("arith.extf %arg3 : f32 to f64"), std::string::npos)
      << text;
}

TEST(EmitTile, Locations) {
  Analysis a(itemWith("mask i + 1 >= j"));
  ASSERT_TRUE(a.item) << a.messages();
  mlir::MLIRContext context;
  auto module = emitTile(*a.item, a.sources, context);
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, mlir::OpPrintingFlags().enableDebugInfo(true));
  EXPECT_NE(text.find("loc(\"t.tg\":2:8 to :13)"), std::string::npos) << text;
  EXPECT_NE(text.find("loc(\"t.tg\":2:8 to :18)"), std::string::npos) << text;
}

} // namespace
