// The producer of a pipelined kernel.
#pragma once

#include "passes/schedule/RoleBuilder.h"

namespace tegula {

/// Scalar code and loads: fills the rings.
class ProducerRole : public RoleBuilder {
public:
  using RoleBuilder::RoleBuilder;

private:
  mlir::LogicalResult emit(mlir::Operation &op) override;
  mlir::LogicalResult copy(tile::LoadOp load, unsigned number);
  mlir::Value forWarpgroup(mlir::Value value, int64_t instance, mlir::IRMapping &local);
};

} // namespace tegula
