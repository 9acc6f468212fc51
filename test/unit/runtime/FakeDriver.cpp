//===- FakeDriver.cpp - loads the stand-in driver before the tests run ----===//
#include "FakeDriver.h"

#include <cstdlib>
#include <dlfcn.h>

namespace tegula::rt::test {

// Before main, so before any test can open the driver.
static const int pathIsSet = setenv("TEGULA_LIBCUDA", FAKE_CUDA_LIBRARY, 1);

FakeCuda &fakeDriver() {
  static FakeCuda *fake = [] {
    void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library || pathIsSet != 0)
      abort();
    auto get = reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "fakeCuda"));
    return get();
  }();
  return *fake;
}

} // namespace tegula::rt::test
