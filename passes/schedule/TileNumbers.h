// From the number of a tile to its place in the grid.
#pragma once

#include "dialect/tile/TileDialect.h"

namespace tegula {

/// The order of a grid's tiles, as scalar code at one place of the program.
class TileNumbers {
public:
  /// What `longest_first` keeps in L2: rows of keys a head, and their bytes. Null where the kernel does not say.
  struct Keys {
    mlir::Value rows;
    int64_t bytesPerRow = 0;
  };

  /// `extents` as of `tile.program_id`, the first of them the blocks of rows. All i64; a grid under a counter has less than 2^31 tiles.
  TileNumbers(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange extents, tile::TileOrder order, Keys keys);

  mlir::Value total() const { return count; }

  /// Coordinates of a tile, one an extent, at the builder's place.
  llvm::SmallVector<mlir::Value> decode(mlir::OpBuilder &b, mlir::Location loc, mlir::Value number) const;

private:
  llvm::SmallVector<mlir::Value> decodeWide(mlir::OpBuilder &b, mlir::Location loc, mlir::Value number) const;
  llvm::SmallVector<mlir::Value> decodeNarrow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value number) const;
  /// How many heads are worked on side by side, so that their keys and values stay in L2.
  mlir::Value headsPerGroup(mlir::OpBuilder &b, mlir::Location loc, Keys keys, mlir::Value heads);

  tile::TileOrder order;
  mlir::Value count;
  llvm::SmallVector<mlir::Value> wide, narrow; ///< the extents as i64 and, where a counter gives numbers, as i32
  mlir::Value heads, group;              ///< under `longest_first`: all but the first extent, and how many of them make a group; i32
};

} // namespace tegula
