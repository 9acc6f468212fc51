// The ops of the tile dialect that touch memory, on the CPU: loops over the elements that exist, and clamped loads.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tegula {

/// Rewrites these ops wherever they are: in the body of a kernel, or in scalar code of one element.
void populateLowerMemoryPatterns(mlir::RewritePatternSet &patterns);

} // namespace tegula
