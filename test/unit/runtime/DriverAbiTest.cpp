//===- DriverAbiTest.cpp - our declarations against cuda.h ----------------===//
//
// Built where cuda.h is found. Each entry point has as many parameters of the
// same sizes, pointers where there are pointers, and each enumerator its value.
//
//===----------------------------------------------------------------------===//
// The names of functions, not the versions that macros put in their place.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "runtime/DriverApi.h"

#include <gtest/gtest.h>
#include <type_traits>

using namespace tegula::rt;

template <typename A, typename B> constexpr bool sameParameter() {
  return sizeof(A) == sizeof(B) &&
         std::is_pointer_v<A> == std::is_pointer_v<B> &&
         alignof(A) == alignof(B);
}

template <typename A, typename B> struct SameAbi : std::false_type {};
template <typename R, typename... As, typename S, typename... Bs>
struct SameAbi<R (*)(As...), S (*)(Bs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(As) == sizeof...(Bs))
      return sizeof(R) == sizeof(S) && (sameParameter<As, Bs>() && ...);
    return false;
  }();
};

#define X(member, symbol, params)                                              \
  static_assert(                                                               \
      SameAbi<decltype(&::symbol), decltype(cu::EntryPoints::member)>::value,  \
      #symbol);
TEGULA_DRIVER_ENTRY_POINTS(X)
#undef X

#define SAME(ours, theirs)                                                     \
  static_assert(static_cast<int>(cu::ours) == static_cast<int>(theirs))
SAME(errorInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(errorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(errorNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
SAME(errorDeinitialized, CUDA_ERROR_DEINITIALIZED);
SAME(errorStubLibrary, CUDA_ERROR_STUB_LIBRARY);
SAME(errorCallRequiresNewerDriver, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
SAME(errorDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
SAME(errorNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(errorInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME(errorInvalidImage, CUDA_ERROR_INVALID_IMAGE);
SAME(errorInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
SAME(errorNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(errorInvalidPtx, CUDA_ERROR_INVALID_PTX);
SAME(errorJitCompilerNotFound, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
SAME(errorUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(errorNotFound, CUDA_ERROR_NOT_FOUND);
SAME(errorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(errorContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(errorAssert, CUDA_ERROR_ASSERT);
SAME(errorHardwareStack, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(errorLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME(errorSystemNotReady, CUDA_ERROR_SYSTEM_NOT_READY);
SAME(errorSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME(errorCompatNotSupportedOnDevice,
     CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
SAME(errorStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME(deviceMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(deviceL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(deviceComputeCapabilityMajor,
     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(deviceComputeCapabilityMinor,
     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(devicePageableMemoryAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
SAME(deviceMaxSharedMemoryPerBlockOptin,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(functionMaxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(functionSharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(functionLocalSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(functionNumRegs, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(functionMaxDynamicSharedSizeBytes,
     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(jitInfoLogBuffer, CU_JIT_INFO_LOG_BUFFER);
SAME(jitInfoLogBufferSizeBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME(jitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
SAME(jitErrorLogBufferSizeBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(pointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(pointerIsManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME(pointerDeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME(memoryTypeHost, CU_MEMORYTYPE_HOST);
SAME(memoryTypeDevice, CU_MEMORYTYPE_DEVICE);
SAME(interleaveNone, CU_TENSOR_MAP_INTERLEAVE_NONE);
SAME(swizzle32B, CU_TENSOR_MAP_SWIZZLE_32B);
SAME(swizzle64B, CU_TENSOR_MAP_SWIZZLE_64B);
SAME(swizzle128B, CU_TENSOR_MAP_SWIZZLE_128B);
SAME(l2Promotion64B, CU_TENSOR_MAP_L2_PROMOTION_L2_64B);
SAME(l2Promotion128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
SAME(l2Promotion256B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
SAME(oobFillNone, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
SAME(streamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(captureStatusNone, CU_STREAM_CAPTURE_STATUS_NONE);
SAME(captureModeThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(captureModeRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);

static_assert(sizeof(cu::TensorMap) == sizeof(CUtensorMap));
static_assert(alignof(cu::TensorMap) == alignof(CUtensorMap));
static_assert(sizeof(cu::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(cu::LaunchConfig, stream) ==
              offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(cu::LaunchConfig, numAttributes) ==
              offsetof(CUlaunchConfig, numAttrs));

TEST(DriverAbi, IsThatOfCudaH) {
  // All of it is checked when this file is compiled.
  EXPECT_GE(CUDA_VERSION, 12000);
}
