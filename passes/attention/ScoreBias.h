// Scores that are a product and a bias, and how large the bias may be in a row.
#pragma once

#include "dialect/tile/TileDialect.h"
#include "passes/lower/IndexRange.h"

namespace tegula {

/// Whether a score function, whose last argument is the key, depends on it beside the product: if not, what one block shows of a row speaks for the others.
bool dependsOnKey(mlir::Region &score);

/// The terms of a score function: one that is the product, perhaps times a number, and one that does not depend on it.
struct ScoreTerms {
  mlir::Value product, bias;

  /// Of a region whose first argument is the product and whose last one is the key; nothing where it is no such sum, or where the bias has no close bound: it must read the key once, through
  /// arithmetic of which intervals are known.
  static std::optional<ScoreTerms> match(mlir::Region &score);
};

/// The largest bias of each row, over the keys of `loop` that `masks` let it see: a tile of rank 1, computed before the loop. `map` makes the scores, and `terms` are its. Null where the keys of a
/// row have no exact bounds.
mlir::Value largestBias(tile::ForBlocksOp loop, tile::MapOp map, const ScoreTerms &terms, llvm::ArrayRef<tile::MaskOp> masks, IndexRanges ranges);

} // namespace tegula
