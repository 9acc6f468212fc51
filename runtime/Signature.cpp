//===- Signature.cpp - what an item takes, by name ------------------------===//
//
// Searches in short lists, and shapes for messages.
//
//===----------------------------------------------------------------------===//
#include "runtime/Concat.h"
#include "runtime/Manifest.h"

namespace tegula::rt {

template <typename List>
static int indexOf(const List &list, std::string_view name) {
  for (size_t i = 0; i != list.size(); ++i)
    if (list[i].name == name)
      return static_cast<int>(i);
  return -1;
}

int Signature::findTensor(std::string_view name) const {
  return indexOf(tensors, name);
}

int Signature::findScalar(std::string_view name) const {
  return indexOf(scalars, name);
}

int Signature::findDim(std::string_view name) const {
  for (int i = 0; i != numDims; ++i)
    if (slots[i] == name)
      return i;
  return -1;
}

std::string Signature::shapeText(const TensorInfo &tensor) const {
  std::string out = "[";
  for (const Extent &extent : tensor.extents) {
    if (out.size() > 1)
      out += ", ";
    out += extent.expr ? extent.expr->infix(slots) : concat(extent.fixed);
  }
  return out + "]";
}

std::string Signature::orderText() const {
  std::string out;
  for (const std::string &name : order)
    out += (out.empty() ? "" : ", ") + name;
  return out;
}

} // namespace tegula::rt
