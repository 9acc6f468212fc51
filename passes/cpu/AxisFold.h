// tile.reduce and tile.combine as folds over elements: what the result starts from, and how it takes one element more.
#pragma once

#include "dialect/tile/TileDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <optional>

namespace tegula {

/// A reduction of a tile along one axis. `argmax` carries two values, the largest element and its place; the last one is the result.
class AxisFold {
public:
  /// Nothing where `op` is neither tile.reduce nor tile.combine.
  static std::optional<AxisFold> of(mlir::Operation *op);

  mlir::Value tile() const { return op->getOperand(0); }
  int64_t axis() const;

  /// Tiles without the axis, filled with the neutral element: one for each carried value.
  mlir::SmallVector<mlir::Value> start(mlir::ImplicitLocOpBuilder &b) const;
  /// Takes element `x` into the `carried` values, inside the linalg.generic whose loops run over the tile.
  mlir::SmallVector<mlir::Value> step(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange carried, mlir::Value x) const;

private:
  explicit AxisFold(mlir::Operation *op) : op(op) {}
  mlir::Operation *op;
};

} // namespace tegula
