// A tensor in host memory with elements of any type, seen as doubles: what tests fill, pass to kernels and compare.
#pragma once

#include "runtime/Arguments.h"
#include <functional>
#include <string>
#include <vector>

namespace tegula::test {

/// Values are rounded to the element type as they are set (to nearest even). Memory outside the elements holds a pattern that
/// `outsideIntact` checks.
class HostTensor {
public:
  /// A dense tensor with axis `order[0]` outermost in memory; empty: row-major. `gap` extra elements follow each run of the innermost axis.
  HostTensor(rt::ElementType type, std::vector<int64_t> sizes, std::vector<int> order = {}, int64_t gap = 0);

  double get(const std::vector<int64_t> &index) const;
  void set(const std::vector<int64_t> &index, double value);
  /// Sets each element to `value(index)`.
  HostTensor &fill(const std::function<double(const std::vector<int64_t> &)> &value);
  HostTensor &fill(double value);
  /// Values in [-1, 1) from a fixed sequence.
  HostTensor &fillRandom(unsigned seed);
  /// Runs `body` for each index, the last axis fastest.
  void forEach(const std::function<void(const std::vector<int64_t> &)> &body) const;

  rt::TensorView view();
  const std::vector<int64_t> &sizes() const { return extents; }
  bool outsideIntact() const;
  /// Equal memory, bit for bit.
  bool sameBits(const HostTensor &other) const { return memory == other.memory; }

private:
  int64_t offset(const std::vector<int64_t> &index) const;

  rt::ElementType type;
  std::vector<int64_t> extents, strides;
  std::vector<unsigned char> memory;
};

/// `value` rounded to `type`, to nearest even.
double rounded(double value, rt::ElementType type);

} // namespace tegula::test
