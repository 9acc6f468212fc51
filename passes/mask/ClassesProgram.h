// The program that finds the classes of blocks of pairs by looking at every pair.
#pragma once

#include "dialect/tile/TileDialect.h"

namespace tegula {

/// A condition on (row, key), both arguments of one region, of the loop over keys of a kernel.
struct PairCondition {
  mlir::SmallVector<mlir::Value> conjuncts; ///< in the region
  mlir::Region *region;
  mlir::Value row;         ///< the program's first
  mlir::Value tile, tiles; ///< its number along rows, of so many
  mlir::Value queries;     ///< rows from there on do not exist; null: that is not known
  mlir::Value keyEnd;      ///< keys likewise
  int64_t rows = 0, keys = 0; ///< of a block
};

/// A coordinate of the kernel's grid that a condition depends on, and its extent.
struct GridAxis {
  mlir::Value index, extent;
};

/// The coordinates that a condition depends on, or none where it depends on what its kernel computes otherwise than by scalar code of arguments and of its place in the grid.
std::optional<mlir::SmallVector<GridAxis>> gridAxesOf(const PairCondition &condition);

/// Writes the program behind `kernel`, whose last argument is the scratch `[axes, tiles, blocks]` that it fills.
void writeClassesProgram(tile::KernelOp kernel, const PairCondition &condition, mlir::ArrayRef<GridAxis> axes);

} // namespace tegula
