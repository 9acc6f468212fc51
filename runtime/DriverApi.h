//===- DriverApi.h - the part of the CUDA driver API that is used *- C++
//-*-===//
//
// Our own declarations of driver types, enumerators and entry points, so that
// the runtime builds where no CUDA toolkit is installed. Handles are `void *`,
// enums are `int`; the binary interface is that of cuda.h, which a unit test
// checks entry by entry where cuda.h is found.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace tegula::rt::cu {

using Result = int; // CUresult
using Device = int; // CUdevice
using Context = void *;
using Module = void *;
using Function = void *;
using Stream = void *;
using Event = void *;
using Graph = void *;
using GraphExec = void *;
using DevicePtr = unsigned long long;

/// Errors that the runtime treats by name; all others keep the driver's name.
enum : int {
  success = 0,
  errorInvalidValue = 1,
  errorOutOfMemory = 2,
  errorNotInitialized = 3,
  errorDeinitialized = 4,
  errorStubLibrary = 34,
  errorCallRequiresNewerDriver = 36,
  errorDeviceUnavailable = 46,
  errorNoDevice = 100,
  errorInvalidDevice = 101,
  errorInvalidImage = 200,
  errorInvalidContext = 201,
  errorNoBinaryForGpu = 209,
  errorInvalidPtx = 218,
  errorJitCompilerNotFound = 221,
  errorUnsupportedPtxVersion = 222,
  errorNotFound = 500,
  errorIllegalAddress = 700,
  errorContextIsDestroyed = 709,
  errorAssert = 710, // a kernel's assertion
  errorHardwareStack = 714, // 714 to 719 are faults of kernels
  errorLaunchFailed = 719,
  errorSystemNotReady = 802,
  errorSystemDriverMismatch = 803,
  errorCompatNotSupportedOnDevice = 804,
  errorStreamCaptureUnsupported = 900,
};

enum : int { // CUdevice_attribute
  deviceMultiprocessorCount = 16,
  deviceL2CacheSize = 38,
  deviceComputeCapabilityMajor = 75,
  deviceComputeCapabilityMinor = 76,
  devicePageableMemoryAccess = 88,
  deviceMaxSharedMemoryPerBlockOptin = 97,
};

enum : int { // CUfunction_attribute
  functionMaxThreadsPerBlock = 0,
  functionSharedSizeBytes = 1,
  functionLocalSizeBytes = 3,
  functionNumRegs = 4,
  functionMaxDynamicSharedSizeBytes = 8,
};

enum : int { // CUjit_option
  jitInfoLogBuffer = 3,
  jitInfoLogBufferSizeBytes = 4,
  jitErrorLogBuffer = 5,
  jitErrorLogBufferSizeBytes = 6,
};

enum : int { // CUpointer_attribute, CUmemorytype
  pointerMemoryType = 2,
  pointerIsManaged = 8,
  pointerDeviceOrdinal = 9,
  memoryTypeHost = 1,
  memoryTypeDevice = 2,
};

enum : int { // tensor maps
  interleaveNone = 0,
  swizzleNone = 0,
  swizzle32B = 1,
  swizzle64B = 2,
  swizzle128B = 3,
  l2PromotionNone = 0,
  l2Promotion64B = 1,
  l2Promotion128B = 2,
  l2Promotion256B = 3,
  oobFillNone = 0, // elements outside arrive as zeros
};

enum : int { // streams and events
  streamNonBlocking = 1,
  eventDefault = 0,
  captureStatusNone = 0,
  captureModeGlobal = 0,
  captureModeThreadLocal = 1,
  captureModeRelaxed = 2,
};

/// CUtensorMap: 128 opaque bytes.
struct alignas(128) TensorMap {
  uint64_t opaque[16];
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  Stream stream;
  void *attributes;
  unsigned numAttributes;
};

} // namespace tegula::rt::cu

/// The entry points: X(member of the table, symbol in libcuda, parameters).
/// Every one exists in drivers for CUDA 12.0 and later.
#define TEGULA_DRIVER_ENTRY_POINTS(X)                                          \
  X(init, cuInit, (unsigned flags))                                            \
  X(driverGetVersion, cuDriverGetVersion, (int *version))                      \
  X(getErrorName, cuGetErrorName, (Result error, const char **text))           \
  X(getErrorString, cuGetErrorString, (Result error, const char **text))       \
  X(deviceGetCount, cuDeviceGetCount, (int *count))                            \
  X(deviceGet, cuDeviceGet, (Device * device, int ordinal))                    \
  X(deviceGetName, cuDeviceGetName, (char *name, int size, Device device))     \
  X(deviceGetAttribute, cuDeviceGetAttribute,                                  \
    (int *value, int attribute, Device device))                                \
  X(devicePrimaryCtxRetain, cuDevicePrimaryCtxRetain,                          \
    (Context * context, Device device))                                        \
  X(ctxGetCurrent, cuCtxGetCurrent, (Context * context))                       \
  X(ctxPushCurrent, cuCtxPushCurrent_v2, (Context context))                    \
  X(ctxPopCurrent, cuCtxPopCurrent_v2, (Context * context))                    \
  X(ctxGetDevice, cuCtxGetDevice, (Device * device))                           \
  X(ctxGetId, cuCtxGetId, (Context context, unsigned long long *id))           \
  X(ctxSynchronize, cuCtxSynchronize, ())                                      \
  X(streamCreate, cuStreamCreate, (Stream * stream, unsigned flags))           \
  X(streamDestroy, cuStreamDestroy_v2, (Stream stream))                        \
  X(streamSynchronize, cuStreamSynchronize, (Stream stream))                   \
  X(streamGetCtx, cuStreamGetCtx, (Stream stream, Context * context))          \
  X(streamGetId, cuStreamGetId, (Stream stream, unsigned long long *id))       \
  X(streamIsCapturing, cuStreamIsCapturing, (Stream stream, int *status))      \
  X(threadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode,        \
    (int *mode))                                                               \
  X(streamBeginCapture, cuStreamBeginCapture_v2, (Stream stream, int mode))    \
  X(streamEndCapture, cuStreamEndCapture, (Stream stream, Graph * graph))      \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                             \
    (GraphExec * exec, Graph graph, unsigned long long flags))                 \
  X(graphLaunch, cuGraphLaunch, (GraphExec exec, Stream stream))               \
  X(graphGetNodes, cuGraphGetNodes,                                            \
    (Graph graph, void **nodes, size_t *numNodes))                             \
  X(graphDestroy, cuGraphDestroy, (Graph graph))                               \
  X(graphExecDestroy, cuGraphExecDestroy, (GraphExec exec))                    \
  X(eventCreate, cuEventCreate, (Event * event, unsigned flags))               \
  X(eventDestroy, cuEventDestroy_v2, (Event event))                            \
  X(eventRecord, cuEventRecord, (Event event, Stream stream))                  \
  X(eventSynchronize, cuEventSynchronize, (Event event))                       \
  X(eventElapsedTime, cuEventElapsedTime,                                      \
    (float *milliseconds, Event start, Event end))                             \
  X(memAlloc, cuMemAlloc_v2, (DevicePtr * pointer, size_t bytes))              \
  X(memFree, cuMemFree_v2, (DevicePtr pointer))                                \
  X(memAllocAsync, cuMemAllocAsync,                                            \
    (DevicePtr * pointer, size_t bytes, Stream stream))                        \
  X(memFreeAsync, cuMemFreeAsync, (DevicePtr pointer, Stream stream))          \
  X(memGetInfo, cuMemGetInfo_v2, (size_t *free, size_t *total))                \
  X(memcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                     \
    (DevicePtr to, const void *from, size_t bytes, Stream stream))             \
  X(memcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                     \
    (void *to, DevicePtr from, size_t bytes, Stream stream))                   \
  X(memsetD8Async, cuMemsetD8Async,                                            \
    (DevicePtr to, unsigned char value, size_t bytes, Stream stream))          \
  X(pointerGetAttributes, cuPointerGetAttributes,                              \
    (unsigned count, int *attributes, void **data, DevicePtr pointer))         \
  X(moduleLoadDataEx, cuModuleLoadDataEx,                                      \
    (Module * module, const void *image, unsigned numOptions, int *options,    \
     void **values))                                                           \
  X(moduleUnload, cuModuleUnload, (Module module))                             \
  X(moduleGetFunction, cuModuleGetFunction,                                    \
    (Function * function, Module module, const char *name))                    \
  X(funcSetAttribute, cuFuncSetAttribute,                                      \
    (Function function, int attribute, int value))                             \
  X(funcGetAttribute, cuFuncGetAttribute,                                      \
    (int *value, int attribute, Function function))                            \
  X(launchKernelEx, cuLaunchKernelEx,                                          \
    (const LaunchConfig *config, Function function, void **params,             \
     void **extra))                                                            \
  X(tensorMapEncodeTiled, cuTensorMapEncodeTiled,                              \
    (TensorMap * map, int type, uint32_t rank, void *address,                  \
     const uint64_t *dims, const uint64_t *strides, const uint32_t *box,       \
     const uint32_t *elementStrides, int interleave, int swizzle,              \
     int l2Promotion, int oobFill))

namespace tegula::rt::cu {

/// One pointer per entry point, and the symbol's text for messages.
struct EntryPoints {
#define X(member, symbol, params)                                              \
  Result(*member) params = nullptr;                                            \
  static constexpr const char *member##Symbol = #symbol;
  TEGULA_DRIVER_ENTRY_POINTS(X)
#undef X
};

} // namespace tegula::rt::cu
