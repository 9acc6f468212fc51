// A list of live blocks, as the lanes of a producer's warp find it, and the notes that tell consumers of it.
#pragma once

#include "dialect/warp/WarpDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace tegula {

/// Looks at 32 blocks at a time, first to count and then, as the list is walked, once for those that come first and once for the others.
class BlockList {
public:
  /// Counts; `map` knows what the classes read, and then the results of `op`.
  BlockList(mlir::OpBuilder &b, tile::ListBlocksOp op, mlir::IRMapping &map);

  /// Goes on to the next block: maps the results of `block`, and gives its note: its number, how many blocks the list has, how many of them come first, and, if the list
  /// has any, the flags behind the first as bits, with one for each part behind them.
  llvm::SmallVector<mlir::Value> next(mlir::OpBuilder &b, tile::ListedBlockOp block, mlir::IRMapping &map);

  /// Where the walk is, which loops carry: the group of 32, its blocks that are to come, and the further flags and the parts of its blocks; i32.
  llvm::SmallVector<mlir::Value> state;

private:
  llvm::SmallVector<mlir::Value> classify(mlir::OpBuilder &b, mlir::Value first, const mlir::IRMapping &map);
  mlir::Value firstOf(mlir::OpBuilder &b, mlir::Value group, mlir::Value isSecond);
  mlir::Value constant(mlir::OpBuilder &b, int64_t value);
  mlir::Value word(mlir::OpBuilder &b, int64_t value);
  mlir::Value widened(mlir::OpBuilder &b, mlir::Value value);

  tile::ListBlocksOp op;
  mlir::Location loc;
  unsigned numClasses;
  bool hasOrder; ///< by the first flag
  mlir::Value lower, upper, groups;
};

} // namespace tegula
