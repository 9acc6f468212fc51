// A mask and the select that hides elements by it, as one map.
#pragma once

#include "dialect/tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tegula {

/// The select that alone reads the mask, where it stands in the same block and what it gives for a hidden element is one constant; else null.
mlir::arith::SelectOp selectOf(tile::MaskOp mask);

/// Writes `select(mask, x, constant)` as a map of x, and erases both.
tile::MapOp fuseSelect(tile::MaskOp mask, mlir::arith::SelectOp select);

/// Erases what nothing reads of a region's code.
void eraseDead(mlir::Block &body);

} // namespace tegula
