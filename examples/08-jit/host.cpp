// Lesson 8: a kernel compiled inside a C++ program, from a string.
//
// The JIT needs no Python, no nvcc and no network: text goes in, a kernel that
// can be launched comes out, within some 100 ms. What was compiled before comes
// from memory. With a GPU the program launches on its own memory and stream;
// without one it runs the same tile program on the CPU. A mistake in the text
// is a status with the place of the mistake.
//
//   $ tegula-example-jit
//   mistake: window.tg:4:26: error: unknown name `w`; did you mean `W`?
//     mask i + (N - M) - j < w && i + (N - M) >= j
//                            ^
//   first compile: compiled
//   second compile: from memory
//   window of 16 keys: o within 1e-05 of dense attention
//
// Link tegula-jit, which brings the compiler and the runtime.
#include "runtime/jit/Jit.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace tegula::rt;

static constexpr int64_t heads = 2, queries = 50, keys = 70, headDim = 32;

/// Sliding-window attention, with `mask` for the text of the mask.
static std::string windowText(const std::string &mask) {
  return R"(attention window(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: T[B,H,M,E]) {
  static D = 32, E = 32, T = f32
  param W: i32
  mask )" +
         mask + "\n}\n";
}

/// The value of `result`; ends the program where there is none.
template <typename T> static T valueOf(Result<T> result) {
  if (result.ok())
    return std::move(*result);
  std::printf("%s\n", result.status().message().c_str());
  std::exit(1);
}

static void check(const Status &status) {
  if (status.ok())
    return;
  std::printf("%s\n", status.message().c_str());
  std::exit(1);
}

/// Row-major [1, heads, rows, headDim] of numbers in [-1, 1).
static std::vector<float> makeTensor(int64_t rows, unsigned seed) {
  std::vector<float> values(heads * rows * headDim);
  for (float &value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / (1 << 23) - 1;
  }
  return values;
}

static TensorView viewOf(void *data, int64_t rows) {
  return TensorView::contiguous(data, ElementType::f32,
                                {1, heads, rows, headDim});
}

struct Problem {
  std::vector<float> q = makeTensor(queries, 1), k = makeTensor(keys, 2),
                     v = makeTensor(keys, 3), o = makeTensor(queries, 4);
  int window = 16;

  /// The arguments, where `place` gives the address of a tensor's elements.
  template <typename Place> void set(Arguments &arguments, Place place) {
    check(arguments.set("q", viewOf(place(q), queries)));
    check(arguments.set("k", viewOf(place(k), keys)));
    check(arguments.set("v", viewOf(place(v), keys)));
    check(arguments.set("o", viewOf(place(o), queries)));
    check(arguments.set("W", window));
  }

  double largestError() const;
};

/// Against attention in double.
double Problem::largestError() const {
  double worst = 0;
  for (int64_t h = 0; h != heads; ++h)
    for (int64_t i = 0; i != queries; ++i) {
      std::vector<double> weights(keys);
      double sum = 0;
      for (int64_t j = 0; j != keys; ++j) {
        int64_t distance = i + (keys - queries) - j;
        if (distance < 0 || distance >= window)
          continue;
        double score = 0;
        for (int64_t d = 0; d != headDim; ++d)
          score += double(q[(h * queries + i) * headDim + d]) *
                   k[(h * keys + j) * headDim + d];
        sum += weights[j] = std::exp(score / std::sqrt(double(headDim)));
      }
      for (int64_t e = 0; e != headDim; ++e) {
        double want = 0;
        for (int64_t j = 0; j != keys; ++j)
          want += weights[j] / sum * v[(h * keys + j) * headDim + e];
        double have = o[(h * queries + i) * headDim + e];
        worst = std::fmax(worst, std::fabs(have - want));
      }
    }
  return worst;
}

static void runOnCpu(Jit &jit, const JitRequest &request, Problem &problem) {
  auto kernel = valueOf(jit.compileForHost(request));
  Arguments arguments = kernel->arguments();
  problem.set(arguments, [](std::vector<float> &t) { return t.data(); });
  check(kernel->run(arguments));
}

static void runOnGpu(Jit &jit, const JitRequest &request, Problem &problem,
                     const Device &device) {
  auto kernel = valueOf(jit.compile(request));
  Stream stream = valueOf(Stream::create(device));
  std::vector<Buffer> buffers;
  Arguments arguments = kernel->kernels->arguments();
  problem.set(arguments, [&](std::vector<float> &t) {
    buffers.push_back(valueOf(Buffer::allocate(device, t.size() * 4)));
    check(buffers.back().upload(t.data(), t.size() * 4, stream));
    return buffers.back().data();
  });
  check(kernel->kernels->launch(stream.handle(), arguments));
  // o was the last to be placed.
  check(
      buffers.back().download(problem.o.data(), problem.o.size() * 4, stream));
}

/// What the JIT did since the last call.
static const char *lastAction(const Jit &jit) {
  static int64_t compiles = 0;
  bool compiled = jit.statistics().compiles != compiles;
  compiles = jit.statistics().compiles;
  return compiled ? "compiled" : "from memory";
}

int main() {
  Jit jit;
  Result<const Device *> device = Device::get(0);
  auto run = [&](const JitRequest &request, Problem &problem) {
    device.ok() ? runOnGpu(jit, request, problem, **device)
                : runOnCpu(jit, request, problem);
  };

  JitRequest request;
  request.fileName = "window.tg";
  request.source = windowText("i + (N - M) - j < w && i + (N - M) >= j");
  auto mistake = jit.compileForHost(request);
  std::printf("mistake: %s\n", mistake.status().message().c_str());

  Problem problem;
  request.source = windowText("i + (N - M) - j < W && i + (N - M) >= j");
  lastAction(jit);
  run(request, problem);
  std::printf("first compile: %s\n", lastAction(jit));
  run(request, problem);
  std::printf("second compile: %s\n", lastAction(jit));
  double error = problem.largestError();
  std::printf("window of %d keys: o ", problem.window);
  std::printf(error < 1e-5 ? "within 1e-05 of dense attention\n"
                           : "is WRONG by %g\n",
              error);
  return error < 1e-5 ? 0 : 1;
}
