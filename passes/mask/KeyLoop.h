// Loops over blocks of keys, and how they decide which of these blocks to test.
#pragma once

#include "dialect/tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

namespace tegula {

/// A loop over blocks of keys, and the selects of visible scores in its body.
struct KeyLoop {
  tile::ForBlocksOp loop;
  llvm::SmallVector<mlir::arith::SelectOp> selects;
  tile::OnlineSoftmaxOp softmax;
  mlir::Value key;            ///< the first one of a block: what the loop counts, or what its body makes of that
  int64_t rows = 0, keys = 0; ///< of a block; 0 for a loop over something else

  explicit KeyLoop(tile::ForBlocksOp loop);

  /// Whether a block's scores go through the element mask, as the loop itself decides it; made at the end of the body.
  mlir::Value isTested(mlir::OpBuilder &b);

private:
  void setShape(mlir::RankedTensorType type) { rows = type.getDimSize(0), keys = type.getDimSize(1); }
};

/// The programs of a module that only compute rows again, for a tile.redo of another.
llvm::SetVector<mlir::Operation *> programsOfRedos(mlir::ModuleOp module);

} // namespace tegula
