//===- FakeCuda.h - what tests set and see of the stand-in libcuda *- C++
//-*-===//
//
// FakeCuda.cpp is a shared object with the entry points of the driver that the
// runtime uses. It keeps contexts per thread, streams, modules and memory as
// the real one does, does no work, and records what it is asked. Tests load it
// through TEGULA_LIBCUDA and reach this record through `fakeCuda`.
//
// An image for it is text: `kernel NAME SIZE...`, with the size in bytes of
// each parameter; `wrong` anywhere makes it a PTX that does not assemble.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

struct FakeContext {
  int device;
  unsigned long long id;
};

struct FakeStream {
  FakeContext *context;
  bool capturing = false;
  unsigned long long id = 0;
};

struct FakeLaunch {
  std::string kernel;
  unsigned grid[3], block[3], shared;
  void *stream;
  std::vector<std::vector<unsigned char>> params;
};

struct FakeMap {
  int type;
  void *address;
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box, steps;
  int interleave, swizzle, l2Promotion, oobFill;
};

struct FakeMemory {
  int type = 2; // CU_MEMORYTYPE_DEVICE
  int device = 0;
  bool managed = false;
};

struct FakeCuda {
  std::mutex mutex;
  // What the machine is like.
  int deviceCount = 2;
  int multiprocessors = 132;
  int major = 9, minor = 0;
  int sharedOptin = 232448;
  int pageable = 0;
  int maxThreads = 1024;
  int driverVersion = 13000;
  /// Pointers that the driver knows.
  std::map<uint64_t, FakeMemory> memory;
  /// The result that a call gives next, by symbol: once.
  std::map<std::string, int> failNext;
  /// A stream is being captured in global mode: threads that are not relaxed
  /// may not allocate or wait.
  bool captureIsGlobal = false;
  /// Records nothing, and touches no heap memory at a launch.
  bool quiet = false;
  // What was asked.
  std::vector<std::string> calls;
  std::vector<FakeLaunch> launches;
  std::vector<FakeMap> maps;
  std::map<int, int> attributesSet; // function attribute -> value
  std::set<void *> liveModules;

  /// Forgets the record, keeps the machine.
  void clear() {
    std::lock_guard lock(mutex);
    failNext.clear();
    calls.clear();
    launches.clear();
    maps.clear();
    attributesSet.clear();
  }
  int count(const std::string &call) {
    std::lock_guard lock(mutex);
    int n = 0;
    for (const std::string &each : calls)
      n += each == call;
    return n;
  }
};

extern "C" FakeCuda *fakeCuda();
