//===- GpuTest.cpp - the runtime on a real GPU ----------------------------===//
//
// What the stand-in driver cannot tell: that parameters arrive in a kernel,
// that tensor maps read what they should, that launches are captured, that
// contexts and threads are as the driver wants them. Skipped without a GPU.
//
//===----------------------------------------------------------------------===//
#include "GpuKernels.h"
#include "runtime/Kernel.h"
#include "runtime/TensorMap.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace tegula::rt;
using namespace tegula::rt::test;

#define ASSERT_OK(expr)                                                        \
  do {                                                                         \
    const Status &okStatus = (expr);                                           \
    ASSERT_TRUE(okStatus.ok()) << okStatus.message();                          \
  } while (false)

#define EXPECT_OK(expr)                                                        \
  do {                                                                         \
    const Status &okStatus = (expr);                                           \
    EXPECT_TRUE(okStatus.ok()) << okStatus.message();                          \
  } while (false)

namespace {
class GpuTest : public ::testing::Test {
protected:
  const Device *device = nullptr;
  std::optional<Stream> stream;

  void SetUp() override {
    Result<const Device *> found = Device::get(0);
    if (!found.ok())
      GTEST_SKIP() << found.status().message();
    device = *found;
    auto made = Stream::create(*device);
    ASSERT_OK(made.status());
    stream.emplace(std::move(*made));
  }
  Buffer buffer(size_t bytes) {
    auto made = Buffer::allocate(*device, bytes);
    EXPECT_TRUE(made.ok()) << made.status().message();
    EXPECT_TRUE(made->fill(0xff, *stream).ok());
    return std::move(*made);
  }
  std::shared_ptr<Kernel> load(const char *manifest, const char *ptx) {
    auto kernel = Kernel::load(manifest, ptx);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    return kernel.ok() ? *kernel : nullptr;
  }
  bool isTooOldForTma() { return device->major < 9; }
};

/// A call of `facts`: what it writes for the arguments below.
struct Facts {
  Buffer x, out;
  Arguments arguments;
  Facts(Kernel &kernel, Buffer xBuffer, Buffer outBuffer)
      : x(std::move(xBuffer)), out(std::move(outBuffer)),
        arguments(kernel.arguments()) {
    TensorView view =
        TensorView::contiguous(x.data(), ElementType::bf16, {2, 5});
    view.strides[0] = -7;
    EXPECT_TRUE(arguments.set("x", view).ok());
    EXPECT_TRUE(arguments
                    .set("out", TensorView::contiguous(out.data(),
                                                       ElementType::i64, {6}))
                    .ok());
    EXPECT_TRUE(arguments.set("W", -3).ok());
    EXPECT_TRUE(arguments.set("cap", 0.5).ok());
  }
  void check(const Stream &stream) {
    int64_t got[6];
    ASSERT_OK(out.download(got, sizeof got, stream));
    EXPECT_EQ(got[0], 5);
    EXPECT_EQ(got[1], -7);
    EXPECT_EQ(got[2], -3);
    EXPECT_EQ(got[3], 0x3f000000);
    EXPECT_EQ(got[4], reinterpret_cast<int64_t>(x.data()));
    EXPECT_EQ(got[5], 3);
  }
};
} // namespace

TEST_F(GpuTest, ParametersArrive) {
  auto kernel = load(factsManifest, factsPtx);
  ASSERT_TRUE(kernel);
  Facts facts(*kernel, buffer(64), buffer(48));
  ASSERT_OK(kernel->launch(stream->handle(), facts.arguments));
  facts.check(*stream);
  auto resources = kernel->resources();
  ASSERT_OK(resources.status());
  EXPECT_GT(resources->registers, 0);
}

TEST_F(GpuTest, EightFreshThreads) {
  auto kernel = load(factsManifest, factsPtx);
  ASSERT_TRUE(kernel);
  std::vector<std::thread> threads;
  for (int i = 0; i != 8; ++i)
    threads.emplace_back([&, i] {
      Facts facts(*kernel, buffer(64), buffer(48));
      // The default stream of a thread without a context, and a stream.
      void *on = i % 2 ? stream->handle() : nullptr;
      ASSERT_OK(kernel->launch(on, facts.arguments));
      if (!on) {
        const Driver &driver = **Driver::get();
        ContextScope scope(driver, device->context);
        ASSERT_OK(TEGULA_CU(driver, ctxSynchronize));
      }
      facts.check(*stream);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(GpuTest, LaunchesAreCaptured) {
  const Driver &driver = **Driver::get();
  ContextScope scope(driver, device->context);
  auto kernel = load(factsManifest, factsPtx);
  ASSERT_TRUE(kernel);
  Facts facts(*kernel, buffer(64), buffer(48));
  ASSERT_OK(TEGULA_CU(driver, streamBeginCapture, stream->handle(),
                      cu::captureModeGlobal));
  Status launched = kernel->launch(stream->handle(), facts.arguments);
  // A kernel may be loaded while another stream is captured.
  auto second = Kernel::load(factsManifest, factsPtx);
  cu::Graph graph = nullptr;
  ASSERT_OK(TEGULA_CU(driver, streamEndCapture, stream->handle(), &graph));
  ASSERT_OK(launched);
  EXPECT_TRUE(second.ok()) << second.status().message();
  size_t nodes = 0;
  ASSERT_OK(TEGULA_CU(driver, graphGetNodes, graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 1u);
  cu::GraphExec exec = nullptr;
  ASSERT_OK(TEGULA_CU(driver, graphInstantiate, &exec, graph, 0));
  for (int i = 0; i != 3; ++i) {
    ASSERT_OK(facts.out.fill(0xff, *stream));
    ASSERT_OK(TEGULA_CU(driver, graphLaunch, exec, stream->handle()));
    facts.check(*stream);
  }
  EXPECT_TRUE(TEGULA_CU(driver, graphExecDestroy, exec).ok());
  EXPECT_TRUE(TEGULA_CU(driver, graphDestroy, graph).ok());
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

namespace {
/// A call of `tickets` on tiles of its own.
struct Tickets {
  static constexpr int tiles = 100;
  const Kernel &kernel;
  Buffer seen;
  Arguments arguments;
  Tickets(const Device &device, const Kernel &kernel, const Stream &stream)
      : kernel(kernel),
        seen(std::move(*Buffer::allocate(device, tiles * sizeof(int32_t)))),
        arguments(kernel.arguments()) {
    EXPECT_TRUE(seen.fill(0, stream).ok());
    EXPECT_TRUE(arguments
                    .set("seen", TensorView::contiguous(
                                     seen.data(), ElementType::i32, {tiles}))
                    .ok());
  }
  Status launch(void *stream) const { return kernel.launch(stream, arguments); }
  /// Every tile was taken once by each of `launches`.
  void check(const Stream &stream, int launches) const {
    ASSERT_OK(stream.synchronize());
    int32_t got[tiles];
    ASSERT_OK(seen.download(got, sizeof got, stream));
    for (int tile = 0; tile != tiles; ++tile)
      ASSERT_EQ(got[tile], launches) << "tile " << tile;
  }
};

/// A captured graph, ready to be launched.
struct Captured {
  const Driver &driver = **Driver::get();
  cu::Graph graph = nullptr;
  cu::GraphExec exec = nullptr;
  /// Captures what `body` enqueues on `stream`; a context has to be current.
  template <typename Body> Captured(const Stream &stream, Body body) {
    EXPECT_OK(TEGULA_CU(driver, streamBeginCapture, stream.handle(),
                        cu::captureModeGlobal));
    Status enqueued = body();
    EXPECT_OK(TEGULA_CU(driver, streamEndCapture, stream.handle(), &graph));
    EXPECT_OK(enqueued);
    EXPECT_OK(TEGULA_CU(driver, graphInstantiate, &exec, graph, 0));
  }
  ~Captured() {
    EXPECT_OK(TEGULA_CU(driver, graphExecDestroy, exec));
    EXPECT_OK(TEGULA_CU(driver, graphDestroy, graph));
  }
  Status launch(const Stream &on) const {
    return TEGULA_CU(driver, graphLaunch, exec, on.handle());
  }
};
} // namespace

TEST_F(GpuTest, StreamsInParallelShareNoCounters) {
  auto kernel = load(ticketsManifest, ticketsPtx);
  ASSERT_TRUE(kernel);
  constexpr int numStreams = 70, rounds = 20; // more than the first slab holds
  std::vector<Stream> streams;
  std::vector<Tickets> calls;
  for (int i = 0; i != numStreams; ++i) {
    streams.push_back(std::move(*Stream::create(*device)));
    calls.emplace_back(*device, *kernel, streams[i]);
  }
  for (int round = 0; round != rounds; ++round)
    for (int i = 0; i != numStreams; ++i)
      ASSERT_OK(calls[i].launch(streams[i].handle()));
  for (int i = 0; i != numStreams; ++i) {
    calls[i].check(streams[i], rounds);
    auto rows = kernel->redoneRows(streams[i].handle());
    ASSERT_OK(rows.status());
    EXPECT_EQ(*rows, 5u * rounds);
  }
}

/// The driver gives the default streams ids, and each thread's its own.
TEST_F(GpuTest, DefaultStreamsShareNoCounters) {
  auto kernel = load(ticketsManifest, ticketsPtx);
  ASSERT_TRUE(kernel);
  constexpr int numThreads = 8, rounds = 20;
  std::vector<std::thread> threads;
  for (int i = 0; i != numThreads; ++i)
    threads.emplace_back([&, i] {
      const Driver &driver = **Driver::get();
      ContextScope scope(driver, device->context);
      void *perThread = reinterpret_cast<void *>(2);
      void *on = i % 2 ? perThread : nullptr;
      Stream own = std::move(*Stream::create(*device));
      Tickets call(*device, *kernel, own);
      for (int round = 0; round != rounds; ++round)
        ASSERT_OK(call.launch(on));
      ASSERT_OK(TEGULA_CU(driver, streamSynchronize, on));
      call.check(own, rounds);
      if (on) {
        auto rows = kernel->redoneRows(on);
        ASSERT_OK(rows.status());
        EXPECT_EQ(*rows, 5u * rounds);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  auto rows = kernel->redoneRows(nullptr);
  ASSERT_OK(rows.status());
  EXPECT_EQ(*rows, 5u * rounds * numThreads / 2);
}

TEST_F(GpuTest, GraphsRunBesidePlainLaunches) {
  ContextScope scope(**Driver::get(), device->context);
  auto kernel = load(ticketsManifest, ticketsPtx);
  ASSERT_TRUE(kernel);
  constexpr int rounds = 20;
  Stream second = std::move(*Stream::create(*device));
  Stream third = std::move(*Stream::create(*device));
  Tickets plain(*device, *kernel, *stream), one(*device, *kernel, *stream),
      two(*device, *kernel, *stream);
  ASSERT_OK(plain.launch(stream->handle()));
  Captured first(*stream, [&] { return one.launch(stream->handle()); });
  Captured other(*stream, [&] { return two.launch(stream->handle()); });
  for (int round = 0; round != rounds; ++round) {
    ASSERT_OK(plain.launch(stream->handle()));
    ASSERT_OK(first.launch(second));
    ASSERT_OK(other.launch(third));
  }
  plain.check(*stream, rounds + 1);
  one.check(second, rounds);
  two.check(third, rounds);
  auto rows = kernel->redoneRows(stream->handle());
  ASSERT_OK(rows.status());
  EXPECT_EQ(*rows, 5u * (rounds + 1)); // those of the plain launches
}

/// More captured launches than there are slots: another slab is allocated, and
/// the capture goes on.
TEST_F(GpuTest, ManyLaunchesInOneCapture) {
  ContextScope scope(**Driver::get(), device->context);
  auto kernel = load(ticketsManifest, ticketsPtx);
  ASSERT_TRUE(kernel);
  constexpr int launches = 150;
  Tickets call(*device, *kernel, *stream);
  Captured graph(*stream, [&] {
    for (int i = 0; i != launches; ++i)
      TEGULA_RETURN_IF_FAILED(call.launch(stream->handle()));
    return Status();
  });
  ASSERT_OK(graph.launch(*stream));
  ASSERT_OK(graph.launch(*stream));
  call.check(*stream, 2 * launches);
}

TEST_F(GpuTest, NoCountIsReadDuringACapture) {
  ContextScope scope(**Driver::get(), device->context);
  auto kernel = load(ticketsManifest, ticketsPtx);
  ASSERT_TRUE(kernel);
  Tickets call(*device, *kernel, *stream);
  StatusCode code = StatusCode::ok;
  Captured graph(*stream, [&] {
    code = kernel->redoneRows(stream->handle()).status().code();
    return call.launch(stream->handle());
  });
  EXPECT_EQ(code, StatusCode::unavailable);
  ASSERT_OK(graph.launch(*stream));
  call.check(*stream, 1);
}

//===----------------------------------------------------------------------===//
// Pre-passes
//===----------------------------------------------------------------------===//

namespace {
/// A call of `passed` with a number of its own.
struct Passed {
  static constexpr int count = 300;
  const Kernel &kernel;
  int first;
  Buffer out;
  Arguments arguments;
  Passed(const Device &device, const Kernel &kernel, int first)
      : kernel(kernel), first(first),
        out(std::move(*Buffer::allocate(device, count * sizeof(int32_t)))),
        arguments(kernel.arguments()) {
    EXPECT_OK(arguments.set("out", TensorView::contiguous(
                                       out.data(), ElementType::i32, {count})));
    EXPECT_OK(arguments.set("W", first));
  }
  Status launch(void *stream) const { return kernel.launch(stream, arguments); }
  void check(const Stream &stream) {
    int32_t got[count];
    ASSERT_OK(out.download(got, sizeof got, stream));
    for (int i = 0; i != count; ++i)
      ASSERT_EQ(got[i], first + i);
    ASSERT_OK(out.fill(0xff, stream));
  }
};
} // namespace

TEST_F(GpuTest, StreamsInParallelShareNoScratch) {
  auto kernel = load(passedManifest, passedPtx);
  ASSERT_TRUE(kernel);
  std::vector<std::thread> threads;
  for (int thread = 0; thread != 8; ++thread)
    threads.emplace_back([&, thread] {
      std::vector<Stream> streams;
      std::vector<Passed> calls;
      for (int i = 0; i != 8; ++i) {
        streams.push_back(std::move(*Stream::create(*device)));
        calls.emplace_back(*device, *kernel, 10000 * thread + 1000 * i);
      }
      for (int round = 0; round != 20; ++round) {
        for (int i = 0; i != 8; ++i)
          ASSERT_OK(calls[i].launch(streams[i].handle()));
        for (int i = 0; i != 8; ++i)
          calls[i].check(streams[i]);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(GpuTest, PrepassesAreCaptured) {
  auto kernel = load(passedManifest, passedPtx);
  ASSERT_TRUE(kernel);
  ContextScope scope(**Driver::get(), device->context);
  Passed own(*device, *kernel, 5), given(*device, *kernel, 70);
  Buffer scratch = buffer(*kernel->scratchBytes(given.arguments));
  given.arguments.setScratch(scratch.data(), scratch.size());
  for (Passed *call : {&own, &given}) {
    Captured captured(*stream, [&] { return call->launch(stream->handle()); });
    for (int i = 0; i != 3; ++i) {
      ASSERT_OK(captured.launch(*stream));
      call->check(*stream);
    }
  }
}

TEST_F(GpuTest, HostMemoryIsRefused) {
  if (device->pageableAccess)
    GTEST_SKIP() << "this GPU reads host memory";
  auto kernel = load(factsManifest, factsPtx);
  ASSERT_TRUE(kernel);
  Facts facts(*kernel, buffer(64), buffer(48));
  std::vector<char> host(64);
  ASSERT_OK(facts.arguments.set(
      "x", TensorView::contiguous(host.data(), ElementType::bf16, {2, 5})));
  EXPECT_EQ(kernel->launch(stream->handle(), facts.arguments).code(),
            StatusCode::invalidArgument);
}

TEST_F(GpuTest, BadPtxGivesTheLog) {
  auto kernel = Kernel::load(factsManifest,
                             ".version 7.0\n.target sm_80\n.address_size 64\n"
                             ".visible .entry facts() { nonsense; }\n");
  ASSERT_FALSE(kernel.ok());
  EXPECT_NE(kernel.status().message().find("CUDA_ERROR_INVALID_PTX"),
            std::string::npos);
  EXPECT_NE(kernel.status().message().find("line 4"), std::string::npos)
      << kernel.status().message();
}

TEST_F(GpuTest, BoxesByTma) {
  if (isTooOldForTma())
    GTEST_SKIP() << device->name << " has no TMA";
  auto kernel = load(boxManifest, boxPtx);
  ASSERT_TRUE(kernel);
  // Memory: element i holds i. Views of it: [B, H, M, 8] and [B, M, H, 8].
  constexpr int numElements = 4096;
  std::vector<uint16_t> host(numElements);
  for (int i = 0; i != numElements; ++i)
    host[i] = static_cast<uint16_t>(i);
  Buffer memory = buffer(numElements * 2), out = buffer(128);
  ASSERT_OK(memory.upload(host.data(), numElements * 2, *stream));

  struct Case {
    int64_t heads, rows, headStride, rowStride, batchStride;
    int row;
  };
  for (Case c : {Case{3, 6, 64, 8, 0, 0}, Case{3, 6, 8, 24, 0, 1},
                 Case{3, 6, 64, 8, 0, 4}, // rows 6 and 7 are outside
                 Case{1, 6, 3, 8, 5, 0},  // head 1 is outside; odd strides
                 Case{2, 1, 64, 1, 1, 0},
                 // Broadcast axes, and heads that overlap.
                 Case{2, 6, 64, 0, 0, 0}, Case{2, 6, 0, 8, 0, 0},
                 Case{2, 6, 8, 8, 0, 0}}) {
    TensorView view;
    view.data = memory.data();
    view.type = ElementType::bf16;
    view.rank = 4;
    int64_t sizes[] = {1, c.heads, c.rows, 8};
    int64_t strides[] = {c.batchStride, c.headStride, c.rowStride, 1};
    std::copy_n(sizes, 4, view.sizes);
    std::copy_n(strides, 4, view.strides);
    Arguments arguments = kernel->arguments();
    ASSERT_OK(arguments.set("x", view));
    ASSERT_OK(arguments.set("row", c.row));
    ASSERT_OK(arguments.set(
        "out",
        TensorView::contiguous(out.data(), ElementType::bf16, {2, 4, 8})));
    ASSERT_OK(kernel->launch(stream->handle(), arguments));
    uint16_t got[64];
    ASSERT_OK(out.download(got, sizeof got, *stream));
    for (int h = 0; h != 2; ++h)
      for (int r = 0; r != 4; ++r)
        for (int d = 0; d != 8; ++d) {
          bool inside = h < c.heads && c.row + r < c.rows;
          int64_t at = h * c.headStride + (c.row + r) * c.rowStride + d;
          EXPECT_EQ(got[(h * 4 + r) * 8 + d], inside ? host[at] : 0)
              << h << " " << r << " " << d << " strides " << c.headStride << " "
              << c.rowStride;
        }
  }
}
