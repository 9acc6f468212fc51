// The producer of a pipelined kernel.
#pragma once

#include "passes/schedule/BlockList.h"
#include "passes/schedule/RoleBuilder.h"

namespace tegula {

/// Scalar code and loads: fills the rings.
class ProducerRole : public RoleBuilder {
public:
  using RoleBuilder::RoleBuilder;

private:
  mlir::LogicalResult emit(mlir::Operation &op) override;
  mlir::LogicalResult blockLoop(tile::ForBlocksOp blocks);
  mlir::LogicalResult copy(tile::LoadOp load, unsigned number);
  mlir::Value forWarpgroup(mlir::Value value, int64_t instance, mlir::IRMapping &local);

  llvm::DenseMap<mlir::Value, std::unique_ptr<BlockList>> lists;              ///< by their counts
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> notes; ///< that go with a load
};

} // namespace tegula
