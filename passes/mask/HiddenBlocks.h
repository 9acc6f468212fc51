// What a loop over blocks of keys does for a block that a mask hides.
#pragma once

#include "dialect/tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tegula {

/// Whether the loop does nothing for a block whose scores are all hidden: it writes no memory, and what it carries is the state of one online softmax
/// over these scores, or sums of weights that are 0 where hidden, and their products.
bool isIdentityWhereHidden(tile::ForBlocksOp loop, mlir::arith::SelectOp select);

} // namespace tegula
