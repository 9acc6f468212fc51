// Intervals of integer values, for deciding which index arithmetic of elements fits in i32.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace tegula {

/// Both ends included.
struct IndexRange {
  int64_t low, high;

  bool fitsI32() const { return low >= INT32_MIN && high <= INT32_MAX; }
};

/// Of a length of a problem: launches refuse more.
inline constexpr IndexRange rangeOfDim{0, int64_t(1) << 29};

/// What launches say of a kernel's values: the ranges of its dims, and of its numbers in the grid.
llvm::DenseMap<mlir::Value, IndexRange> rangesAtLaunch(mlir::FunctionOpInterface kernel);

/// The quotient in `x - x / y * y`, a floored remainder; else null.
mlir::arith::FloorDivSIOp quotientOfRemainder(mlir::Operation *op);

/// Ranges of i64 values, computed on demand from their definitions; nothing for what is not bounded in i64.
class IndexRanges {
public:
  /// `known`: values with a stated range, such as dims, which launches bound.
  explicit IndexRanges(const llvm::DenseMap<mlir::Value, IndexRange> &known) : ranges(known.begin(), known.end()) {}

  void set(mlir::Value value, IndexRange range) { ranges[value] = range; }
  std::optional<IndexRange> of(mlir::Value value, unsigned depth = 0);

  /// Whether the value's range is known and fits.
  bool fitsI32(mlir::Value value) {
    std::optional<IndexRange> range = of(value);
    return range && range->fitsI32();
  }

private:
  std::optional<IndexRange> compute(mlir::Operation *op, mlir::Value value, unsigned depth);

  llvm::DenseMap<mlir::Value, IndexRange> ranges;
};

} // namespace tegula
