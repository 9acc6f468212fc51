//===- LaunchTest.cpp - loading and launching on the stand-in driver ------===//
//
// What reaches the driver: parameters, tensor maps, grid, stream, context; and
// what comes back when a call fails.
//
//===----------------------------------------------------------------------===//
#include "Causal.h"
#include "FakeDriver.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <new>
#include <thread>

using namespace tegula::rt;
using namespace tegula::rt::test;

namespace {
class LaunchTest : public ::testing::Test {
protected:
  FakeCuda &fake = fakeDriver();
  void SetUp() override {
    fake.clear();
    allow(Call(), 0);
  }
  void TearDown() override { fake.memory.clear(); }

  /// Tells the driver that the pointers of `call` are memory of `device`.
  void allow(const Call &call, int device) {
    for (const TensorView *view :
         {&call.q, &call.k, &call.v, &call.starts, &call.o, &call.lse})
      fake.memory[reinterpret_cast<uint64_t>(view->data)] = {2, device, false};
  }
  std::shared_ptr<Kernel> load(bool direct = false) {
    Result<std::shared_ptr<Kernel>> kernel =
        direct ? Kernel::load(directManifest(), directImage)
               : Kernel::load(pipelinedManifest(), pipelinedImage);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    return kernel.ok() ? *kernel : nullptr;
  }
  Arguments argumentsOf(const Kernel &kernel, const Call &call = Call()) {
    Arguments arguments = kernel.arguments();
    EXPECT_TRUE(call.set(arguments).ok());
    return arguments;
  }
  template <typename T> T param(const FakeLaunch &launch, int index) {
    T value{};
    EXPECT_EQ(launch.params[index].size(), sizeof value);
    std::memcpy(&value, launch.params[index].data(), sizeof value);
    return value;
  }
};
} // namespace

TEST_F(LaunchTest, ParametersInOrder) {
  std::shared_ptr<Kernel> kernel = load();
  EXPECT_EQ(fake.attributesSet[cu::functionMaxDynamicSharedSizeBytes], 230000);
  fake.attributesSet.clear();
  Call call;
  Arguments arguments = argumentsOf(*kernel, call);
  Status status = kernel->launch(nullptr, arguments);
  ASSERT_TRUE(status.ok()) << status.message();

  ASSERT_EQ(fake.launches.size(), 1u);
  const FakeLaunch &launch = fake.launches[0];
  EXPECT_EQ(launch.kernel, "causal");
  EXPECT_EQ(launch.grid[0], 48u); // ceildiv(300, 128) * 8 * 2
  EXPECT_EQ(launch.block[0], 384u);
  EXPECT_EQ(launch.shared, 230000u);
  for (int i = 0; i != 3; ++i)
    EXPECT_EQ(launch.params[i][0], i + 1); // the i-th map
  EXPECT_EQ(param<void *>(launch, 3), call.starts.data);
  EXPECT_EQ(param<void *>(launch, 4), call.o.data);
  EXPECT_EQ(param<int64_t>(launch, 5), 8 * 300 * 128);
  EXPECT_EQ(param<int64_t>(launch, 6), 128);
  EXPECT_EQ(param<void *>(launch, 7), call.lse.data);
  EXPECT_EQ(param<int32_t>(launch, 8), 300);
  EXPECT_EQ(param<int64_t>(launch, 9), 400);
  EXPECT_EQ(param<int32_t>(launch, 10), 64);
  EXPECT_EQ(param<float>(launch, 11), 30.0f);
  // Nothing is allocated, loaded, set or waited for at a launch.
  EXPECT_TRUE(fake.attributesSet.empty());
  for (const char *name : {"cuMemAlloc_v2", "cuStreamSynchronize",
                           "cuCtxSynchronize", "cuStreamCreate"})
    EXPECT_EQ(fake.count(name), 0) << name;
  EXPECT_EQ(fake.count("cuModuleLoadDataEx"), 1);
}

static thread_local int64_t allocations = 0;

// Sanitizers bring their own operators; there the test below sees nothing.
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEGULA_SANITIZED
#endif
#endif
#if !defined(TEGULA_SANITIZED) && !defined(__SANITIZE_ADDRESS__)
void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
#endif

TEST_F(LaunchTest, TouchesNoHeapMemory) {
  auto set = *KernelSet::create({load(), load(/*direct=*/true)});
  auto counting = *Kernel::load(workspaceManifest(), directImage);
  Arguments arguments = argumentsOf(set->preferredKernel());
  Stream stream = std::move(*Stream::create(**Device::get(0)));
  fake.quiet = true;
  int64_t before = allocations;
  bool good = set->launch(stream.handle(), arguments).ok() &&
              set->preferredKernel().launch(nullptr, arguments).ok() &&
              counting->launch(stream.handle(), arguments).ok();
  int64_t after = allocations;
  fake.quiet = false;
  EXPECT_TRUE(good);
  EXPECT_EQ(after - before, 0);
}

/// The program links the runtime alone, so these would be here if it needed
/// them.
TEST(Runtime, NeedsNoCompiler) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    EXPECT_EQ(line.find("libLLVM"), std::string::npos) << line;
    EXPECT_EQ(line.find("libMLIR"), std::string::npos) << line;
  }
}

TEST_F(LaunchTest, TensorMaps) {
  std::shared_ptr<Kernel> kernel = load();
  Call call(1, 8, 1, 300, 400);
  // [B, S, H, D] in memory, and axes of extent 1 with strides that TMA refuses.
  call.q.strides[1] = 128;
  call.q.strides[2] = 8 * 128;
  call.q.strides[0] = 3;
  call.k.strides[1] = 0;
  Status status = kernel->launch(nullptr, argumentsOf(*kernel, call));
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(fake.maps.size(), 3u);
  const FakeMap &q = fake.maps[0];
  EXPECT_EQ(q.type, 9);
  EXPECT_EQ(q.address, call.q.data);
  EXPECT_EQ(q.dims, (std::vector<uint64_t>{128, 300, 8, 1}));
  EXPECT_EQ(q.strides, (std::vector<uint64_t>{2048, 256, 2048}));
  EXPECT_EQ(q.box, (std::vector<uint32_t>{64, 64, 1, 1}));
  EXPECT_EQ(q.swizzle, cu::swizzle128B);
  EXPECT_EQ(q.l2Promotion, cu::l2Promotion256B);
  EXPECT_EQ(q.interleave, cu::interleaveNone);
  EXPECT_EQ(q.oobFill, cu::oobFillNone);
  const FakeMap &k = fake.maps[1];
  EXPECT_EQ(k.dims, (std::vector<uint64_t>{128, 400, 1, 1}));
  EXPECT_EQ(k.strides, (std::vector<uint64_t>{256, 102400, 102400}));
}

/// Rows of several heads: how many there are is the launch's.
TEST_F(LaunchTest, BoxOfALaunch) {
  auto loadWith = [](const std::string &rows) {
    std::string text = pipelinedManifest(), box = "[64, 64, 1, 1]";
    text.replace(text.find(box), box.size(), "[64, " + rows + ", 1, 1]");
    return *Kernel::load(text, pipelinedImage);
  };
  std::shared_ptr<Kernel> kernel = loadWith("\"(<< 1 (/ H 2))\"");
  Call call(1, 8, 1, 300, 400);
  Status status = kernel->launch(nullptr, argumentsOf(*kernel, call));
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(fake.maps[0].box, (std::vector<uint32_t>{64, 16, 1, 1}));
  kernel = loadWith("\"(* M H)\"");
  status = kernel->launch(nullptr, argumentsOf(*kernel, call));
  EXPECT_NE(status.message().find("expected a box of 1 to 256 elements along "
                                  "axis 2, but got 2400"),
            std::string::npos)
      << status.message();
}

TEST_F(LaunchTest, ValueOfALaunch) {
  auto loadWith = [](const std::string &type, const std::string &expr) {
    std::string text = pipelinedManifest(),
                dim = R"json({"kind": "dim", "dim": "M"})json";
    text.replace(text.find(dim), dim.size(),
                 R"json({"kind": "value", "expr": ")json" + expr +
                     R"json(", "type": ")json" + type + R"json("})json");
    return Kernel::load(text, pipelinedImage);
  };
  Call call(1, 8, 1, 1, 400);
  std::shared_ptr<Kernel> kernel = *loadWith("i32", "(packing M H G 128)");
  Status status = kernel->launch(nullptr, argumentsOf(*kernel, call));
  ASSERT_TRUE(status.ok()) << status.message();
  const auto &params = fake.launches.back().params;
  EXPECT_EQ(params[8], std::vector<uint8_t>({3, 0, 0, 0}));
  kernel = *loadWith("i32", "(<< M 63)");
  status = kernel->launch(nullptr, argumentsOf(*kernel, call));
  EXPECT_NE(status.message().find("(<< 1 63) does not fit 64 bits"),
            std::string::npos)
      << status.message();
  EXPECT_NE(loadWith("f32", "M").status().message().find(
                "expected \"i32\" or \"i64\", but got \"f32\""),
            std::string::npos);
}

TEST_F(LaunchTest, GridRule) {
  std::shared_ptr<Kernel> kernel = load();
  // More tiles than the GPU holds CTAs: persistent kernels loop.
  ASSERT_TRUE(
      kernel->launch(nullptr, argumentsOf(*kernel, Call(2, 8, 2, 8192, 8192)))
          .ok());
  EXPECT_EQ(fake.launches.back().grid[0], 132u);
  // Others get a CTA per tile, past 65535 as well.
  std::string text = directManifest();
  text.replace(text.find("\"persistent\": true"), 18, "\"persistent\": false");
  auto plain = *Kernel::load(text, directImage);
  ASSERT_TRUE(
      plain->launch(nullptr, argumentsOf(*plain, Call(65536, 2, 1, 1, 1)))
          .ok());
  EXPECT_EQ(fake.launches.back().grid[0], 131072u);
  EXPECT_EQ(fake.launches.back().grid[1], 1u);
}

TEST_F(LaunchTest, NoTilesNoLaunch) {
  std::shared_ptr<Kernel> kernel = load(/*direct=*/true);
  for (Call call :
       {Call(0, 8, 2, 3, 3), Call(2, 0, 0, 3, 3), Call(2, 8, 2, 0, 3)})
    EXPECT_TRUE(kernel->launch(nullptr, argumentsOf(*kernel, call)).ok());
  EXPECT_TRUE(fake.launches.empty());
  // No keys is not no tiles: the outputs have to be written.
  Call call(2, 8, 2, 3, 0);
  EXPECT_TRUE(kernel->launch(nullptr, argumentsOf(*kernel, call)).ok());
  EXPECT_EQ(fake.launches.size(), 1u);
}

TEST_F(LaunchTest, NullOptionalOutput) {
  std::shared_ptr<Kernel> kernel = load();
  Arguments arguments = argumentsOf(*kernel);
  ASSERT_TRUE(arguments.setNull("lse").ok());
  ASSERT_TRUE(kernel->launch(nullptr, arguments).ok());
  EXPECT_EQ(param<void *>(fake.launches[0], 7), nullptr);
}

TEST_F(LaunchTest, ConditionsRefuseALaunch) {
  std::shared_ptr<Kernel> kernel = load();
  Call call;
  call.v.strides[2] = 132;
  Arguments arguments = argumentsOf(*kernel, call);
  Result<Verdict> verdict = kernel->conditionsHold(arguments);
  ASSERT_TRUE(verdict.ok());
  EXPECT_FALSE(verdict->holds);
  EXPECT_EQ(kernel->launch(nullptr, arguments).message(),
            "the pipelined kernel of `causal` cannot take this: "
            "the stride of axis 2 of `v`, 264 bytes, is not a multiple of 16");
}

TEST_F(LaunchTest, ArgumentsOfAnotherSignature) {
  std::string text = directManifest();
  text.replace(text.find("\"cap\", \"type\": \"f32\""), 20,
               "\"cap\", \"type\": \"f64\"");
  auto other = *Kernel::load(text, directImage);
  std::shared_ptr<Kernel> kernel = load();
  EXPECT_EQ(kernel->launch(nullptr, other->arguments()).code(),
            StatusCode::invalidArgument);
}

//===----------------------------------------------------------------------===//
// Contexts, streams, threads
//===----------------------------------------------------------------------===//

TEST_F(LaunchTest, EightFreshThreads) {
  std::shared_ptr<Kernel> kernel = load();
  Stream stream = std::move(*Stream::create(**Device::get(0)));
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i != 8; ++i)
    threads.emplace_back([&, i] {
      Arguments arguments = argumentsOf(*kernel);
      void *on = i % 2 ? stream.handle() : nullptr;
      for (int j = 0; j != 20; ++j)
        good += kernel->launch(on, arguments).ok();
      // The thread's own state is as before: no context.
      cu::Context current = nullptr;
      (void)(*Driver::get())->api.ctxGetCurrent(&current);
      EXPECT_EQ(current, nullptr);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, 160);
  EXPECT_EQ(fake.launches.size(), 160u);
}

TEST_F(LaunchTest, TheStreamSaysWhichDevice) {
  std::shared_ptr<Kernel> kernel = load();
  Stream second = std::move(*Stream::create(**Device::get(1)));
  const Driver &driver = **Driver::get();
  ContextScope scope(driver, (*Device::get(0))->context);

  Call call;
  call.base = 0x20000000;
  call.make();
  allow(call, 1);
  Arguments arguments = argumentsOf(*kernel, call);
  Status status = kernel->launch(second.handle(), arguments);
  EXPECT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].stream, second.handle());
  cu::Context current = nullptr;
  (void)driver.api.ctxGetCurrent(&current);
  EXPECT_EQ(current, (*Device::get(0))->context);

  // Memory of one GPU on a stream of the other.
  EXPECT_EQ(kernel->launch(nullptr, arguments).message(),
            "`q` is memory of device 1, but the stream belongs to device 0");
}

TEST_F(LaunchTest, OtherContextsOfTheDevice) {
  std::shared_ptr<Kernel> kernel = load();
  FakeContext own{0, 7};
  FakeStream stream{&own};
  Arguments arguments = argumentsOf(*kernel);
  EXPECT_TRUE(kernel->launch(&stream, arguments).ok());
  EXPECT_EQ(fake.count("cuModuleLoadDataEx"), 2);
  EXPECT_TRUE(kernel->launch(&stream, arguments).ok());
  EXPECT_EQ(fake.count("cuModuleLoadDataEx"), 2);
  // The same address with another id is another context.
  own.id = 8;
  EXPECT_TRUE(kernel->launch(&stream, arguments).ok());
  EXPECT_EQ(fake.count("cuModuleLoadDataEx"), 3);
}

TEST_F(LaunchTest, LoadingDuringACapture) {
  std::shared_ptr<Kernel> kernel = load();
  FakeContext own{0, 9};
  FakeStream stream{&own, true};
  Arguments arguments = argumentsOf(*kernel);
  Status status = kernel->launch(&stream, arguments);
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_EQ(status.message(),
            "`causal` (pipelined) is not loaded in the context of the stream, "
            "and cannot be loaded during a capture; prepare before capture");
  stream.capturing = false;
  ASSERT_TRUE(kernel->prepare(&stream).ok());
  stream.capturing = true;
  EXPECT_TRUE(kernel->launch(&stream, arguments).ok());
}

TEST_F(LaunchTest, HostPointersAreRefused) {
  std::shared_ptr<Kernel> kernel = load();
  Call call;
  call.k.data = reinterpret_cast<void *>(0x30000000);
  EXPECT_EQ(kernel->launch(nullptr, argumentsOf(*kernel, call)).message(),
            "`k`: the pointer is not memory that device 0 (Fake GPU 0) can "
            "read; expected device memory");
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(LaunchTest, ModulesAreUnloaded) {
  std::shared_ptr<Kernel> kernel = load();
  EXPECT_EQ(fake.liveModules.size(), 1u);
  kernel.reset();
  EXPECT_TRUE(fake.liveModules.empty());
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

TEST_F(LaunchTest, AFailedLaunchSaysWhat) {
  std::shared_ptr<Kernel> kernel = load();
  Arguments arguments = argumentsOf(*kernel);
  fake.failNext["cuLaunchKernelEx"] = 1;
  Status status = kernel->launch(nullptr, arguments);
  EXPECT_EQ(status.code(), StatusCode::driverError);
  EXPECT_EQ(status.driverError(), 1);
  EXPECT_EQ(
      status.message(),
      "cuLaunchKernelEx failed: CUDA_ERROR_INVALID_VALUE (as the fake was "
      "told), launching `causal` (pipelined, 48 CTAs of 384 threads, 230000 "
      "bytes of shared memory; q bf16[2, 8, 300, 128], k bf16[2, 2, 400, 128], "
      "v bf16[2, 2, 400, 128], starts i32[3], o bf16[2, 8, 300, 128], lse "
      "f32[2, 8, 300])");
  fake.failNext["cuLaunchKernelEx"] = 700;
  EXPECT_NE(kernel->launch(nullptr, arguments)
                .message()
                .find("the fault is of earlier work in this context"),
            std::string::npos);
  fake.failNext["cuLaunchKernelEx"] = 710;
  status = kernel->launch(nullptr, arguments);
  EXPECT_EQ(status.code(), StatusCode::assertionFailed);
  EXPECT_NE(status.message().find("the fault is of earlier work"),
            std::string::npos);
  // An error does not stick to the kernel.
  EXPECT_TRUE(kernel->launch(nullptr, arguments).ok());
}

TEST_F(LaunchTest, EveryDriverCallMayFail) {
  std::shared_ptr<Kernel> kernel = load();
  Arguments arguments = argumentsOf(*kernel);
  Stream stream = std::move(*Stream::create(**Device::get(0)));
  fake.clear();
  ASSERT_TRUE(kernel->launch(stream.handle(), arguments).ok());
  std::set<std::string> names(fake.calls.begin(), fake.calls.end());
  names.erase("cuCtxGetCurrent"); // a failed question means: push
  names.erase("cuCtxPopCurrent_v2");
  for (const std::string &name : names) {
    fake.clear();
    fake.failNext[name] = 2;
    Status status = kernel->launch(stream.handle(), arguments);
    EXPECT_EQ(status.code(), StatusCode::outOfMemory) << name;
    EXPECT_EQ(
        status.message().rfind(name + " failed: CUDA_ERROR_OUT_OF_MEMORY", 0),
        0u)
        << status.message();
  }
}

TEST_F(LaunchTest, LoadFailures) {
  auto error = [](const std::string &manifest, const std::string &image) {
    auto kernel = Kernel::load(manifest, image);
    return kernel.ok() ? Status() : kernel.status();
  };
  Status status = error(pipelinedManifest(), "wrong");
  EXPECT_EQ(status.message(),
            "loading `causal` (pipelined, sm_90a): cuModuleLoadDataEx failed: "
            "CUDA_ERROR_INVALID_PTX (as the fake was told)\nptxas application "
            "ptx input, line 1; error: it is wrong");
  status = error(pipelinedManifest(), "kernel other 8\n");
  EXPECT_EQ(status.message(),
            "loading `causal` (pipelined, sm_90a): cuModuleGetFunction failed: "
            "CUDA_ERROR_NOT_FOUND (as the fake was told), looking for "
            "`causal`");
  EXPECT_EQ(error(pipelinedManifest(), "").message(),
            "the image of `causal` is empty");

  std::string text = pipelinedManifest();
  text.replace(text.find("sm_90a"), 6, "sm_80a");
  status = error(text, pipelinedImage);
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_EQ(status.message(),
            "loading `causal` (pipelined, sm_80a): the code is for sm_80a, but "
            "device 0 (Fake GPU 0) is sm_90");

  text = pipelinedManifest();
  text.replace(text.find("230000"), 6, "232449");
  EXPECT_EQ(error(text, pipelinedImage).message(),
            "loading `causal` (pipelined, sm_90a): the kernel needs 232449 "
            "bytes of shared memory, but device 0 (Fake GPU 0) has 232448");

  fake.maxThreads = 256;
  EXPECT_NE(error(pipelinedManifest(), pipelinedImage)
                .message()
                .find("the kernel takes at most 256 threads"),
            std::string::npos);
  fake.maxThreads = 1024;

  fake.failNext["cuModuleLoadDataEx"] = 222;
  status = error(pipelinedManifest(), pipelinedImage);
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_NE(status.message().find("the driver supports CUDA 13.0"),
            std::string::npos);
  EXPECT_TRUE(fake.liveModules.empty());

  auto kernel = Kernel::load(pipelinedManifest(), pipelinedImage, 5);
  EXPECT_EQ(kernel.status().message(),
            "there is no CUDA device 5; expected 0 to 1");
}

//===----------------------------------------------------------------------===//
// KernelSet
//===----------------------------------------------------------------------===//

TEST_F(LaunchTest, SetTakesTheKernelThatFits) {
  auto set = *KernelSet::create({load(), load(/*direct=*/true)});
  Arguments arguments = set->arguments();
  Call call;
  ASSERT_TRUE(call.set(arguments).ok());
  LaunchReport report;
  ASSERT_TRUE(set->launch(nullptr, arguments, &report).ok());
  EXPECT_EQ(report.form, Form::pipelined);
  EXPECT_EQ(report.reason, "");
  EXPECT_EQ(fake.launches.back().shared, 230000u);

  call.k.strides[2] = 132;
  ASSERT_TRUE(call.set(arguments).ok());
  ASSERT_TRUE(set->launch(nullptr, arguments, &report).ok());
  EXPECT_EQ(report.form, Form::direct);
  EXPECT_EQ(report.reason,
            "the stride of axis 2 of `k`, 264 bytes, is not a multiple of 16");
  EXPECT_EQ(fake.launches.back().shared, 1024u);
  EXPECT_EQ(set->choose(arguments)->form, Form::direct);
}

TEST_F(LaunchTest, SetMakesItsFallbackOnce) {
  std::atomic<int> made = 0;
  auto set = *KernelSet::create({.preferred = load(), .fallbackProvider = [&] {
                                   ++made;
                                   return Kernel::load(directManifest(),
                                                       directImage);
                                 }});
  Call call;
  call.k.strides[2] = 132;
  Arguments arguments = set->arguments();
  ASSERT_TRUE(call.set(arguments).ok());

  FakeStream capturing{static_cast<FakeContext *>((*Device::get(0))->context),
                       true};
  Status status = set->launch(&capturing, arguments);
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_NE(status.message().find("prepare before capture"), std::string::npos);
  EXPECT_EQ(made, 0);

  std::vector<std::thread> threads;
  for (int i = 0; i != 8; ++i)
    threads.emplace_back(
        [&] { EXPECT_TRUE(set->launch(nullptr, arguments).ok()); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(set->launch(&capturing, arguments).ok());
}

TEST_F(LaunchTest, SetTriesAgainAfterAFailure) {
  int calls = 0;
  auto provider = [&]() -> Result<std::shared_ptr<Kernel>> {
    if (++calls == 1)
      return unavailable("not now");
    return Kernel::load(directManifest(), directImage);
  };
  auto set = *KernelSet::create(
      {.preferred = load(), .fallbackProvider = provider});
  Call call;
  call.k.strides[2] = 132;
  Arguments arguments = set->arguments();
  ASSERT_TRUE(call.set(arguments).ok());
  EXPECT_EQ(set->launch(nullptr, arguments).message(), "not now");
  EXPECT_TRUE(set->launch(nullptr, arguments).ok());
}

TEST_F(LaunchTest, SetPacksShortQueries) {
  std::string offers = pipelinedManifest(), packs = offers;
  offers.insert(1, R"json("packing": "(packing M H G 128)", )json");
  packs.insert(1, R"json("packed": true, )json");
  int made = 0;
  auto set = *KernelSet::create(
      {.preferred = *Kernel::load(offers, pipelinedImage),
       .fallback = load(/*direct=*/true),
       .packedProvider = [&] {
         ++made;
         return Kernel::load(packs, pipelinedImage);
       }});
  auto launch = [&](Call call, void *stream) {
    Arguments arguments = set->arguments();
    EXPECT_TRUE(call.set(arguments).ok());
    LaunchReport report;
    Status status = set->launch(stream, arguments, &report);
    EXPECT_TRUE(status.ok()) << status.message();
    return report;
  };
  // Long queries, or a key head for each query head.
  EXPECT_EQ(launch(Call(1, 8, 1, 1024, 1024), nullptr).reason, "");
  EXPECT_EQ(launch(Call(1, 8, 8, 1, 400), nullptr).reason, "");
  // What a capture cannot make it does without.
  Call few(1, 8, 1, 1, 400);
  FakeStream capturing{static_cast<FakeContext *>((*Device::get(0))->context),
                       true};
  EXPECT_EQ(launch(few, &capturing).reason, "");
  EXPECT_EQ(made, 0);
  Arguments arguments = set->arguments();
  ASSERT_TRUE(few.set(arguments).ok());
  EXPECT_EQ(set->choose(arguments)->reason,
            "rows of several query heads share its tiles");
  EXPECT_EQ(made, 0);
  for (void *stream : {(void *)nullptr, (void *)&capturing}) {
    LaunchReport report = launch(few, stream);
    EXPECT_EQ(report.form, Form::pipelined);
    EXPECT_EQ(report.reason, "rows of several query heads share its tiles");
    EXPECT_TRUE(report.kernel->manifest().isPacked);
    EXPECT_EQ(made, 1);
  }
  // The rules of TMA are both kernels'.
  few.k.strides[2] = 132;
  EXPECT_EQ(launch(few, nullptr).form, Form::direct);
}

TEST_F(LaunchTest, SetWithoutFallback) {
  auto set = *KernelSet::create({load()});
  Call call;
  call.k.strides[2] = 132;
  Arguments arguments = set->arguments();
  ASSERT_TRUE(call.set(arguments).ok());
  EXPECT_EQ(set->launch(nullptr, arguments).message(),
            "the pipelined kernel of `causal` cannot take this: "
            "the stride of axis 2 of `k`, 264 bytes, is not a multiple of 16; "
            "no direct kernel was given");
}

TEST_F(LaunchTest, SetLaunchesFirstWhatGoesBefore) {
  auto before = *Kernel::load(goingBefore(directManifest()), directImage);
  EXPECT_TRUE(before->manifest().before);
  auto set = *KernelSet::create(
      {.preferred = load(), .fallback = load(/*direct=*/true), .before = before});
  EXPECT_FALSE(set->preferredKernel().manifest().before);
  Arguments arguments = set->arguments();
  Call call;
  ASSERT_TRUE(call.set(arguments).ok());
  auto launched = [&](void *stream) {
    fake.launches.clear();
    Status status = set->launch(stream, arguments);
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<unsigned> shared;
    for (const FakeLaunch &launch : fake.launches) {
      EXPECT_EQ(launch.stream, stream);
      shared.push_back(launch.shared);
    }
    return shared;
  };
  FakeStream stream{static_cast<FakeContext *>((*Device::get(0))->context)};
  EXPECT_EQ(launched(&stream), (std::vector{1024u, 230000u}));
  call.k.strides[2] = 132;
  ASSERT_TRUE(call.set(arguments).ok());
  EXPECT_EQ(launched(nullptr), (std::vector{1024u, 1024u}));
  // What is refused launches neither.
  fake.launches.clear();
  call.k.sizes[3] = 64;
  EXPECT_FALSE(call.set(arguments).ok() &&
               set->launch(nullptr, arguments).ok());
  EXPECT_TRUE(fake.launches.empty());
}
