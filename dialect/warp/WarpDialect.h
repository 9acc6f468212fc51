// The warp dialect: see WarpOps.td for the specification of each op.
#pragma once

#include "dialect/tile/TileDialect.h"
#include "mlir/IR/TensorEncoding.h"

#include "dialect/warp/WarpDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/warp/WarpAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/warp/WarpTypes.h.inc"
#define GET_OP_CLASSES
#include "dialect/warp/WarpOps.h.inc"
