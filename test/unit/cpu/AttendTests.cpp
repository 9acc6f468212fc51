// Hand-written attention programs against dense loops: tiled equals dense, whatever the tile.
#include "test/unit/cpu/AttendProgram.h"
#include "test/unit/cpu/CompileTile.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tegula;
using namespace tegula::test;
using rt::ElementType;

namespace {

const AttendShape shapes[] = {
    {1, 1, 1, 16, 16}, {2, 4, 2, 33, 33}, {1, 2, 1, 1, 1},  {1, 1, 1, 1, 40}, {1, 3, 3, 40, 1}, {1, 2, 2, 7, 50},
    {1, 4, 1, 50, 7},  {2, 2, 1, 5, 0},   {1, 1, 1, 0, 9},  {0, 2, 1, 4, 4},  {1, 7, 1, 19, 23},
};

struct Problem {
  AttendShape shape;
  HostTensor q, k, v, output, lse, wantOutput, wantLse;

  Problem(const AttendProgram &program, const AttendShape &s, std::vector<int> order = {}, int64_t gap = 0)
      : shape(s), q(type(program), {s.batch, s.heads, s.queries, program.headDim}, order, gap),
        k(type(program), {s.batch, s.groups, s.keys, program.headDim}, order, gap),
        v(type(program), {s.batch, s.groups, s.keys, program.valueDim}, order, gap),
        output(type(program), {s.batch, s.heads, s.queries, program.valueDim}, order, gap),
        lse(program.type == "f64" ? ElementType::f64 : ElementType::f32, {s.batch, s.heads, s.queries}),
        wantOutput(ElementType::f64, output.sizes()), wantLse(ElementType::f64, lse.sizes()) {
    q.fillRandom(1);
    k.fillRandom(2);
    v.fillRandom(3);
    denseAttention(s, program.causal, q, k, v, wantOutput, wantLse);
  }
  static ElementType type(const AttendProgram &program) { return *rt::parseElementType(program.type); }

  rt::Status run(const CpuKernel &kernel) {
    output.fill(NAN);
    lse.fill(NAN);
    rt::Arguments arguments = kernel.arguments();
    for (auto [name, tensor] : {std::pair("q", &q), {"k", &k}, {"v", &v}, {"o", &output}, {"lse", &lse}})
      if (rt::Status status = arguments.set(name, tensor->view()); !status.ok())
        return status;
    return kernel.run(arguments);
  }

  void check(double limit) {
    std::string where = "B,H,G,M,N = " + std::to_string(shape.batch) + "," + std::to_string(shape.heads) + "," +
                        std::to_string(shape.groups) + "," + std::to_string(shape.queries) + "," + std::to_string(shape.keys);
    compare(output, wantOutput, limit, where + " o");
    compare(lse, wantLse, limit, where + " lse");
    EXPECT_TRUE(output.outsideIntact()) << where;
    EXPECT_TRUE(lse.outsideIntact()) << where;
  }

  static void compare(const HostTensor &got, const HostTensor &want, double limit, const std::string &where) {
    double worst = 0;
    got.forEach([&](const std::vector<int64_t> &index) {
      double x = got.get(index), y = want.get(index);
      if (x != y)
        worst = std::max(worst, std::isfinite(x - y) ? std::abs(x - y) : INFINITY);
    });
    EXPECT_LE(worst, limit) << where;
  }
};

void checkAllShapes(const AttendProgram &program, double limit) {
  std::unique_ptr<CpuKernel> kernel = compileTile(program.text());
  ASSERT_TRUE(kernel);
  for (const AttendShape &shape : shapes) {
    Problem problem(program, shape);
    rt::Status status = problem.run(*kernel);
    ASSERT_TRUE(status.ok()) << status.message();
    problem.check(limit);
  }
}

TEST(Attend, F64EqualsDenseAtEveryTileSize) {
  for (bool causal : {false, true})
    for (auto [blockM, blockN] : {std::pair(16, 16), {32, 8}, {5, 7}, {1, 64}, {64, 1}})
      checkAllShapes({"f64", blockM, blockN, 8, 12, causal}, 1e-12);
}

TEST(Attend, NarrowTypesStayInTolerance) {
  for (bool causal : {false, true}) {
    checkAllShapes({"f32", 16, 16, 16, 8, causal}, 1e-5);
    checkAllShapes({"f16", 16, 16, 16, 8, causal}, 2e-3);
    checkAllShapes({"bf16", 16, 16, 16, 8, causal}, 2e-2);
  }
}

TEST(Attend, StridesDoNotMatter) {
  AttendProgram program = {"bf16", 16, 16, 16, 16, true};
  std::unique_ptr<CpuKernel> kernel = compileTile(program.text());
  ASSERT_TRUE(kernel);
  Problem dense(program, {2, 4, 2, 21, 37});
  ASSERT_TRUE(dense.run(*kernel).ok());
  for (std::vector<int> order : {std::vector<int>{0, 2, 1, 3}, {0, 1, 3, 2}, {3, 2, 1, 0}}) {
    Problem other(program, dense.shape, order, /*gap=*/3);
    ASSERT_TRUE(other.run(*kernel).ok());
    EXPECT_TRUE(other.output.outsideIntact());
    Problem::compare(other.output, dense.output, 0, "another layout");
  }
}

TEST(Attend, UnseenRowsAreZero) {
  AttendProgram program = {"f64", 16, 16, 8, 8, true};
  std::unique_ptr<CpuKernel> kernel = compileTile(program.text());
  ASSERT_TRUE(kernel);
  Problem problem(program, {1, 1, 1, 20, 6});
  ASSERT_TRUE(problem.run(*kernel).ok());
  for (int64_t i = 0; i != 14; ++i) {
    EXPECT_EQ(problem.lse.get({0, 0, i}), -INFINITY);
    for (int64_t e = 0; e != 8; ++e)
      EXPECT_EQ(problem.output.get({0, 0, i, e}), 0);
  }
  EXPECT_TRUE(std::isfinite(problem.lse.get({0, 0, 14})));
}

} // namespace
