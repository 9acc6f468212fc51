//===- Tensor.cpp - host tensors of the command line tool -----------------===//
//
// Allocation with checked sizes, element access by type, logical iteration.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Tensor.h"
#include "tools/tegula/Failure.h"
#include "tools/tegula/FloatBits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <limits>
#include <new>
#include <numeric>

using namespace tegula;
using namespace tegula::tool;

static constexpr std::byte guardByte{0xA5};

llvm::Expected<Tensor> Tensor::create(ElementType type,
                                      llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<int> order) {
  assert(shape.size() == order.size() && "one place in memory for each axis");
  Tensor tensor;
  tensor.elementType = type;
  tensor.extents.assign(shape.begin(), shape.end());
  tensor.steps.resize(shape.size());
  int64_t step = 1;
  bool overflow = false;
  for (int axis : llvm::reverse(order)) {
    tensor.steps[axis] = step;
    overflow |=
        llvm::MulOverflow(step, std::max<int64_t>(shape[axis], 1), step);
  }
  tensor.count = llvm::is_contained(shape, 0) ? 0 : step;
  if (overflow)
    return lackingError(tensor.what() + " does not fit into memory");
  if (llvm::Error error = tensor.allocate(tensor.count))
    return error;
  return tensor;
}

llvm::Expected<Tensor> Tensor::createStrided(ElementType type,
                                             llvm::ArrayRef<int64_t> shape,
                                             llvm::ArrayRef<int64_t> strides,
                                             int64_t shift) {
  assert(shape.size() == strides.size() && "one stride for each axis");
  Tensor tensor;
  tensor.elementType = type;
  tensor.extents.assign(shape.begin(), shape.end());
  tensor.steps.assign(strides.begin(), strides.end());
  tensor.count = 1;
  int64_t before = 0, after = 0;
  for (auto [extent, stride] : llvm::zip(shape, strides)) {
    tensor.count *= extent;
    int64_t reach = std::max<int64_t>(extent - 1, 0) * stride;
    (reach < 0 ? before : after) += std::abs(reach);
  }
  tensor.origin = static_cast<int64_t>(llvm::alignTo(before, 16)) + shift;
  if (llvm::Error error = tensor.allocate(tensor.origin + after + 1))
    return error;
  return tensor;
}

std::string Tensor::what() const {
  return "a tensor of shape " + shapeText(extents) + " and type " +
         std::string(elementTypeName(elementType));
}

llvm::Error Tensor::allocate(int64_t elements) {
  int64_t bytes = 0;
  if (llvm::MulOverflow(elements, elementSize(elementType), bytes) ||
      bytes > (int64_t(1) << 46))
    return lackingError(what() + " does not fit into memory");
  try {
    storage.assign(bytes + 2 * guard, std::byte{0});
  } catch (const std::bad_alloc &) {
    return lackingError(what() + " needs " + llvm::Twine(bytes >> 20) +
                        " MiB of host memory, which could not be allocated");
  }
  std::memset(storage.data(), int(guardByte), guard);
  std::memset(storage.data() + guard + bytes, int(guardByte), guard);
  return llvm::Error::success();
}

llvm::Expected<Tensor> Tensor::create(ElementType type,
                                      llvm::ArrayRef<int64_t> shape) {
  return create(type, shape, axisOrder(Layout::bhsd, shape.size()));
}

int64_t Tensor::offsetOf(llvm::ArrayRef<int64_t> index) const {
  assert(index.size() == steps.size() && "one index for each axis");
  return std::inner_product(index.begin(), index.end(), steps.begin(),
                            int64_t(0));
}

int64_t Tensor::offsetOfLinear(int64_t linear) const {
  int64_t offset = 0;
  for (int axis = static_cast<int>(extents.size()) - 1; axis >= 0; --axis) {
    offset += linear % extents[axis] * steps[axis];
    linear /= extents[axis];
  }
  return offset;
}

template <typename T> static T load(const std::byte *data, int64_t offset) {
  T value;
  std::memcpy(&value, data + offset * int64_t(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
static void put(std::byte *data, int64_t offset, T value) {
  std::memcpy(data + offset * int64_t(sizeof(T)), &value, sizeof(T));
}

double Tensor::real(int64_t offset) const {
  switch (elementType) {
  case ElementType::f16:
    return doubleFromF16(load<uint16_t>(data(), offset));
  case ElementType::bf16:
    return doubleFromBf16(load<uint16_t>(data(), offset));
  case ElementType::f32:
    return load<float>(data(), offset);
  case ElementType::f64:
    return load<double>(data(), offset);
  default:
    return static_cast<double>(integer(offset));
  }
}

int64_t Tensor::integer(int64_t offset) const {
  switch (elementType) {
  case ElementType::boolean:
    return load<uint8_t>(data(), offset) != 0;
  case ElementType::u8:
    return load<uint8_t>(data(), offset);
  case ElementType::i8:
    return load<int8_t>(data(), offset);
  case ElementType::i16:
    return load<int16_t>(data(), offset);
  case ElementType::i32:
    return load<int32_t>(data(), offset);
  case ElementType::i64:
    return load<int64_t>(data(), offset);
  default:
    llvm_unreachable("a float tensor is read with real()");
  }
}

void Tensor::setReal(int64_t offset, double value) {
  switch (elementType) {
  case ElementType::f16:
    return put(data(), offset, f16FromDouble(value));
  case ElementType::bf16:
    return put(data(), offset, bf16FromDouble(value));
  case ElementType::f32:
    return put(data(), offset, static_cast<float>(value));
  case ElementType::f64:
    return put(data(), offset, value);
  default:
    setInteger(offset, static_cast<int64_t>(value));
  }
}

void Tensor::setInteger(int64_t offset, int64_t value) {
  switch (elementType) {
  case ElementType::boolean:
    return put<uint8_t>(data(), offset, value != 0);
  case ElementType::u8:
  case ElementType::i8:
    return put(data(), offset, static_cast<uint8_t>(value));
  case ElementType::i16:
    return put(data(), offset, static_cast<int16_t>(value));
  case ElementType::i32:
    return put(data(), offset, static_cast<int32_t>(value));
  case ElementType::i64:
    return put(data(), offset, value);
  default:
    setReal(offset, static_cast<double>(value));
  }
}

void Tensor::forEach(llvm::function_ref<void(int64_t, int64_t)> visit) const {
  llvm::SmallVector<int64_t, 4> index(extents.size(), 0);
  int64_t offset = 0;
  for (int64_t linear = 0; linear < count; ++linear) {
    visit(linear, offset);
    for (int axis = static_cast<int>(extents.size()) - 1; axis >= 0; --axis) {
      offset += steps[axis];
      if (++index[axis] < extents[axis])
        break;
      offset -= steps[axis] * extents[axis];
      index[axis] = 0;
    }
  }
}

std::vector<double> Tensor::reals() const {
  std::vector<double> values(count);
  forEach(
      [&](int64_t linear, int64_t offset) { values[linear] = real(offset); });
  return values;
}

std::vector<std::byte> Tensor::denseBytes() const {
  int64_t width = elementSize(elementType);
  std::vector<std::byte> bytes(count * width);
  forEach([&](int64_t linear, int64_t offset) {
    std::memcpy(bytes.data() + linear * width, data() + offset * width, width);
  });
  return bytes;
}

void Tensor::assignDense(llvm::ArrayRef<std::byte> bytes) {
  int64_t width = elementSize(elementType);
  assert(static_cast<int64_t>(bytes.size()) == count * width);
  forEach([&](int64_t linear, int64_t offset) {
    std::memcpy(data() + offset * width, bytes.data() + linear * width, width);
  });
}

void Tensor::poison() {
  if (!rt::isFloat(elementType)) {
    std::memset(data(), 0xFF, sizeInBytes());
    return;
  }
  for (int64_t offset = 0; offset < count; ++offset)
    setReal(offset, std::numeric_limits<double>::quiet_NaN());
}

bool Tensor::guardsIntact() const {
  auto intact = [](std::byte b) { return b == guardByte; };
  llvm::ArrayRef<std::byte> all(storage);
  return llvm::all_of(all.take_front(guard), intact) &&
         llvm::all_of(all.take_back(guard), intact);
}

std::string tegula::tool::shapeText(llvm::ArrayRef<int64_t> shape) {
  return "[" +
         llvm::join(
             llvm::map_range(
                 shape, [](int64_t extent) { return std::to_string(extent); }),
             ", ") +
         "]";
}

llvm::SmallVector<int, 4> tegula::tool::axisOrder(Layout layout, size_t rank) {
  llvm::SmallVector<int, 4> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (layout == Layout::bshd && rank == 4)
    std::swap(order[1], order[2]);
  return order;
}
