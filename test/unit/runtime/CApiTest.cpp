//===- CApiTest.cpp - the C interface -------------------------------------===//
#include "Causal.h"
#include "FakeDriver.h"
#include "runtime/tegula.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace tegula::rt::test;

static tegula_tensor view(uint64_t address, tegula_type type, int rank,
                          const int64_t *sizes) {
  FakeMemory memory;
  fakeDriver().memory[address] = memory;
  return {reinterpret_cast<void *>(address), type, rank, sizes, nullptr};
}

TEST(CApi, LoadSetLaunch) {
  fakeDriver().clear();
  std::string manifest = pipelinedManifest(), direct = directManifest();
  tegula_kernel *kernel = nullptr;
  ASSERT_EQ(tegula_kernel_load_pair(manifest.c_str(), pipelinedImage.data(),
                                    pipelinedImage.size(), direct.c_str(),
                                    directImage.data(), directImage.size(), 0,
                                    &kernel),
            TEGULA_OK)
      << tegula_last_error();
  tegula_args *args = nullptr;
  ASSERT_EQ(tegula_args_create(kernel, &args), TEGULA_OK);

  int64_t queries[] = {2, 8, 300, 128}, keys[] = {2, 2, 400, 128},
          starts[] = {3};
  tegula_tensor q = view(0x1000, TEGULA_BF16, 4, queries);
  tegula_tensor k = view(0x2000, TEGULA_BF16, 4, keys);
  tegula_tensor v = view(0x3000, TEGULA_BF16, 4, keys);
  tegula_tensor s = view(0x4000, TEGULA_I32, 1, starts);
  tegula_tensor o = view(0x5000, TEGULA_BF16, 4, queries);
  EXPECT_EQ(tegula_args_set_tensor(args, "q", &q), TEGULA_OK);
  EXPECT_EQ(tegula_args_set_tensor(args, "k", &k), TEGULA_OK);
  EXPECT_EQ(tegula_args_set_tensor(args, "v", &v), TEGULA_OK);
  EXPECT_EQ(tegula_args_set_tensor(args, "starts", &s), TEGULA_OK);
  EXPECT_EQ(tegula_args_set_tensor(args, "o", &o), TEGULA_OK);
  EXPECT_EQ(tegula_args_set_tensor(args, "lse", nullptr), TEGULA_OK);
  EXPECT_EQ(tegula_args_set_int(args, "W", 64), TEGULA_OK);
  EXPECT_EQ(tegula_args_set_float(args, "cap", 30), TEGULA_OK);
  EXPECT_EQ(tegula_kernel_prepare(kernel, nullptr), TEGULA_OK);

  tegula_launch_report report;
  EXPECT_EQ(tegula_launch(kernel, args, nullptr, &report), TEGULA_OK)
      << tegula_last_error();
  EXPECT_EQ(report.form, TEGULA_PIPELINED);
  EXPECT_STREQ(report.reason, "");
  int64_t odd[] = {105600, 52800, 132, 1};
  k.strides = odd;
  EXPECT_EQ(tegula_args_set_tensor(args, "k", &k), TEGULA_OK);
  EXPECT_EQ(tegula_choose(kernel, args, &report), TEGULA_OK);
  EXPECT_EQ(report.form, TEGULA_DIRECT);
  EXPECT_STREQ(
      report.reason,
      "the stride of axis 2 of `k`, 264 bytes, is not a multiple of 16");
  EXPECT_EQ(tegula_launch(kernel, args, nullptr, nullptr), TEGULA_OK);
  EXPECT_EQ(fakeDriver().launches.size(), 2u);

  tegula_args_destroy(args);
  tegula_kernel_destroy(kernel);
  fakeDriver().memory.clear();
}

/// What generated C sources do for a kernel with counters: nothing more.
TEST(CApi, AWorkspaceIsTheRuntimesOwn) {
  std::string manifest = workspaceManifest();
  tegula_code code = {manifest.c_str(), nullptr, 0, directImage.c_str()};
  tegula_kernel *kernel = nullptr;
  ASSERT_EQ(tegula_kernel_load_codes(&code, 1, 0, &kernel), TEGULA_OK)
      << tegula_last_error();
  tegula_value values[8] = {};
  for (int i : {0, 1, 2, 3, 6, 7}) {
    values[i].tensor.data = reinterpret_cast<void *>(0x1000 * (i + 1));
    fakeDriver().memory[0x1000 * (i + 1)] = {};
  }
  int64_t dims[] = {1, 1, 4, 1, 4};
  fakeDriver().clear();
  ASSERT_EQ(tegula_launch_values(kernel, values, 8, dims, 5, nullptr, nullptr),
            TEGULA_OK)
      << tegula_last_error();
  ASSERT_EQ(fakeDriver().launches.size(), 1u);
  uint32_t *slot = nullptr;
  std::memcpy(&slot, fakeDriver().launches[0].params[1].data(), sizeof slot);
  ASSERT_NE(slot, nullptr);
  uint32_t rows = 1;
  EXPECT_EQ(tegula_redone_rows(kernel, nullptr, &rows), TEGULA_OK);
  EXPECT_EQ(rows, 0u);
  slot[2] = 23;
  EXPECT_EQ(tegula_redone_rows(kernel, nullptr, &rows), TEGULA_OK);
  EXPECT_EQ(rows, 23u);
  EXPECT_EQ(tegula_redone_rows(kernel, nullptr, nullptr),
            TEGULA_INVALID_ARGUMENT);
  EXPECT_STREQ(tegula_last_error(),
               "expected pointers that are not null for kernel and rows");
  uint64_t partial = 1, full = 1; // a kernel that counts none
  EXPECT_EQ(tegula_visits(kernel, nullptr, &partial, &full), TEGULA_OK);
  EXPECT_EQ(partial + full, 0u);
  EXPECT_EQ(tegula_visits(kernel, nullptr, &partial, nullptr),
            TEGULA_INVALID_ARGUMENT);
  EXPECT_STREQ(
      tegula_last_error(),
      "expected pointers that are not null for kernel, partial and full");
  tegula_kernel_destroy(kernel);
  fakeDriver().memory.clear();
}

TEST(CApi, OneKernelMayGoBeforeTheOthers) {
  std::string manifest = workspaceManifest(), before = goingBefore(manifest);
  tegula_code kernelCode = {manifest.c_str(), nullptr, 0, directImage.c_str()};
  tegula_code beforeCode = {before.c_str(), nullptr, 0, directImage.c_str()};
  auto load = [](std::vector<tegula_code> codes) {
    tegula_kernel *kernel = nullptr;
    tegula_status status =
        tegula_kernel_load_codes(codes.data(), codes.size(), 0, &kernel);
    tegula_kernel_destroy(kernel);
    return status;
  };
  EXPECT_EQ(load({kernelCode, beforeCode}), TEGULA_OK);
  EXPECT_EQ(load({kernelCode, kernelCode, beforeCode}), TEGULA_OK);
  EXPECT_EQ(load({kernelCode, kernelCode, kernelCode}),
            TEGULA_INVALID_ARGUMENT);
  EXPECT_STREQ(tegula_last_error(),
               "expected the code of one kernel or two, and at most of one that "
               "is packed and of one that goes before them, but got one more "
               "kernel");
  EXPECT_EQ(load({kernelCode, beforeCode, beforeCode}),
            TEGULA_INVALID_ARGUMENT);
  EXPECT_STREQ(tegula_last_error(),
               "expected the code of one kernel or two, and at most of one that "
               "is packed and of one that goes before them, but got one more "
               "that goes before");
  EXPECT_EQ(load({beforeCode}), TEGULA_INVALID_ARGUMENT);
}

TEST(CApi, MistakesHaveACodeAndAText) {
  tegula_kernel *kernel = nullptr;
  EXPECT_EQ(tegula_kernel_load("{}", "x", 1, 0, &kernel),
            TEGULA_INVALID_ARGUMENT);
  EXPECT_EQ(kernel, nullptr);
  EXPECT_STREQ(tegula_last_error(), "manifest: `version`: expected an integer "
                                    "from 1 to 1, but got nothing");
  EXPECT_EQ(tegula_kernel_load(nullptr, "x", 1, 0, &kernel),
            TEGULA_INVALID_ARGUMENT);
  EXPECT_EQ(tegula_launch(nullptr, nullptr, nullptr, nullptr),
            TEGULA_INVALID_ARGUMENT);
  EXPECT_STREQ(tegula_last_error(),
               "expected pointers that are not null for kernel and args");
  EXPECT_STREQ(tegula_status_name(TEGULA_DRIVER_ERROR), "driver error");
  // The text belongs to the thread.
  std::thread([] { EXPECT_STREQ(tegula_last_error(), ""); }).join();

  std::string manifest = directManifest();
  ASSERT_EQ(tegula_kernel_load(manifest.c_str(), directImage.data(),
                               directImage.size(), 0, &kernel),
            TEGULA_OK);
  tegula_args *args = nullptr;
  ASSERT_EQ(tegula_args_create(kernel, &args), TEGULA_OK);
  int64_t sizes[] = {1};
  tegula_tensor bad = {nullptr, 77, 1, sizes, nullptr};
  EXPECT_EQ(tegula_args_set_tensor(args, "q", &bad), TEGULA_INVALID_ARGUMENT);
  EXPECT_STREQ(tegula_last_error(), "`q`: there is no element type 77");
  bad.type = TEGULA_F16;
  bad.rank = 99;
  EXPECT_EQ(tegula_args_set_tensor(args, "q", &bad), TEGULA_INVALID_ARGUMENT);
  EXPECT_STREQ(tegula_last_error(),
               "`q`: expected a rank of 0 to 8, but got 99");
  EXPECT_EQ(tegula_launch(kernel, args, nullptr, nullptr),
            TEGULA_INVALID_ARGUMENT);
  tegula_args_destroy(args);
  tegula_kernel_destroy(kernel);
  tegula_args_destroy(nullptr);
  tegula_kernel_destroy(nullptr);
}
