// tile.load, tile.store and tile.lookup on the CPU: loops over the part of a tile that lies inside memory, and clamped loads.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tegula {

/// Rewrites the three ops wherever they are: in the body of a kernel, or in scalar code of one element.
void populateLowerMemoryPatterns(mlir::RewritePatternSet &patterns);

} // namespace tegula
