// Tile programs of the language as numbers: each against plain loops, at sizes that are no multiple of the tiles.
#include "codegen/Compiler.h"
#include "test/unit/cpu/HostTensor.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace tegula;
using namespace tegula::test;
using rt::ElementType;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Index = std::vector<int64_t>;
using Tensors = std::initializer_list<std::pair<const char *, HostTensor *>>;
using Scalars = std::initializer_list<std::pair<const char *, double>>;

/// The programs that the tests of the front end read too.
std::string programs() {
  const char *root = std::getenv("TEGULA_SOURCE_DIR");
  std::ifstream file(std::string(root ? root : ".") + "/test/lang/Inputs/kernels.tg");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::unique_ptr<CpuKernel> compileKernel(const std::string &text, const std::string &item, std::vector<lang::Define> defines = {}) {
  static Compiler compiler;
  CompileRequest request;
  request.text = text;
  request.item = item;
  request.defines = std::move(defines);
  request.target = "cpu";
  CompileResult result;
  std::unique_ptr<CpuKernel> kernel = compiler.compileForCpu(request, result);
  EXPECT_TRUE(kernel) << item << ": " << result.diagnostics;
  return kernel;
}

bool run(const CpuKernel *kernel, Tensors tensors, Scalars floats = {}, std::initializer_list<std::pair<const char *, int64_t>> integers = {}) {
  if (!kernel)
    return false;
  rt::Arguments arguments = kernel->arguments();
  auto check = [](const rt::Status &status) {
    EXPECT_TRUE(status.ok()) << status.message();
    return status.ok();
  };
  bool ok = true;
  for (auto [name, tensor] : tensors)
    ok &= check(arguments.set(name, tensor->view()));
  for (auto [name, value] : floats)
    ok &= check(arguments.set(name, value));
  for (auto [name, value] : integers)
    ok &= check(arguments.set(name, value));
  ok &= ok && check(kernel->run(arguments));
  for (auto [name, tensor] : tensors)
    EXPECT_TRUE(tensor->outsideIntact()) << name;
  return ok;
}

/// `got` is `want(index)` everywhere, within `limit` of the larger of 1 and it.
void expectTensor(const HostTensor &got, double limit, const std::function<double(const Index &)> &want) {
  int failures = 0;
  got.forEach([&](const Index &index) {
    double expected = want(index), actual = got.get(index);
    bool same = expected == actual || (std::isnan(expected) && std::isnan(actual)) ||
                std::fabs(expected - actual) <= limit * std::max(1.0, std::fabs(expected));
    if (same || ++failures > 3)
      return;
    std::string place;
    for (int64_t i : index)
      place += " " + std::to_string(i);
    ADD_FAILURE() << "at" << place << ": " << actual << ", not " << expected;
  });
}

TEST(KernelItem, RmsNorm) {
  std::unique_ptr<CpuKernel> kernel = compileKernel(programs(), "rmsnorm", {{"BC", "64"}});
  for (int64_t C : {1, 50, 64}) {
    HostTensor x(ElementType::bf16, {3, C}, {}, 2), w(ElementType::f32, {C}), y(ElementType::bf16, {3, C}, {}, 1);
    x.fillRandom(1), w.fillRandom(2);
    ASSERT_TRUE(run(kernel.get(), {{"x", &x}, {"w", &w}, {"y", &y}}, {{"eps", 0.125}}));
    expectTensor(y, 0.01, [&](const Index &i) {
      double sum = 0;
      for (int64_t c = 0; c < C; ++c)
        sum += x.get({i[0], c}) * x.get({i[0], c});
      return x.get(i) / std::sqrt(sum / double(C) + 0.125) * w.get({i[1]});
    });
  }
}

TEST(KernelItem, Matmul) {
  std::unique_ptr<CpuKernel> kernel = compileKernel(programs(), "matmul", {{"BM", "16"}, {"BN", "32"}, {"BK", "8"}, {"GROUP", "2"}});
  for (auto [M, N, K] : {std::tuple(70, 50, 21), {16, 32, 8}, {1, 1, 0}, {5, 40, 1}}) {
    HostTensor a(ElementType::f16, {M, K}), b(ElementType::f16, {K, N}), c(ElementType::f16, {M, N});
    a.fillRandom(1), b.fillRandom(2);
    ASSERT_TRUE(run(kernel.get(), {{"a", &a}, {"b", &b}, {"c", &c}}));
    expectTensor(c, 2e-3, [&](const Index &i) {
      double sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += a.get({i[0], k}) * b.get({k, i[1]});
      return std::max(sum, 0.01 * sum);
    });
  }
}

TEST(KernelItem, VectorAddAndRowSoftmax) {
  std::unique_ptr<CpuKernel> add = compileKernel(programs(), "vector_add", {{"BN", "32"}});
  HostTensor x(ElementType::f32, {100}), y(ElementType::f32, {100}), z(ElementType::f32, {100});
  x.fillRandom(1), y.fillRandom(2);
  ASSERT_TRUE(run(add.get(), {{"x", &x}, {"y", &y}, {"z", &z}}));
  expectTensor(z, 0, [&](const Index &i) { return double(float(x.get(i) + y.get(i))); });

  std::unique_ptr<CpuKernel> softmax = compileKernel(programs(), "row_softmax", {{"BC", "64"}});
  HostTensor in(ElementType::f32, {4, 45}), out(ElementType::f32, {4, 45});
  in.fill([](const Index &i) { return -50.0 + double(i[0] * 7 + i[1] * 3 % 11); }); // all far below 0, which is what lanes outside load
  ASSERT_TRUE(run(softmax.get(), {{"x", &in}, {"y", &out}}));
  expectTensor(out, 1e-6, [&](const Index &i) {
    double sum = 0;
    for (int64_t c = 0; c < 45; ++c)
      sum += std::exp(in.get({i[0], c}) - in.get(i));
    return 1 / sum;
  });
}

/// Attention of query (b, h, i) over the first `count` keys that `at` locates; the lse goes to `lse`.
std::vector<double> attend(int64_t count, int64_t width, double scale, const std::function<double(int64_t)> &score,
                           const std::function<double(int64_t, int64_t)> &value, double &lse) {
  double max = -infinity, sum = 0;
  for (int64_t j = 0; j < count; ++j)
    max = std::max(max, scale * score(j));
  std::vector<double> out(width, 0.0);
  for (int64_t j = 0; j < count; ++j) {
    double weight = std::exp(scale * score(j) - max);
    sum += weight;
    for (int64_t e = 0; e < width; ++e)
      out[e] += weight * value(j, e);
  }
  for (double &o : out)
    o = count > 0 ? o / sum : 0;
  lse = count > 0 ? max + std::log(sum) : -infinity;
  return out;
}

TEST(KernelItem, AttentionByHand) {
  std::unique_ptr<CpuKernel> kernel =
      compileKernel(programs(), "attend", {{"T", "f32"}, {"D", "8"}, {"E", "16"}, {"BM", "16"}, {"BN", "8"}});
  const int64_t B = 2, H = 4, G = 2;
  for (auto [M, N] : {std::pair(21, 30), {30, 21}, {1, 9}, {16, 16}, {3, 0}}) {
    HostTensor q(ElementType::f32, {B, H, M, 8}), k(ElementType::f32, {B, G, N, 8}), v(ElementType::f32, {B, G, N, 16});
    HostTensor o(ElementType::f32, {B, H, M, 16}), l(ElementType::f32, {B, H, M});
    q.fillRandom(1), k.fillRandom(2), v.fillRandom(3);
    ASSERT_TRUE(run(kernel.get(), {{"q", &q}, {"k", &k}, {"v", &v}, {"o", &o}, {"l", &l}}, {{"scale", 0.7}}));
    double lse;
    auto row = [&](int64_t b, int64_t h, int64_t i) {
      auto score = [&](int64_t j) {
        double dot = 0;
        for (int64_t d = 0; d < 8; ++d)
          dot += q.get({b, h, i, d}) * k.get({b, h / 2, j, d});
        return dot;
      };
      return attend(std::max<int64_t>(0, std::min<int64_t>(N, i + N - M + 1)), 16, 0.7, score,
                    [&](int64_t j, int64_t e) { return v.get({b, h / 2, j, e}); }, lse);
    };
    expectTensor(o, 1e-5, [&](const Index &i) { return row(i[0], i[1], i[2])[i[3]]; });
    expectTensor(l, 1e-5, [&](const Index &i) { return row(i[0], i[1], i[2]), lse; });
  }
}

TEST(KernelItem, ValuesThatNoRowSeesMayBeNaN) {
  std::unique_ptr<CpuKernel> kernel = compileKernel(R"(
    kernel k(q: f32[M,8], k: f32[N,8], v: f32[N,8], L: i32) -> (o: f32[M,8], l: f32[M]) {
      grid (m in ceildiv(M, 16))
      let Q = load q[m*16 :+ 16, :]
      var st = softmax_state(16, 8)
      for n in range(0, N, 16) {
        let J = row(n + iota(16))
        st = online_softmax(st, dot(Q, transpose(load k[n :+ 16, :])), load v[n :+ 16, :], keep = col(m*16 + iota(16)) >= J && J < L)
      }
      store o[m*16 :+ 16, :] = finish(st)   store l[m*16 :+ 16] = lse(st)
    })",
                                                    "k");
  // Of the last block of 16 keys none, one, or some are seen; rows from M on, which would see more, do not exist.
  for (auto [M, N, L] : {std::tuple(20, 40, 33), {20, 40, 16}, {20, 40, 40}, {17, 32, 32}, {5, 16, 0}}) {
    HostTensor q(ElementType::f32, {M, 8}), k(ElementType::f32, {N, 8}), v(ElementType::f32, {N, 8}), o(ElementType::f32, {M, 8}), l(ElementType::f32, {M});
    q.fillRandom(1), k.fillRandom(2), v.fillRandom(3);
    for (int64_t j = std::min<int64_t>(L, M); j < N; ++j)
      for (int64_t e = 0; e < 8; ++e)
        k.set({j, e}, NAN), v.set({j, e}, e % 2 ? NAN : INFINITY);
    ASSERT_TRUE(run(kernel.get(), {{"q", &q}, {"k", &k}, {"v", &v}, {"o", &o}, {"l", &l}}, {}, {{"L", L}}));
    double lse;
    auto row = [&](int64_t i) {
      auto score = [&](int64_t j) {
        double dot = 0;
        for (int64_t d = 0; d < 8; ++d)
          dot += q.get({i, d}) * k.get({j, d});
        return dot;
      };
      return attend(std::min<int64_t>({i + 1, N, L}), 8, 1.0, score, [&](int64_t j, int64_t e) { return v.get({j, e}); }, lse);
    };
    expectTensor(o, 1e-5, [&](const Index &i) { return row(i[0])[i[1]]; });
    expectTensor(l, 1e-5, [&](const Index &i) { return row(i[0]), lse; });
  }
}

TEST(KernelItem, SplitDecodeOverPagesAndItsMerge) {
  const std::vector<lang::Define> sizes = {{"T", "f32"}, {"D", "8"}, {"E", "8"}, {"PS", "4"}, {"R", "2"}, {"BN", "8"}};
  std::unique_ptr<CpuKernel> split = compileKernel(programs(), "decode_split", sizes);
  std::unique_ptr<CpuKernel> merge = compileKernel(programs(), "decode_merge", {{"T", "f32"}, {"E", "8"}});
  const int64_t B = 4, H = 4, G = 2, C = 6, NP = 30, SP = 3;
  HostTensor q(ElementType::f32, {B, H, 8}), pool(ElementType::f32, {NP, 2, G, 4, 8});
  HostTensor page(ElementType::i32, {B, C}), len(ElementType::i32, {B});
  HostTensor po(ElementType::f32, {B, H, SP, 8}), pl(ElementType::f32, {B, H, SP}), o(ElementType::f32, {B, H, 8}), l(ElementType::f32, {B, H});
  q.fillRandom(1), pool.fillRandom(2);
  page.fill([](const Index &i) { return double((i[0] * 7 + i[1] * 5) % 30); });
  const int64_t lengths[] = {0, 1, 13, 24};
  len.fill([&](const Index &i) { return double(lengths[i[0]]); });
  // What lies past a length is never used, whatever it holds.
  for (int64_t b = 0; b < B; ++b)
    for (int64_t c = (lengths[b] + 3) / 4; c < C; ++c)
      page.set({b, c}, -1000);
  ASSERT_TRUE(run(split.get(), {{"q", &q}, {"pool", &pool}, {"page", &page}, {"len", &len}, {"po", &po}, {"pl", &pl}}, {{"scale", 0.5}}, {{"SP", SP}}));
  ASSERT_TRUE(run(merge.get(), {{"po", &po}, {"pl", &pl}, {"o", &o}, {"l", &l}}));
  double lse;
  auto row = [&](int64_t b, int64_t h) {
    auto at = [&](int64_t j, int64_t kv, int64_t d) { return pool.get({int64_t(page.get({b, j / 4})), kv, h / 2, j % 4, d}); };
    auto score = [&](int64_t j) {
      double dot = 0;
      for (int64_t d = 0; d < 8; ++d)
        dot += q.get({b, h, d}) * at(j, 0, d);
      return dot;
    };
    return attend(lengths[b], 8, 0.5, score, [&](int64_t j, int64_t e) { return at(j, 1, e); }, lse);
  };
  expectTensor(o, 1e-5, [&](const Index &i) { return row(i[0], i[1])[i[2]]; });
  expectTensor(l, 1e-5, [&](const Index &i) { return row(i[0], i[1]), lse; });
}

TEST(KernelItem, KeysOutside) {
  std::unique_ptr<CpuKernel> kernel = compileKernel(programs(), "key_outer", {{"T", "f32"}, {"D", "8"}, {"E", "8"}, {"BM", "8"}, {"BN", "16"}});
  const int64_t M = 19, N = 37;
  HostTensor q(ElementType::f32, {1, 2, M, 8}), k(ElementType::f32, {1, 2, N, 8}), go(ElementType::f32, {1, 2, M, 8});
  HostTensor l(ElementType::f32, {1, 2, M}), gv(ElementType::f32, {1, 2, N, 8});
  q.fillRandom(1), k.fillRandom(2), go.fillRandom(3);
  l.fill([](const Index &i) { return 0.1 * double(i[2]) - 1.0; }); // past M the weight would be exp(0 - 0) = 1
  ASSERT_TRUE(run(kernel.get(), {{"q", &q}, {"k", &k}, {"go", &go}, {"l", &l}, {"gv", &gv}}, {{"scale", 0.25}}));
  expectTensor(gv, 2e-5, [&](const Index &at) {
    double sum = 0;
    for (int64_t i = 0; i < M; ++i) {
      double dot = 0;
      for (int64_t d = 0; d < 8; ++d)
        dot += q.get({0, at[1], i, d}) * k.get({0, at[1], at[2], d});
      sum += std::exp(0.25 * dot - l.get({0, at[1], i})) * go.get({0, at[1], i, at[3]});
    }
    return sum;
  });
}

//===-- what the language defines -----------------------------------------------------------------===//

TEST(KernelItem, IntegersAreFlooredAndWrap) {
  std::unique_ptr<CpuKernel> kernel = compileKernel(R"(
    kernel k(x: i32[N], y: i32[N]) -> (q: i32[N], r: i32[N], c: i32[N], s: i32[N], t: i32[N], w: i32[N]) {
      grid (p in ceildiv(N, 8))
      let a = load x[p*8 :+ 8]   let b = load y[p*8 :+ 8]
      store q[p*8 :+ 8] = a / b   store r[p*8 :+ 8] = a % b   store c[p*8 :+ 8] = ceildiv(a, b)
      store s[p*8 :+ 8] = a << b   store t[p*8 :+ 8] = a >> b   store w[p*8 :+ 8] = a * 65537 + b
    })",
                                                    "k");
  const std::vector<std::pair<int64_t, int64_t>> pairs = {{7, 2},  {-7, 2},  {7, -2},        {-7, -2},         {7, 0},  {0, 5},
                                                          {1, 31}, {-1, 32}, {1, -1}, {INT32_MIN, -1}, {INT32_MAX, 1}, {-8, 40}};
  int64_t count = pairs.size();
  HostTensor x(ElementType::i32, {count}), y(ElementType::i32, {count});
  x.fill([&](const Index &i) { return double(pairs[i[0]].first); });
  y.fill([&](const Index &i) { return double(pairs[i[0]].second); });
  std::vector<HostTensor> out(6, HostTensor(ElementType::i32, {count}));
  ASSERT_TRUE(run(kernel.get(), {{"x", &x}, {"y", &y}, {"q", &out[0]}, {"r", &out[1]}, {"c", &out[2]}, {"s", &out[3]}, {"t", &out[4]}, {"w", &out[5]}}));
  auto wrap = [](int64_t value) { return double(int32_t(uint32_t(uint64_t(value)))); };
  for (int64_t i = 0; i < count; ++i) {
    auto [a, b] = pairs[i];
    int64_t quotient = b == 0 ? 0 : int64_t(std::floor(double(a) / double(b)));
    EXPECT_EQ(out[0].get({i}), wrap(quotient)) << a << " / " << b;
    EXPECT_EQ(out[1].get({i}), b == 0 ? 0.0 : wrap(a - quotient * b)) << a << " % " << b;
    EXPECT_EQ(out[2].get({i}), b == 0 ? 0.0 : wrap(int64_t(std::ceil(double(a) / double(b))))) << a << " ceildiv " << b;
    EXPECT_EQ(out[3].get({i}), b < 0 || b > 31 ? 0.0 : wrap(a << b)) << a << " << " << b;
    EXPECT_EQ(out[4].get({i}), wrap(a >> (b < 0 || b > 31 ? 31 : b))) << a << " >> " << b;
    EXPECT_EQ(out[5].get({i}), wrap(a * 65537 + b)) << a << " * 65537 + " << b;
  }
}

TEST(KernelItem, CastsSaturate) {
  std::unique_ptr<CpuKernel> kernel = compileKernel(R"(
    kernel k(x: f32[N]) -> (a: i32[N], b: i64[N], c: i8[N], d: u8[N], e: bf16[N]) {
      static BN = 16   require N <= BN
      let v = load x[0 :+ BN]
      store a[0 :+ BN] = i32(v)   store b[0 :+ BN] = i64(v)   store c[0 :+ BN] = i8(v)   store d[0 :+ BN] = u8(v)   store e[0 :+ BN] = v
    })",
                                                    "k");
  const std::vector<double> values = {1.9, -1.9, NAN, infinity, -infinity, 3e9, -3e9, 130, -130, 255.5, 0};
  int64_t count = values.size();
  HostTensor x(ElementType::f32, {count}), a(ElementType::i32, {count}), b(ElementType::i64, {count}), c(ElementType::i8, {count}),
      d(ElementType::u8, {count}), e(ElementType::bf16, {count});
  x.fill([&](const Index &i) { return values[i[0]]; });
  ASSERT_TRUE(run(kernel.get(), {{"x", &x}, {"a", &a}, {"b", &b}, {"c", &c}, {"d", &d}, {"e", &e}}));
  auto cast = [&](int64_t i, double low, double high) {
    double v = values[i];
    return std::isnan(v) ? 0.0 : std::trunc(std::min(std::max(v, low), high));
  };
  for (int64_t i = 0; i < count; ++i) {
    EXPECT_EQ(a.get({i}), cast(i, INT32_MIN, INT32_MAX)) << values[i];
    EXPECT_EQ(b.get({i}), cast(i, -0x1p63, 0x1p63)) << values[i];
    EXPECT_EQ(c.get({i}), cast(i, -128, 127)) << values[i];
    EXPECT_EQ(d.get({i}), cast(i, 0, 255)) << values[i];
  }
  expectTensor(e, 0, [&](const Index &i) { return rounded(values[i[0]], ElementType::bf16); });
}

TEST(KernelItem, BoundsOfEachOperation) {
  std::unique_ptr<CpuKernel> kernel = compileKernel(R"(
    fn product(a, b) = a * b
    kernel k(x: f32[R,C], h: i32) -> (least: f32[R], most: f32[R], at: i32[R], run: f32[R,C], total: f32[R], part: f32[R], filled: f32[R], flags: bool[R]) {
      static BC = 8   require C <= BC   grid (r in R)
      let v = load x[r, 0 :+ BC]
      store least[r] = min(v, axis = 0)   store most[r] = max(v, axis = 0)   store at[r] = argmax(v, axis = 0)
      store run[r, 0 :+ BC] = cumsum(v, axis = 0)
      store total[r] = reduce(v, product, 1.0, axis = 0)
      store part[r] = sum(load x[r, 0 :+ BC < h] + 1.0, axis = 0)
      store filled[r] = sum(load x[r, 0 :+ BC] fill 2.0, axis = 0)
      store flags[r] = all(v < 0.0, axis = 0)
    })",
                                                    "k");
  const int64_t R = 3, C = 5;
  HostTensor x(ElementType::f32, {R, C}), least(ElementType::f32, {R}), most(ElementType::f32, {R}), total(ElementType::f32, {R}),
      part(ElementType::f32, {R}), filled(ElementType::f32, {R}), at(ElementType::i32, {R}), running(ElementType::f32, {R, C}),
      flags(ElementType::boolean, {R});
  // Row 0 all negative, row 1 all positive, row 2 mixed.
  x.fill([](const Index &i) { return (i[0] == 0 ? -1 : i[0] == 1 ? 1 : i[1] % 2 ? 1 : -1) * (1.0 + double((i[1] * 3) % 5) / 4); });
  ASSERT_TRUE(run(kernel.get(),
                  {{"x", &x}, {"least", &least}, {"most", &most}, {"at", &at}, {"run", &running}, {"total", &total}, {"part", &part},
                   {"filled", &filled}, {"flags", &flags}},
                  {}, {{"h", 3}}));
  for (int64_t r = 0; r < R; ++r) {
    double low = infinity, high = -infinity, sum = 0, product = 1, some = 0;
    int64_t where = 0;
    bool negative = true;
    for (int64_t c = 0; c < C; ++c) {
      double v = x.get({r, c});
      low = std::min(low, v);
      if (v > high)
        high = v, where = c;
      sum += v, product *= v, negative &= v < 0;
      some += c < 3 ? v + 1 : 0;
      EXPECT_NEAR(running.get({r, c}), sum, 1e-6);
    }
    EXPECT_EQ(least.get({r}), low);
    EXPECT_EQ(most.get({r}), high);
    EXPECT_EQ(at.get({r}), where);
    EXPECT_NEAR(total.get({r}), product, 1e-5);
    EXPECT_NEAR(part.get({r}), some, 1e-6);
    EXPECT_NEAR(filled.get({r}), sum + 3 * 2.0, 1e-6);
    EXPECT_EQ(flags.get({r}), negative);
  }
}

TEST(KernelItem, LoopsBranchesAndMemory) {
  std::unique_ptr<CpuKernel> kernel = compileKernel(R"(
    kernel k(x: f32[N], ids: i32[N], step: i32) -> (y: f32[N], hist: inout i32[4], steps: i32[1]) {
      static BN = 4
      grid (p in ceildiv(N, BN))
      let i = load ids[p*BN :+ BN]
      atomic hist[i] += 1                               # ids outside 0..4 are dropped
      store y[p*BN :+ BN] = x[i] where i != 2           # the nearest element
      if p == 0 {
        var n = 0   var odd = 0
        for j in range(0, N, step) { if j % 2 == 1 { odd = odd + 1 } else { n = n + 1 } }
        store steps[0] = n * 100 + odd
      }
    })",
                                                    "k");
  const std::vector<int64_t> ids = {0, 1, 2, 3, 3, 9, -4, 2, 1, 1};
  const int64_t N = ids.size();
  for (int64_t step : {1, 3, 0, -2}) {
    HostTensor x(ElementType::f32, {N}), index(ElementType::i32, {N}), y(ElementType::f32, {N}), hist(ElementType::i32, {4}), steps(ElementType::i32, {1});
    x.fillRandom(1), y.fill(7), hist.fill(10);
    index.fill([&](const Index &i) { return double(ids[i[0]]); });
    ASSERT_TRUE(run(kernel.get(), {{"x", &x}, {"ids", &index}, {"y", &y}, {"hist", &hist}, {"steps", &steps}}, {}, {{"step", step}}));
    expectTensor(hist, 0, [&](const Index &i) { return 10.0 + double(std::count(ids.begin(), ids.end(), i[0])); });
    expectTensor(y, 0, [&](const Index &i) {
      int64_t id = ids[i[0]];
      return id == 2 ? 7 : x.get({std::min(std::max<int64_t>(id, 0), N - 1)});
    });
    int64_t even = 0, odd = 0;
    for (int64_t j = 0; step > 0 && j < N; j += step)
      ++(j % 2 ? odd : even);
    EXPECT_EQ(steps.get({0}), double(even * 100 + odd)) << step;
  }
}

TEST(KernelItem, HiddenValuesAndWeights) {
  std::unique_ptr<CpuKernel> kernel = compileKernel(R"(
    kernel k(s: f32[M,N], v: f32[N,E], w: f32[M,N], n: i32) -> (o: f32[M,E], l: f32[M]) {
      static M = 4, E = 8
      var st = softmax_state(M, E)
      for c in range(0, n, 8) {
        st = online_softmax(st, load s[:, c :+ 8 < n], load v[c :+ 8 < n, :], weight = load w[:, c :+ 8 < n])
      }
      store o[:, :] = finish(st)   store l[:] = lse(st)
    })",
                                                    "k");
  const int64_t N = 21;
  for (int64_t n : {0, 3, 13}) {
    HostTensor s(ElementType::f32, {4, N}), v(ElementType::f32, {N, 8}), w(ElementType::f32, {4, N}), o(ElementType::f32, {4, 8}), l(ElementType::f32, {4});
    s.fillRandom(1), v.fillRandom(2), w.fillRandom(3);
    for (int64_t j = n; j < N; ++j)
      for (int64_t e = 0; e < 8; ++e)
        v.set({j, e}, NAN), s.set({j % 4, j}, NAN);
    ASSERT_TRUE(run(kernel.get(), {{"s", &s}, {"v", &v}, {"w", &w}, {"o", &o}, {"l", &l}}, {}, {{"n", n}}));
    auto sum = [&](int64_t i, const std::function<double(int64_t)> &each) {
      double total = 0;
      for (int64_t j = 0; j < n; ++j)
        total += std::exp(s.get({i, j})) * each(j);
      return total;
    };
    expectTensor(l, 1e-5, [&](const Index &i) { return std::log(sum(i[0], [](int64_t) { return 1.0; })); });
    expectTensor(o, 1e-5, [&](const Index &i) {
      double norm = sum(i[0], [](int64_t) { return 1.0; });
      return norm == 0 ? 0 : sum(i[0], [&](int64_t j) { return w.get({i[0], j}) * v.get({j, i[1]}); }) / norm;
    });
  }
}

TEST(KernelItem, FunctionsAreTypedAfresh) {
  std::unique_ptr<CpuKernel> kernel = compileKernel(R"(
    fn near(a, b, K) { let d = abs(a - b)   return d <= K / 2 }
    fn mix(a, b) = 0.5 * (a + b)
    kernel k(x: f32[N]) -> (y: i32[N,N], z: f32[N]) {
      static N = 12
      let i = iota(N)
      store y[:, :] = where(near(col(i), row(i), 4), 1, 0)
      store z[:] = mix(load x[:], f32(i)) + (near(3, 5, 4) ? 1.0 : 2.0)
    })",
                                                    "k");
  HostTensor x(ElementType::f32, {12}), y(ElementType::i32, {12, 12}), z(ElementType::f32, {12});
  x.fillRandom(1);
  ASSERT_TRUE(run(kernel.get(), {{"x", &x}, {"y", &y}, {"z", &z}}));
  expectTensor(y, 0, [](const Index &i) { return std::abs(i[0] - i[1]) <= 2; });
  expectTensor(z, 1e-6, [&](const Index &i) { return 0.5 * (x.get(i) + double(i[0])) + 1.0; });
}

TEST(KernelItem, BranchesOfUnlikeBuffers) {
  std::unique_ptr<CpuKernel> kernel = compileKernel(R"(
    kernel k(x: f64[C], h: f16[C], w: i32) -> (y: f64[C]) {
      static BC = 4   require C <= BC
      var v = load x[0 :+ BC]
      if w > 1 { v = f64(load h[0 :+ BC]) }
      var u = v * 2.0
      if w > 2 { u = v }
      store y[0 :+ BC] = u + v
    })",
                                                    "k");
  HostTensor x(ElementType::f64, {3}), h(ElementType::f16, {3}), y(ElementType::f64, {3});
  x.fillRandom(1), h.fillRandom(2);
  for (int64_t w : {1, 2, 3}) {
    ASSERT_TRUE(run(kernel.get(), {{"x", &x}, {"h", &h}, {"y", &y}}, {}, {{"w", w}}));
    expectTensor(y, 1e-15, [&](const Index &i) { return (w > 1 ? h.get(i) : x.get(i)) * (w > 2 ? 2 : 3); });
  }
}

// Parts with lse 2 and 5: the second weighs e^5 / (e^2 + e^5). Logarithms to base 2 would give 0.98698.
TEST(KernelItem, MergeTakesNaturalLogarithms) {
  std::unique_ptr<CpuKernel> kernel = compileKernel(R"(
    kernel k(po: f32[P,E], pl: f32[P]) -> (o: f32[E], l: f32[1]) {
      static E = 8
      var st = softmax_state(1, E)
      for x in range(0, P) { st = merge(st, partial(load po[x :+ 1, :] fill 0.0, load pl[x :+ 1] fill 0.0)) }
      store o[:] = reshape(finish(st), [E])   store l[0 :+ 1] = lse(st)
    })",
                                                    "k");
  HostTensor po(ElementType::f32, {2, 8}), pl(ElementType::f32, {2}), o(ElementType::f32, {8}), l(ElementType::f32, {1});
  po.fill([](const Index &i) { return double(i[0]); });
  pl.fill([](const Index &i) { return i[0] ? 5.0 : 2.0; });
  ASSERT_TRUE(run(kernel.get(), {{"po", &po}, {"pl", &pl}, {"o", &o}, {"l", &l}}));
  expectTensor(o, 1e-6, [](const Index &) { return 0.9525741268; });
  expectTensor(l, 1e-6, [](const Index &) { return std::log(std::exp(2.0) + std::exp(5.0)); });
}

} // namespace
