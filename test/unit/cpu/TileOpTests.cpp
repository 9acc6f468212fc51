// One tile op or one idea of the CPU target at a time, as numbers.
#include "test/unit/cpu/CompileTile.h"
#include "test/unit/cpu/KernelText.h"

#include <cmath>
#include <gtest/gtest.h>
#include <malloc.h>

using namespace tegula;
using namespace tegula::test;
using rt::ElementType;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// `y = body(x)` on one tile of 4 elements; `x` and `y` are vectors of N elements.
std::unique_ptr<CpuKernel> elementwise(const std::string &from, const std::string &to, const std::string &body) {
  return compileTile("tile.kernel @f(" + argument("x", from, "\"N\"", "in") + ", " + argument("y", to, "\"N\"", "out") + ", " + dim("N") +
                     R"() {
    %four = arith.constant 4 : i64
    %tiles = arith.ceildivsi %N, %four : i64
    %t = tile.program_id of (%tiles) : i64
    %n = arith.muli %t, %four : i64
    %in = tile.load %x[%n] axes [0] : memref<?x)" +
                     from + R"(, strided<[?]>> -> tensor<4x)" + from + ">\n" + body + R"(
    tile.store %out, %y[%n] axes [0] : tensor<4x)" +
                     to + ">, memref<?x" + to + R"(, strided<[?]>>
    tile.return
  })");
}

std::vector<double> interestingDoubles() {
  std::vector<double> values = {0.0,      -0.0,       1.0,     infinity,  -infinity, NAN,    65504.0,        65519.99999999999,
                                65520.0,  0x1p-24,    0x1p-25, 0x1.8p-25, 0x1p-26,   3.4e38, 0x1.fffffep127, 0x1p-133,
                                0x1p-134, 0x1.8p-134, 1e300,   -1e300,    1e-300,    -1e-300};
  // Values just beside, and exactly, half way between neighbours; and ones that f32 would round onto half way.
  for (double base : {1.0, 1.0 + 0x1p-7, 1.0 + 0x1p-10, 0.3, -5.7})
    for (double half : {0x1p-8, 0x1p-11, 0x1p-9, 0x1p-12})
      for (double nudge : {0.0, 0x1p-30, -0x1p-30, 0x1p-52, -0x1p-52})
        for (double start : {base, rounded(base, ElementType::bf16), rounded(base, ElementType::f16)})
          values.push_back(start + half + nudge);
  return values;
}

TEST(Conversion, RoundsOnceToNearestEven) {
  for (auto [from, to] : {std::pair("f32", "bf16"), {"f32", "f16"}, {"f64", "bf16"}, {"f64", "f16"}, {"f64", "f32"}}) {
    auto kernel = elementwise(from, to, std::string("%out = arith.truncf %in : tensor<4x") + from + "> to tensor<4x" + to + ">");
    ASSERT_TRUE(kernel);
    std::vector<double> values = interestingDoubles();
    int64_t count = values.size();
    HostTensor x(*rt::parseElementType(from), {count}), y(*rt::parseElementType(to), {count});
    x.fill([&](auto &index) { return values[index[0]]; });
    ASSERT_TRUE(call(*kernel, {{"x", &x}, {"y", &y}}).ok());
    for (int64_t i = 0; i != count; ++i) {
      double want = rounded(x.get({i}), *rt::parseElementType(to)), got = y.get({i});
      EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : want == got && std::signbit(want) == std::signbit(got))
          << from << " to " << to << ": " << x.get({i}) << " gives " << got << ", not " << want;
    }
  }
}

TEST(Conversion, ArithmeticOn16BitTypesRoundsEachResult) {
  for (const char *type : {"bf16", "f16"}) {
    std::string tile = std::string("tensor<4x") + type + ">";
    auto kernel = elementwise(type, type, "%p = arith.mulf %in, %in : " + tile + "\n %out = arith.addf %p, %in : " + tile);
    ASSERT_TRUE(kernel);
    ElementType element = *rt::parseElementType(type);
    HostTensor x(element, {1000}), y(element, {1000});
    x.fillRandom(7);
    ASSERT_TRUE(call(*kernel, {{"x", &x}, {"y", &y}}).ok());
    for (int64_t i = 0; i != 1000; ++i)
      EXPECT_EQ(y.get({i}), rounded(rounded(x.get({i}) * x.get({i}), element) + x.get({i}), element)) << type;
  }
}

TEST(Math, FunctionsOfTheLanguage) {
  struct Function {
    const char *op;
    double (*want)(double);
  };
  const Function functions[] = {{"math.exp", std::exp},     {"math.exp2", std::exp2}, {"math.log", std::log},
                                {"math.tanh", std::tanh},   {"math.sqrt", std::sqrt}, {"math.absf", std::fabs},
                                {"math.floor", std::floor}, {"math.sin", std::sin},   {"math.erf", std::erf}};
  for (const Function &function : functions)
    for (const char *type : {"f32", "f64"}) {
      auto kernel = elementwise(type, type, std::string("%out = ") + function.op + " %in : tensor<4x" + type + ">");
      ASSERT_TRUE(kernel) << function.op;
      HostTensor x(*rt::parseElementType(type), {50}), y(*rt::parseElementType(type), {50});
      x.fill([](auto &index) { return 0.1 + index[0] * 0.17; });
      ASSERT_TRUE(call(*kernel, {{"x", &x}, {"y", &y}}).ok());
      for (int64_t i = 0; i != 50; ++i) {
        double want = function.want(x.get({i}));
        EXPECT_NEAR(y.get({i}), want, (type[1] == '3' ? 1e-6 : 1e-14) * (1 + std::fabs(want))) << function.op;
      }
    }
}

TEST(Memory, TilesAreCutAtExtents) {
  // y = transpose(x) by tiles of 4 x 3 whose axes are swapped.
  auto kernel = compileTile("tile.kernel @f(" + argument("x", "f32", "\"M\", \"N\"", "in") + ", " +
                            argument("y", "f32", "\"N\", \"M\"", "out") + ", " + dim("M") + ", " + dim("N") + R"() {
    %four = arith.constant 4 : i64
    %three = arith.constant 3 : i64
    %rows = arith.ceildivsi %M, %four : i64
    %cols = arith.ceildivsi %N, %three : i64
    %r, %c = tile.program_id of (%rows, %cols) : i64, i64
    %m = arith.muli %r, %four : i64
    %n = arith.muli %c, %three : i64
    %in = tile.load %x[%m, %n] axes [1, 0] : memref<?x?xf32, strided<[?, ?]>> -> tensor<3x4xf32>
    tile.store %in, %y[%n, %m] axes [0, 1] : tensor<3x4xf32>, memref<?x?xf32, strided<[?, ?]>>
    tile.return
  })");
  ASSERT_TRUE(kernel);
  for (auto [rows, cols] : {std::pair<int64_t, int64_t>{1, 1}, {4, 3}, {9, 8}, {13, 2}, {0, 5}}) {
    HostTensor x(ElementType::f32, {rows, cols}, {1, 0}, 2), y(ElementType::f32, {cols, rows}, {}, 3);
    x.fillRandom(1);
    y.fill(NAN);
    ASSERT_TRUE(call(*kernel, {{"x", &x}, {"y", &y}}).ok());
    y.forEach([&](auto &index) { EXPECT_EQ(y.get(index), x.get({index[1], index[0]})); });
    EXPECT_TRUE(y.outsideIntact());
  }
}

TEST(Memory, PastTheExtentReadsAsZero) {
  // y[i] is the sum of the tile at i - 2, which reaches past both ends.
  auto kernel = compileTile("tile.kernel @f(" + argument("x", "f64", "1 : i64, \"N\"", "in") + ", " + argument("y", "f64", "\"N\"", "out") +
                            ", " + dim("N") + R"() {
    %i = tile.program_id of (%N) : i64
    %zero = arith.constant 0 : i64
    %two = arith.constant 2 : i64
    %start = arith.subi %i, %two : i64
    %in = tile.load %x[%zero, %start] axes [0, 1] : memref<?x?xf64, strided<[?, ?]>> -> tensor<1x5xf64>
    %out = tile.reduce add %in : tensor<1x5xf64> -> tensor<1xf64>
    tile.store %out, %y[%i] axes [0] : tensor<1xf64>, memref<?xf64, strided<[?]>>
    tile.return
  })");
  ASSERT_TRUE(kernel);
  HostTensor x(ElementType::f64, {1, 9}), y(ElementType::f64, {9});
  x.fill([](auto &index) { return index[1] + 1; });
  ASSERT_TRUE(call(*kernel, {{"x", &x}, {"y", &y}}).ok());
  for (int64_t i = 0; i != 9; ++i) {
    double want = 0;
    for (int64_t j = std::max<int64_t>(0, i - 2); j != std::min<int64_t>(9, i + 3); ++j)
      want += j + 1;
    EXPECT_EQ(y.get({i}), want);
  }
}

TEST(Lookup, ClampsAndReadsZeroOfAnEmptyTable) {
  // y[i] = table[i - 3, 2 i - 5], the indices taken from element code.
  auto kernel = compileTile("tile.kernel @f(" + argument("t", "i32", "\"A\", \"C\"", "in") + ", " +
                            argument("y", "i32", "1 : i64, \"N\"", "out") + ", " + dim("A") + ", " + dim("C") + ", " + dim("N") + R"() {
    %zero = arith.constant 0 : i64
    %zeros = arith.constant dense<0.0> : tensor<1x16xf32>
    %s = tile.map %zeros rows(%zero) cols(%zero) {
    ^bb0(%x: f32, %i: i64, %j: i64):
      %three = arith.constant 3 : i64
      %five = arith.constant 5 : i64
      %a = arith.subi %j, %three : i64
      %twice = arith.addi %j, %j : i64
      %c = arith.subi %twice, %five : i64
      %v = tile.lookup %t[%a, %c] : memref<?x?xi32, strided<[?, ?]>>
      %f = arith.sitofp %v : i32 to f32
      tile.yield %f : f32
    } : (tensor<1x16xf32>) -> tensor<1x16xf32>
    %out = arith.fptosi %s : tensor<1x16xf32> to tensor<1x16xi32>
    tile.store %out, %y[%zero, %zero] axes [0, 1] : tensor<1x16xi32>, memref<?x?xi32, strided<[?, ?]>>
    tile.return
  })");
  ASSERT_TRUE(kernel);
  for (auto [rows, cols] : {std::pair<int64_t, int64_t>{4, 6}, {1, 1}, {0, 6}, {4, 0}, {0, 0}}) {
    HostTensor table(ElementType::i32, {rows, cols}), y(ElementType::i32, {1, 12});
    table.fill([](auto &index) { return 100 + 10 * index[0] + index[1]; });
    ASSERT_TRUE(call(*kernel, {{"t", &table}, {"y", &y}}).ok());
    for (int64_t j = 0; j != 12; ++j) {
      int64_t a = std::max<int64_t>(0, std::min(j - 3, rows - 1)), c = std::max<int64_t>(0, std::min(2 * j - 5, cols - 1));
      EXPECT_EQ(y.get({0, j}), rows * cols == 0 ? 0 : 100 + 10 * a + c) << rows << " x " << cols << ", " << j;
    }
  }
}

TEST(Reduce, MaxIgnoresNaNBesideANumber) {
  auto kernel =
      compileTile("tile.kernel @f(" + argument("x", "f32", "4 : i64, 3 : i64", "in") + ", " + argument("y", "f32", "4 : i64", "out") +
                  R"() {
    %zero = arith.constant 0 : i64
    %in = tile.load %x[%zero, %zero] axes [0, 1] : memref<?x?xf32, strided<[?, ?]>> -> tensor<4x3xf32>
    %out = tile.reduce max %in : tensor<4x3xf32> -> tensor<4xf32>
    tile.store %out, %y[%zero] axes [0] : tensor<4xf32>, memref<?xf32, strided<[?]>>
    tile.return
  })");
  ASSERT_TRUE(kernel);
  HostTensor x(ElementType::f32, {4, 3}), y(ElementType::f32, {4});
  const double values[4][3] = {{1, NAN, 2}, {-infinity, -infinity, -infinity}, {NAN, NAN, NAN}, {NAN, -3, infinity}};
  x.fill([&](auto &index) { return values[index[0]][index[1]]; });
  ASSERT_TRUE(call(*kernel, {{"x", &x}, {"y", &y}}).ok());
  EXPECT_EQ(y.get({0}), 2);
  EXPECT_EQ(y.get({1}), -infinity);
  EXPECT_TRUE(std::isnan(y.get({2})));
  EXPECT_EQ(y.get({3}), infinity);
}

/// The tile (a, b) -> (b, a + b), N times: the carried tiles change places.
const char *const fibonacci = R"(tile.kernel @f(%y: memref<?xi64, strided<[?]>> {tile.name = "y", tile.dims = [2 : i64], tile.role = "out"},
      %n: i64 {tile.name = "n"}) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %a0 = arith.constant dense<0> : tensor<1xi64>
    %b0 = arith.constant dense<1> : tensor<1xi64>
    %r:2 = tile.for_blocks %i = %zero to %n step 1 iter_args(%a = %a0, %b = %b0) -> (tensor<1xi64>, tensor<1xi64>) {
      %c = arith.addi %a, %b : tensor<1xi64>
      tile.yield %b, %c : tensor<1xi64>, tensor<1xi64>
    }
    tile.store %r#0, %y[%zero] axes [0] : tensor<1xi64>, memref<?xi64, strided<[?]>>
    tile.store %r#1, %y[%one] axes [0] : tensor<1xi64>, memref<?xi64, strided<[?]>>
    tile.return
  })";

TEST(Loop, CarriedTilesMayChangePlaces) {
  auto kernel = compileTile(fibonacci);
  ASSERT_TRUE(kernel);
  HostTensor y(ElementType::i64, {2});
  rt::Arguments arguments = kernel->arguments();
  ASSERT_TRUE(arguments.set("y", y.view()).ok());
  ASSERT_TRUE(arguments.set("n", 50).ok());
  ASSERT_TRUE(kernel->run(arguments).ok());
  EXPECT_EQ(y.get({0}), 12586269025);
  EXPECT_EQ(y.get({1}), 20365011074);
}

TEST(Loop, BuffersAreFreed) {
  auto kernel = compileTile(fibonacci);
  ASSERT_TRUE(kernel);
  HostTensor y(ElementType::i64, {2});
  rt::Arguments arguments = kernel->arguments();
  ASSERT_TRUE(arguments.set("y", y.view()).ok());
  ASSERT_TRUE(arguments.set("n", 10000).ok());
  ASSERT_TRUE(kernel->run(arguments).ok());
  size_t before = mallinfo2().uordblks;
  for (int i = 0; i != 10; ++i)
    ASSERT_TRUE(kernel->run(arguments).ok());
  EXPECT_EQ(mallinfo2().uordblks, before);
}

TEST(Arguments, AreChecked) {
  auto kernel = elementwise("f32", "f32", "%out = arith.addf %in, %in : tensor<4xf32>");
  ASSERT_TRUE(kernel);
  HostTensor x(ElementType::f32, {5}), longer(ElementType::f32, {6}), wide(ElementType::f64, {5});
  rt::Status status = call(*kernel, {{"x", &x}, {"y", &longer}});
  EXPECT_EQ(status.code(), rt::StatusCode::invalidArgument);
  EXPECT_NE(status.message().find("N = 5"), std::string::npos) << status.message();
  EXPECT_EQ(call(*kernel, {{"x", &wide}, {"y", &x}}).code(), rt::StatusCode::invalidArgument);
  EXPECT_EQ(call(*kernel, {{"x", &x}}).code(), rt::StatusCode::invalidArgument);
  EXPECT_EQ(call(*kernel, {{"z", &x}}).code(), rt::StatusCode::invalidArgument);
}

TEST(Arguments, RequirementsAreChecked) {
  auto kernel =
      compileTile("tile.kernel @f(" + argument("y", "f32", "\"M\", \"N\"", "out") + R"(, %s: f32 {tile.name = "s"}, )" + dim("M") + ", " +
                  dim("N") + R"tile() attributes {tile.requires = [{text = "M == N", place = "f.tg:2:9", expr = "(== M N)"}]} {
    %zero = arith.constant 0 : i64
    %out = tensor.splat %s : tensor<2x2xf32>
    tile.store %out, %y[%zero, %zero] axes [0, 1] : tensor<2x2xf32>, memref<?x?xf32, strided<[?, ?]>>
    tile.return
  })tile");
  ASSERT_TRUE(kernel);
  HostTensor square(ElementType::f32, {2, 2}), other(ElementType::f32, {2, 3});
  rt::Arguments arguments = kernel->arguments();
  ASSERT_TRUE(arguments.set("s", 1.5).ok());
  ASSERT_TRUE(arguments.set("y", square.view()).ok());
  ASSERT_TRUE(kernel->run(arguments).ok());
  EXPECT_EQ(square.get({1, 1}), 1.5);
  ASSERT_TRUE(arguments.set("y", other.view()).ok());
  rt::Status status = kernel->run(arguments);
  EXPECT_NE(status.message().find("M == N"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("f.tg:2:9"), std::string::npos) << status.message();
}

} // namespace
