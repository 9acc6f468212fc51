//===- Program.h - one tile program and its numbers -------------*- C++ -*-===//
//
// A kernel at the tile stage, the shapes and values of its tensors, and,
// for some, an answer computed by plain loops. The runner compares the GPU with
// the answer and with the CPU target.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tegula::exec {

/// How a tensor lies in memory.
enum class Place {
  dense,  ///< row-major, 16-byte aligned
  padded, ///< one element past an aligned address, rows one element too long
  swapped ///< the last two axes swapped: the last one is not contiguous
};

struct ProgramTensor {
  std::string name;
  std::vector<int64_t> shape;
  /// Values: floats between `low` and `high`, integers too (both included).
  double low = -1, high = 1;
};

/// Values in row-major order, widened to f64.
using Values = std::vector<double>;

struct ProgramCase {
  std::string name;
  std::string text;
  std::vector<ProgramTensor> tensors;
  std::vector<std::pair<std::string, double>> scalars = {};
  /// From the tensors of the table, in order, the values of output `name`.
  std::function<Values(const std::string &name, const std::vector<Values> &)>
      answer = nullptr;
  /// Allowed difference, relative to the largest magnitude of the answer.
  double tolerance = 1e-5;
  /// Whether the CPU target takes the program, so that it can be compared.
  bool onCpu = true;
  /// Names of tensors that are written.
  std::vector<std::string> outputs = {"o"};
  /// Those of them that are read, too.
  std::vector<std::string> updated = {};
};

std::vector<ProgramCase> programCases();

/// Bandwidth: the program and tensors large enough to be timed.
std::vector<ProgramCase> timedPrograms();

} // namespace tegula::exec
