// What is known of the values of a role in one run.
#pragma once

#include "passes/verify/Choices.h"
#include "passes/verify/RoleRun.h"

#include <optional>

namespace tegula {

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
  /// In which turn of the loop over tiles the run is.
  void setTile(int64_t number) { tile = number; }

private:
  void lookUp(tile::LookupOp op);
  void classify(warp::ClassifyBlocksOp op);
  void countBits(mlir::Operation *op);
  void compute(mlir::Operation *op);

  const RoleRun &kernel;
  Choices &choices;
  int64_t warpgroup, tile = -1;
  llvm::DenseMap<mlir::Value, Known> values;
};

} // namespace tegula
