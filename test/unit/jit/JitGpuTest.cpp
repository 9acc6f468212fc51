//===- JitGpuTest.cpp - text to results on a real GPU ---------------------===//
//
// A program compiles a text and launches it on its own memory and stream: from
// several threads, in a graph, with operands that TMA cannot take. The numbers
// are checked against dense float64 loops. Skipped without a GPU.
//
//===----------------------------------------------------------------------===//
#include "runtime/Concat.h"
#include "runtime/jit/Jit.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <thread>

using namespace tegula::rt;

#define ASSERT_OK(expr)                                                        \
  do {                                                                         \
    const Status &okStatus = (expr);                                           \
    ASSERT_TRUE(okStatus.ok()) << okStatus.message();                          \
  } while (false)

static const char *const causalText = R"tg(
attention causal(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: T[B,H,M,E], lse: f32[B,H,M]) {
  static D = 64, E = 64, T = bf16
  mask i + (N - M) >= j
}
)tg";

static uint16_t toBf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
static double fromBf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

namespace {
/// A tensor of bf16 in [B, heads, rows, 64] with `gap` elements after each row.
struct Tensor {
  std::vector<uint16_t> host;
  std::optional<Buffer> memory;
  TensorView view;

  Tensor(const Device &device, const Stream &stream, int64_t heads,
         int64_t rows, int seed, int64_t gap) {
    int64_t stride = 64 + gap;
    host.resize(heads * rows * stride);
    unsigned state = static_cast<unsigned>(seed) * 2654435761u + 1;
    for (uint16_t &each : host) {
      state = state * 1664525u + 1013904223u;
      each = toBf16(static_cast<float>(state >> 8) / (1 << 23) - 1.0f);
    }
    auto made = Buffer::allocate(device, host.size() * 2);
    EXPECT_TRUE(made.ok());
    memory.emplace(std::move(*made));
    EXPECT_TRUE(memory->upload(host.data(), host.size() * 2, stream).ok());
    view = TensorView::contiguous(memory->data(), ElementType::bf16,
                                  {1, heads, rows, 64});
    view.strides[2] = stride;
    view.strides[1] = stride * rows;
    view.strides[0] = stride * rows * heads;
  }
  double at(int64_t head, int64_t row, int64_t column) const {
    return fromBf16(
        host[head * view.strides[1] + row * view.strides[2] + column]);
  }
};

/// One problem: H = 4, G = 2, and its answer.
struct Problem {
  static constexpr int heads = 4, groups = 2;
  int m, n;
  Tensor q, k, v, o;
  Buffer lse;

  Problem(const Device &device, const Stream &stream, int m, int n,
          int64_t gap = 0)
      : m(m), n(n), q(device, stream, heads, m, 1, 0),
        k(device, stream, groups, n, 2, gap),
        v(device, stream, groups, n, 3, 0), o(device, stream, heads, m, 4, 0),
        lse(std::move(*Buffer::allocate(device, heads * m * 4))) {
    EXPECT_TRUE(lse.fill(0xff, stream).ok());
    EXPECT_TRUE(o.memory->fill(0xff, stream).ok());
  }

  Arguments arguments(const KernelSet &kernels) {
    Arguments out = kernels.arguments();
    EXPECT_TRUE(out.set("q", q.view).ok());
    EXPECT_TRUE(out.set("k", k.view).ok());
    EXPECT_TRUE(out.set("v", v.view).ok());
    EXPECT_TRUE(out.set("o", o.view).ok());
    EXPECT_TRUE(out.set("lse", TensorView::contiguous(
                                   lse.data(), ElementType::f32, {1, heads, m}))
                    .ok());
    return out;
  }

  /// Compares with dense attention in float64.
  void check(const Stream &stream) {
    std::vector<uint16_t> got(o.host.size());
    std::vector<float> gotLse(heads * m);
    ASSERT_OK(o.memory->download(got.data(), got.size() * 2, stream));
    ASSERT_OK(lse.download(gotLse.data(), gotLse.size() * 4, stream));
    double worst = 0, worstLse = 0;
    for (int h = 0; h != heads; ++h)
      for (int i = 0; i != m; ++i) {
        int g = h / (heads / groups);
        std::vector<double> weights;
        double sum = 0;
        for (int j = 0; j < n && j <= i + n - m; ++j) {
          double score = 0;
          for (int d = 0; d != 64; ++d)
            score += q.at(h, i, d) * k.at(g, j, d);
          weights.push_back(std::exp(score / 8));
          sum += weights.back();
        }
        for (int e = 0; e != 64; ++e) {
          double want = 0;
          for (size_t j = 0; j != weights.size(); ++j)
            want += weights[j] / sum * v.at(g, static_cast<int64_t>(j), e);
          double have = fromBf16(got[(h * m + i) * 64 + e]);
          worst =
              std::max(worst, std::isnan(have) ? 1e9 : std::abs(have - want));
        }
        double have = gotLse[h * m + i];
        if (weights.empty())
          EXPECT_EQ(have, -INFINITY);
        else
          worstLse =
              std::max(worstLse,
                       std::isnan(have) ? 1e9 : std::abs(have - std::log(sum)));
      }
    EXPECT_LT(worst, 0.01);
    EXPECT_LT(worstLse, 1e-3);
  }
};

class JitGpuTest : public ::testing::Test {
protected:
  Jit jit;
  const Device *device = nullptr;
  std::optional<Stream> stream;
  std::shared_ptr<KernelSet> kernels;

  void SetUp() override {
    Result<const Device *> found = Device::get(0);
    if (!found.ok())
      GTEST_SKIP() << found.status().message();
    device = *found;
    stream.emplace(std::move(*Stream::create(*device)));
    auto kernel = jit.compile({.source = causalText, .fileName = "causal.tg"});
    ASSERT_OK(kernel.status());
    kernels = (*kernel)->kernels;
  }
};
} // namespace

TEST_F(JitGpuTest, RightForManyLengths) {
  for (auto [m, n] : {std::pair{1, 1},
                      {1, 77},
                      {77, 1},
                      {128, 128},
                      {129, 200},
                      {200, 129},
                      {300, 300}}) {
    SCOPED_TRACE(concat("M = ", m, ", N = ", n));
    Problem problem(*device, *stream, m, n);
    LaunchReport report;
    ASSERT_OK(kernels->launch(stream->handle(), problem.arguments(*kernels),
                              &report));
    EXPECT_EQ(report.form, Form::pipelined) << report.reason;
    problem.check(*stream);
  }
}

TEST_F(JitGpuTest, OddStridesTakeTheDirectKernel) {
  Problem problem(*device, *stream, 129, 200, /*gap=*/1);
  LaunchReport report;
  ASSERT_OK(
      kernels->launch(stream->handle(), problem.arguments(*kernels), &report));
  EXPECT_EQ(report.form, Form::direct);
  EXPECT_EQ(report.reason, "the stride of axis 2 of `k`, 130 bytes, is not a "
                           "multiple of 16");
  problem.check(*stream);
}

TEST_F(JitGpuTest, NullOutputsAreSkipped) {
  for (int64_t gap : {0, 1}) { // pipelined, direct
    Problem problem(*device, *stream, 129, 200, gap);
    Arguments onlyO = problem.arguments(*kernels), onlyLse = onlyO;
    ASSERT_OK(onlyO.setNull("lse"));
    ASSERT_OK(onlyLse.setNull("o"));
    LaunchReport report;
    for (const Arguments &arguments : {onlyO, onlyLse}) {
      ASSERT_OK(kernels->launch(stream->handle(), arguments, &report));
      EXPECT_EQ(report.form, gap ? Form::direct : Form::pipelined);
    }
    problem.check(*stream); // the other output is there, the null one intact
  }
}

TEST_F(JitGpuTest, EightFreshThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i != 8; ++i)
    threads.emplace_back([&, i] {
      Stream own = std::move(*Stream::create(*device));
      Problem problem(*device, own, 100 + i, 150, /*gap=*/i % 2);
      ASSERT_OK(kernels->launch(own.handle(), problem.arguments(*kernels)));
      problem.check(own);
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// Launches that overlap, plain ones and a graph's, each with its own problem:
/// with counters in common, tiles would be left out.
TEST_F(JitGpuTest, CountersAreNotShared) {
  if (!kernels->preferredKernel().manifest().hasWorkspace())
    GTEST_SKIP() << "the compiled kernel takes no workspace";
  const Driver &driver = **Driver::get();
  ContextScope scope(driver, device->context);
  constexpr int numStreams = 8, rounds = 20;
  std::vector<Stream> streams;
  std::vector<std::unique_ptr<Problem>> problems;
  for (int i = 0; i != numStreams; ++i) {
    streams.push_back(std::move(*Stream::create(*device)));
    problems.push_back(
        std::make_unique<Problem>(*device, streams[i], 300 + i, 350));
  }
  Problem captured(*device, *stream, 290, 350);
  cu::Graph graph = nullptr;
  ASSERT_OK(TEGULA_CU(driver, streamBeginCapture, stream->handle(),
                      cu::captureModeGlobal));
  Status inGraph =
      kernels->launch(stream->handle(), captured.arguments(*kernels));
  ASSERT_OK(TEGULA_CU(driver, streamEndCapture, stream->handle(), &graph));
  ASSERT_OK(inGraph);
  cu::GraphExec exec = nullptr;
  ASSERT_OK(TEGULA_CU(driver, graphInstantiate, &exec, graph, 0));

  // Every round writes all anew: what is checked is the last one.
  for (int round = 0; round != rounds; ++round) {
    for (int i = 0; i != numStreams; ++i) {
      Problem &problem = *problems[i];
      cu::DevicePtr o = reinterpret_cast<cu::DevicePtr>(problem.o.view.data);
      ASSERT_OK(TEGULA_CU(driver, memsetD8Async, o, 0xff,
                          problem.o.memory->size(), streams[i].handle()));
      ASSERT_OK(
          kernels->launch(streams[i].handle(), problem.arguments(*kernels)));
    }
    ASSERT_OK(TEGULA_CU(driver, graphLaunch, exec, stream->handle()));
  }
  for (int i = 0; i != numStreams; ++i) {
    problems[i]->check(streams[i]);
    ASSERT_OK(kernels->redoneRows(streams[i].handle()).status());
  }
  captured.check(*stream);
  EXPECT_TRUE(TEGULA_CU(driver, graphExecDestroy, exec).ok());
  EXPECT_TRUE(TEGULA_CU(driver, graphDestroy, graph).ok());
}

TEST_F(JitGpuTest, PreparedLaunchesAreCaptured) {
  const Driver &driver = **Driver::get();
  ContextScope scope(driver, device->context);
  Problem plain(*device, *stream, 150, 170);
  Problem odd(*device, *stream, 150, 170, /*gap=*/1);
  cu::Graph graph = nullptr;
  // Unprepared, the direct kernel is refused and the capture stays whole.
  ASSERT_OK(TEGULA_CU(driver, streamBeginCapture, stream->handle(),
                      cu::captureModeGlobal));
  Status status = kernels->launch(stream->handle(), odd.arguments(*kernels));
  ASSERT_OK(TEGULA_CU(driver, streamEndCapture, stream->handle(), &graph));
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_TRUE(TEGULA_CU(driver, graphDestroy, graph).ok());

  ASSERT_OK(kernels->prepare(stream->handle()));
  ASSERT_OK(TEGULA_CU(driver, streamBeginCapture, stream->handle(),
                      cu::captureModeGlobal));
  Status first = kernels->launch(stream->handle(), plain.arguments(*kernels));
  Status second = kernels->launch(stream->handle(), odd.arguments(*kernels));
  ASSERT_OK(TEGULA_CU(driver, streamEndCapture, stream->handle(), &graph));
  ASSERT_OK(first);
  ASSERT_OK(second);
  size_t nodes = 0;
  ASSERT_OK(TEGULA_CU(driver, graphGetNodes, graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 2u);
  cu::GraphExec exec = nullptr;
  ASSERT_OK(TEGULA_CU(driver, graphInstantiate, &exec, graph, 0));
  for (int i = 0; i != 2; ++i) {
    ASSERT_OK(plain.o.memory->fill(0xff, *stream));
    ASSERT_OK(odd.o.memory->fill(0xff, *stream));
    ASSERT_OK(TEGULA_CU(driver, graphLaunch, exec, stream->handle()));
    plain.check(*stream);
    odd.check(*stream);
  }
  EXPECT_TRUE(TEGULA_CU(driver, graphExecDestroy, exec).ok());
  EXPECT_TRUE(TEGULA_CU(driver, graphDestroy, graph).ok());
}
