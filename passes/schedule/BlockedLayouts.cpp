// Chooses blocked layouts from a tile's shape: digits of threads while they fit, registers for the rest.
#include "passes/schedule/BlockedLayouts.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tegula;
using warp::Digit;

namespace {

/// A layout while digits are added to it.
class LayoutBuilder {
public:
  explicit LayoutBuilder(ArrayRef<int64_t> shape) : shape(shape), places(shape.size(), 1) {}

  void addRegisters(int64_t axis, int64_t count) {
    if (count > 1)
      registers.push_back({axis, places[axis], count});
    places[axis] *= count;
  }

  void addThreadBit(int64_t axis) {
    threads.push_back({axis, places[axis], 2});
    places[axis] *= 2;
  }

  /// One bit of the thread's number along the first axis of `order` that it divides; else, that it does not cover yet.
  void addThreadBit(ArrayRef<int64_t> order) {
    for (int64_t axis : order)
      if (shape[axis] % (2 * places[axis]) == 0)
        return addThreadBit(axis);
    for (int64_t axis : order)
      if (places[axis] < shape[axis])
        return addThreadBit(axis);
    threads.push_back({-1, 0, 2});
  }

  warp::BlockedAttr finish(MLIRContext *context, ArrayRef<int64_t> order) {
    for (int64_t axis : order)
      addRegisters(axis, llvm::divideCeil(shape[axis], places[axis]));
    return warp::BlockedAttr::get(context, registers, threads);
  }

  ArrayRef<int64_t> shape;
  SmallVector<int64_t> places; ///< covered so far, along each axis
  SmallVector<Digit> registers, threads;
};

} // namespace

warp::BlockedAttr tegula::chooseBlocked(MLIRContext *context, ArrayRef<int64_t> shape, const BlockedHints &hints) {
  int64_t rank = shape.size(), fast = hints.fastAxis < 0 ? rank - 1 : hints.fastAxis, total = 1;
  for (int64_t extent : shape)
    total *= extent;
  SmallVector<int64_t> order{fast};
  for (int64_t axis = rank - 1; axis >= 0; --axis)
    if (axis != fast)
      order.push_back(axis);
  LayoutBuilder layout(shape);
  int64_t run = hints.elements;
  while (run > 1 && (shape[fast] % run != 0 || total / run < hints.threads))
    run /= 2;
  layout.addRegisters(fast, run);
  for (int bit = 0; bit < 5; ++bit)
    layout.addThreadBit(order);
  SmallVector<int64_t> warpOrder(order);
  if (hints.fastAxisMeets)
    std::rotate(warpOrder.begin(), warpOrder.begin() + 1, warpOrder.end());
  for (unsigned bit = 5; bit < llvm::Log2_64(hints.threads); ++bit)
    layout.addThreadBit(warpOrder);
  return layout.finish(context, order);
}

warp::BlockedAttr tegula::chooseProduct(MLIRContext *context, ArrayRef<int64_t> shape, int64_t threads, bool wholeRows) {
  constexpr int64_t rows = 0, columns = 1;
  LayoutBuilder layout(shape);
  layout.addRegisters(columns, 2);
  layout.addThreadBit(columns), layout.addThreadBit(columns);
  layout.addThreadBit(rows), layout.addThreadBit(rows), layout.addThreadBit(rows);
  layout.addRegisters(rows, 2);
  for (unsigned bit = 5; bit < llvm::Log2_64(threads); ++bit) {
    int64_t rowsLeft = llvm::divideCeil(shape[rows], layout.places[rows]), columnsLeft = llvm::divideCeil(shape[columns], layout.places[columns]);
    bool byRows = rowsLeft > 1 && (wholeRows || columnsLeft == 1 || rowsLeft * 16 >= columnsLeft * 8);
    if (byRows || columnsLeft > 1)
      layout.addThreadBit(byRows ? rows : columns);
    else
      layout.threads.push_back({-1, 0, 2});
  }
  return layout.finish(context, {columns, rows});
}

std::optional<SmallVector<int64_t>> tegula::renamedAxes(tile::ReshapeOp op) {
  ArrayRef<int64_t> from = op.getTile().getType().getShape(), to = op.getResult().getType().getShape();
  SmallVector<int64_t> axes(from.size(), -1);
  size_t next = 0;
  for (auto [axis, extent] : llvm::enumerate(from)) {
    if (extent == 1)
      continue;
    while (next < to.size() && to[next] == 1)
      ++next;
    if (next == to.size() || to[next] != extent)
      return std::nullopt;
    axes[axis] = next++;
  }
  return axes;
}

bool tegula::isRenaming(tile::ReshapeOp op) {
  auto axes = renamedAxes(op);
  auto from = cast<warp::BlockedAttr>(op.getTile().getType().getEncoding()), to = cast<warp::BlockedAttr>(op.getResult().getType().getEncoding());
  return axes && from.mapAxes(*axes) == to;
}
