//===- SemaPlace.cpp - places, slices and loads of a tile program ---------===//
//
// An index of a place is a scalar, a slice or a tile. A slice makes an axis and
// knows where its lanes end: at the extent of memory, or at a value.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"
#include "llvm/ADT/STLExtras.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;

/// An expression of the signature (an extent) as a value of the program.
const Term *KernelSema::fromHost(const Expr &e) {
  switch (e.kind) {
  case Expr::Constant:
    return isFloat(e.type) ? real(e.real, e.type, e.range)
                           : integer(e.integer, e.type, e.range);
  case Expr::Dim: {
    Term dim = node(Term::Dim, ElemType::I64, e.range);
    dim.number = e.number;
    return add(std::move(dim));
  }
  case Expr::Scalar: {
    Term scalar = node(Term::Scalar, item.scalars[e.number].type, e.range);
    scalar.number = e.number;
    return add(std::move(scalar));
  }
  case Expr::Operator: {
    Terms args;
    for (const Expr *arg : e.args)
      args.push_back(convert(fromHost(*arg),
                             isInteger(arg->type) ? ElemType::I64 : arg->type,
                             arg->range));
    Term value =
        node(Term::Operator, isInteger(e.type) ? ElemType::I64 : e.type,
             e.range, args);
    value.op = e.op;
    return e.op == Op::Convert
               ? convert(args[0], isInteger(e.type) ? ElemType::I64 : e.type,
                         e.range)
               : add(std::move(value));
  }
  default:
    return errorValue();
  }
}

const Term *KernelSema::extentOf(unsigned tensor, unsigned axis) {
  return convert(fromHost(*item.tensors[tensor].extents[axis].length),
                 ElemType::I64, item.tensors[tensor].range);
}

/// An integer scalar as i64.
const Term *KernelSema::scalarInteger(const ast::Expr &e,
                                      const llvm::Twine &what) {
  const Term *value = typeTile(e);
  if (value->type.isError())
    return value;
  if (value->type.isScalar() && isInteger(value->type.elem))
    return convert(value, ElemType::I64, e.range);
  report(e.range,
         what + " is an integer scalar, but this is " + describe(*value));
  return errorValue();
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Whether every lane is known to be inside, so that there is no bound.
bool KernelSema::covers(const Bound &bound, int64_t length) const {
  const Term &base = *bound.base, &end = *bound.end;
  if (base.isConstant() && end.isConstant())
    return base.integer >= 0 && base.integer + length <= end.integer;
  return length == 1 && base.kind == Term::Coordinate &&
         program.grid[base.number].extent->valueNumber == end.valueNumber;
}

/// `:` or `base :+ length [< end]`: appends an axis to the place's tile.
bool KernelSema::typeSlice(const ast::Expr &e, unsigned axis, Place &place) {
  const Term *extent = extentOf(place.tensor, axis);
  StringRef tensor = item.tensors[place.tensor].name;
  std::string extentText = toText(*writtenTensors[place.tensor]->extents[axis]);
  Bound bound{nullptr, extent, ""};
  int64_t length;
  bool byValue = e.args.size() == 3;
  if (e.args.empty()) {
    if (!extent->isConstant()) {
      report(e.range, "`:` takes all of an axis whose extent is static, but "
                      "axis " +
                          llvm::Twine(axis) + " of `" + tensor + "` is `" +
                          extentText + "`; write `0 :+ n`, or make `" +
                          extentText + "` a static");
      return false;
    }
    bound.base = integer(0, ElemType::I64, e.range);
    length = extent->integer;
  } else {
    bound.base = scalarInteger(*e.args[0], "the begin of a slice");
    std::optional<int64_t> given =
        constantLength(*e.args[1], "the length of a slice");
    if (byValue)
      bound.end = scalarInteger(*e.args[2], "the end of a slice");
    if (bound.base->type.isError() || bound.end->type.isError() || !given)
      return false;
    length = *given;
    bound.text = "`" + toText(*e.args[0]) + "` against " +
                 (byValue ? "`" + toText(*e.args[2]) + "`" : extentText);
  }
  if (length == 0) {
    report(e.range, "this slice has no lanes");
    return false;
  }
  place.axes.push_back({bound.base, int(place.type.rank())});
  place.type.shape.push_back(length);
  bool isBounded = !covers(bound, length);
  place.boundByValue |= unsigned(isBounded && byValue)
                        << (place.type.rank() - 1);
  place.type.bounds.push_back(isBounded ? bound : Bound());
  return true;
}

bool KernelSema::typeAxis(const ast::Expr &e, unsigned axis, Place &place) {
  if (e.kind == ast::Expr::Slice)
    return typeSlice(e, axis, place);
  const Term *index = typeTile(e);
  if (index->type.isError())
    return false;
  if (index->type.isState || !isInteger(index->type.elem)) {
    report(e.range,
           "an index is an integer, but this is " + describe(*index) +
               (isFloat(index->type.elem) ? "; write `i32(...)`" : ""));
    return false;
  }
  if (index->type.isTile())
    place.kind = Place::Gather;
  place.axes.push_back({convert(index, ElemType::I64, e.range), -1});
  return true;
}

/// Index tiles have the same axes, which come first in the tile.
bool KernelSema::joinIndexTiles(const ast::Expr &e, Place &place) {
  Terms tiles;
  Written written;
  for (auto [axis, index] : llvm::zip(place.axes, e.args))
    if (axis.tileAxis < 0 && axis.index->type.isTile()) {
      tiles.push_back(axis.index);
      written.push_back(index.get());
    }
  for (size_t i = 1; i < tiles.size(); ++i)
    if (tiles[i]->type.shape != tiles[0]->type.shape) {
      report(written[i]->range, "index tiles of one place have the same axes, "
                                "but these are " +
                                    describe(*tiles[0]) + " and " +
                                    describe(*tiles[i]));
      return false;
    }
  TileType type(place.type.elem);
  if (!joinShapes(e.range, tiles, written, type))
    return false;
  unsigned rank = type.rank();
  unsigned byValue = place.boundByValue << rank;
  for (unsigned axis = 0; axis < rank; ++axis)
    byValue |= unsigned(bool(type.bounds[axis])) << axis;
  type.shape.append(place.type.shape.begin(), place.type.shape.end());
  type.bounds.append(place.type.bounds.begin(), place.type.bounds.end());
  place.type = std::move(type);
  place.boundByValue = byValue;
  for (Place::Axis &axis : place.axes)
    if (axis.tileAxis >= 0)
      axis.tileAxis += rank;
  return true;
}

/// The place that `NAME[indices]` is, or null and an error.
const Place *KernelSema::typePlace(const ast::Expr &e) {
  if (e.kind != ast::Expr::Index)
    return nullptr; // it did not parse
  auto symbol = symbols.find(e.name);
  bool isTensor = symbol != symbols.end() &&
                  symbol->second.kind == Symbol::Tensor && frames.empty();
  if (!isTensor) {
    auto binding = names.find(e.name);
    if (!frames.empty()) {
      report(e.nameRange, "a `fn` reads no tensors; give it the value as an "
                          "argument");
    } else if (binding != names.end() || symbol != symbols.end()) {
      bool isTile =
          binding != names.end() && !binding->second.value->type.isScalar();
      report(e.nameRange,
             "`" + e.name + "` is no tensor" +
                 (isTile ? "; a tile is taken as a whole, its elements are "
                           "not indexed"
                         : ""))
          .note(binding != names.end() ? binding->second.range
                                       : symbol->second.range,
                "declared here");
    } else if (!incomplete) {
      std::vector<StringRef> tensors;
      for (const Tensor &tensor : item.tensors)
        tensors.push_back(tensor.name);
      StringRef near;
      Diagnostic &d =
          report(e.nameRange, "unknown tensor `" + e.name + "`" +
                                  didYouMean(e.name, tensors, &near));
      if (!near.empty())
        d.fix(e.nameRange, near);
    }
    return nullptr;
  }
  const Tensor &tensor = item.tensors[symbol->second.number];
  Place place;
  place.tensor = symbol->second.number;
  place.type.elem = tensor.elem;
  if (tensor.elem == ElemType::Error)
    return nullptr;
  if (e.args.size() != tensor.extents.size()) {
    report(e.range, "`" + e.name + "` has " +
                        llvm::Twine(tensor.extents.size()) +
                        (tensor.extents.size() == 1 ? " axis" : " axes") +
                        ", but got " + llvm::Twine(e.args.size()) +
                        (e.args.size() == 1 ? " index" : " indices"))
        .note(tensor.range, "declared here");
    return nullptr;
  }
  bool ok = true;
  for (size_t axis = 0; axis < e.args.size(); ++axis)
    ok &= typeAxis(*e.args[axis], axis, place);
  if (!ok)
    return nullptr;
  if (place.kind == Place::Gather) {
    if (!joinIndexTiles(e, place))
      return nullptr;
  } else if (place.type.isTile()) {
    place.kind = Place::Slices;
  }
  if (!checkSize(e.range, place.type.shape))
    return nullptr;
  return &program.places.emplace_back(std::move(place));
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// The load of a place; a scalar is widened.
const Term *KernelSema::loadOf(const Place &place, const ast::Expr &e) {
  const Tensor &tensor = item.tensors[place.tensor];
  if (tensor.role == Role::Output) {
    report(e.range, "`" + tensor.name +
                        "` is an output, and holds nothing to read; declare "
                        "it `inout`")
        .note(tensor.range, "declared here");
    return errorValue();
  }
  Term load = node(Term::Load, place.type, e.range);
  load.place = &place;
  load.loopDepth = blockDepth;
  // Memory reads as zero past its extent, and a gather past all bounds.
  for (unsigned axis = 0; axis < place.type.rank(); ++axis)
    if (place.type.bounds[axis] &&
        (place.kind == Place::Gather || !(place.boundByValue >> axis & 1)))
      load.zeroPast |= 1u << axis;
  if (e.kind == ast::Expr::Load && e.args.size() > 1 &&
      !typeFill(e, place, load))
    return errorValue();
  for (const Place::Axis &axis : place.axes)
    load.depth = std::max(load.depth, axis.index->depth + 1);
  const Term *value = add(std::move(load));
  return place.kind == Place::Element ? widen(value) : value;
}

/// `fill x`, and `where c` before it: the lanes that take x.
bool KernelSema::typeFill(const ast::Expr &e, const Place &place, Term &load) {
  StringRef tensor = item.tensors[place.tensor].name;
  const Term *fill = typeTile(*e.args[1]);
  const Term *where = e.args.size() > 2 ? typeTile(*e.args[2]) : nullptr;
  if (fill->type.isError() || (where && where->type.isError()))
    return false;
  ElemType elem = place.type.elem;
  bool crosses = isFloat(elem)
                     ? !isFloat(fill->type.elem) &&
                           !(fill->isConstant() && isInteger(fill->type.elem))
                 : elem == ElemType::Bool ? fill->type.elem != elem
                                          : !isInteger(fill->type.elem);
  if (!fill->type.isScalar() || crosses) {
    report(e.args[1]->range, "`" + tensor + "` holds " + elemTypeName(elem) +
                                 ", but `fill` gives " + describe(*fill));
    return false;
  }
  load.args.push_back(convert(fill, elem, e.args[1]->range));
  if (where) {
    if (where->type.elem != ElemType::Bool || where->type.isState) {
      report(e.args[2]->range,
             "`where` takes bools, but got " + describe(*where));
      return false;
    }
    TileType joined = place.type;
    if (place.kind == Place::Element && where->type.isTile()) {
      report(e.args[2]->range,
             "this load is one element, but `where` is " + describe(*where));
      return false;
    }
    if (where->type.isTile()) {
      Term shape = node(Term::Splat, place.type, e.args[0]->range);
      if (!joinShapes(e.args[2]->range, {&shape, where},
                      {e.args[0].get(), e.args[2].get()}, joined))
        return false;
      if (joined.shape != place.type.shape) {
        report(e.args[2]->range, "the load is " + describe(place.type) +
                                     ", but `where` is " + describe(*where));
        return false;
      }
      where = stretch(where, place.type.shape, where->range);
    }
    load.args.push_back(where);
  }
  // The other lanes are ordinary ones now.
  for (Bound &bound : load.type.bounds)
    bound = Bound();
  load.zeroPast = 0;
  return true;
}

/// `x[i, J]`: scalar and tile indices need no `load`.
const Term *KernelSema::typeElement(const ast::Expr &e) {
  for (const ast::ExprPtr &arg : e.args)
    if (arg->kind == ast::Expr::Slice) {
      report(e.range, "a slice needs `load " + toText(e) + "`")
          .fix(SMRange(e.range.Start, e.range.Start), "load ");
      return errorValue();
    }
  const Place *place = typePlace(e);
  return place ? loadOf(*place, e) : errorValue();
}

const Term *KernelSema::typeLoad(const ast::Expr &e) {
  const Place *place = typePlace(*e.args[0]);
  return place ? loadOf(*place, e) : errorValue();
}
