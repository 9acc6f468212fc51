//===- EvaluateMemory.cpp - loads and stores, interpreted -----------------===//
//
// A place is one element, a box of slices, or elements at index tiles.
//
//===----------------------------------------------------------------------===//
#include "KernelEvaluator.h"

#include "llvm/ADT/STLExtras.h"

using namespace tegula;
using namespace tegula::generated;

KernelEvaluator::Place KernelEvaluator::place(const Expr &e, bool nearest) {
  Place place;
  place.tensor = item.findTensor(e.name);
  llvm::ArrayRef<int64_t> extents = problem.tensors[place.tensor].shape();
  struct Axis {
    Tile index;    ///< of a slice: its first lane
    int axis = -1; ///< of a slice: its axis among the slices
  };
  std::vector<Axis> axes;
  Tile lanes = blank(ElemType::I64, {}), slices = lanes;
  for (auto [axis, index] : llvm::enumerate(e.args)) {
    if (index->kind != Expr::Slice) {
      axes.push_back({converted(value(*index), ElemType::I64)});
      const Tile &tile = axes.back().index;
      if (!tile.isScalar()) {
        if (lanes.isScalar())
          lanes = tile;
        for (unsigned n = 0; n < tile.rank(); ++n)
          lanes.live[n] = std::min(lanes.live[n], tile.live[n]);
      }
      continue;
    }
    int64_t base = 0, length = extents[axis], end = extents[axis];
    if (!index->args.empty()) {
      base = number(*index->args[0]);
      length = number(*index->args[1]);
      if (index->args.size() > 2)
        end = number(*index->args[2]);
    }
    axes.push_back({constant(ElemType::I64, Number::ofInteger(base)),
                    static_cast<int>(slices.rank())});
    slices.shape.push_back(length);
    slices.live.push_back(std::clamp<int64_t>(end - base, 0, length));
  }
  place.tile = blank(item.tensors[place.tensor].elem, {});
  for (const Tile *part : {&lanes, &slices}) {
    place.tile.shape.append(part->shape.begin(), part->shape.end());
    place.tile.live.append(part->live.begin(), part->live.end());
  }
  unsigned gathered = lanes.rank();
  forLanes(place.tile.shape, [&](int64_t, llvm::ArrayRef<int64_t> at) {
    int64_t element = 0;
    for (auto [axis, extent] : llvm::zip(axes, extents)) {
      Number index =
          axis.index
              .lanes[axis.index.isScalar()
                         ? 0
                         : laneAt(axis.index.shape, at.take_front(gathered))];
      int64_t coordinate = index.integer;
      if (axis.axis >= 0)
        coordinate += at[gathered + axis.axis];
      if (nearest && !axis.index.isScalar() && extent > 0)
        coordinate = std::clamp<int64_t>(coordinate, 0, extent - 1);
      if (!index.isKnown() || element == hidden)
        element = hidden;
      else if (coordinate < 0 || coordinate >= extent || element == outside)
        element = outside;
      else
        element = element * extent + coordinate;
    }
    place.elements.push_back(element);
  });
  return place;
}

/// Memory reads as 0 outside of it, but an index tile goes to the nearest
/// element.
Tile KernelEvaluator::load(const Expr &e) {
  const Expr &written = e.kind == Expr::Load ? *e.args[0] : e;
  Place place = this->place(written, /*nearest=*/true);
  Tile tile = place.tile;
  tile.lanes.resize(place.elements.size());
  forLanes(tile.shape, [&](int64_t lane, auto at) {
    int64_t element = place.elements[lane];
    tile.lanes[lane] = !isLive(tile, at) || element == hidden
                           ? Number::unknown()
                       : element == outside ? Number()
                                            : memory[place.tensor][element];
  });
  if (e.kind == Expr::Load && e.args.size() > 1) {
    Number fill = converted(value(*e.args[1]), tile.elem).scalar();
    Tile where;
    bool hasWhere = e.args.size() > 2;
    if (hasWhere)
      where = stretched(value(*e.args[2]), tile.shape);
    forLanes(tile.shape, [&](int64_t lane, auto at) {
      bool used = isLive(tile, at);
      if (hasWhere && used && isLive(where, at) && !where.lanes[lane].isKnown())
        tile.lanes[lane] = Number::unknown();
      else if (!used ||
               (hasWhere && (!isLive(where, at) || !where.lanes[lane].integer)))
        tile.lanes[lane] = fill;
    });
    tile.live = tile.shape;
  }
  return tile.isScalar() ? converted(tile, computeType(tile.elem)) : tile;
}

/// An axis of extent 1 stands for all lanes of the place's.
void KernelEvaluator::write(const Stmt &stmt) {
  if (isDry)
    return;
  Place place = this->place(*stmt.place, /*nearest=*/false);
  ElemType elem = item.tensors[place.tensor].elem;
  Tile written = value(*stmt.value);
  written = stretched(converted(written, elem), place.tile.shape);
  Tile where;
  if (stmt.condition)
    where = stretched(value(*stmt.condition), place.tile.shape);
  forLanes(place.tile.shape, [&](int64_t lane, auto at) {
    int64_t element = place.elements[lane];
    if (element < 0 || !isLive(place.tile, at) || !isLive(written, at) ||
        (stmt.condition &&
         (!isLive(where, at) ||
          (where.lanes[lane].isKnown() && !where.lanes[lane].integer))))
      return;
    Number &target = memory[place.tensor][element];
    if (stmt.condition && !where.lanes[lane].isKnown())
      target = Number::unknown();
    else if (stmt.kind == Stmt::Atomic)
      target = apply(Op::Add, elem, {target, written.lanes[lane]});
    else
      target = written.lanes[lane];
  });
}
