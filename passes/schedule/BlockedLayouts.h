// The two layouts that programs start from; all others follow from them (see #warp.blocked).
#pragma once

#include "dialect/warp/WarpDialect.h"

namespace tegula {

/// What shapes the layout of tiles that meet no matrix op.
struct BlockedHints {
  int64_t threads = 128;
  int64_t fastAxis = -1;      ///< the axis that is contiguous in memory; -1: the last
  int64_t elements = 4;       ///< that fill 16 bytes
  bool fastAxisMeets = true;  ///< reductions go along the fast axis, if anywhere: keep it within a warp where there are rows for the warps
};

/// Contiguous elements a thread along the fast axis, then lanes, then warps over the other axes first.
warp::BlockedAttr chooseBlocked(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, const BlockedHints &hints);

/// The accumulators of `mma.sync` m16n8 (PTX ISA), warps over rows first where `wholeRows`, else as square as may be.
warp::BlockedAttr chooseProduct(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, int64_t threads, bool wholeRows);

/// How the axes of a reshape's operand become those of its result, if only extents of 1 come and go; -1: a lost one.
std::optional<llvm::SmallVector<int64_t>> renamedAxes(tile::ReshapeOp op);
/// Whether a reshape of tiles with layouts moves nothing.
bool isRenaming(tile::ReshapeOp op);

} // namespace tegula
