//===- Tile.cpp - tiles of numbers ----------------------------------------===//
//
// Tiles have a handful of lanes, so all is done the plain way.
//
//===----------------------------------------------------------------------===//
#include "Tile.h"

using namespace tegula;
using namespace tegula::generated;

int64_t tegula::generated::countLanes(llvm::ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  return elements;
}

int64_t tegula::generated::laneAt(llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<int64_t> index) {
  int64_t lane = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    lane = lane * shape[axis] + (shape[axis] == 1 ? 0 : index[axis]);
  return lane;
}

bool tegula::generated::isLive(const Tile &tile,
                               llvm::ArrayRef<int64_t> index) {
  for (unsigned axis = 0; axis < tile.rank(); ++axis)
    if (index[axis] >= tile.live[axis])
      return false;
  return true;
}

Tile tegula::generated::blank(ElemType elem, llvm::ArrayRef<int64_t> shape) {
  Tile tile;
  tile.elem = elem;
  tile.shape.assign(shape.begin(), shape.end());
  tile.live = tile.shape;
  tile.lanes.assign(countLanes(shape), Number::unknown());
  return tile;
}

Tile tegula::generated::scalarOf(ElemType elem, Number number) {
  Tile tile = blank(elem, {});
  tile.lanes = {number};
  return tile;
}

Tile tegula::generated::constant(ElemType elem, Number number) {
  Tile tile = scalarOf(elem, number);
  tile.isConstant = true;
  return tile;
}

Tile tegula::generated::converted(Tile tile, ElemType elem) {
  for (Number &lane : tile.lanes)
    lane = convert(lane, tile.elem, elem);
  tile.elem = elem;
  return tile;
}

Tile tegula::generated::stretched(const Tile &tile,
                                  llvm::ArrayRef<int64_t> shape) {
  if (llvm::ArrayRef<int64_t>(tile.shape) == shape)
    return tile;
  Tile result = blank(tile.elem, shape);
  result.isConstant = tile.isConstant && tile.isScalar();
  for (unsigned axis = 0; axis < tile.rank(); ++axis)
    if (tile.shape[axis] == shape[axis])
      result.live[axis] = tile.live[axis];
  forLanes(shape, [&](int64_t lane, auto at) {
    result.lanes[lane] =
        tile.lanes[tile.isScalar() ? 0 : laneAt(tile.shape, at)];
  });
  return result;
}
