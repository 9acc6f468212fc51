// The online softmax and tile.merge as numbers: partial states over disjoint keys join to the softmax of all.
#include "test/unit/cpu/CompileTile.h"
#include "test/unit/cpu/HostTensor.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tegula;
using namespace tegula::test;
using rt::ElementType;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct State {
  double max = -infinity, sum = 0, acc = 0;
};

/// Runs a kernel on scalars `in` (one 1 x 1 tile each: %x0, %x1, ...) that stores the tiles it yields in `results`.
std::vector<double> evaluate(const std::vector<double> &in, const std::string &body, const std::vector<std::string> &results) {
  std::string text = "tile.kernel @f(%x: memref<?xf64, strided<[?]>> {tile.name = \"x\", tile.dims = [\"N\"], tile.role = \"in\"}, "
                     "%y: memref<?xf64, strided<[?]>> {tile.name = \"y\", tile.dims = [\"K\"], tile.role = \"out\"}, "
                     "%N: i64 {tile.dim = \"N\"}, %K: i64 {tile.dim = \"K\"}) {\n";
  for (size_t i = 0; i != in.size(); ++i) {
    std::string n = std::to_string(i);
    text += "%i" + n + " = arith.constant " + n + " : i64\n%x" + n + " = tile.load %x[%i" + n +
            "] axes [0] : memref<?xf64, strided<[?]>> -> tensor<1xf64>\n%t" + n + " = tile.broadcast %x" + n +
            " : tensor<1xf64> -> tensor<1x1xf64>\n";
  }
  text += body;
  for (size_t i = 0; i != results.size(); ++i) {
    std::string n = std::to_string(i);
    text += "%o" + n + " = arith.constant " + n + " : i64\ntile.store " + results[i] + ", %y[%o" + n +
            "] axes [0] : tensor<1xf64>, memref<?xf64, strided<[?]>>\n";
  }
  text += "tile.return\n}";
  std::unique_ptr<CpuKernel> kernel = compileTile(text);
  if (!kernel)
    return std::vector<double>(results.size(), NAN);
  HostTensor x(ElementType::f64, {static_cast<int64_t>(in.size())}), y(ElementType::f64, {static_cast<int64_t>(results.size())});
  x.fill([&](auto &index) { return in[index[0]]; });
  rt::Arguments arguments = kernel->arguments();
  EXPECT_TRUE(arguments.set("x", x.view()).ok() && arguments.set("y", y.view()).ok());
  rt::Status status = kernel->run(arguments);
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<double> out;
  y.forEach([&](auto &index) { out.push_back(y.get(index)); });
  return out;
}

/// A 1 x 1 tile as a vector of one element.
std::string flatten(const std::string &name, const std::string &tile) {
  return name + " = tile.reduce add " + tile + " : tensor<1x1xf64> -> tensor<1xf64>\n";
}

State merge(const State &a, const State &b) {
  std::vector<double> out = evaluate(
      {a.max, a.sum, a.acc, b.max, b.sum, b.acc},
      "%m, %l, %u = tile.merge (%x0, %x1, %t2), (%x3, %x4, %t5) scale 1.0 : tensor<1xf64>, tensor<1x1xf64>\n" + flatten("%uf", "%u"),
      {"%m", "%l", "%uf"});
  return {out[0], out[1], out[2]};
}

/// The output and the lse of a state.
std::pair<double, double> finish(const State &state) {
  std::vector<double> out =
      evaluate({state.max, state.sum, state.acc},
               "%o, %e = tile.finish %x0, %x1, %t2 scale 1.0 : tensor<1xf64>, tensor<1x1xf64>\n" + flatten("%of", "%o"), {"%of", "%e"});
  return {out[0], out[1]};
}

/// The state of some keys with one value each.
State stateOf(const std::vector<double> &scores, const std::vector<double> &values) {
  State state;
  for (double score : scores)
    state.max = std::max(state.max, score);
  for (size_t j = 0; j != scores.size(); ++j) {
    double weight = state.max == -infinity ? 0 : std::exp(scores[j] - state.max);
    state.sum += weight;
    state.acc += weight * values[j];
  }
  return state;
}

void expectNear(const State &a, const State &b) {
  EXPECT_TRUE(a.max == b.max) << a.max << " and " << b.max;
  EXPECT_NEAR(a.sum, b.sum, 1e-14);
  EXPECT_NEAR(a.acc, b.acc, 1e-14);
}

TEST(Merge, RescalesThePartWithTheSmallerMax) {
  State a = stateOf({0, std::log(2)}, {1, 2}), b = stateOf({std::log(3)}, {4});
  expectNear(a, {std::log(2), 1.5, 2.5});
  expectNear(b, {std::log(3), 1, 4});
  EXPECT_NEAR(finish(merge(a, b)).first, 17.0 / 6, 1e-14);
  EXPECT_NEAR(finish(merge(a, b)).second, std::log(6), 1e-14);
  EXPECT_NEAR((a.acc + b.acc) / (a.sum + b.sum), 2.6, 1e-14) << "what a merge without rescaling would give";
}

TEST(Merge, IsNotTheMeanOfPartialOutputs) {
  State a = stateOf({0, std::log(3)}, {2, 6}), b = stateOf({std::log(2)}, {10});
  EXPECT_NEAR(finish(a).first, 5, 1e-14);
  EXPECT_NEAR(finish(b).first, 10, 1e-14);
  EXPECT_NEAR(finish(merge(a, b)).first, 20.0 / 3, 1e-14);
}

TEST(Merge, HasAnIdentity) {
  State some = stateOf({0.5, -2, 3}, {1, 5, -2}), none;
  expectNear(merge(some, none), some);
  expectNear(merge(none, some), some);
  expectNear(merge(none, none), none);
  EXPECT_EQ(finish(none).first, 0);
  EXPECT_EQ(finish(none).second, -infinity);
}

TEST(Merge, IsAssociative) {
  State a = stateOf({700, 1}, {1, 2}), b = stateOf({-700, -701}, {3, -4}), c = stateOf({699.5}, {5});
  expectNear(merge(merge(a, b), c), merge(a, merge(b, c)));
  expectNear(merge(merge(a, b), c), stateOf({700, 1, -700, -701, 699.5}, {1, 2, 3, -4, 5}));
}

TEST(OnlineSoftmax, TakesScoresOneByOne) {
  std::string tile = "tensor<1x1xf64>, tensor<1xf64>\n", body = "%max0 = arith.constant dense<0xFFF0000000000000> : tensor<1xf64>\n"
                                                                "%sum0 = arith.constant dense<0.0> : tensor<1xf64>\n";
  for (int i = 0; i != 3; ++i) {
    std::string n = std::to_string(i), next = std::to_string(i + 1);
    body += "%p" + n + ", %max" + next + ", %sum" + next + ", %a" + n + " = tile.online_softmax %t" + n + ", %max" + n + ", %sum" + n +
            " scale 1.0 : " + tile + flatten("%w" + n, "%p" + n);
  }
  std::vector<double> out = evaluate({-infinity, 1, 3}, body, {"%w0", "%a0", "%sum1", "%w1", "%a1", "%w2", "%a2", "%sum3", "%max3"});
  double e = std::exp(-2);
  const double want[] = {0, 0, 0, 1, 0, 1, e, 1 + e, 3};
  for (int i = 0; i != 9; ++i)
    EXPECT_NEAR(out[i], want[i], 1e-15) << i;
}

} // namespace
