// Tensors of one attention problem, dense loops in double over them, and the comparison.
#pragma once

#include "codegen/CpuKernel.h"
#include "test/unit/cpu/HostTensor.h"

namespace tegula::test {

struct AttendShape {
  int64_t batch = 1, heads = 1, groups = 1, queries = 1, keys = 1;
  std::string text() const;
};

/// Lengths that meet every edge of a tile: none, one, a multiple, one more; fewer and more queries than keys; grouped heads.
std::vector<AttendShape> attendShapes();

/// What a variant adds to attention, as plain functions.
struct Variant {
  std::function<bool(int64_t b, int64_t h, int64_t i, int64_t j)> visible;
  std::function<double(double s, int64_t b, int64_t h, int64_t i, int64_t j)> score;

  /// No mask; each query sees the keys up to its own, aligned at the last ones.
  static Variant full();
  static Variant causal(const AttendShape &shape);
};

/// How operands lie in memory.
struct Layout {
  std::vector<int> order; // of axes, outermost first; empty: row-major
  int64_t gap = 0;        // elements after each run of the innermost axis
};

struct AttendProblem {
  AttendShape shape;
  HostTensor q, k, v, output, lse;

  /// Operands of `type` with values of a fixed sequence.
  AttendProblem(const AttendShape &shape, rt::ElementType type, int64_t headDim, int64_t valueDim, const Layout &layout = {});

  /// Runs `kernel` on q, k, v -> o, lse and what `parameters` sets. A failure is reported to GoogleTest.
  bool run(const CpuKernel &kernel, const std::function<rt::Status(rt::Arguments &)> &parameters = nullptr);
  /// Compares with dense attention, and sees that nothing beside the outputs is written.
  void expectDense(const Variant &variant, double limit);
};

/// Largest difference of two tensors; infinite where one is not finite and the other differs.
double distance(const HostTensor &a, const HostTensor &b);

} // namespace tegula::test
