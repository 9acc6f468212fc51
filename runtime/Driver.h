//===- Driver.h - libcuda, loaded when first needed -------------*- C++ -*-===//
//
// Opens libcuda.so.1 with dlopen, fills the table of entry points and
// initialises the driver. That there is no driver, or no GPU, is a status and
// not a failure to start. The environment variable TEGULA_LIBCUDA overrides
// the path of the library (another installation, or a stand-in for tests).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/DriverApi.h"
#include "runtime/Status.h"

namespace tegula::rt {

/// An opened and initialised driver. Immutable, so all threads share it.
class Driver {
public:
  /// The process's driver: opened by the first call, and never closed. A
  /// failure is remembered, so later calls are cheap. Errors: `unavailable`.
  static Result<const Driver *> get();

  /// Opens the library at `path` and initialises it; `get()` uses this.
  static Result<std::unique_ptr<Driver>> open(const char *path);

  /// The entry points; none is null.
  const cu::EntryPoints api;

  /// CUDA version that the driver supports: 12040 for 12.4.
  const int version;

  /// Turns the result of the call `name` into a status: "cuMemAlloc_v2 failed:
  /// CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  Status check(cu::Result result, const char *name) const {
    return result == cu::success ? Status() : failure(result, name);
  }

private:
  Driver(const cu::EntryPoints &api, int version)
      : api(api), version(version) {}
  Status failure(cu::Result result, const char *name) const;
};

} // namespace tegula::rt

/// Calls an entry point and gives the status: TEGULA_CU(driver, memFree, ptr).
#define TEGULA_CU(driver, member, ...)                                         \
  (driver).check((driver).api.member(__VA_ARGS__),                             \
                 ::tegula::rt::cu::EntryPoints::member##Symbol)
