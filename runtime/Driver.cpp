//===- Driver.cpp - dlopen of libcuda and errors by name ------------------===//
//
// Fills the table of entry points from one list, and maps CUresult values to
// status codes. The library stays open for the life of the process: closing it
// while other threads hold contexts is not safe.
//
//===----------------------------------------------------------------------===//
#include "runtime/Driver.h"
#include "runtime/Concat.h"

#include <cstdlib>
#include <dlfcn.h>

namespace tegula::rt {

static std::string versionText(int version) {
  return concat(version / 1000, ".", version % 1000 / 10);
}

static StatusCode codeOf(cu::Result result) {
  switch (result) {
  case cu::errorOutOfMemory:
    return StatusCode::outOfMemory;
  case cu::errorStubLibrary:
  case cu::errorCallRequiresNewerDriver:
  case cu::errorDeviceUnavailable:
  case cu::errorNoDevice:
  case cu::errorNoBinaryForGpu:
  case cu::errorJitCompilerNotFound:
  case cu::errorUnsupportedPtxVersion:
  case cu::errorSystemNotReady:
  case cu::errorSystemDriverMismatch:
  case cu::errorCompatNotSupportedOnDevice:
    return StatusCode::unavailable;
  case cu::errorAssert:
    return StatusCode::assertionFailed;
  default:
    return StatusCode::driverError;
  }
}

Status Driver::failure(cu::Result result, const char *name) const {
  const char *known = nullptr, *text = nullptr;
  bool isKnown = api.getErrorName(result, &known) == cu::success && known;
  std::string error = isKnown ? known : concat("CUDA error ", result);
  if (api.getErrorString(result, &text) != cu::success || !text)
    text = "no description";
  std::string message = concat(name, " failed: ", error, " (", text, ")");
  if (result == cu::errorUnsupportedPtxVersion)
    message += concat("; the driver supports CUDA ", versionText(version));
  return Status(codeOf(result), std::move(message), result);
}

Result<std::unique_ptr<Driver>> Driver::open(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    // dlerror speaks of a missing file for a missing dependency too, so its
    // text is kept whenever it is about anything else than `path` itself.
    const char *error = dlerror();
    std::string why = error ? error : "unknown reason";
    if (why.starts_with(concat(path, ": cannot open shared object file: No")))
      return unavailable(concat("no NVIDIA driver: ", path, " was not found"));
    return unavailable(
        concat("no NVIDIA driver: ", path, " could not be loaded: ", why));
  }

  cu::EntryPoints api;
#define X(member, symbol, params)                                              \
  api.member =                                                                 \
      reinterpret_cast<decltype(api.member)>(dlsym(library, #symbol));         \
  if (!api.member)                                                             \
    return unavailable(concat("the NVIDIA driver at ", path,                   \
                              " is too old: it has no ", #symbol,              \
                              "; a driver for CUDA 12.0 or later is needed"));
  TEGULA_DRIVER_ENTRY_POINTS(X)
#undef X

  int version = 0;
  (void)api.driverGetVersion(&version);
  std::unique_ptr<Driver> driver(new Driver(api, version));
  Status status = TEGULA_CU(*driver, init, 0);
  if (status.driverError() == cu::errorNoDevice)
    return unavailable("no CUDA device: " + status.message());
  if (!status.ok())
    return unavailable("the NVIDIA driver does not start: " + status.message());
  return driver;
}

Result<const Driver *> Driver::get() {
  static const Result<std::unique_ptr<Driver>> opened =
      guarded([]() -> Result<std::unique_ptr<Driver>> {
        const char *path = std::getenv("TEGULA_LIBCUDA");
        return open(path && *path ? path : "libcuda.so.1");
      });
  if (!opened.ok())
    return opened.status();
  return opened->get();
}

} // namespace tegula::rt
