// Several limits that a row sets to its keys as one.
#pragma once

#include "passes/lower/IndexRange.h"

namespace tegula {

/// In the code of a mask, (row, key) to i1: of several limits that each row sets to its keys, only the one that holds is compared with, once an element. Gives whether there were several.
bool mergeLimits(mlir::Region &mask, IndexRanges &ranges);

} // namespace tegula
