//===- Tile.h - tiles of numbers --------------------------------*- C++ -*-===//
//
// The values of a tile program, and the walk over their lanes. A lane outside
// of the bound of an axis holds an unknown number; everything looks at the
// lanes inside only.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Number.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace tegula::generated {

/// A value: a scalar (rank 0) or a tile in row-major order.
struct Tile {
  ElemType elem = ElemType::I32;
  /// A constant takes the type of what it meets.
  bool isConstant = false;
  llvm::SmallVector<int64_t, 3> shape;
  /// Lanes of an axis that are inside its bound; those after them are not used.
  llvm::SmallVector<int64_t, 3> live;
  std::vector<Number> lanes;

  unsigned rank() const { return shape.size(); }
  bool isScalar() const { return shape.empty(); }
  const Number &scalar() const { return lanes.front(); }
};

/// The lanes of a shape.
int64_t countLanes(llvm::ArrayRef<int64_t> shape);

/// The lane at an index; an axis of extent 1 has the same for all.
int64_t laneAt(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> index);

/// Whether a lane is inside the bounds of all axes.
bool isLive(const Tile &tile, llvm::ArrayRef<int64_t> index);

/// A tile of unknown numbers, without bounds.
Tile blank(ElemType elem, llvm::ArrayRef<int64_t> shape);

/// A scalar.
Tile scalarOf(ElemType elem, Number number);
/// A scalar that takes the type of what it meets.
Tile constant(ElemType elem, Number number);

Tile converted(Tile tile, ElemType elem);

/// Scalars and axes of extent 1 stand for all lanes of `shape`.
Tile stretched(const Tile &tile, llvm::ArrayRef<int64_t> shape);

/// Calls `visit(lane, index)` for each lane of a shape.
template <typename Visit>
void forLanes(llvm::ArrayRef<int64_t> shape, Visit visit) {
  llvm::SmallVector<int64_t, 3> index(shape.size(), 0);
  for (int64_t lane = 0, end = countLanes(shape); lane < end; ++lane) {
    visit(lane, llvm::ArrayRef<int64_t>(index));
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
}

} // namespace tegula::generated
