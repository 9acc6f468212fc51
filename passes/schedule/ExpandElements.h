// Scalar code of one element back to code on tiles, for programs in blocked layouts.
#pragma once

#include "dialect/tile/TileDialect.h"

namespace tegula {

/// Replaces each `tile.mask` and `tile.map` of a kernel by elementwise code on tiles of indices. Reports a region that is more than scalar code of an element.
mlir::LogicalResult expandElements(tile::KernelOp kernel);

} // namespace tegula
