// What is known of the values of a role in one run.
#pragma once

#include "passes/verify/Choices.h"
#include "passes/verify/RoleRun.h"

#include <optional>

namespace tegula {

struct Known {
  enum Kind { Nothing, Number, Slot, Product } kind = Nothing;
  int64_t number = 0;    ///< Number; Slot: its number; Product: how many matrix ops were issued before it
  int round = 0;         ///< Slot: which fill
  bool isVarying = true; ///< Nothing: may differ between the warps of the warpgroup

  static Known of(int64_t number) { return {Number, number}; }
};

/// An interpreter of scalars: what is not a number in the text is a number that the run assumes, or not known.
class KnownValues {
public:
  KnownValues(const RoleRun &kernel, Choices &choices, int64_t warpgroup) : kernel(kernel), choices(choices), warpgroup(warpgroup) {}

  Known look(mlir::Value value);
  std::optional<int64_t> numberOf(mlir::Value value);
  void set(mlir::Value value, Known known) { values[value] = known; }
  /// All at once, as a loop carries them.
  void assign(mlir::ValueRange to, mlir::ValueRange from);
  void evaluate(mlir::Operation *op);

private:
  void lookUp(tile::LookupOp op);
  void compute(mlir::Operation *op);

  const RoleRun &kernel;
  Choices &choices;
  int64_t warpgroup;
  llvm::DenseMap<mlir::Value, Known> values;
};

} // namespace tegula
