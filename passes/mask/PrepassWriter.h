// What programs that run ahead of a kernel, and tell it of its masks, have in common.
#pragma once

#include "dialect/tile/TileDialect.h"

#include "mlir/IR/IRMapping.h"

namespace tegula {

/// A coordinate of the kernel's grid that a condition depends on, and its extent.
struct GridAxis {
  mlir::Value index, extent;
};

/// A condition on (row, key), both arguments of one region, of the loop over keys of a kernel.
struct PairCondition {
  mlir::SmallVector<mlir::Value> parts; ///< in the region, what it is made of
  mlir::Region *region;
  mlir::Value row;         ///< the program's first
  mlir::Value tile, tiles; ///< its number along rows, of so many
  mlir::Value queries;     ///< rows from there on do not exist; null: that is not known
  mlir::Value keyEnd;      ///< keys likewise
  int64_t rows = 0, keys = 0; ///< of a block

  /// The condition of a mask, whose parts are to be chosen: its rows are a tile's, its keys a loop's from 0 on. Else none.
  static std::optional<PairCondition> of(tile::MaskOp mask);
  /// The coordinates that it depends on, or none where it depends on what its kernel computes otherwise than by scalar code of arguments and of its place in the grid.
  std::optional<mlir::SmallVector<GridAxis>> axes() const;
};

/// The size of all axes together, as an extent of a table; null where one has no text.
mlir::Attribute leadExtent(mlir::MLIRContext *context, llvm::ArrayRef<GridAxis> axes);
/// A kernel's coordinates on the axes as one number.
mlir::Value leadOf(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<GridAxis> axes);

/// What the argument is called that holds what a program found ahead of its kernel.
inline constexpr llvm::StringLiteral prepassTable = "prepass.table";
/// The kernels of a module ahead of which a program can run: they are none themselves, nor compute rows again for another, and have none yet.
mlir::SmallVector<tile::KernelOp> kernelsWithoutPrepass(mlir::ModuleOp module);
/// Adds memory of these extents that lives for one launch as the last argument of a kernel, and of the one that computes rows again for it. `isSorted`: numbers do not fall along its last axis.
mlir::BlockArgument addPrepassTable(tile::KernelOp kernel, mlir::Type element, llvm::ArrayRef<mlir::Attribute> extents, bool isSorted);

/// Whether two values are made by the same code of their regions' arguments and of the same values outside.
bool isSameCode(mlir::Value x, mlir::Region &ofX, mlir::Value y, mlir::Region &ofY);

/// Writes a program behind a kernel, whose arguments it has.
class PrepassWriter {
public:
  PrepassWriter(tile::KernelOp kernel, const PairCondition &condition, llvm::ArrayRef<GridAxis> axes) : kernel(kernel), condition(condition), axes(axes), b(kernel->getContext()), loc(kernel.getLoc()) {}

protected:
  mlir::Value constant(int64_t value);
  mlir::Value constant32(int64_t value);
  void makeProgram(llvm::StringRef suffix);
  /// A grid of these extents and of the axes; gives the coordinates on the former. `lead` is then the latter as one number.
  mlir::SmallVector<mlir::Value> makeGrid(llvm::ArrayRef<mlir::Value> own);
  /// A value of the kernel, computed here.
  mlir::Value clone(mlir::Value value);
  /// Computes what the condition takes from outside.
  void prepareOutside();

  tile::KernelOp kernel, program;
  const PairCondition &condition;
  llvm::ArrayRef<GridAxis> axes;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::IRMapping map;
  mlir::Value lead;
};

} // namespace tegula
