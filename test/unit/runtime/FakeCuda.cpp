//===- FakeCuda.cpp - a libcuda without a GPU -----------------------------===//
//
// Rules of the real driver that the runtime depends on are kept: a call needs a
// context, a function runs only in its own, nothing is loaded, allocated or
// waited for in a thread whose captures are not relaxed while a stream is
// captured, tensor maps are checked.
//
//===----------------------------------------------------------------------===//
#include "FakeCuda.h"
#include "runtime/DriverApi.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

using namespace tegula::rt;

namespace {
struct FakeFunction {
  FakeContext *context;
  std::string name;
  std::vector<int> sizes;
};
struct FakeModule {
  FakeContext *context;
  std::vector<FakeFunction> functions;
};
thread_local std::vector<FakeContext *> contextStack;
thread_local int captureMode = 0;
} // namespace

extern "C" FakeCuda *fakeCuda() {
  static FakeCuda state;
  return &state;
}

static FakeContext *current() {
  return contextStack.empty() ? nullptr : contextStack.back();
}

/// Records the call; not 0 if it has to fail.
static int enter(const char *name) {
  FakeCuda &fake = *fakeCuda();
  if (fake.quiet)
    return 0;
  std::lock_guard lock(fake.mutex);
  fake.calls.push_back(name);
  auto found = fake.failNext.find(name);
  if (found == fake.failNext.end())
    return 0;
  int result = found->second;
  fake.failNext.erase(found);
  return result;
}

#define ENTER_UNSAFE()                                                         \
  ENTER_IN_CONTEXT();                                                          \
  if (fakeCuda()->captureIsGlobal && captureMode != cu::captureModeRelaxed)    \
  return cu::errorStreamCaptureUnsupported
#define ENTER()                                                                \
  if (int failure = enter(__func__))                                           \
  return failure
#define ENTER_IN_CONTEXT()                                                     \
  ENTER();                                                                     \
  if (!current())                                                              \
  return cu::errorInvalidContext

extern "C" {

int cuInit(unsigned) {
  ENTER();
  return fakeCuda()->deviceCount ? 0 : cu::errorNoDevice;
}
int cuDriverGetVersion(int *version) {
  *version = fakeCuda()->driverVersion;
  return 0;
}
int cuGetErrorName(int error, const char **text) {
  switch (error) {
  case 1:
    *text = "CUDA_ERROR_INVALID_VALUE";
    return 0;
  case 2:
    *text = "CUDA_ERROR_OUT_OF_MEMORY";
    return 0;
  case 100:
    *text = "CUDA_ERROR_NO_DEVICE";
    return 0;
  case 201:
    *text = "CUDA_ERROR_INVALID_CONTEXT";
    return 0;
  case 218:
    *text = "CUDA_ERROR_INVALID_PTX";
    return 0;
  case 222:
    *text = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION";
    return 0;
  case 209:
    *text = "CUDA_ERROR_NO_BINARY_FOR_GPU";
    return 0;
  case 500:
    *text = "CUDA_ERROR_NOT_FOUND";
    return 0;
  case 700:
    *text = "CUDA_ERROR_ILLEGAL_ADDRESS";
    return 0;
  }
  *text = nullptr;
  return 1;
}
int cuGetErrorString(int, const char **text) {
  *text = "as the fake was told";
  return 0;
}
int cuDeviceGetCount(int *count) {
  ENTER();
  *count = fakeCuda()->deviceCount;
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  ENTER();
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char *name, int size, int device) {
  ENTER();
  std::snprintf(name, size, "Fake GPU %d", device);
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  ENTER();
  FakeCuda &fake = *fakeCuda();
  switch (attribute) {
  case cu::deviceMultiprocessorCount:
    *value = fake.multiprocessors;
    return 0;
  case cu::deviceComputeCapabilityMajor:
    *value = fake.major;
    return 0;
  case cu::deviceComputeCapabilityMinor:
    *value = fake.minor;
    return 0;
  case cu::deviceMaxSharedMemoryPerBlockOptin:
    *value = fake.sharedOptin;
    return 0;
  case cu::devicePageableMemoryAccess:
    *value = fake.pageable;
    return 0;
  case cu::deviceL2CacheSize:
    *value = 50 << 20;
    return 0;
  }
  return 1;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  ENTER();
  static FakeContext primaries[8];
  primaries[device] = {device, 100ull + static_cast<unsigned>(device)};
  *context = &primaries[device];
  return 0;
}
int cuCtxGetCurrent(void **context) {
  ENTER();
  *context = current();
  return 0;
}
int cuCtxPushCurrent_v2(void *context) {
  ENTER();
  contextStack.push_back(static_cast<FakeContext *>(context));
  return 0;
}
int cuCtxPopCurrent_v2(void **context) {
  ENTER_IN_CONTEXT();
  *context = current();
  contextStack.pop_back();
  return 0;
}
int cuCtxGetDevice(int *device) {
  ENTER_IN_CONTEXT();
  *device = current()->device;
  return 0;
}
int cuCtxGetId(void *context, unsigned long long *id) {
  ENTER();
  *id = static_cast<FakeContext *>(context)->id;
  return 0;
}
int cuCtxSynchronize() {
  ENTER_IN_CONTEXT();
  return 0;
}
int cuStreamCreate(void **stream, unsigned) {
  ENTER_UNSAFE();
  static std::atomic<unsigned long long> nextId = 1000;
  *stream = new FakeStream{current(), false, nextId++};
  return 0;
}
int cuStreamDestroy_v2(void *stream) {
  ENTER();
  delete static_cast<FakeStream *>(stream);
  return 0;
}
int cuStreamSynchronize(void *) {
  ENTER_UNSAFE();
  return 0;
}
int cuStreamGetCtx(void *stream, void **context) {
  ENTER();
  *context = static_cast<FakeStream *>(stream)->context;
  return 0;
}
int cuStreamGetId(void *stream, unsigned long long *id) {
  ENTER_IN_CONTEXT();
  *id = stream ? static_cast<FakeStream *>(stream)->id : 1;
  return 0;
}
int cuStreamIsCapturing(void *stream, int *status) {
  ENTER();
  *status = static_cast<FakeStream *>(stream)->capturing;
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
  ENTER();
  std::swap(*mode, captureMode);
  return 0;
}
int cuStreamBeginCapture_v2(void *stream, int) {
  ENTER();
  static_cast<FakeStream *>(stream)->capturing = true;
  return 0;
}
int cuStreamEndCapture(void *stream, void **graph) {
  ENTER();
  static_cast<FakeStream *>(stream)->capturing = false;
  *graph = nullptr;
  return 0;
}
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long) {
  ENTER();
  return 0;
}
int cuGraphLaunch(void *, void *) {
  ENTER();
  return 0;
}
int cuGraphGetNodes(void *, void **, size_t *) {
  ENTER();
  return 0;
}
int cuGraphDestroy(void *) {
  ENTER();
  return 0;
}
int cuGraphExecDestroy(void *) {
  ENTER();
  return 0;
}
int cuEventCreate(void **event, unsigned) {
  ENTER_IN_CONTEXT();
  *event = new int;
  return 0;
}
int cuEventDestroy_v2(void *event) {
  ENTER();
  delete static_cast<int *>(event);
  return 0;
}
int cuEventRecord(void *, void *) {
  ENTER_IN_CONTEXT();
  return 0;
}
int cuEventSynchronize(void *) {
  ENTER_IN_CONTEXT();
  return 0;
}
int cuEventElapsedTime(float *milliseconds, void *, void *) {
  ENTER_IN_CONTEXT();
  *milliseconds = 1.5f;
  return 0;
}
int cuMemAlloc_v2(unsigned long long *pointer, size_t bytes) {
  ENTER_UNSAFE();
  void *memory = std::malloc(bytes);
  std::memset(memory, 0xab, bytes); // new memory holds anything
  *pointer = reinterpret_cast<unsigned long long>(memory);
  FakeCuda &fake = *fakeCuda();
  std::lock_guard lock(fake.mutex);
  fake.memory[*pointer] = {2, current()->device, false};
  return 0;
}
int cuMemFree_v2(unsigned long long pointer) {
  ENTER_UNSAFE();
  FakeCuda &fake = *fakeCuda();
  std::lock_guard lock(fake.mutex);
  fake.memory.erase(pointer);
  std::free(reinterpret_cast<void *>(pointer));
  return 0;
}
int cuMemAllocAsync(unsigned long long *pointer, size_t bytes, void *) {
  ENTER_IN_CONTEXT();
  void *memory = std::malloc(bytes);
  std::memset(memory, 0xab, bytes);
  *pointer = reinterpret_cast<unsigned long long>(memory);
  FakeCuda &fake = *fakeCuda();
  if (fake.quiet)
    return 0;
  std::lock_guard lock(fake.mutex);
  fake.memory[*pointer] = {2, current()->device, false};
  return 0;
}
int cuMemFreeAsync(unsigned long long pointer, void *) {
  ENTER_IN_CONTEXT();
  FakeCuda &fake = *fakeCuda();
  std::lock_guard lock(fake.mutex);
  fake.memory.erase(pointer);
  std::free(reinterpret_cast<void *>(pointer));
  return 0;
}
int cuMemGetInfo_v2(size_t *free, size_t *total) {
  ENTER_IN_CONTEXT();
  *free = 1000;
  *total = 2000;
  return 0;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes,
                         void *) {
  ENTER_IN_CONTEXT();
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes,
                         void *) {
  ENTER_IN_CONTEXT();
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return 0;
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t bytes,
                    void *) {
  ENTER_IN_CONTEXT();
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return 0;
}
int cuPointerGetAttributes(unsigned count, int *attributes, void **data,
                           unsigned long long pointer) {
  ENTER();
  FakeCuda &fake = *fakeCuda();
  std::lock_guard lock(fake.mutex);
  auto found = fake.memory.find(pointer);
  bool known = found != fake.memory.end();
  for (unsigned i = 0; i != count; ++i) {
    int *value = static_cast<int *>(data[i]);
    if (attributes[i] == cu::pointerMemoryType)
      *value = known ? found->second.type : 0;
    if (attributes[i] == cu::pointerDeviceOrdinal)
      *value = known ? found->second.device : -2;
    if (attributes[i] == cu::pointerIsManaged)
      *value = known && found->second.managed;
  }
  return 0;
}
int cuModuleLoadDataEx(void **module, const void *image, unsigned numOptions,
                       int *options, void **values) {
  ENTER_IN_CONTEXT();
  if (captureMode != cu::captureModeRelaxed)
    return cu::errorStreamCaptureUnsupported; // if one were captured elsewhere
  std::string text(static_cast<const char *>(image));
  if (text.starts_with("\x7f"
                       "ELF"))
    return cu::errorNoBinaryForGpu; // the stand-in runs no machine code
  if (text.find("wrong") != std::string::npos) {
    for (unsigned i = 0; i != numOptions; ++i)
      if (options[i] == cu::jitErrorLogBuffer)
        std::strcpy(static_cast<char *>(values[i]),
                    "ptxas application ptx input, line 1; error: it is wrong");
    return cu::errorInvalidPtx;
  }
  auto *made = new FakeModule{current(), {}};
  // PTX: names only, so that launches of it record no parameters.
  for (size_t at = 0; (at = text.find(".entry ", at)) != std::string::npos;) {
    at += 7;
    made->functions.push_back(
        {current(), text.substr(at, text.find('(', at) - at), {}});
  }
  std::istringstream lines(text);
  std::string line, word;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    FakeFunction function{current(), "", {}};
    if (!(words >> word) || word.find("kernel") == std::string::npos)
      continue;
    words >> function.name;
    for (int size; words >> size;)
      function.sizes.push_back(size);
    made->functions.push_back(function);
  }
  *module = made;
  FakeCuda &fake = *fakeCuda();
  std::lock_guard lock(fake.mutex);
  fake.liveModules.insert(made);
  return 0;
}
int cuModuleUnload(void *module) {
  ENTER_IN_CONTEXT();
  FakeCuda &fake = *fakeCuda();
  std::lock_guard lock(fake.mutex);
  if (!fake.liveModules.erase(module))
    return 400;
  delete static_cast<FakeModule *>(module);
  return 0;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  ENTER_IN_CONTEXT();
  for (FakeFunction &each : static_cast<FakeModule *>(module)->functions)
    if (each.name == name) {
      *function = &each;
      return 0;
    }
  return cu::errorNotFound;
}
int cuFuncSetAttribute(void *, int attribute, int value) {
  ENTER_IN_CONTEXT();
  FakeCuda &fake = *fakeCuda();
  std::lock_guard lock(fake.mutex);
  fake.attributesSet[attribute] = value;
  return 0;
}
int cuFuncGetAttribute(int *value, int attribute, void *) {
  ENTER_IN_CONTEXT();
  *value = attribute == cu::functionMaxThreadsPerBlock ? fakeCuda()->maxThreads
           : attribute == cu::functionNumRegs          ? 168
                                                       : 0;
  return 0;
}
int cuLaunchKernelEx(const cu::LaunchConfig *config, void *function,
                     void **params, void **) {
  ENTER_IN_CONTEXT();
  auto *stream = static_cast<FakeStream *>(config->stream);
  auto *kernel = static_cast<FakeFunction *>(function);
  if (kernel->context != current() || (stream && stream->context != current()))
    return cu::errorInvalidContext;
  if (fakeCuda()->quiet)
    return 0;
  FakeLaunch launch{kernel->name,
                    {config->gridX, config->gridY, config->gridZ},
                    {config->blockX, config->blockY, config->blockZ},
                    config->sharedBytes,
                    config->stream,
                    {}};
  for (size_t i = 0; i != kernel->sizes.size(); ++i) {
    auto *bytes = static_cast<unsigned char *>(params[i]);
    launch.params.emplace_back(bytes, bytes + kernel->sizes[i]);
  }
  FakeCuda &fake = *fakeCuda();
  std::lock_guard lock(fake.mutex);
  fake.launches.push_back(std::move(launch));
  return 0;
}
int cuTensorMapEncodeTiled(cu::TensorMap *map, int type, uint32_t rank,
                           void *address, const uint64_t *dims,
                           const uint64_t *strides, const uint32_t *box,
                           const uint32_t *steps, int interleave, int swizzle,
                           int l2Promotion, int oobFill) {
  ENTER_IN_CONTEXT();
  bool legal = reinterpret_cast<uint64_t>(map) % 64 == 0 && rank >= 1 &&
               rank <= 5 && reinterpret_cast<uint64_t>(address) % 16 == 0;
  for (uint32_t i = 0; legal && i != rank; ++i)
    legal = dims[i] >= 1 && dims[i] <= 1ull << 32 && box[i] >= 1 &&
            box[i] <= 256 && steps[i] == 1;
  for (uint32_t i = 0; legal && i + 1 < rank; ++i)
    legal = strides[i] % 16 == 0 && strides[i] < 1ull << 40;
  if (!legal)
    return cu::errorInvalidValue;
  FakeCuda &fake = *fakeCuda();
  if (fake.quiet)
    return 0;
  std::lock_guard lock(fake.mutex);
  fake.maps.push_back({type,
                       address,
                       {dims, dims + rank},
                       {strides, strides + rank - 1},
                       {box, box + rank},
                       {steps, steps + rank},
                       interleave,
                       swizzle,
                       l2Promotion,
                       oobFill});
  map->opaque[0] = fake.maps.size(); // which of `maps` it is, from 1
  return 0;
}

} // extern "C"
