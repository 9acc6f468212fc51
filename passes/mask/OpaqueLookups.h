// Conditions of which nothing is known over a block of pairs, as each pair has an element of a table of its own.
#pragma once

#include "mlir/IR/Value.h"

namespace tegula {

/// Whether scalar code of a mask reads a table at an index that depends on both `row` and `key`. One that is sorted along its last axis, where that index alone depends on them, does not count.
bool readsOpaqueTable(mlir::Value condition, mlir::Value row, mlir::Value key);

} // namespace tegula
