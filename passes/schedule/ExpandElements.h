// Scalar code of one element back to code on tiles, for programs in blocked layouts.
#pragma once

#include "dialect/tile/TileDialect.h"

namespace tegula {

/// Replaces each `tile.mask`, `tile.map` and `tile.zero_unseen` of a kernel by code on tiles of indices. Reports a region that is more than scalar code of an element.
mlir::LogicalResult expandElements(tile::KernelOp kernel);

} // namespace tegula
