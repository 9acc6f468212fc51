// Elements are rounded by llvm::APFloat, which shares no code with what kernels do.
#include "test/unit/cpu/HostTensor.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include <bit>
#include <cstring>
#include <random>

using namespace tegula;
using namespace tegula::test;
using rt::ElementType;

static constexpr unsigned char untouched = 0xA5;
static constexpr int64_t margin = 16;

static const llvm::fltSemantics &semantics(ElementType type) {
  switch (type) {
  case ElementType::f16:
    return llvm::APFloat::IEEEhalf();
  case ElementType::bf16:
    return llvm::APFloat::BFloat();
  case ElementType::f32:
    return llvm::APFloat::IEEEsingle();
  default:
    return llvm::APFloat::IEEEdouble();
  }
}

static uint64_t encode(double value, ElementType type) {
  if (type == ElementType::f64)
    return std::bit_cast<uint64_t>(value);
  if (!rt::isFloat(type))
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semantics(type), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

static double decode(uint64_t bits, ElementType type) {
  if (type == ElementType::f64)
    return std::bit_cast<double>(bits);
  unsigned width = 8 * rt::elementSize(type);
  llvm::APInt integer = llvm::APInt(64, bits).trunc(width);
  if (!rt::isFloat(type))
    return integer.roundToDouble(/*isSigned=*/type != ElementType::boolean && type != ElementType::u8);
  llvm::APFloat number(semantics(type), integer);
  bool losesInfo;
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

double tegula::test::rounded(double value, ElementType type) { return decode(encode(value, type), type); }

HostTensor::HostTensor(ElementType type, std::vector<int64_t> sizes, std::vector<int> order, int64_t gap)
    : type(type), extents(std::move(sizes)), strides(extents.size()) {
  if (order.empty())
    for (size_t axis = 0; axis != extents.size(); ++axis)
      order.push_back(axis);
  int64_t step = 1;
  for (size_t i = order.size(); i-- != 0;) {
    strides[order[i]] = step;
    step *= extents[order[i]];
    if (i + 1 == order.size())
      step += gap;
  }
  memory.assign((step + 2 * margin) * rt::elementSize(type), untouched);
}

int64_t HostTensor::offset(const std::vector<int64_t> &index) const {
  int64_t result = margin;
  for (size_t axis = 0; axis != index.size(); ++axis)
    result += index[axis] * strides[axis];
  return result * rt::elementSize(type);
}

double HostTensor::get(const std::vector<int64_t> &index) const {
  uint64_t bits = 0;
  std::memcpy(&bits, &memory[offset(index)], rt::elementSize(type));
  return decode(bits, type);
}

void HostTensor::set(const std::vector<int64_t> &index, double value) {
  uint64_t bits = encode(value, type);
  std::memcpy(&memory[offset(index)], &bits, rt::elementSize(type));
}

void HostTensor::forEach(const std::function<void(const std::vector<int64_t> &)> &body) const {
  std::vector<int64_t> index(extents.size(), 0);
  for (int64_t extent : extents)
    if (extent == 0)
      return;
  while (true) {
    body(index);
    size_t axis = extents.size();
    while (axis != 0 && ++index[axis - 1] == extents[axis - 1])
      index[--axis] = 0;
    if (axis == 0)
      return;
  }
}

HostTensor &HostTensor::fill(const std::function<double(const std::vector<int64_t> &)> &value) {
  forEach([&](const std::vector<int64_t> &index) { set(index, value(index)); });
  return *this;
}

HostTensor &HostTensor::fill(double value) {
  return fill([&](const std::vector<int64_t> &) { return value; });
}

HostTensor &HostTensor::fillRandom(unsigned seed) {
  std::mt19937 random(seed);
  return fill([&](const std::vector<int64_t> &) { return random() / 2147483648.0 - 1.0; });
}

rt::TensorView HostTensor::view() {
  rt::TensorView result;
  result.data = memory.data() + margin * rt::elementSize(type);
  result.type = type;
  result.rank = extents.size();
  std::copy(extents.begin(), extents.end(), result.sizes);
  std::copy(strides.begin(), strides.end(), result.strides);
  return result;
}

bool HostTensor::outsideIntact() const {
  std::vector<bool> isElement(memory.size(), false);
  forEach([&](const std::vector<int64_t> &index) { std::fill_n(isElement.begin() + offset(index), rt::elementSize(type), true); });
  for (size_t i = 0; i != memory.size(); ++i)
    if (!isElement[i] && memory[i] != untouched)
      return false;
  return true;
}
