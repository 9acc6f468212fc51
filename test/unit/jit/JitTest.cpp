//===- JitTest.cpp - text to kernel, on the stand-in driver and the CPU ---===//
//
// The stand-in driver takes PTX as an image whose entry points are its
// `.entry` lines, so compile, load and launch are seen without a GPU.
//
//===----------------------------------------------------------------------===//
#include "runtime/jit/Jit.h"
#include "runtime/tegula.h"
#include "test/unit/runtime/FakeDriver.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

using namespace tegula::rt;
using namespace tegula::rt::test;

static const char *const causalText = R"tg(
attention causal(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: T[B,H,M,E], lse: f32[B,H,M]) {
  static D = 64, E = 64, T = bf16
  mask i + (N - M) >= j
}
)tg";

namespace {
class JitTest : public ::testing::Test {
protected:
  FakeCuda &fake = fakeDriver();
  Jit jit;
  void SetUp() override {
    // No ptxas: the driver gets PTX.
    setenv("TEGULA_PTXAS", "/nonexistent/ptxas", 1);
    fake.clear();
  }
  void TearDown() override { fake.memory.clear(); }

  Arguments argumentsOf(const KernelSet &kernels, bool oddStride = false,
                        int64_t queries = 300) {
    Arguments arguments = kernels.arguments();
    uint64_t address = 0x100000;
    auto set = [&](const char *name, ElementType type,
                   std::initializer_list<int64_t> sizes) {
      fake.memory[address] = {2, 0, false};
      auto view = TensorView::contiguous(reinterpret_cast<void *>(address),
                                         type, sizes);
      if (oddStride && *name == 'k')
        view.strides[2] = 66;
      address += 0x1000;
      Status status = arguments.set(name, view);
      EXPECT_TRUE(status.ok()) << status.message();
    };
    set("q", ElementType::bf16, {2, 8, queries, 64});
    set("k", ElementType::bf16, {2, 2, 400, 64});
    set("v", ElementType::bf16, {2, 2, 400, 64});
    set("o", ElementType::bf16, {2, 8, queries, 64});
    set("lse", ElementType::f32, {2, 8, queries});
    return arguments;
  }
};
} // namespace

TEST_F(JitTest, CompileAndLaunch) {
  auto kernel = jit.compile({.source = causalText, .fileName = "causal.tg"});
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_NE((*kernel)->diagnostics.find(
                "remark: ptxas was not found; the driver assembles the PTX"),
            std::string::npos);
  const KernelSet &kernels = *(*kernel)->kernels;
  LaunchReport report;
  Status status = kernels.launch(nullptr, argumentsOf(kernels, false, 512),
                                 &report);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(report.form, Form::pipelined);
  EXPECT_EQ(report.reason, "");
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_GT(fake.launches[0].grid[0], 0u);

  // Operands that TMA cannot take: the direct kernel, compiled now.
  EXPECT_EQ(jit.statistics().compiles, 1);
  status = kernels.launch(nullptr, argumentsOf(kernels, true), &report);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(report.form, Form::direct);
  EXPECT_EQ(jit.statistics().compiles, 2);
  EXPECT_TRUE(kernels.launch(nullptr, argumentsOf(kernels, true)).ok());
  EXPECT_EQ(jit.statistics().compiles, 2);

  // Few queries a head: the kernel whose tiles have rows of several heads.
  for (int64_t queries : {1, 7, 300}) {
    status = kernels.launch(nullptr, argumentsOf(kernels, false, queries),
                            &report);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(report.reason, "rows of several query heads share its tiles");
    EXPECT_EQ(jit.statistics().compiles, 3);
  }
  EXPECT_EQ(fake.launches.back().grid[0], 2u * 2 * 5);
}

TEST_F(JitTest, EachKeyIsCompiledOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i != 16; ++i)
    threads.emplace_back([&, i] {
      JitRequest request{.source = causalText, .fileName = "causal.tg"};
      if (i % 2)
        request.defines = {{"D", "128"}, {"E", "128"}};
      auto kernel = jit.compile(request);
      EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(jit.statistics().compiles, 2);
  EXPECT_EQ(jit.statistics().hits, 14);
  // Everything that shapes the code is in the key.
  for (JitRequest other :
       {JitRequest{.source = std::string(causalText) + " "},
        JitRequest{.source = causalText, .item = "causal"},
        JitRequest{.source = causalText, .defines = {{"T", "f16"}}},
        JitRequest{.source = causalText, .schedule = {"form=direct"}},
        JitRequest{.source = causalText, .approximateTanh = true}}) {
    int64_t before = jit.statistics().compiles;
    auto kernel = jit.compile(other);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    EXPECT_EQ(jit.statistics().compiles, before + 1);
  }
  jit.clear();
  int64_t before = jit.statistics().compiles;
  EXPECT_TRUE(jit.compile({.source = causalText}).ok());
  EXPECT_EQ(jit.statistics().compiles, before + 1);
}

TEST_F(JitTest, ImportedTextIsInTheKey) {
  std::string folder = ::testing::TempDir();
  std::string library = folder + "/window.tg";
  auto write = [&](const char *mask) {
    std::ofstream(library) << "clauses window { mask " << mask << " }\n";
  };
  JitRequest request{.source = std::string("import \"window.tg\"\n") +
                               causalText +
                               "attention a = causal with window\n",
                     .fileName = folder + "/main.tg",
                     .item = "a"};
  write("i - j < 64");
  ASSERT_TRUE(jit.compile(request).ok());
  ASSERT_TRUE(jit.compile(request).ok());
  EXPECT_EQ(jit.statistics().compiles, 1);
  write("i - j < 32");
  ASSERT_TRUE(jit.compile(request).ok());
  EXPECT_EQ(jit.statistics().compiles, 2);

  // A set is compiled in two steps, and means one thing.
  auto before = jit.compile(request);
  ASSERT_TRUE(before.ok());
  const KernelSet &kernels = *(*before)->kernels;
  write("i - j < 16");
  Status status = kernels.launch(nullptr, argumentsOf(kernels, true));
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("what it imports, or the assembler, has "
                                  "changed since its first kernel was"),
            std::string::npos)
      << status.message();
  write("i - j < 32");
  status = kernels.launch(nullptr, argumentsOf(kernels, true));
  EXPECT_TRUE(status.ok()) << status.message();
  std::remove(library.c_str());
}

TEST_F(JitTest, SourceErrorsHaveAPlace) {
  for (int i = 0; i != 2; ++i) { // a failure does not stick, nor poison
    auto kernel = jit.compile(
        {.source = "attention a(q: bf16[B,H,M,D]) {", .fileName = "bad.tg"});
    ASSERT_FALSE(kernel.ok());
    EXPECT_EQ(kernel.status().code(), StatusCode::sourceError);
    EXPECT_EQ(kernel.status().message().rfind("bad.tg:1:", 0), 0u)
        << kernel.status().message();
  }
  EXPECT_TRUE(jit.compile({.source = causalText}).ok());
}

TEST_F(JitTest, KernelsOutliveTheJit) {
  std::shared_ptr<KernelSet> kernels;
  {
    Jit other;
    kernels = (*other.compile({.source = causalText}))->kernels;
  }
  EXPECT_TRUE(kernels->launch(nullptr, argumentsOf(*kernels, true)).ok());
}

static const char *const docsText = R"tg(
attention docs(q: f32[B,H,M,8], k: f32[B,G,N,8], v: f32[B,G,N,8]) -> (o: f32[B,H,M,8]) {
  param doc: i32[N] sorted
  require M == N
  mask doc[i] == doc[j]
}
)tg";

TEST_F(JitTest, DebugChecksClaimsBeforeEachLaunch) {
  JitRequest request{.source = docsText, .fileName = "docs.tg"};
  auto plain = jit.compile(request);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  request.debug = true;
  auto checked = jit.compile(request);
  ASSERT_TRUE(checked.ok()) << checked.status().message();
  // One that counts its visits of blocks, and the one that checks; where a row's keys begin and end is found ahead of either kernel.
  EXPECT_EQ(jit.statistics().compiles, 3);
  EXPECT_TRUE(jit.compile(request).ok());
  EXPECT_EQ(jit.statistics().compiles, 3);
  EXPECT_FALSE((*plain)->kernels->countsVisits());
  EXPECT_TRUE((*checked)->kernels->countsVisits());
  for (auto [kernel, launches] : {std::pair(&plain, 2u), {&checked, 3u}}) {
    Arguments arguments = (**kernel)->kernels->arguments();
    uint64_t address = 0x100000;
    auto set = [&](const char *name, ElementType type,
                   std::initializer_list<int64_t> sizes) {
      fake.memory[address] = {2, 0, false};
      EXPECT_TRUE(
          arguments
              .set(name, TensorView::contiguous(
                             reinterpret_cast<void *>(address), type, sizes))
              .ok());
      address += 0x1000;
    };
    for (const char *name : {"q", "k", "v", "o"})
      set(name, ElementType::f32, {1, 1, 64, 8});
    set("doc", ElementType::i32, {64});
    fake.launches.clear();
    Status status = (**kernel)->kernels->launch(nullptr, arguments);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(fake.launches.size(), launches);
  }
}

/// A mask from a table has two kernels; what checks claims goes before both.
TEST_F(JitTest, APrepassGoesBeforeItsKernel) {
  std::string text = causalText;
  text.insert(text.find("mask "), "param see: bool[M,N]  mask see[i, j]  ");
  for (bool debug : {false, true}) {
    auto kernel =
        jit.compile({.source = text, .fileName = "see.tg", .debug = debug});
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    const KernelSet &kernels = *(*kernel)->kernels;
    Arguments arguments = argumentsOf(kernels);
    fake.memory[0x900000] = {2, 0, false};
    ASSERT_TRUE(arguments
                    .set("see", TensorView::contiguous(
                                    reinterpret_cast<void *>(0x900000),
                                    ElementType::boolean, {300, 400}))
                    .ok());
    Result<size_t> bytes = kernels.scratchBytes(arguments);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    EXPECT_GT(*bytes, 0u);
    fake.launches.clear();
    Status status = kernels.launch(nullptr, arguments);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(fake.launches.size(), debug ? 3u : 2u);
    EXPECT_EQ(fake.launches.end()[-2].kernel,
              fake.launches.back().kernel + "_classes");
  }
}

TEST_F(JitTest, DebugChecksClaimsOnTheCpu) {
  for (bool debug : {false, true}) {
    auto kernel = jit.compileForHost(
        {.source = docsText, .fileName = "docs.tg", .debug = debug});
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<float> x(3 * 8), o(3 * 8, -1.0f);
    std::vector<int32_t> doc{0, 5, 3};
    Arguments arguments = (*kernel)->arguments();
    for (const char *name : {"q", "k", "v", "o"})
      ASSERT_TRUE(
          arguments
              .set(name, TensorView::contiguous((*name == 'o' ? o : x).data(),
                                                ElementType::f32, {1, 1, 3, 8}))
              .ok());
    ASSERT_TRUE(arguments
                    .set("doc", TensorView::contiguous(doc.data(),
                                                       ElementType::i32, {3}))
                    .ok());
    Status status = (*kernel)->run(arguments);
    EXPECT_EQ(status.code(),
              debug ? StatusCode::assertionFailed : StatusCode::ok);
    EXPECT_EQ(status.message(), debug ? "docs.tg:3:9: assertion failed: doc[2] "
                                        "= 3 follows doc[1] = 5: `doc` is "
                                        "declared sorted"
                                      : "");
    EXPECT_EQ(o[0], debug ? -1.0f : 0.0f); // the kernel did not run
    doc[1] = 2;
    EXPECT_TRUE((*kernel)->run(arguments).ok());
  }
}

/// One query row sees keys 0 and 1 with equal scores.
TEST_F(JitTest, RunsOnTheCpu) {
  auto kernel =
      jit.compileForHost({.source = causalText,
                          .defines = {{"T", "f32"}, {"D", "8"}, {"E", "8"}}});
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  std::vector<float> q(2 * 8, 0.0f), k(2 * 8, 1.0f), v(2 * 8), o(2 * 8), lse(2);
  for (int j = 0; j != 2; ++j)
    for (int e = 0; e != 8; ++e)
      v[j * 8 + e] = static_cast<float>(j + 1);
  Arguments arguments = (*kernel)->arguments();
  auto view = [](std::vector<float> &data,
                 std::initializer_list<int64_t> sizes) {
    return TensorView::contiguous(data.data(), ElementType::f32, sizes);
  };
  ASSERT_TRUE(arguments.set("q", view(q, {1, 1, 2, 8})).ok());
  ASSERT_TRUE(arguments.set("k", view(k, {1, 1, 2, 8})).ok());
  ASSERT_TRUE(arguments.set("v", view(v, {1, 1, 2, 8})).ok());
  ASSERT_TRUE(arguments.set("o", view(o, {1, 1, 2, 8})).ok());
  ASSERT_TRUE(arguments.set("lse", view(lse, {1, 1, 2})).ok());
  Status status = (*kernel)->run(arguments);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_FLOAT_EQ(o[0], 1.0f);
  EXPECT_FLOAT_EQ(o[8], 1.5f);
  EXPECT_NEAR(lse[1], std::log(2.0f), 1e-6);
}

/// Windows, lengths and batches are arguments of one kernel.
TEST_F(JitTest, OneKernelServesEveryWindowAndLength) {
  const char *text = R"tg(
attention window(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: T[B,H,M,E], lse: f32[B,H,M]) {
  static D = 8, E = 8, T = f32
  param W: i32
  mask i + (N - M) >= j && i + (N - M) - j < W
}
)tg";
  struct Problem {
    int batch, m, n, window;
  };
  for (auto [batch, m, n, window] :
       {Problem{1, 70, 70, 1}, {2, 70, 200, 3}, {3, 129, 129, 64},
        {1, 200, 70, 64}, {1, 1, 300, 1000}, {2, 0, 5, 7}}) {
    // All values of a key are its number, and all scores are equal.
    auto kernel = jit.compileForHost({.source = text});
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<float> q(batch * m * 8), k(batch * n * 8), v(batch * n * 8);
    std::vector<float> o(batch * m * 8, NAN), lse(batch * m, NAN);
    for (size_t at = 0; at != v.size(); ++at)
      v[at] = static_cast<float>(at / 8 % n);
    Arguments arguments = (*kernel)->arguments();
    auto set = [&](const char *name, std::vector<float> &data, int64_t rows) {
      auto view = TensorView::contiguous(data.data(), ElementType::f32,
                                         {batch, 1, rows, 8});
      ASSERT_TRUE(arguments.set(name, view).ok());
    };
    set("q", q, m), set("k", k, n), set("v", v, n), set("o", o, m);
    ASSERT_TRUE(arguments
                    .set("lse", TensorView::contiguous(lse.data(),
                                                       ElementType::f32,
                                                       {batch, 1, m}))
                    .ok());
    ASSERT_TRUE(arguments.set("W", window).ok());
    Status status = (*kernel)->run(arguments);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int row = 0; row != batch * m; ++row) {
      int last = std::min(row % m + n - m, n - 1);
      int first = std::max(row % m + n - m - window + 1, 0);
      int count = std::max(last - first + 1, 0);
      EXPECT_NEAR(o[row * 8], count ? (first + last) / 2.0 : 0.0, 1e-3) << row;
      EXPECT_NEAR(std::exp(lse[row]), count, 1e-2) << row;
    }
  }
  EXPECT_EQ(jit.statistics().compiles, 1);
}

TEST_F(JitTest, FromC) {
  const char *defines[] = {"T=f16"};
  tegula_compile_options options = {};
  options.source = causalText;
  options.file_name = "causal.tg";
  options.defines = defines;
  options.num_defines = 1;
  tegula_kernel *kernel = nullptr;
  ASSERT_EQ(tegula_compile(&options, &kernel), TEGULA_OK)
      << tegula_last_error();
  tegula_kernel_destroy(kernel);
  defines[0] = "T";
  EXPECT_EQ(tegula_compile(&options, &kernel), TEGULA_INVALID_ARGUMENT);
  EXPECT_STREQ(tegula_last_error(),
               "expected a define NAME=VALUE, but got `T`");
  EXPECT_EQ(kernel, nullptr);
  options.source = "nonsense";
  options.num_defines = 0;
  EXPECT_EQ(tegula_compile(&options, &kernel), TEGULA_SOURCE_ERROR);
  EXPECT_NE(std::string(tegula_last_error()).find("causal.tg:1:1"),
            std::string::npos)
      << tegula_last_error();
}
