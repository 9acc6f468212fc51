//===- WorkspaceTest.cpp - which launches share counters ------------------===//
//
// The stand-in driver's device memory is the host's, so what a kernel would
// leave in its slot is written here.
//
//===----------------------------------------------------------------------===//
#include "runtime/Workspace.h"
#include "Causal.h"
#include "FakeDriver.h"
#include "runtime/Concat.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace tegula::rt;
using namespace tegula::rt::test;

namespace {
class WorkspaceTest : public ::testing::Test {
protected:
  FakeCuda &fake = fakeDriver();
  FakeContext *primary = nullptr;
  std::shared_ptr<Kernel> kernel;

  void SetUp() override {
    fake.clear();
    Call call;
    for (const TensorView *view :
         {&call.q, &call.k, &call.v, &call.starts, &call.o, &call.lse})
      fake.memory[reinterpret_cast<uint64_t>(view->data)] = {};
    primary = static_cast<FakeContext *>((*Device::get(0))->context);
    auto loaded = load();
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    kernel = *loaded;
  }
  void TearDown() override {
    kernel.reset();
    fake.memory.clear();
  }

  static Result<std::shared_ptr<Kernel>> load() {
    return Kernel::load(workspaceManifest(), directImage);
  }
  Status launch(void *stream) const {
    Arguments arguments = kernel->arguments();
    TEGULA_RETURN_IF_FAILED(Call().set(arguments));
    return kernel->launch(stream, arguments);
  }
  static cu::DevicePtr slotOf(const FakeLaunch &launch) {
    cu::DevicePtr slot = 0;
    EXPECT_EQ(launch.params[1].size(), sizeof slot);
    std::memcpy(&slot, launch.params[1].data(), sizeof slot);
    return slot;
  }
  /// The slot of a launch on `stream`; 0 if it fails.
  cu::DevicePtr slotFor(void *stream) const {
    Status status = launch(stream);
    EXPECT_TRUE(status.ok()) << status.message();
    return status.ok() ? slotOf(fake.launches.back()) : 0;
  }
  FakeStream stream(unsigned long long id, bool capturing = false) const {
    return {primary, capturing, id};
  }
};
} // namespace

TEST_F(WorkspaceTest, IsZeroAtFirst) {
  FakeStream one = stream(11);
  for (void *on : {static_cast<void *>(nullptr), static_cast<void *>(&one)}) {
    cu::DevicePtr slot = slotFor(on);
    auto *bytes = reinterpret_cast<unsigned char *>(slot);
    EXPECT_TRUE(std::all_of(bytes, bytes + Workspace::slotBytes,
                            [](unsigned char byte) { return byte == 0; }));
    EXPECT_EQ(slot % 16, 0u);
  }
  // Done at loading; a launch neither allocates nor waits.
  EXPECT_EQ(fake.count("cuMemAlloc_v2"), 1);
  EXPECT_EQ(fake.count("cuMemsetD8Async"), 1);
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 1);
}

TEST_F(WorkspaceTest, AStreamHasOneSlot) {
  // The stand-in's default stream has id 1; 0 is an id like others.
  FakeStream a = stream(0), b = stream(2), c = stream(130);
  std::vector<cu::DevicePtr> slots;
  for (void *on : {static_cast<void *>(nullptr), static_cast<void *>(&a),
                   static_cast<void *>(&b), static_cast<void *>(&c)}) {
    slots.push_back(slotFor(on));
    EXPECT_EQ(slotFor(on), slots.back());
  }
  EXPECT_EQ(slotFor(&a), slots[1]);
  std::sort(slots.begin(), slots.end());
  for (size_t i = 1; i != slots.size(); ++i)
    EXPECT_GE(slots[i] - slots[i - 1], Workspace::slotBytes);
}

TEST_F(WorkspaceTest, AHandleUsedAgainIsAnotherStream) {
  FakeStream one = stream(21);
  cu::DevicePtr before = slotFor(&one);
  one.id = 22;
  EXPECT_NE(slotFor(&one), before);
  one.id = 21;
  EXPECT_EQ(slotFor(&one), before);
}

TEST_F(WorkspaceTest, CapturedLaunchesHaveTheirOwn) {
  FakeStream one = stream(31);
  cu::DevicePtr plain = slotFor(&one);
  one.capturing = true;
  cu::DevicePtr first = slotFor(&one), second = slotFor(&one);
  one.capturing = false;
  EXPECT_EQ(slotFor(&one), plain);
  EXPECT_EQ((std::set{plain, first, second}.size()), 3u);
  // No later stream gets them either.
  FakeStream other = stream(32);
  EXPECT_EQ((std::set{plain, first, second, slotFor(&other)}.size()), 4u);
}

TEST_F(WorkspaceTest, KernelsShareNothing) {
  FakeStream one = stream(41);
  cu::DevicePtr slot = slotFor(&one);
  std::shared_ptr<Kernel> first = std::move(kernel);
  kernel = *load();
  EXPECT_NE(slotFor(&one), slot);
}

TEST_F(WorkspaceTest, MoreSlabs) {
  constexpr size_t count = 200; // 64 + 64 + 128 slots hold them
  std::vector<FakeStream> streams;
  std::vector<cu::DevicePtr> slots;
  for (size_t i = 0; i != count; ++i)
    streams.push_back(stream(i * 7, /*capturing=*/i % 3 == 2));
  for (FakeStream &each : streams)
    slots.push_back(slotFor(&each));
  EXPECT_EQ(std::set(slots.begin(), slots.end()).size(), count);
  EXPECT_EQ(fake.count("cuMemAlloc_v2"), 3);
  // Streams keep their slots when the table grows.
  for (size_t i = 0; i != count; ++i)
    if (!streams[i].capturing)
      EXPECT_EQ(slotFor(&streams[i]), slots[i]);
  EXPECT_EQ(fake.count("cuMemAlloc_v2"), 3);
}

TEST_F(WorkspaceTest, AnotherSlabDuringACapture) {
  FakeStream one = stream(51, /*capturing=*/true);
  fake.captureIsGlobal = true;
  std::set<cu::DevicePtr> slots;
  for (size_t i = 0; i != Workspace::firstSlots + 1; ++i)
    slots.insert(slotFor(&one));
  fake.captureIsGlobal = false;
  EXPECT_EQ(slots.size(), Workspace::firstSlots + 1);
}

TEST_F(WorkspaceTest, MoreSlabsMayFail) {
  FakeStream one = stream(61, /*capturing=*/true), two = stream(62);
  for (size_t i = 0; i != Workspace::firstSlots; ++i)
    slotFor(&one);
  size_t live = fake.memory.size();
  for (const char *call : {"cuMemAlloc_v2", "cuStreamCreate", "cuMemsetD8Async",
                           "cuStreamSynchronize"}) {
    fake.failNext[call] = 2;
    Status status = launch(&two);
    EXPECT_EQ(status.code(), StatusCode::outOfMemory);
    EXPECT_EQ(
        status.message().rfind(
            concat(call, " failed: CUDA_ERROR_OUT_OF_MEMORY (as the fake was "
                         "told), allocating more workspace: all 64 slots are "
                         "taken by streams and captured launches, launching "
                         "`causal` (direct, 48 CTAs"),
            0),
        0u)
        << status.message();
    EXPECT_EQ(fake.memory.size(), live) << call;
  }
  EXPECT_TRUE(launch(&two).ok());
}

TEST_F(WorkspaceTest, ThreadsFindTheSameSlots) {
  constexpr int numThreads = 8, numStreams = 300;
  std::vector<FakeStream> streams;
  for (int i = 0; i != numStreams; ++i)
    streams.push_back(stream(i));
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i != numThreads; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j != numStreams; ++j)
        good += launch(&streams[(j + i / 4 * 150) % numStreams]).ok();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, numThreads * numStreams);
  std::map<void *, std::set<cu::DevicePtr>> slots;
  std::set<cu::DevicePtr> all;
  for (const FakeLaunch &launch : fake.launches) {
    slots[launch.stream].insert(slotOf(launch));
    all.insert(slotOf(launch));
  }
  EXPECT_EQ(all.size(), size_t(numStreams));
  for (const auto &[stream, own] : slots)
    EXPECT_EQ(own.size(), 1u);
}

TEST_F(WorkspaceTest, LoadingMayFail) {
  size_t live = fake.memory.size(), modules = fake.liveModules.size();
  for (const char *call : {"cuMemAlloc_v2", "cuStreamCreate", "cuMemsetD8Async",
                           "cuStreamSynchronize"}) {
    fake.failNext[call] = 2;
    EXPECT_EQ(
        load().status().message(),
        concat("loading `causal` (direct, sm_90a): ", call,
               " failed: CUDA_ERROR_OUT_OF_MEMORY (as the fake was told), "
               "allocating the kernel's workspace"));
    EXPECT_EQ(fake.memory.size(), live) << call;
    EXPECT_EQ(fake.liveModules.size(), modules) << call;
  }
}

TEST_F(WorkspaceTest, IsFreedWithTheKernel) {
  size_t live = fake.memory.size();
  fake.captureIsGlobal = true;
  kernel.reset();
  fake.captureIsGlobal = false;
  EXPECT_EQ(fake.memory.size(), live - 1);
}

TEST_F(WorkspaceTest, RedoneRows) {
  FakeStream one = stream(71), two = stream(72);
  auto count = [&](void *on) {
    return reinterpret_cast<uint32_t *>(slotFor(on))[2];
  };
  EXPECT_EQ(*kernel->redoneRows(&one), 0u); // not launched yet
  reinterpret_cast<uint32_t *>(slotFor(&one))[2] = 17;
  fake.clear();
  EXPECT_EQ(*kernel->redoneRows(&one), 17u);
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 1);
  EXPECT_EQ(*kernel->redoneRows(&two), 0u);
  EXPECT_EQ(*kernel->redoneRows(nullptr), 0u);
  EXPECT_EQ(count(&one), 17u); // reading changes nothing

  one.capturing = true;
  Result<uint32_t> rows = kernel->redoneRows(&one);
  EXPECT_EQ(rows.status().code(), StatusCode::unavailable);
  EXPECT_EQ(rows.status().message(),
            "the redone rows of a stream cannot be read while it is being "
            "captured");
}

TEST_F(WorkspaceTest, RedoneRowsOfASet) {
  auto plain = *Kernel::load(pipelinedManifest(), pipelinedImage);
  FakeStream one = stream(81);
  reinterpret_cast<uint32_t *>(slotFor(&one))[2] = 5;
  fake.clear();
  EXPECT_EQ(*(*KernelSet::create({plain}))->redoneRows(&one), 0u);
  EXPECT_TRUE(fake.calls.empty()); // there is nothing to ask about
  EXPECT_EQ(*(*KernelSet::create({plain, kernel}))->redoneRows(&one), 5u);
  EXPECT_EQ(*(*KernelSet::create({kernel, kernel}))->redoneRows(&one), 10u);
}

TEST_F(WorkspaceTest, EveryDriverCallMayFail) {
  FakeStream one = stream(91);
  for (const char *call :
       {"cuStreamIsCapturing", "cuStreamGetId", "cuLaunchKernelEx"}) {
    fake.failNext[call] = 2;
    Status status = launch(&one);
    EXPECT_EQ(status.message().rfind(concat(call, " failed: "), 0), 0u)
        << status.message();
  }
  ASSERT_TRUE(launch(&one).ok());
  for (const char *call :
       {"cuStreamGetCtx", "cuStreamIsCapturing", "cuStreamGetId",
        "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"}) {
    fake.failNext[call] = 2;
    Result<uint32_t> rows = kernel->redoneRows(&one);
    EXPECT_EQ(rows.status().code(), StatusCode::outOfMemory) << call;
  }
  EXPECT_EQ(*kernel->redoneRows(&one), 0u);
}

/// Two counts of 64 bits behind the count of rows, in kernels with that room.
TEST_F(WorkspaceTest, Visits) {
  std::string manifest = workspaceManifest();
  manifest.replace(manifest.find("\"bytes\": 16"), 11, "\"bytes\": 32");
  auto plain = kernel;
  EXPECT_FALSE(plain->countsVisits());
  kernel = *Kernel::load(manifest, directImage);
  EXPECT_TRUE(kernel->countsVisits());
  FakeStream one = stream(101), two = stream(102);
  EXPECT_EQ(kernel->visits(&one)->full, 0u); // not launched yet
  auto *words = reinterpret_cast<uint64_t *>(slotFor(&one));
  words[2] = uint64_t(3) << 32;
  words[3] = 17;
  fake.clear();
  EXPECT_EQ(kernel->visits(&one)->partial, uint64_t(3) << 32);
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 1);
  EXPECT_EQ(kernel->visits(&one)->full, 17u);
  EXPECT_EQ(*kernel->redoneRows(&one), 0u);
  EXPECT_EQ(kernel->visits(&two)->full, 0u);

  fake.clear();
  EXPECT_EQ(plain->visits(&one)->full, 0u);
  EXPECT_TRUE(fake.calls.empty()); // there is nothing to ask about
  auto set = *KernelSet::create({kernel, kernel});
  EXPECT_TRUE(set->countsVisits());
  EXPECT_EQ(set->visits(&one)->full, 34u);
  EXPECT_EQ((*KernelSet::create({plain, kernel}))->visits(&one)->full, 17u);
  EXPECT_TRUE((*KernelSet::create({plain, kernel}))->countsVisits());
  EXPECT_FALSE((*KernelSet::create({plain}))->countsVisits());

  one.capturing = true;
  Result<BlockVisits> visits = kernel->visits(&one);
  EXPECT_EQ(visits.status().code(), StatusCode::unavailable);
  EXPECT_EQ(visits.status().message(),
            "the visited blocks of a stream cannot be read while it is being "
            "captured");
  one.capturing = false;
  for (const char *call :
       {"cuStreamGetCtx", "cuStreamIsCapturing", "cuStreamGetId",
        "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"}) {
    fake.failNext[call] = 2;
    EXPECT_EQ(kernel->visits(&one).status().code(), StatusCode::outOfMemory)
        << call;
  }
}
