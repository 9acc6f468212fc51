// Hand-written attention programs against dense loops: tiled equals dense, whatever the tile.
#include "test/unit/cpu/AttendProblem.h"
#include "test/unit/cpu/AttendProgram.h"
#include "test/unit/cpu/CompileTile.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tegula;
using namespace tegula::test;

namespace {

AttendProblem problemFor(const AttendProgram &program, const AttendShape &shape, const Layout &layout = {}) {
  return AttendProblem(shape, *rt::parseElementType(program.type), program.headDim, program.valueDim, layout);
}

void checkAllShapes(const AttendProgram &program, double limit) {
  std::unique_ptr<CpuKernel> kernel = compileTile(program.text());
  ASSERT_TRUE(kernel);
  for (const AttendShape &shape : attendShapes()) {
    AttendProblem problem = problemFor(program, shape);
    ASSERT_TRUE(problem.run(*kernel));
    problem.expectDense(program.causal ? Variant::causal(shape) : Variant::full(), limit);
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
  AttendProblem dense = problemFor(program, {2, 4, 2, 21, 37});
  ASSERT_TRUE(dense.run(*kernel));
  for (std::vector<int> order : {std::vector<int>{0, 2, 1, 3}, {0, 1, 3, 2}, {3, 2, 1, 0}}) {
    AttendProblem other = problemFor(program, dense.shape, {order, /*gap=*/3});
    ASSERT_TRUE(other.run(*kernel));
    EXPECT_TRUE(other.output.outsideIntact());
    EXPECT_EQ(distance(other.output, dense.output), 0);
  }
}

TEST(Attend, UnseenRowsAreZero) {
  AttendProgram program = {"f64", 16, 16, 8, 8, true};
  std::unique_ptr<CpuKernel> kernel = compileTile(program.text());
  ASSERT_TRUE(kernel);
  AttendProblem problem = problemFor(program, {1, 1, 1, 20, 6});
  ASSERT_TRUE(problem.run(*kernel));
  for (int64_t i = 0; i != 14; ++i) {
    EXPECT_EQ(problem.lse.get({0, 0, i}), -INFINITY);
    for (int64_t e = 0; e != 8; ++e)
      EXPECT_EQ(problem.output.get({0, 0, i, e}), 0);
  }
  EXPECT_TRUE(std::isfinite(problem.lse.get({0, 0, 14})));
}

} // namespace
