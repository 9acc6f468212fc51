// The warp dialect: see WarpOps.td for the specification of each op.
#pragma once

#include "dialect/tile/TileDialect.h"
#include "mlir/IR/TensorEncoding.h"

namespace tegula::warp {

/// One step of a blocked layout: `count` places, `stride` apart along `axis`; axis -1: copies of the same elements.
struct Digit {
  int64_t axis, stride, count;

  bool operator==(const Digit &other) const = default;
};
inline llvm::hash_code hash_value(const Digit &digit) { return llvm::hash_combine(digit.axis, digit.stride, digit.count); }


/// Bytes that a row of a panel has: tiles in shared memory are cut into such.
constexpr int64_t panelBytes = 128;
inline int64_t panelColumns(mlir::Type element) { return panelBytes * 8 / element.getIntOrFloatBitWidth(); }
inline int64_t panelsOf(int64_t columns, mlir::Type element) { return (columns + panelColumns(element) - 1) / panelColumns(element); }

} // namespace tegula::warp

#include "dialect/warp/WarpDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/warp/WarpAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/warp/WarpTypes.h.inc"
#define GET_OP_CLASSES
#include "dialect/warp/WarpOps.h.inc"
