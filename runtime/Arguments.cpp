//===- Arguments.cpp - set arguments by name ------------------------------===//
//
// Names are resolved when an argument is set, not at launch. Scalars are
// checked against their declared type here.
//
//===----------------------------------------------------------------------===//
#include "runtime/Arguments.h"
#include "runtime/Concat.h"

#include <algorithm>
#include <cstdint>

namespace tegula::rt {

TensorView TensorView::contiguous(void *data, ElementType type,
                                  std::initializer_list<int64_t> sizes) {
  TensorView view;
  view.data = data;
  view.type = type;
  view.rank = static_cast<int>(std::min<size_t>(sizes.size(), maxRank));
  std::copy_n(sizes.begin(), view.rank, view.sizes);
  view.setContiguous();
  return view;
}

void TensorView::setContiguous() {
  // An empty axis counts as one, and a product that leaves i64 wraps: the
  // check of extents refuses it later.
  uint64_t stride = 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    strides[axis] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(sizes[axis], 1));
  }
}

bool TensorView::isEmpty() const {
  for (int axis = 0; axis != rank; ++axis)
    if (sizes[axis] == 0)
      return true;
  return false;
}

std::string TensorView::shapeText() const {
  std::string out = "[";
  for (int axis = 0; axis != rank; ++axis)
    out += concat(axis ? ", " : "", sizes[axis]);
  return out + "]";
}

Arguments::Arguments(std::shared_ptr<const Signature> signature)
    : sig(std::move(signature)) {}

Status Arguments::unknownName(std::string_view name) const {
  return invalidArgument(concat("`", sig->name, "` has no argument `", name,
                                "`; it takes ", sig->orderText()));
}

Status Arguments::set(std::string_view name, const TensorView &view) {
  int index = sig->findTensor(name);
  if (index < 0 && sig->findScalar(name) >= 0)
    return invalidArgument(
        concat("`", name, "` is a scalar, but got a tensor"));
  if (index < 0)
    return unknownName(name);
  if (view.rank < 0 || view.rank > maxRank)
    return invalidArgument(concat("`", name, "`: expected rank ",
                                  sig->tensors[index].rank(), ", but got ",
                                  view.rank));
  tensors[index] = {view, true};
  return Status();
}

Status Arguments::setNull(std::string_view name) {
  int index = sig->findTensor(name);
  if (index < 0)
    return unknownName(name);
  if (!sig->tensors[index].isOptional)
    return invalidArgument(
        concat("`", name, "` is not optional, so it cannot be null"));
  tensors[index] = {TensorView(), true};
  return Status();
}

/// Whether the integer type `type` holds `value`.
static bool fits(ElementType type, int64_t value) {
  switch (type) {
  case ElementType::boolean:
    return value == 0 || value == 1;
  case ElementType::u8:
    return value >= 0 && value <= 255;
  case ElementType::i8:
    return value == static_cast<int8_t>(value);
  case ElementType::i16:
    return value == static_cast<int16_t>(value);
  case ElementType::i32:
    return value == static_cast<int32_t>(value);
  default:
    return true;
  }
}

Status Arguments::setScalar(std::string_view name, Value value) {
  int index = sig->findScalar(name);
  if (index < 0 && sig->findTensor(name) >= 0)
    return invalidArgument(
        concat("`", name, "` is a tensor, but got the scalar ", value.text()));
  if (index < 0)
    return unknownName(name);
  ElementType type = sig->scalars[index].type;
  if (isFloat(type)) {
    double real = value.asReal();
    // What the kernel sees is what expressions see.
    if (type == ElementType::f32)
      real = static_cast<float>(real);
    scalars[index] = {Value(real), true};
    return Status();
  }
  if (!value.isInteger() || !fits(type, value.integer))
    return invalidArgument(concat("`", name, "`: expected a value of ",
                                  elementTypeName(type), ", but got ",
                                  value.text()));
  scalars[index] = {value, true};
  return Status();
}

std::string Arguments::shapesText() const {
  std::string out;
  for (size_t i = 0; i != sig->tensors.size(); ++i)
    if (tensors[i].isSet)
      out += concat(out.empty() ? "" : ", ", sig->tensors[i].name, " ",
                    elementTypeName(tensors[i].view.type),
                    tensors[i].view.shapeText());
  return out;
}

} // namespace tegula::rt
