// The ops of general tile programs, as numbers against plain loops.
#include "test/unit/cpu/CompileTile.h"
#include "test/unit/cpu/KernelText.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tegula;
using namespace tegula::test;
using rt::ElementType;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A tensor argument: name, element type, shape.
struct Param {
  const char *name, *type;
  std::vector<int64_t> shape;
  const char *role = "in";
};

/// A kernel of one program whose tensors have the given static shapes in `tile.dims`, and `!name` as the type of tensor `name`.
std::unique_ptr<CpuKernel> compile(std::vector<Param> params, std::string body) {
  std::string aliases, arguments;
  for (const Param &param : params) {
    std::string dims;
    for (int64_t size : param.shape)
      dims += (dims.empty() ? "" : ", ") + std::to_string(size) + " : i64";
    arguments += (arguments.empty() ? "" : ", ") + argument(param.name, param.type, dims, param.role);
    aliases += std::string("!") + param.name + " = " + memory(param.type, static_cast<int>(param.shape.size())) + "\n";
  }
  return compileTile(aliases + "tile.kernel @f(" + arguments + ") {\n%c0 = arith.constant 0 : i64\n" + body + "\ntile.return\n}");
}

HostTensor tensor(const Param &param) { return HostTensor(*rt::parseElementType(param.type), param.shape); }

/// Runs `body` from tensor x to tensor y; every element of y is poisoned before.
HostTensor map(Param x, Param y, const std::string &body, const std::function<double(const std::vector<int64_t> &)> &values) {
  y.role = "out";
  HostTensor in = tensor(x).fill(values), out = tensor(y).fill(y.type[0] == 'f' || y.type[0] == 'b' ? NAN : -99);
  auto kernel = compile({x, y}, body);
  if (kernel) {
    rt::Status status = call(*kernel, {{x.name, &in}, {y.name, &out}});
    EXPECT_TRUE(status.ok()) << status.message();
  }
  EXPECT_TRUE(out.outsideIntact());
  return out;
}

double numbered(const std::vector<int64_t> &index) {
  double value = 0;
  for (int64_t i : index)
    value = 10 * value + static_cast<double>(i);
  return value;
}

//===-- Shapes ------------------------------------------------------------------------------------===//

TEST(Shapes, BroadcastsTransposesAndLaneNumbers) {
  HostTensor y = map({"x", "f32", {4, 6}}, {"y", "f32", {6, 4}}, R"(
    %t = tile.load %x[%c0, %c0] axes [0, 1] : !x -> tensor<4x6xf32>
    %turned = tile.transpose %t permutation [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
    %i = tile.iota : tensor<4xi32>
    %j = tile.iota : tensor<6xi64>
    %fi = arith.sitofp %i : tensor<4xi32> to tensor<4xf32>
    %fj = arith.sitofp %j : tensor<6xi64> to tensor<6xf32>
    %along = tile.broadcast %fi axes [1] : tensor<4xf32> -> tensor<6x4xf32>
    %down = tile.broadcast %fj : tensor<6xf32> -> tensor<6x4xf32>
    %hundred = arith.constant dense<100.0> : tensor<6x4xf32>
    %a = arith.mulf %down, %hundred : tensor<6x4xf32>
    %b = arith.subf %turned, %along : tensor<6x4xf32>
    %r = arith.addf %a, %b : tensor<6x4xf32>
    tile.store %r, %y[%c0, %c0] axes [0, 1] : tensor<6x4xf32>, !y)",
                     numbered);
  y.forEach([&](auto &at) { EXPECT_EQ(y.get(at), 100 * at[0] + (10 * at[1] + at[0]) - at[1]); });
}

TEST(Shapes, OneTileAtTwoPlaces) {
  HostTensor y = map({"x", "f32", {4, 4}}, {"y", "f32", {4, 4}}, R"(
    %t = tile.load %x[%c0, %c0] axes [0, 1] : !x -> tensor<4x4xf32>
    %s = arith.mulf %t, %t : tensor<4x4xf32>
    %r = tile.reduce add %t : tensor<4x4xf32> -> tensor<4xf32>
    %rows = tile.broadcast %r : tensor<4xf32> -> tensor<4x4xf32>
    %turned = tile.transpose %s permutation [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %a = arith.subf %s, %turned : tensor<4x4xf32>
    %rowsTurned = tile.transpose %rows permutation [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %b = arith.mulf %rows, %rowsTurned : tensor<4x4xf32>
    %c = arith.addf %a, %b : tensor<4x4xf32>
    tile.store %c, %y[%c0, %c0] axes [0, 1] : tensor<4x4xf32>, !y)",
                     numbered);
  auto x = [](int64_t i, int64_t j) { return 10.0 * i + j; };
  auto row = [&](int64_t i) { return x(i, 0) + x(i, 1) + x(i, 2) + x(i, 3); };
  y.forEach([&](auto &at) {
    int64_t i = at[0], j = at[1];
    EXPECT_EQ(y.get(at), x(i, j) * x(i, j) - x(j, i) * x(j, i) + row(i) * row(j));
  });
}

TEST(Shapes, RanksOfThreeAndUnitExtents) {
  HostTensor y = map({"x", "i32", {2, 3, 4}}, {"y", "i32", {4, 2, 3}}, R"(
    %t = tile.load %x[%c0, %c0, %c0] axes [0, 1, 2] : !x -> tensor<2x3x4xi32>
    %u = tile.transpose %t permutation [2, 0, 1] : tensor<2x3x4xi32> -> tensor<4x2x3xi32>
    %one = tile.load %x[%c0, %c0, %c0] axes [1, 0] : !x -> tensor<3x1xi32>
    %flip = tile.transpose %one permutation [1, 0] : tensor<3x1xi32> -> tensor<1x3xi32>
    %w = tile.broadcast %flip axes [1, 2] : tensor<1x3xi32> -> tensor<4x2x3xi32>
    %r = arith.addi %u, %w : tensor<4x2x3xi32>
    tile.store %r, %y[%c0, %c0, %c0] axes [0, 1, 2] : tensor<4x2x3xi32>, !y)",
                     numbered);
  y.forEach([&](auto &at) { EXPECT_EQ(y.get(at), 100 * at[1] + 10 * at[2] + at[0] + 10 * at[2]); });
}

TEST(Shapes, ReshapeIsRowMajor) {
  HostTensor y = map({"x", "i64", {4, 6}}, {"y", "i64", {2, 12}}, R"(
    %t = tile.load %x[%c0, %c0] axes [0, 1] : !x -> tensor<4x6xi64>
    %flat = tile.reshape %t : tensor<4x6xi64> -> tensor<24xi64>
    %cube = tile.reshape %flat : tensor<24xi64> -> tensor<2x3x4xi64>
    %sum = arith.addi %cube, %cube : tensor<2x3x4xi64>
    %r = tile.reshape %sum : tensor<2x3x4xi64> -> tensor<2x12xi64>
    tile.store %r, %y[%c0, %c0] axes [0, 1] : tensor<2x12xi64>, !y)",
                     numbered);
  y.forEach([&](auto &at) {
    int64_t place = 12 * at[0] + at[1];
    EXPECT_EQ(y.get(at), 2 * (10 * (place / 6) + place % 6));
  });
}

//===-- Reductions --------------------------------------------------------------------------------===//

/// The reduction of rows of three, as text of an op on %t.
HostTensor reduceRows(const std::string &kind, const char *from, const char *to, std::vector<std::vector<double>> rows) {
  int64_t count = rows.size();
  std::string n = std::to_string(count), in = "tensor<" + n + "x3x" + from + ">", out = "tensor<" + n + "x" + to + ">";
  return map({"x", from, {count, 3}}, {"y", to, {count}},
             "%t = tile.load %x[%c0, %c0] axes [0, 1] : !x -> " + in + "\n%r = tile.reduce " + kind + " %t : " + in + " -> " + out +
                 "\ntile.store %r, %y[%c0] axes [0] : " + out + ", !y",
             [&](auto &at) { return rows[at[0]][at[1]]; });
}

void expectElements(const HostTensor &y, const std::vector<double> &want, const std::string &what) {
  for (size_t i = 0; i != want.size(); ++i) {
    double got = y.get({static_cast<int64_t>(i)});
    EXPECT_TRUE(std::isnan(want[i]) ? std::isnan(got) : got == want[i]) << what << " " << i << ": " << got << ", not " << want[i];
  }
}

TEST(Reduce, KindsOfFloats) {
  const std::vector<std::vector<double>> rows = {
      {1, -2, 3}, {NAN, 1, 2}, {1, NAN, 2}, {-infinity, -infinity, -infinity}, {infinity, -infinity, 0}, {NAN, NAN, NAN}, {4, 4, 4}};
  for (const char *type : {"f32", "f64"}) {
    expectElements(reduceRows("add", type, type, rows), {2, NAN, NAN, -infinity, NAN, NAN, 12}, "add");
    expectElements(reduceRows("max", type, type, rows), {3, 2, 2, -infinity, infinity, NAN, 4}, "max");
    expectElements(reduceRows("maximum", type, type, rows), {3, NAN, NAN, -infinity, infinity, NAN, 4}, "maximum");
    expectElements(reduceRows("minimum", type, type, rows), {-2, NAN, NAN, -infinity, -infinity, NAN, 4}, "minimum");
    expectElements(reduceRows("argmax", type, "i32", rows), {2, 0, 1, 0, 0, 0, 0}, "argmax");
  }
}

TEST(Reduce, KindsOfIntegers) {
  const double least = -2147483648.0, most = 2147483647.0;
  const std::vector<std::vector<double>> rows = {{1, -2, 3}, {least, least, least}, {most, 1, 0}, {5, 7, 7}};
  expectElements(reduceRows("add", "i32", "i32", rows), {2, least, least, 19}, "add");
  expectElements(reduceRows("maximum", "i32", "i32", rows), {3, least, most, 7}, "maximum");
  expectElements(reduceRows("minimum", "i32", "i32", rows), {-2, least, 0, 5}, "minimum");
  expectElements(reduceRows("argmax", "i32", "i32", rows), {2, 0, 0, 1}, "argmax");
  expectElements(reduceRows("maximum", "i8", "i8", {{-128, -5, -7}, {127, 3, 4}}), {-5, 127}, "maximum of i8");
  expectElements(reduceRows("add", "i64", "i64", {{1, 2, 3}}), {6}, "add of i64");
}

TEST(Reduce, AxesAndScalars) {
  // Along axis 0 of rank 3, then along axis 0 of what is left, then to a scalar.
  HostTensor y = map({"x", "f32", {2, 3, 4}}, {"y", "f32", {1, 4}}, R"(
    %t = tile.load %x[%c0, %c0, %c0] axes [0, 1, 2] : !x -> tensor<2x3x4xf32>
    %a = tile.reduce add %t axis 0 : tensor<2x3x4xf32> -> tensor<3x4xf32>
    %b = tile.reduce maximum %a axis 0 : tensor<3x4xf32> -> tensor<4xf32>
    %c = tile.reduce minimum %b : tensor<4xf32> -> f32
    %spread = tensor.splat %c : tensor<4xf32>
    %d = arith.subf %b, %spread : tensor<4xf32>
    %r = tile.reshape %d : tensor<4xf32> -> tensor<1x4xf32>
    tile.store %r, %y[%c0, %c0] axes [0, 1] : tensor<1x4xf32>, !y)",
                     numbered);
  y.forEach([&](auto &at) { EXPECT_EQ(y.get(at), 2 * at[1]); });
}

TEST(Reduce, OfLaneNumbersAndSplats) {
  // Nothing but the tile itself says how long the axis is.
  HostTensor y = map({"x", "i32", {1}}, {"y", "i32", {3}}, R"(
    %lanes = tile.iota : tensor<5xi32>
    %a = tile.reduce add %lanes : tensor<5xi32> -> i32
    %sevens = arith.constant dense<7> : tensor<3x5xi32>
    %b = tile.reduce add %sevens : tensor<3x5xi32> -> tensor<3xi32>
    %as = tensor.splat %a : tensor<3xi32>
    %r = arith.addi %as, %b : tensor<3xi32>
    tile.store %r, %y[%c0] axes [0] : tensor<3xi32>, !y)",
                     numbered);
  y.forEach([&](auto &at) { EXPECT_EQ(y.get(at), 10 + 35); });
}

TEST(Reduce, Flags) {
  HostTensor y = map({"x", "i32", {4, 3}}, {"y", "i32", {4}}, R"(
    %t = tile.load %x[%c0, %c0] axes [0, 1] : !x -> tensor<4x3xi32>
    %zero = arith.constant dense<0> : tensor<4x3xi32>
    %set = arith.cmpi ne, %t, %zero : tensor<4x3xi32>
    %all = tile.reduce and %set : tensor<4x3xi1> -> tensor<4xi1>
    %any = tile.reduce or %set : tensor<4x3xi1> -> tensor<4xi1>
    %every = tile.reduce and %any : tensor<4xi1> -> i1
    %a = arith.extui %all : tensor<4xi1> to tensor<4xi32>
    %b = arith.extui %any : tensor<4xi1> to tensor<4xi32>
    %e = arith.extui %every : i1 to i32
    %es = tensor.splat %e : tensor<4xi32>
    %ab = arith.addi %a, %b : tensor<4xi32>
    %r = arith.addi %ab, %es : tensor<4xi32>
    tile.store %r, %y[%c0] axes [0] : tensor<4xi32>, !y)",
                     [](auto &at) { return at[0] > at[1]; });
  expectElements(y, {0, 1, 1, 2}, "flags");
}

TEST(Combine, TakesElementsInOrder) {
  // The last element that is not 0: associative, but not commutative.
  for (int axis : {0, 1}) {
    std::string along = std::to_string(axis), shape = axis ? "tensor<5xi32>" : "tensor<4xi32>";
    HostTensor y = map({"x", "i32", {5, 4}}, {"y", "i32", {axis ? 5 : 4}},
                       "%t = tile.load %x[%c0, %c0] axes [0, 1] : !x -> tensor<5x4xi32>\n%zero = arith.constant 0 : i32\n%r = tile.combine %t "
                       "init %zero axis " +
                           along + R"( {
    ^bb0(%a: i32, %b: i32):
      %set = arith.cmpi ne, %b, %zero : i32
      %last = arith.select %set, %b, %a : i32
      tile.yield %last : i32
    } : tensor<5x4xi32> -> )" + shape +
                           "\ntile.store %r, %y[%c0] axes [0] : " + shape + ", !y",
                       [](auto &at) { return at[0] + at[1] > 5 ? 0 : 1 + 10 * at[0] + at[1]; });
    expectElements(y, axis ? std::vector<double>{4, 14, 24, 33, 42} : std::vector<double>{41, 42, 33, 24}, "axis " + along);
  }
}

TEST(Cumsum, AxesAndTypes) {
  for (const char *type : {"i32", "f32", "i8"}) {
    for (int axis : {0, 1}) {
      std::string tile = std::string("tensor<4x3x") + type + ">";
      HostTensor y = map({"x", type, {4, 3}}, {"y", type, {4, 3}},
                         "%t = tile.load %x[%c0, %c0] axes [0, 1] : !x -> " + tile + "\n%r = tile.cumsum %t axis " + std::to_string(axis) +
                             " : " + tile + "\ntile.store %r, %y[%c0, %c0] axes [0, 1] : " + tile + ", !y",
                         [](auto &at) { return 30 * at[0] + 20 * at[1] + 1; });
      y.forEach([&](auto &at) {
        double want = 0;
        for (int64_t k = 0; k <= at[axis]; ++k)
          want += axis ? 30 * at[0] + 20 * k + 1 : 30 * k + 20 * at[1] + 1;
        EXPECT_EQ(y.get(at), rounded(want, *rt::parseElementType(type))) << type << " axis " << axis;
      });
    }
  }
}

//===-- Products ----------------------------------------------------------------------------------===//

TEST(Dot, IntegersWrap) {
  for (bool isTransposed : {false, true})
    for (const char *type : {"i8", "i32"}) {
      std::string from = std::string("tensor<4x4x") + type + ">";
      HostTensor y = map({"x", type, {4, 4}}, {"y", "i32", {4, 4}},
                         "%t = tile.load %x[%c0, %c0] axes [0, 1] : !x -> " + from + "\n%acc = arith.constant dense<5> : tensor<4x4xi32>" +
                             "\n%r = tile.dot %t, %t " + (isTransposed ? "transpose_b " : "") + "acc(%acc : tensor<4x4xi32>) : " + from +
                             ", " + from + " -> tensor<4x4xi32>\ntile.store %r, %y[%c0, %c0] axes [0, 1] : tensor<4x4xi32>, !y",
                         [&](auto &at) { return type[1] == '8' ? 40 * at[0] - 30 * at[1] : 2000000000 - 777777 * (at[0] + 3 * at[1]); });
      auto x = [&](int64_t i, int64_t j) -> int64_t { return type[1] == '8' ? 40 * i - 30 * j : 2000000000 - 777777 * (i + 3 * j); };
      y.forEach([&](auto &at) {
        uint32_t want = 5;
        for (int64_t k = 0; k != 4; ++k)
          want += static_cast<uint32_t>(x(at[0], k) * (isTransposed ? x(at[1], k) : x(k, at[1])));
        EXPECT_EQ(y.get(at), static_cast<int32_t>(want)) << type;
      });
    }
}

//===-- Memory ------------------------------------------------------------------------------------===//

TEST(Memory, LoadsReadZeroAndStoresDropOutsideOfEveryAxis) {
  // Row r and column c of an access anywhere, also far outside.
  auto kernel = compileTile("tile.kernel @f(" + argument("x", "f32", "3 : i64, 5 : i64", "in") + ", " +
                            argument("y", "f32", "4 : i64", "out") + ", " + argument("z", "f32", "3 : i64, 5 : i64", "inout") +
                            R"(, %r: i64 {tile.name = "r"}, %c: i64 {tile.name = "c"}) {
    %zero = arith.constant 0 : i64
    %t = tile.load %x[%r, %c] axes [1] : memref<?x?xf32, strided<[?, ?]>> -> tensor<4xf32>
    tile.store %t, %y[%zero] axes [0] : tensor<4xf32>, memref<?xf32, strided<[?]>>
    %ones = arith.constant dense<1.0> : tensor<4xf32>
    tile.store %ones, %z[%r, %c] axes [1] : tensor<4xf32>, memref<?x?xf32, strided<[?, ?]>>
    tile.return
  })");
  ASSERT_TRUE(kernel);
  const int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  for (int64_t r : {int64_t(0), int64_t(2), int64_t(3), int64_t(-1), least, most})
    for (int64_t c : {int64_t(0), int64_t(3), int64_t(-2), int64_t(5), int64_t(-4), least, least + 2, most, most - 1}) {
      HostTensor x(ElementType::f32, {3, 5}, {1, 0}, 1), y(ElementType::f32, {4}), z(ElementType::f32, {3, 5}, {}, 2);
      x.fill([](auto &at) { return 1 + numbered(at); });
      y.fill(NAN);
      z.fill(0);
      rt::Arguments arguments = kernel->arguments();
      ASSERT_TRUE(arguments.set("x", x.view()).ok() && arguments.set("y", y.view()).ok() && arguments.set("z", z.view()).ok());
      ASSERT_TRUE(arguments.set("r", r).ok() && arguments.set("c", c).ok());
      ASSERT_TRUE(kernel->run(arguments).ok());
      double written = 0;
      for (int64_t i = 0; i != 4; ++i) {
        bool exists = r >= 0 && r < 3 && c > -5 && c < 5 && c + i >= 0 && c + i < 5;
        EXPECT_EQ(y.get({i}), exists ? 1 + numbered({r, c + i}) : 0) << r << ", " << c << " + " << i;
        if (exists)
          EXPECT_EQ(z.get({r, c + i}), 1);
        written += exists;
      }
      double sum = 0;
      z.forEach([&](auto &at) { sum += z.get(at); });
      EXPECT_EQ(sum, written);
      EXPECT_TRUE(z.outsideIntact());
    }
}

TEST(Memory, StoresUnderAMask) {
  HostTensor y = map({"x", "i32", {3, 4}}, {"y", "i32", {3, 4}}, R"(
    %t = tile.load %x[%c0, %c0] axes [0, 1] : !x -> tensor<3x4xi32>
    %two = arith.constant dense<2> : tensor<3x4xi32>
    %odd = arith.remsi %t, %two : tensor<3x4xi32>
    %one = arith.constant dense<1> : tensor<3x4xi32>
    %m = arith.cmpi eq, %odd, %one : tensor<3x4xi32>
    tile.store %t, %y[%c0, %c0] axes [0, 1] mask %m : tensor<3x4xi32>, !y)",
                     numbered);
  y.forEach([&](auto &at) { EXPECT_EQ(y.get(at), at[1] % 2 ? numbered(at) : -99); });
}

TEST(Gather, ClampsMasksAndFills) {
  // r[l] = x[l - 2, 3 l - 4], used for l < 5, else -7.
  for (auto [rows, cols] : {std::pair<int64_t, int64_t>{4, 6}, {1, 1}, {0, 6}, {4, 0}}) {
    HostTensor y = map({"x", "f32", {rows, cols}}, {"y", "f32", {8}}, R"(
      %l = tile.iota : tensor<8xi64>
      %two = arith.constant dense<2> : tensor<8xi64>
      %three = arith.constant dense<3> : tensor<8xi64>
      %four = arith.constant dense<4> : tensor<8xi64>
      %five = arith.constant dense<5> : tensor<8xi64>
      %i = arith.subi %l, %two : tensor<8xi64>
      %l3 = arith.muli %l, %three : tensor<8xi64>
      %j = arith.subi %l3, %four : tensor<8xi64>
      %m = arith.cmpi slt, %l, %five : tensor<8xi64>
      %fill = arith.constant -7.0 : f32
      %r = tile.gather %x[%i, %j] mask %m fill %fill : !x, tensor<8xi64>, tensor<8xi64> -> tensor<8xf32>
      tile.store %r, %y[%c0] axes [0] : tensor<8xf32>, !y)",
                       [](auto &at) { return 100 + numbered(at); });
    for (int64_t l = 0; l != 8; ++l) {
      int64_t i = std::clamp<int64_t>(l - 2, 0, std::max<int64_t>(rows - 1, 0));
      int64_t j = std::clamp<int64_t>(3 * l - 4, 0, std::max<int64_t>(cols - 1, 0));
      EXPECT_EQ(y.get({l}), l >= 5 ? -7 : rows * cols == 0 ? 0 : 100 + numbered({i, j})) << rows << " x " << cols << ", " << l;
    }
  }
}

TEST(Gather, ScalarAndTileIndices) {
  HostTensor y = map({"x", "i8", {3, 5}}, {"y", "i8", {2, 4}}, R"(
    %one = arith.constant 1 : i64
    %l = tile.iota : tensor<4xi64>
    %ls = tile.broadcast %l axes [1] : tensor<4xi64> -> tensor<2x4xi64>
    %r = tile.gather %x[%one, %ls] : !x, i64, tensor<2x4xi64> -> tensor<2x4xi8>
    tile.store %r, %y[%c0, %c0] axes [0, 1] : tensor<2x4xi8>, !y)",
                     numbered);
  y.forEach([&](auto &at) { EXPECT_EQ(y.get(at), 10 + at[1]); });
}

TEST(Scatter, DropsWhatIsOutsideOrMasked) {
  // y[l - 2, x[l]] = l for lanes other than 3.
  HostTensor y = map({"x", "i32", {6}}, {"y", "i64", {3, 4}}, R"(
    %l = tile.iota : tensor<6xi64>
    %two = arith.constant dense<2> : tensor<6xi64>
    %three = arith.constant dense<3> : tensor<6xi64>
    %i = arith.subi %l, %two : tensor<6xi64>
    %x32 = tile.load %x[%c0] axes [0] : !x -> tensor<6xi32>
    %j = arith.extsi %x32 : tensor<6xi32> to tensor<6xi64>
    %m = arith.cmpi ne, %l, %three : tensor<6xi64>
    tile.scatter %l, %y[%i, %j] mask %m : tensor<6xi64>, !y, tensor<6xi64>, tensor<6xi64>
    %s = arith.constant 77 : i64
    tile.scatter %s, %y[%c0, %c0] : i64, !y, i64, i64
    %big = arith.constant 4 : i64
    tile.scatter %s, %y[%c0, %big] : i64, !y, i64, i64
    %no = arith.constant false
    tile.scatter %s, %y[%c0, %big] mask %no : i64, !y, i64, i64)",
                     [](auto &at) { return std::vector<double>{0, 0, 3, 1, 2, -1}[at[0]]; });
  y.forEach([&](auto &at) {
    double want = at[0] == 0 && at[1] == 3 ? 2 : at[0] == 2 && at[1] == 2 ? 4 : at[0] == 0 && at[1] == 0 ? 77 : -99;
    EXPECT_EQ(y.get(at), want) << at[0] << ", " << at[1];
  });
}

TEST(AtomicAdd, LanesThatMeetAllCount) {
  auto kernel = compileTile("tile.kernel @f(" + argument("x", "i32", "\"N\"", "in") + ", " + argument("y", "i32", "4 : i64", "inout") + ", " +
                            argument("s", "f32", "1 : i64", "inout") + ", " + dim("N") + R"() {
    %eight = arith.constant 8 : i64
    %tiles = arith.ceildivsi %N, %eight : i64
    %p = tile.program_id of (%tiles) : i64
    %n = arith.muli %p, %eight : i64
    %bins = tile.load %x[%n] axes [0] : memref<?xi32, strided<[?]>> -> tensor<8xi32>
    %wide = arith.extsi %bins : tensor<8xi32> to tensor<8xi64>
    %l = tile.iota : tensor<8xi64>
    %ns = tensor.splat %n : tensor<8xi64>
    %at = arith.addi %ns, %l : tensor<8xi64>
    %Ns = tensor.splat %N : tensor<8xi64>
    %m = arith.cmpi slt, %at, %Ns : tensor<8xi64>
    %ones = arith.constant dense<1> : tensor<8xi32>
    tile.atomic_add %ones, %y[%wide] mask %m : tensor<8xi32>, memref<?xi32, strided<[?]>>, tensor<8xi64>
    %zero = arith.constant 0 : i64
    %half = arith.constant 0.5 : f32
    tile.atomic_add %half, %s[%zero] : f32, memref<?xf32, strided<[?]>>, i64
    tile.return
  })");
  ASSERT_TRUE(kernel);
  for (int64_t count : {0, 1, 8, 29}) {
    HostTensor x(ElementType::i32, {count}), y(ElementType::i32, {4}), s(ElementType::f32, {1});
    x.fill([](auto &at) { return at[0] * at[0] % 7 - 1; });
    y.fill([](auto &at) { return 10 * at[0]; });
    s.fill(0);
    ASSERT_TRUE(call(*kernel, {{"x", &x}, {"y", &y}, {"s", &s}}).ok());
    for (int64_t bin = 0; bin != 4; ++bin) {
      double want = 10 * bin;
      for (int64_t i = 0; i != count; ++i)
        want += i * i % 7 - 1 == bin;
      EXPECT_EQ(y.get({bin}), want) << count;
    }
    EXPECT_EQ(s.get({0}), 0.5 * ((count + 7) / 8));
  }
}

//===-- Control -----------------------------------------------------------------------------------===//

TEST(Control, BranchesGiveTilesInLoops) {
  // a, b = even step: (a + x, b); odd step: (b, a); what each branch leaves alone is passed on.
  auto kernel = compileTile("tile.kernel @f(" + argument("x", "f32", "4 : i64", "in") + ", " + argument("y", "f32", "2 : i64, 4 : i64", "out") +
                            R"(, %n: i64 {tile.name = "n"}) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %t = tile.load %x[%zero] axes [0] : memref<?xf32, strided<[?]>> -> tensor<4xf32>
    %a0 = arith.constant dense<0.0> : tensor<4xf32>
    %b0 = arith.constant dense<100.0> : tensor<4xf32>
    %r:2 = scf.for %i = %zero to %n step %one iter_args(%a = %a0, %b = %b0) -> (tensor<4xf32>, tensor<4xf32>) : i64 {
      %m = arith.remsi %i, %two : i64
      %even = arith.cmpi eq, %m, %zero : i64
      %next:2 = scf.if %even -> (tensor<4xf32>, tensor<4xf32>) {
        %c = arith.addf %a, %t : tensor<4xf32>
        scf.yield %c, %b : tensor<4xf32>, tensor<4xf32>
      } else {
        scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
      }
      scf.yield %next#0, %next#1 : tensor<4xf32>, tensor<4xf32>
    }
    tile.store %r#0, %y[%zero, %zero] axes [1] : tensor<4xf32>, memref<?x?xf32, strided<[?, ?]>>
    tile.store %r#1, %y[%one, %zero] axes [1] : tensor<4xf32>, memref<?x?xf32, strided<[?, ?]>>
    tile.return
  })");
  ASSERT_TRUE(kernel);
  for (int64_t n : {0, 1, 2, 3, 8}) {
    HostTensor x(ElementType::f32, {4}), y(ElementType::f32, {2, 4});
    x.fill([](auto &at) { return at[0] + 1; });
    rt::Arguments arguments = kernel->arguments();
    ASSERT_TRUE(arguments.set("x", x.view()).ok() && arguments.set("y", y.view()).ok() && arguments.set("n", n).ok());
    ASSERT_TRUE(kernel->run(arguments).ok());
    for (int64_t l = 0; l != 4; ++l) {
      double a = 0, b = 100;
      for (int64_t i = 0; i != n; ++i)
        if (i % 2 == 0)
          a += l + 1;
        else
          std::swap(a, b);
      EXPECT_EQ(y.get({0, l}), a) << n;
      EXPECT_EQ(y.get({1, l}), b) << n;
    }
  }
}

TEST(Control, LoopsInLoopsCarryTheSameTile) {
  HostTensor y = map({"x", "i32", {4}}, {"y", "i32", {4}}, R"(
    %three = arith.constant 3 : i64
    %t = tile.load %x[%c0] axes [0] : !x -> tensor<4xi32>
    %r = tile.for_blocks %i = %c0 to %three step 1 iter_args(%a = %t) -> (tensor<4xi32>) {
      %inner = tile.for_blocks %j = %c0 to %three step 2 iter_args(%b = %a) -> (tensor<4xi32>) {
        %c = arith.addi %b, %a : tensor<4xi32>
        tile.yield %c : tensor<4xi32>
      }
      tile.yield %inner : tensor<4xi32>
    }
    %d = arith.addi %r, %t : tensor<4xi32>
    tile.store %d, %y[%c0] axes [0] : tensor<4xi32>, !y)",
                     [](auto &at) { return at[0] + 1; });
  y.forEach([&](auto &at) { EXPECT_EQ(y.get(at), 28 * (at[0] + 1)); });
}

//===-- Help while writing a program --------------------------------------------------------------===//

TEST(Reports, PrintsGoToTheStandardError) {
  testing::internal::CaptureStderr();
  map({"x", "f32", {2, 2}}, {"y", "f32", {1}}, R"(
    %t = tile.load %x[%c0, %c0] axes [0, 1] : !x -> tensor<2x2xf32>
    %i = arith.constant -3 : i8
    %flag = arith.constant true
    %flags = arith.constant dense<[true, false]> : tensor<2xi1>
    %half = arith.constant 1.5 : bf16
    tile.print "none"
    tile.print "t = {}!" (%t) : tensor<2x2xf32>
    tile.print "rest:" (%i, %flag, %half) : i8, i1, bf16
    tile.print "{} then" (%c0, %flags) : i64, tensor<2xi1>)",
      [](auto &at) { return numbered(at) / 4; });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "none\nt = [[0, 0.25], [2.5, 2.75]]!\nrest: -3 true 1.5\n0 then [true, false]\n");
}

TEST(Reports, AssertionsEndTheRunWithAStatus) {
  auto kernel = compile({{"x", "i32", {2, 2}}, {"y", "i32", {1}, "out"}}, R"(
    %t = tile.load %x[%c0, %c0] axes [0, 1] : !x -> tensor<2x2xi32>
    %five = arith.constant dense<5> : tensor<2x2xi32>
    %small = arith.cmpi slt, %t, %five : tensor<2x2xi32>
    tile.assert %small, "all are small" : tensor<2x2xi1> loc("ids.tg":3:7)
    %sum = tile.reduce add %t : tensor<2x2xi32> -> tensor<2xi32>
    %all = tile.reduce add %sum : tensor<2xi32> -> i32
    %ten = arith.constant 10 : i32
    %few = arith.cmpi slt, %all, %ten : i32
    tile.assert %few, "" : i1 loc("ids.tg":4:2)
    tile.scatter %all, %y[%c0] : i32, !y, i64)");
  ASSERT_TRUE(kernel);
  HostTensor x(ElementType::i32, {2, 2}), y(ElementType::i32, {1});
  EXPECT_TRUE(call(*kernel, {{"x", &x.fill(2)}, {"y", &y}}).ok());
  EXPECT_EQ(y.get({0}), 8);
  rt::Status status = call(*kernel, {{"x", &x.fill(3)}, {"y", &y}});
  EXPECT_EQ(status.code(), rt::StatusCode::assertionFailed);
  EXPECT_EQ(status.message(), "ids.tg:4:2: assertion failed");
  // The first one is told, and the rest of the program has run.
  status = call(*kernel, {{"x", &x.fill(6)}, {"y", &y}});
  EXPECT_EQ(status.message(), "ids.tg:3:7: assertion failed: all are small");
  EXPECT_EQ(y.get({0}), 24);
  EXPECT_TRUE(call(*kernel, {{"x", &x.fill(2)}, {"y", &y}}).ok());
}

TEST(Reports, AssertionsTellValues) {
  auto kernel = compile({{"x", "i32", {2, 2}}}, R"(
    %x0 = tile.lookup %x[%c0, %c0] : !x
    %few = arith.constant false
    %half = arith.constant 1.5 : f32
    tile.print "begin"
    tile.assert %few, "{} is no {}, {}{}" (%x0, %half, %few : i32, f32, i1) : i1 loc("ids.tg":5:2)
    tile.assert %few, "{} again" (%x0 : i32) : i1
    tile.print "end {}" (%x0) : i32)");
  ASSERT_TRUE(kernel);
  HostTensor x(ElementType::i32, {2, 2});
  testing::internal::CaptureStderr();
  rt::Status status = call(*kernel, {{"x", &x.fill(7)}});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "begin\nend 7\n");
  EXPECT_EQ(status.message(), "ids.tg:5:2: assertion failed: 7 is no 1.5, false{}");
}

} // namespace
