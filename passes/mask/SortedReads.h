// Comparisons of what a sorted table holds at the key with a number of the row: where a row's keys are, the table's order tells.
#pragma once

#include "dialect/tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tegula {

/// `lookup <predicate> number`, where `lookup` reads a table whose numbers rise along its last axis, at the key there and at what is the same for all pairs elsewhere, and `number` does not depend on the
/// key and does not fall as rows go on.
struct SortedRead {
  mlir::arith::CmpIOp compare;
  mlir::arith::CmpIPredicate predicate;
  tile::LookupOp lookup;
  mlir::Value number;

  /// In a region of scalar code with these arguments for the row and the key, where the table has as many elements as there are keys.
  static std::optional<SortedRead> match(mlir::arith::CmpIOp compare, mlir::Region &region, mlir::Value row, mlir::Value key, mlir::OpFoldResult keyEnd);
};

} // namespace tegula
