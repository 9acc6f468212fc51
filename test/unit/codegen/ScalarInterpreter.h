//===- ScalarInterpreter.h - f32 code as a GPU computes it ------*- C++ -*-===//
//
// Evaluates a straight-line function of f32 arguments and one f32 result, of
// arith, math and NVVM's approximate instructions, with denormals flushed as
// under .ftz and with chosen errors of the approximate instructions.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_TEST_UNIT_CODEGEN_SCALARINTERPRETER_H
#define TEGULA_TEST_UNIT_CODEGEN_SCALARINTERPRETER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <functional>
#include <vector>

namespace tegula::test {

class ScalarInterpreter {
public:
  /// `function` outlives nothing: it is read once. An operation that is not
  /// known fails the running test.
  explicit ScalarInterpreter(mlir::func::FuncOp function);

  /// Errors of the approximate instructions, relative in units of 2^-22: -1, 0
  /// or 1 times the bound.
  float approximation = 0;

  float operator()(std::initializer_list<float> arguments) const;

private:
  using Slots = std::vector<uint32_t>;
  mutable Slots slots;
  Slots initial;
  std::vector<std::function<void(Slots &, float)>> steps;
  unsigned result = 0;
};

} // namespace tegula::test

#endif // TEGULA_TEST_UNIT_CODEGEN_SCALARINTERPRETER_H
