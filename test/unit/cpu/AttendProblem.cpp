#include "test/unit/cpu/AttendProblem.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tegula;
using namespace tegula::test;
using rt::ElementType;

static constexpr double infinity = std::numeric_limits<double>::infinity();

std::string AttendShape::text() const {
  std::string result;
  for (int64_t extent : {batch, heads, groups, queries, keys})
    result += (result.empty() ? "B,H,G,M,N = " : ",") + std::to_string(extent);
  return result;
}

std::vector<AttendShape> tegula::test::attendShapes() {
  return {{1, 1, 1, 16, 16}, {2, 4, 2, 33, 33}, {1, 2, 1, 1, 1}, {1, 1, 1, 1, 40}, {1, 3, 3, 40, 1}, {1, 2, 2, 7, 50},
          {1, 4, 1, 50, 7},  {2, 2, 1, 5, 0},   {1, 1, 1, 0, 9}, {0, 2, 1, 4, 4},  {1, 7, 1, 19, 23}};
}

Variant Variant::full() {
  return {[](int64_t, int64_t, int64_t, int64_t) { return true; }, [](double s, int64_t, int64_t, int64_t, int64_t) { return s; }};
}

Variant Variant::causal(const AttendShape &shape) {
  Variant result = full();
  int64_t shift = shape.keys - shape.queries;
  result.visible = [shift](int64_t, int64_t, int64_t i, int64_t j) { return i + shift >= j; };
  return result;
}

AttendProblem::AttendProblem(const AttendShape &s, ElementType type, int64_t headDim, int64_t valueDim, const Layout &layout)
    : shape(s), q(type, {s.batch, s.heads, s.queries, headDim}, layout.order, layout.gap),
      k(type, {s.batch, s.groups, s.keys, headDim}, layout.order, layout.gap),
      v(type, {s.batch, s.groups, s.keys, valueDim}, layout.order, layout.gap),
      output(type, {s.batch, s.heads, s.queries, valueDim}, layout.order, layout.gap),
      lse(type == ElementType::f64 ? type : ElementType::f32, {s.batch, s.heads, s.queries}) {
  q.fillRandom(1);
  k.fillRandom(2);
  v.fillRandom(3);
}

bool AttendProblem::run(const CpuKernel &kernel, const std::function<rt::Status(rt::Arguments &)> &parameters) {
  output.fill(NAN);
  lse.fill(NAN);
  rt::Arguments arguments = kernel.arguments();
  rt::Status status;
  for (auto [name, tensor] : {std::pair("q", &q), {"k", &k}, {"v", &v}, {"o", &output}, {"lse", &lse}})
    if (status.ok())
      status = arguments.set(name, tensor->view());
  if (status.ok() && parameters)
    status = parameters(arguments);
  if (status.ok())
    status = kernel.run(arguments);
  EXPECT_TRUE(status.ok()) << shape.text() << ": " << status.message();
  return status.ok();
}

/// One query row: its output, and its lse as the result.
static double denseRow(const AttendProblem &p, const Variant &variant, int64_t b, int64_t h, int64_t i, std::vector<double> &output) {
  int64_t g = h / (p.shape.heads / p.shape.groups), headDim = p.q.sizes()[3];
  std::vector<double> scores(p.shape.keys, -infinity);
  double max = -infinity, sum = 0;
  for (int64_t j = 0; j != p.shape.keys; ++j) {
    if (!variant.visible(b, h, i, j))
      continue;
    double dot = 0;
    for (int64_t d = 0; d != headDim; ++d)
      dot += p.q.get({b, h, i, d}) * p.k.get({b, g, j, d});
    scores[j] = variant.score(dot / std::sqrt(static_cast<double>(headDim)), b, h, i, j);
    max = std::max(max, scores[j]);
  }
  std::fill(output.begin(), output.end(), 0);
  if (max == -infinity)
    return -infinity;
  for (double score : scores)
    sum += std::exp(score - max);
  for (int64_t j = 0; j != p.shape.keys; ++j)
    for (size_t e = 0; e != output.size(); ++e)
      output[e] += std::exp(scores[j] - max) / sum * p.v.get({b, g, j, static_cast<int64_t>(e)});
  return max + std::log(sum);
}

void AttendProblem::expectDense(const Variant &variant, double limit) {
  HostTensor wantOutput(ElementType::f64, output.sizes()), wantLse(ElementType::f64, lse.sizes());
  std::vector<double> row(output.sizes()[3]);
  lse.forEach([&](const std::vector<int64_t> &index) {
    wantLse.set(index, denseRow(*this, variant, index[0], index[1], index[2], row));
    for (size_t e = 0; e != row.size(); ++e)
      wantOutput.set({index[0], index[1], index[2], static_cast<int64_t>(e)}, row[e]);
  });
  EXPECT_LE(distance(output, wantOutput), limit) << "o, " << shape.text();
  EXPECT_LE(distance(lse, wantLse), limit) << "lse, " << shape.text();
  EXPECT_TRUE(output.outsideIntact() && lse.outsideIntact()) << shape.text();
}

double tegula::test::distance(const HostTensor &a, const HostTensor &b) {
  double worst = 0;
  a.forEach([&](const std::vector<int64_t> &index) {
    double x = a.get(index), y = b.get(index);
    if (x != y)
      worst = std::max(worst, std::isfinite(x - y) ? std::abs(x - y) : infinity);
  });
  return worst;
}
