//===- FillTest.cpp - tensors filled from a seed --------------------------===//
//
// The numbers are fixed for good: recorded results and other machines rely on
// them.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Fill.h"
#include "Expect.h"

#include <algorithm>
#include <cmath>

using namespace tegula;
using namespace tegula::tool;

static Tensor filled(ElementType type, llvm::ArrayRef<int64_t> shape,
                     const FillRule &rule, Layout layout = Layout::bhsd) {
  Tensor tensor =
      valueOf(Tensor::create(type, shape, axisOrder(layout, shape.size())));
  fillTensor(tensor, "q", rule);
  return tensor;
}

TEST(Fill, ValuesAreNearlyNormalAndFixed) {
  Tensor tensor = filled(ElementType::f64, {100000}, {.seed = 7});
  double sum = 0, squares = 0;
  for (double value : tensor.reals()) {
    sum += value;
    squares += value * value;
    ASSERT_LT(std::fabs(value), 3.47);
  }
  EXPECT_NEAR(sum / 100000, 0, 0.01);
  EXPECT_NEAR(squares / 100000, 1, 0.01);
  EXPECT_EQ(randomBits(0, 0), 0xE220A8397B1DCDAFu); // SplitMix64, seed 0
  EXPECT_EQ(randomBits(0, 1), 0x6E789E6AA1B965F4u);
}

TEST(Fill, DependsOnSeedAndNameButNotOnLayout) {
  FillRule rule{.seed = 1};
  Tensor a = filled(ElementType::bf16, {2, 3, 4, 8}, rule);
  EXPECT_EQ(
      a.denseBytes(),
      filled(ElementType::bf16, {2, 3, 4, 8}, rule, Layout::bshd).denseBytes());
  EXPECT_NE(a.denseBytes(),
            filled(ElementType::bf16, {2, 3, 4, 8}, {.seed = 2}).denseBytes());
  EXPECT_NE(streamKey(1, "k"), streamKey(1, "v"));
}

TEST(Fill, RespectsSortedAndRange) {
  FillRule rule{
      .seed = 3, .sorted = true, .hasRange = true, .low = -2, .high = 5};
  std::vector<double> values = filled(ElementType::i32, {4, 50}, rule).reals();
  for (auto row = values.begin(); row != values.end(); row += 50)
    EXPECT_TRUE(std::is_sorted(row, row + 50));
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), -2);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 4);
  // An empty range gives its low end.
  rule.high = -2;
  for (double value : filled(ElementType::i64, {5}, rule).reals())
    EXPECT_EQ(value, -2);
}
