//===- FakeDriver.h - the stand-in driver in this process -------*- C++ -*-===//
//
// `FAKE_CUDA_LIBRARY` is the path of the shared object; main of the test
// program puts it into TEGULA_LIBCUDA before anything opens the driver.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "test/unit/runtime/FakeCuda.h"

namespace tegula::rt::test {

/// The record of the stand-in driver.
FakeCuda &fakeDriver();

} // namespace tegula::rt::test
