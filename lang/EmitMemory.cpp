//===- EmitMemory.cpp - loads and stores of a tile program ----------------===//
//
// A place is one element, a box of slices, or elements at index tiles: lookup,
// load and store, gather and scatter. Bools are bytes in memory.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitKernelImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tegula::lang;
namespace tile = tegula::tile;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Indices of an element, or of a box's first.
SmallVector<Value> ProgramEmitter::scalarIndices(const Place &place) {
  SmallVector<Value> indices;
  for (const Place::Axis &axis : place.axes)
    indices.push_back(emitScalar(*axis.index));
  return indices;
}

/// A scalar for a scalar index, else a tile of the place's shape.
SmallVector<Value> ProgramEmitter::tileIndices(const Place &place) {
  SmallVector<Value> indices;
  ArrayRef<int64_t> shape = place.type.shape;
  for (const Place::Axis &axis : place.axes) {
    if (axis.tileAxis >= 0) {
      Value lane = lanes(axis.index, shape[axis.tileAxis]);
      indices.push_back(spread(lane, {int64_t(axis.tileAxis)}, shape));
    } else if (axis.index->type.isScalar()) {
      indices.push_back(emitScalar(*axis.index));
    } else { // index tiles have the first axes
      indices.push_back(spread(emitTile(*axis.index),
                               allAxes(axis.index->type.rank()), shape));
    }
  }
  return indices;
}

/// Bools are bytes in memory.
Value ProgramEmitter::readBool(ElemType elem, Value memory) {
  if (elem != ElemType::Bool)
    return memory;
  Value zero = ops().constant(memory.getType(), int64_t(0));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, memory, zero);
}

Value ProgramEmitter::writeBool(ElemType elem, Value value) {
  if (elem != ElemType::Bool)
    return value;
  return ops().emitConvert(value, ElemType::Bool, ElemType::I8);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

Emitted ProgramEmitter::emitLoad(const Term &v) {
  switch (v.place->kind) {
  case Place::Element:
    return {{lookUp(v)}, {}};
  case Place::Slices:
    return whole(v, loadBox(v));
  case Place::Gather:
    return whole(v, gather(v));
  }
  llvm_unreachable("all kinds are handled");
}

Value ProgramEmitter::lookUp(const Term &v) {
  const Place &place = *v.place;
  Value table = values.tensors[place.tensor];
  Type memory = cast<MemRefType>(table.getType()).getElementType();
  Value element =
      readBool(v.type.elem, tile::LookupOp::create(b, loc, memory, table,
                                                   scalarIndices(place)));
  if (v.args.size() < 2)
    return element;
  return arith::SelectOp::create(b, loc, emitScalar(*v.args[1]), element,
                                 emitScalar(*v.args[0]));
}

/// The `where` of a load, whose own bounds count where the place has none.
Value ProgramEmitter::usedLanes(const Term &where, const Place &place) {
  ArrayRef<int64_t> shape = place.type.shape;
  if (where.type.isScalar())
    return splat(emitScalar(where), shape);
  Value used = emitTile(where);
  for (auto [axis, bound] : llvm::enumerate(where.type.bounds))
    if (bound && !place.type.bounds[axis])
      used = both(used, inBound(bound, axis, shape));
  return used;
}

Value ProgramEmitter::loadBox(const Term &v) {
  const Place &place = *v.place;
  Value memory = values.tensors[place.tensor];
  SmallVector<int64_t> axes;
  for (auto [axis, index] : llvm::enumerate(place.axes))
    if (index.tileAxis >= 0)
      axes.push_back(axis);
  auto type = RankedTensorType::get(
      place.type.shape, cast<MemRefType>(memory.getType()).getElementType());
  Value box =
      readBool(v.type.elem,
               tile::LoadOp::create(b, loc, type, memory, scalarIndices(place),
                                    b.getDenseI64ArrayAttr(axes)));
  if (v.args.empty())
    return box;
  // Past memory's extent a load gives 0, which may be the fill already.
  Value fill = emitScalar(*v.args[0]);
  bool isZero = v.args[0]->isConstant() && v.args[0]->integer == 0 &&
                v.args[0]->real == 0 && !std::signbit(v.args[0]->real);
  Value kept;
  for (auto [axis, bound] : llvm::enumerate(place.type.bounds))
    if (bound && (!isZero || (place.boundByValue >> axis & 1)))
      kept = both(kept, inBound(bound, axis, place.type.shape));
  if (v.args.size() > 1)
    kept = both(kept, usedLanes(*v.args[1], place));
  if (!kept)
    return box;
  return arith::SelectOp::create(b, loc, kept, box,
                                 splat(fill, place.type.shape));
}

Value ProgramEmitter::gather(const Term &v) {
  const Place &place = *v.place;
  ArrayRef<int64_t> shape = place.type.shape;
  Value memory = values.tensors[place.tensor], mask;
  for (auto [axis, bound] : llvm::enumerate(place.type.bounds))
    if (bound)
      mask = both(mask, inBound(bound, axis, shape));
  for (const Place::Axis &axis : place.axes) {
    // A slice that begins before its axis has lanes outside, which are 0.
    if (axis.tileAxis < 0 || axis.index->values.nonNegative)
      continue;
    Value lane = lanes(axis.index, shape[axis.tileAxis]);
    Value inside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, lane,
                              ops().constant(lane.getType(), int64_t(0)));
    mask = both(mask, spread(inside, {int64_t(axis.tileAxis)}, shape));
  }
  Value fill;
  if (!v.args.empty())
    fill = writeBool(v.type.elem, emitScalar(*v.args[0]));
  if (v.args.size() > 1)
    mask = both(mask, usedLanes(*v.args[1], place));
  auto type = RankedTensorType::get(
      shape, cast<MemRefType>(memory.getType()).getElementType());
  return readBool(v.type.elem, tile::GatherOp::create(b, loc, type, memory,
                                                      tileIndices(place), mask,
                                                      mask ? fill : Value()));
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Which lanes are written, or null where all are. Memory drops what is past
/// its extent.
Value ProgramEmitter::storeMask(const Statement &s) {
  const TileType &place = s.place->type;
  Value mask;
  for (unsigned axis = 0; axis < place.rank(); ++axis) {
    const Bound &own = place.bounds[axis];
    if (own && (s.place->boundByValue >> axis & 1))
      mask = both(mask, inBound(own, axis, place.shape));
    Bound last = own;
    for (const Term *tile : {s.value, s.condition}) {
      if (!tile || tile->type.isScalar() || !tile->type.bounds[axis] ||
          tile->type.bounds[axis] == last)
        continue;
      last = tile->type.bounds[axis];
      mask = both(mask, inBound(last, axis, place.shape));
    }
  }
  if (!s.condition)
    return mask;
  return both(mask, emitTile(*s.condition));
}

void ProgramEmitter::emitStore(const Statement &s) {
  const Place &place = *s.place;
  Value memory = values.tensors[place.tensor];
  bool isElement = place.kind == Place::Element;
  Value value = writeBool(s.value->type.elem, isElement ? emitScalar(*s.value)
                                                        : emitTile(*s.value));
  if (isElement) {
    Value mask = s.condition ? emitScalar(*s.condition) : Value();
    tile::ScatterOp::create(b, loc, value, memory, scalarIndices(place), mask);
    return;
  }
  Value mask = storeMask(s);
  if (place.kind == Place::Gather) {
    tile::ScatterOp::create(b, loc, value, memory, tileIndices(place), mask);
    return;
  }
  SmallVector<int64_t> axes;
  for (auto [axis, index] : llvm::enumerate(place.axes))
    if (index.tileAxis >= 0)
      axes.push_back(axis);
  tile::StoreOp::create(b, loc, value, memory, scalarIndices(place),
                        b.getDenseI64ArrayAttr(axes), mask, /*shift=*/Value(),
                        /*end=*/Value());
}

void ProgramEmitter::emitAtomic(const Statement &s) {
  const Place &place = *s.place;
  Value memory = values.tensors[place.tensor];
  if (place.kind == Place::Element) {
    Value mask = s.condition ? emitScalar(*s.condition) : Value();
    tile::AtomicAddOp::create(b, loc, emitScalar(*s.value), memory,
                              scalarIndices(place), mask);
    return;
  }
  Value value = emitTile(*s.value);
  tile::AtomicAddOp::create(b, loc, value, memory, tileIndices(place),
                            storeMask(s));
}
