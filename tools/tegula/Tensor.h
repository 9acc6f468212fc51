//===- Tensor.h - host tensors of the command line tool ---------*- C++ -*-===//
//
// A typed array with a logical shape and any strides, its elements read and
// written as double or int64. The storage has guard zones on both sides: a
// kernel that writes outside of a tensor is seen afterwards.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/ElementType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tegula::tool {

using rt::ElementType;

/// How q, k, v and o lie in memory: batch, heads, positions, elements, or
/// batch, positions, heads, elements. The logical order is the declared one.
enum class Layout { bhsd, bshd };

class Tensor {
public:
  Tensor() = default;

  /// Allocates zeroed storage; `order` lists the axes from the slowest to the
  /// fastest in memory. Fails with exit code 4 when it does not fit.
  static llvm::Expected<Tensor> create(ElementType type,
                                       llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int> order);
  /// The same in C order.
  static llvm::Expected<Tensor> create(ElementType type,
                                       llvm::ArrayRef<int64_t> shape);

  /// Any strides: negative, 0, or with gaps, which are zeroed and not watched.
  /// The first element lies `shift` elements past a multiple of 16 of them.
  static llvm::Expected<Tensor> createStrided(ElementType type,
                                              llvm::ArrayRef<int64_t> shape,
                                              llvm::ArrayRef<int64_t> strides,
                                              int64_t shift = 0);

  ElementType type() const { return elementType; }
  llvm::ArrayRef<int64_t> shape() const { return extents; }
  /// In elements.
  llvm::ArrayRef<int64_t> strides() const { return steps; }
  int64_t size() const { return count; }
  int64_t sizeInBytes() const { return count * elementSize(elementType); }

  /// The first element; null of a tensor that was not created.
  std::byte *data() {
    return storage.empty() ? nullptr : storage.data() + dataOffset();
  }
  const std::byte *data() const {
    return storage.empty() ? nullptr : storage.data() + dataOffset();
  }
  /// The storage with its guard zones on both sides, and the first element's
  /// place in it, in bytes.
  llvm::MutableArrayRef<std::byte> wholeStorage() { return storage; }
  int64_t dataOffset() const {
    return guard + origin * elementSize(elementType);
  }

  /// The offset, in elements, of a logical index or of element number `linear`
  /// in logical C order.
  int64_t offsetOf(llvm::ArrayRef<int64_t> index) const;
  int64_t offsetOfLinear(int64_t linear) const;

  /// The element at `offset` as a real number; integers and bools widen.
  double real(int64_t offset) const;
  /// The element at `offset` as an integer; it must have an integer type.
  int64_t integer(int64_t offset) const;
  /// Rounds to nearest even, saturates nothing.
  void setReal(int64_t offset, double value);
  void setInteger(int64_t offset, int64_t value);

  /// Every element in logical C order, widened.
  std::vector<double> reals() const;
  /// All of the elements' bytes in logical C order.
  std::vector<std::byte> denseBytes() const;
  /// Copies bytes in logical C order into the tensor.
  void assignDense(llvm::ArrayRef<std::byte> bytes);

  /// Calls `visit(linear, offset)` for each element in logical C order.
  void forEach(llvm::function_ref<void(int64_t, int64_t)> visit) const;

  /// Fills elements with NaN (floats) or with all bits set.
  void poison();
  /// The guard zones hold what `create` wrote there.
  bool guardsIntact() const;

private:
  /// Storage of `elements` and its guard zones.
  llvm::Error allocate(int64_t elements);
  /// Shape and type, for messages.
  std::string what() const;

  static constexpr int64_t guard = 1024;
  ElementType elementType = ElementType::f32;
  llvm::SmallVector<int64_t, 4> extents, steps;
  int64_t count = 0;
  int64_t origin = 0; ///< elements of the storage before the first one
  std::vector<std::byte> storage;
};

/// "[2, 3, 40, 64]".
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// The axes from slowest to fastest under which an operand of rank 4 (batch,
/// heads, positions, elements) is stored; other ranks are in C order.
llvm::SmallVector<int, 4> axisOrder(Layout layout, size_t rank);

} // namespace tegula::tool
