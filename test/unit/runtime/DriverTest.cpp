//===- DriverTest.cpp - opening the driver, devices, owners ---------------===//
#include "FakeDriver.h"
#include "runtime/Device.h"

#include <gtest/gtest.h>

using namespace tegula::rt;
using namespace tegula::rt::test;

TEST(Driver, AbsenceIsAStatus) {
  Result<std::unique_ptr<Driver>> driver = Driver::open("libno-cuda-here.so.1");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.status().code(), StatusCode::unavailable);
  EXPECT_EQ(driver.status().message(),
            "no NVIDIA driver: libno-cuda-here.so.1 was not found");
}

TEST(Driver, AnotherLibraryIsTooOld) {
  Result<std::unique_ptr<Driver>> driver = Driver::open("libc.so.6");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.status().message(),
            "the NVIDIA driver at libc.so.6 is too old: it has no cuInit; a "
            "driver for CUDA 12.0 or later is needed");
}

TEST(Driver, NotALibrary) {
  Result<std::unique_ptr<Driver>> driver = Driver::open("/etc/passwd");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.status().message().rfind(
                "no NVIDIA driver: /etc/passwd could not be loaded: ", 0),
            0u);
}

TEST(Driver, NoDevice) {
  FakeCuda &fake = fakeDriver();
  fake.deviceCount = 0;
  Result<std::unique_ptr<Driver>> driver = Driver::open(FAKE_CUDA_LIBRARY);
  fake.deviceCount = 2;
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.status().code(), StatusCode::unavailable);
  EXPECT_EQ(driver.status().message(),
            "no CUDA device: cuInit failed: CUDA_ERROR_NO_DEVICE (as the fake "
            "was told)");
}

TEST(Driver, UnknownErrorsKeepTheirNumber) {
  fakeDriver().clear();
  fakeDriver().failNext["cuDeviceGetCount"] = 12345;
  Result<int> count = Device::count();
  ASSERT_FALSE(count.ok());
  EXPECT_EQ(count.status().driverError(), 12345);
  EXPECT_EQ(count.status().message(),
            "cuDeviceGetCount failed: CUDA error 12345 (as the fake was told)");
}

TEST(Device, Record) {
  Result<const Device *> device = Device::get(0);
  ASSERT_TRUE(device.ok()) << device.status().message();
  EXPECT_EQ((*device)->name, "Fake GPU 0");
  EXPECT_EQ((*device)->multiprocessors, 132);
  EXPECT_EQ((*device)->architecture(), "sm_90");
  EXPECT_EQ((*device)->sharedBytesOptin, 232448);
  EXPECT_EQ(*Device::get(0), *device);
}

TEST(Device, Supports) {
  const Device &device = **Device::get(0);
  struct Row {
    const char *target;
    bool cubin, ptx;
  };
  for (Row row : {Row{"sm_90a", true, true}, Row{"sm_90", true, true},
                  Row{"sm_80", false, true}, Row{"sm_86", false, true},
                  Row{"sm_100a", false, false}, Row{"sm_100f", false, false},
                  Row{"sm_120", false, false}}) {
    EXPECT_EQ(device.supports(row.target, false).ok(), row.cubin) << row.target;
    EXPECT_EQ(device.supports(row.target, true).ok(), row.ptx) << row.target;
  }
  for (const char *bad : {"", "sm_", "90", "sm_90b", "gfx90a"})
    EXPECT_EQ(device.supports(bad, true).code(), StatusCode::invalidArgument);
}

TEST(Device, OwnersRoundTrip) {
  const Device &device = **Device::get(1);
  Stream stream = std::move(*Stream::create(device));
  Buffer buffer = std::move(*Buffer::allocate(device, 64));
  EXPECT_TRUE(buffer.fill(7, stream).ok());
  char back[64] = {};
  EXPECT_TRUE(buffer.download(back, 64, stream).ok());
  EXPECT_EQ(back[63], 7);
  EXPECT_EQ(buffer.upload(back, 65, stream).message(),
            "an upload of 65 bytes does not fit a buffer of 64");
  Event start = std::move(*Event::create(device));
  Event stop = std::move(*Event::create(device));
  EXPECT_TRUE(start.record(stream).ok() && stop.record(stream).ok());
  EXPECT_TRUE(stop.synchronize().ok());
  EXPECT_EQ(*stop.since(start), 1.5f);
  EXPECT_EQ(Buffer::allocate(device, 0)->data(), nullptr);
}

TEST(Device, OutOfMemorySaysHowMuch) {
  fakeDriver().clear();
  fakeDriver().failNext["cuMemAlloc_v2"] = 2;
  Result<Buffer> buffer = Buffer::allocate(**Device::get(0), 4096);
  EXPECT_EQ(buffer.status().code(), StatusCode::outOfMemory);
  EXPECT_EQ(buffer.status().message(),
            "cuMemAlloc_v2 failed: CUDA_ERROR_OUT_OF_MEMORY (as the fake was "
            "told); asked for 4096 bytes, 1000 of 2000 are free on device 0");
}
