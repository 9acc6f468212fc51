// The rings between a pipelined kernel's producer and its consumers.
#pragma once

#include "dialect/warp/WarpDialect.h"

namespace tegula {

/// Whether the use is an operand of a matrix product, other than its accumulator.
bool isDotOperand(mlir::OpOperand &use);

/// A load that feeds matrix ops alone, so that a ring or global memory can stand for it.
bool feedsMatrixOps(tile::LoadOp load);

/// The loaded tile that a matrix op reads, which may have been worked on in place.
mlir::Value loadedTile(mlir::Value operand);

/// Whether a tile belongs to one warpgroup.
bool isEncoded(mlir::Type type);

/// One ring for each tensor, shape and side; of operands of matrix ops, and of loads with stages.
class Rings {
public:
  Rings(tile::KernelOp kernel, tile::ScheduleAttr schedule);

  struct Ring {
    mlir::Value memory;
    mlir::RankedTensorType tile;
    std::string name;
    int64_t rowAxis; ///< of memory
    int64_t copies, stages;
    warp::RingOp op;
  };
  llvm::SmallVector<Ring> rings;

  /// Which ring holds what is loaded, if one does.
  std::optional<unsigned> of(tile::LoadOp load) const;
  /// The load whose slot carries the note of a listed block: the first one behind it; null where that is no load of the block.
  tile::LoadOp carrierOf(tile::ListedBlockOp block) const;
  void create(mlir::OpBuilder &b, mlir::Location loc);

private:
  void add(tile::KernelOp kernel, tile::LoadOp load);

  tile::ScheduleAttr schedule;
  llvm::DenseMap<mlir::Operation *, unsigned> index;
};

} // namespace tegula
