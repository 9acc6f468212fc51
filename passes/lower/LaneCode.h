// Scalar code of a lane: in 32 bits where that is enough; and which of 32 blocks some range of keys meets.
#pragma once

#include "dialect/tile/TileDialect.h"
#include "passes/lower/IndexRange.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace tegula {

/// Copies scalar code of i64 with i32 in its place where the ranges of operands and result fit: the producer has few registers.
class NarrowCloner {
public:
  NarrowCloner(mlir::OpBuilder &b, mlir::Location loc, IndexRanges &ranges) : b(b), loc(loc), ranges(ranges) {}
  /// For code nested in that of `outer`.
  NarrowCloner(mlir::OpBuilder &b, const NarrowCloner &outer) : b(b), loc(outer.loc), ranges(outer.ranges), wide(outer.wide), narrow(outer.narrow) {}

  void map(mlir::Value from, mlir::Value to) { wide.map(from, to); }
  mlir::Value lookup(mlir::Value value) { return getWide(value); }
  void clone(mlir::Operation &op);

  mlir::OpBuilder &b;
  const mlir::Location loc;
  IndexRanges &ranges;

private:
  void set(mlir::Value from, mlir::Value to) { (from.getType() == to.getType() ? void(wide.map(from, to)) : void(narrow[from] = to)); }
  mlir::Value getWide(mlir::Value value);
  mlir::Value getNarrow(mlir::Value value);

  mlir::IRMapping wide;
  llvm::DenseMap<mlir::Value, mlir::Value> narrow;
};

/// Copies the code of a region that takes a number of keys, of which lane l of a warp has `first + l * step`. Of a `tile.any_range` in it each lane marks, for all lanes, what its share of the
/// ranges meets, and then takes its own mark. All lanes of a warp come here together.
void cloneForLanes(mlir::Region &region, NarrowCloner &code, mlir::Value lane, mlir::Value first);

} // namespace tegula
