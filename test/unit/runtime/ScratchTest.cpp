//===- ScratchTest.cpp - what a pre-pass leaves for its kernel ------------===//
//
// Whose memory a launch passes on from its pre-pass, when it is taken and given
// back, and that nothing of it is left where a call fails.
//
//===----------------------------------------------------------------------===//
#include "Causal.h"
#include "FakeDriver.h"
#include "runtime/Concat.h"
#include "runtime/tegula.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace tegula::rt;
using namespace tegula::rt::test;

namespace {
class ScratchTest : public ::testing::Test {
protected:
  FakeCuda &fake = fakeDriver();
  std::shared_ptr<Kernel> kernel;
  size_t live = 0; // pieces of memory that the driver knows

  void SetUp() override {
    fake.clear();
    Call call;
    for (const TensorView *view :
         {&call.q, &call.k, &call.v, &call.starts, &call.o, &call.lse})
      fake.memory[reinterpret_cast<uint64_t>(view->data)] = {};
    auto loaded = Kernel::load(prepassManifest(), prepassImage);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    kernel = *loaded;
    live = fake.memory.size();
  }
  void TearDown() override {
    kernel.reset();
    fake.memory.clear();
  }
  FakeStream stream(bool capturing = false) const {
    return {static_cast<FakeContext *>((*Device::get(0))->context), capturing,
            5};
  }
  Arguments arguments(const Call &call = Call()) const {
    Arguments arguments = kernel->arguments();
    EXPECT_TRUE(call.set(arguments).ok());
    return arguments;
  }
  static uint64_t scratchOf(const FakeLaunch &launch) {
    uint64_t address = 0;
    bool isPrepass = launch.kernel == "causal_classes";
    std::memcpy(&address, launch.params[isPrepass ? 0 : 1].data(),
                sizeof address);
    return address;
  }
};
} // namespace

TEST_F(ScratchTest, GoesFirstOnTheSameStream) {
  FakeStream on = stream();
  Status status = kernel->launch(&on, arguments());
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(fake.launches.size(), 2u);
  const FakeLaunch &prepass = fake.launches[0], &main = fake.launches[1];
  EXPECT_EQ(prepass.kernel, "causal_classes");
  EXPECT_EQ(prepass.grid[0], 7u); // ceildiv(400, 64)
  EXPECT_EQ(prepass.block[0], 128u);
  EXPECT_EQ(prepass.shared, 256u);
  EXPECT_EQ(main.kernel, "causal");
  EXPECT_EQ(main.block[0], 384u);
  EXPECT_EQ(prepass.stream, &on);
  EXPECT_EQ(main.stream, &on);
  EXPECT_NE(scratchOf(main), 0u);
  EXPECT_EQ(scratchOf(prepass), scratchOf(main));
  // In the order of the stream: nothing waits.
  EXPECT_EQ(fake.count("cuMemAllocAsync"), 1);
  EXPECT_EQ(fake.count("cuMemFreeAsync"), 1);
  for (const char *name : {"cuMemAlloc_v2", "cuMemFree_v2", "cuCtxSynchronize",
                           "cuStreamSynchronize"})
    EXPECT_EQ(fake.count(name), 0) << name;
  EXPECT_EQ(fake.memory.size(), live);
}

TEST_F(ScratchTest, MayBeCaptured) {
  FakeStream on = stream(/*capturing=*/true);
  fake.captureIsGlobal = true;
  Status status = kernel->launch(&on, arguments());
  fake.captureIsGlobal = false;
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(fake.launches.size(), 2u);
}

TEST_F(ScratchTest, TheCallersMemory) {
  Arguments given = arguments();
  EXPECT_EQ(*kernel->scratchBytes(given), 42u); // 2 * 3 * 7
  std::vector<char> memory(42);
  given.setScratch(memory.data(), memory.size());
  EXPECT_EQ(kernel->launch(nullptr, given).message(),
            "`scratch`: the pointer is not memory that device 0 (Fake GPU 0) "
            "can read; expected device memory");
  fake.memory[reinterpret_cast<uint64_t>(memory.data())] = {};
  ASSERT_TRUE(kernel->launch(nullptr, given).ok());
  for (const FakeLaunch &launch : fake.launches)
    EXPECT_EQ(scratchOf(launch), reinterpret_cast<uint64_t>(memory.data()));
  EXPECT_EQ(fake.count("cuMemAllocAsync"), 0);
  EXPECT_EQ(fake.count("cuMemFreeAsync"), 0);

  fake.launches.clear();
  given.setScratch(memory.data(), 41);
  Status status = kernel->launch(nullptr, given);
  EXPECT_EQ(status.code(), StatusCode::invalidArgument);
  EXPECT_EQ(status.message().rfind("the launch needs 42 bytes of scratch "
                                   "memory, but got 41, launching `causal`",
                                   0),
            0u)
      << status.message();
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(ScratchTest, ThroughTheCInterface) {
  std::string manifest = prepassManifest();
  tegula_kernel *loaded = nullptr;
  tegula_args *args = nullptr;
  ASSERT_EQ(tegula_kernel_load(manifest.c_str(), prepassImage.data(),
                               prepassImage.size(), 0, &loaded),
            TEGULA_OK);
  ASSERT_EQ(tegula_args_create(loaded, &args), TEGULA_OK);
  size_t size = 7;
  EXPECT_EQ(tegula_scratch_size(loaded, args, &size), TEGULA_INVALID_ARGUMENT);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(tegula_scratch_size(loaded, nullptr, &size),
            TEGULA_INVALID_ARGUMENT);
  Call call;
  auto set = [&](const char *name, const TensorView &view) {
    tegula_tensor tensor = {view.data, static_cast<int32_t>(view.type),
                            view.rank, view.sizes, view.strides};
    EXPECT_EQ(tegula_args_set_tensor(args, name, &tensor), TEGULA_OK);
  };
  set("q", call.q), set("k", call.k), set("v", call.v);
  set("starts", call.starts), set("o", call.o), set("lse", call.lse);
  EXPECT_EQ(tegula_args_set_int(args, "W", 64), TEGULA_OK);
  EXPECT_EQ(tegula_args_set_float(args, "cap", 30), TEGULA_OK);
  EXPECT_EQ(tegula_scratch_size(loaded, args, &size), TEGULA_OK)
      << tegula_last_error();
  EXPECT_EQ(size, 42u);
  std::vector<char> memory(size);
  fake.memory[reinterpret_cast<uint64_t>(memory.data())] = {};
  EXPECT_EQ(tegula_args_set_scratch(args, memory.data(), size), TEGULA_OK);
  EXPECT_EQ(tegula_launch(loaded, args, nullptr, nullptr), TEGULA_OK)
      << tegula_last_error();
  ASSERT_EQ(fake.launches.size(), 2u);
  EXPECT_EQ(scratchOf(fake.launches[1]),
            reinterpret_cast<uint64_t>(memory.data()));
  EXPECT_EQ(fake.count("cuMemAllocAsync"), 0);
  tegula_args_destroy(args);
  tegula_kernel_destroy(loaded);
}

TEST_F(ScratchTest, NothingForNoKeys) {
  Arguments empty = arguments(Call(2, 8, 2, 0, 400));
  ASSERT_TRUE(kernel->launch(nullptr, empty).ok());
  EXPECT_TRUE(fake.launches.empty());
  Call call(2, 8, 2, 20, 0);
  empty = arguments(call);
  EXPECT_EQ(*kernel->scratchBytes(empty), 0u);
  Status status = kernel->launch(nullptr, empty);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].kernel, "causal");
  EXPECT_EQ(scratchOf(fake.launches[0]), 0u);
  EXPECT_EQ(fake.count("cuMemAllocAsync"), 0);
}

TEST_F(ScratchTest, AFailureLeavesNothing) {
  fake.failNext["cuMemAllocAsync"] = 2;
  Status status = kernel->launch(nullptr, arguments());
  EXPECT_EQ(status.code(), StatusCode::outOfMemory);
  EXPECT_EQ(status.message().rfind(
                "cuMemAllocAsync failed: CUDA_ERROR_OUT_OF_MEMORY (as the fake "
                "was told), allocating 42 bytes of scratch memory, launching "
                "`causal`",
                0),
            0u)
      << status.message();
  EXPECT_TRUE(fake.launches.empty());
  EXPECT_EQ(fake.count("cuMemFreeAsync"), 0);

  fake.failNext["cuLaunchKernelEx"] = 1;
  status = kernel->launch(nullptr, arguments());
  EXPECT_NE(status.message().find("launching the pre-pass of `causal` (direct, "
                                  "7 CTAs of 128 threads"),
            std::string::npos)
      << status.message();
  EXPECT_TRUE(fake.launches.empty());
  EXPECT_EQ(fake.memory.size(), live);
  EXPECT_TRUE(kernel->launch(nullptr, arguments()).ok());
}

TEST_F(ScratchTest, ThreadsHaveTheirOwn) {
  auto work = [&] {
    FakeStream own = stream();
    Arguments mine = arguments();
    for (int i = 0; i != 50; ++i)
      EXPECT_TRUE(kernel->launch(&own, mine).ok());
  };
  std::vector<std::thread> threads;
  for (int i = 0; i != 4; ++i)
    threads.emplace_back(work);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(fake.launches.size(), 400u);
  EXPECT_EQ(fake.memory.size(), live);
}

TEST_F(ScratchTest, BehindWhatGoesBefore) {
  auto before = *Kernel::load(goingBefore(workspaceManifest()), directImage);
  auto set = *KernelSet::create({.preferred = kernel, .before = before});
  EXPECT_EQ(*set->scratchBytes(arguments()), 42u);
  ASSERT_TRUE(set->launch(nullptr, arguments()).ok());
  ASSERT_EQ(fake.launches.size(), 3u);
  EXPECT_EQ(fake.launches[0].kernel, "causal");
  EXPECT_EQ(fake.launches[1].kernel, "causal_classes");
  EXPECT_EQ(fake.launches[2].kernel, "causal");
}
