// Conditions that are looked for row by row: in each row, and for each element of a list, a range of keys.
#pragma once

#include "passes/mask/BoxEvaluator.h"

namespace tegula {

/// Rows of a tile that are looked at one by one, up to `count` of them.
struct RowsOneByOne {
  Interval span;
  int64_t count;
};

/// `tile.any_range` of a block of keys, at `at`: ranges of the keys for which all of `conditions` hold, of which the first may be a loop `r = r || element`: one range a row and element. `region` takes
/// (row, key) and holds the conditions; what stands outside of `scope` is a value as it is. Null where keys are not bounded; and whether keys in the ranges are just those for which they hold.
std::pair<tile::AnyRangeOp, bool> makeRanges(mlir::OpBuilder &at, mlir::Value number, int64_t step, RowsOneByOne rows, llvm::ArrayRef<mlir::Value> conditions, mlir::Region &region,
                                             mlir::Region &scope, IndexRanges &ranges);

/// Whether some row sees a key, exactly, where one of the conditions has to be looked for row by row; else null. Code at `b`, in a block that takes the key.
mlir::Value seenByRanges(tile::ZeroUnseenOp op, RowsOneByOne rows, mlir::OpBuilder &b, IndexRanges &ranges);

/// In an element mask: where each element that a loop runs over is a range of keys, exactly, the loop becomes a `tile.any_range` of the element's key.
void markRanges(mlir::Region &mask, IndexRanges &ranges);

} // namespace tegula
