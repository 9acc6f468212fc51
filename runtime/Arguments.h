//===- Arguments.h - what a caller passes, and its check --------*- C++ -*-===//
//
// `Arguments` holds the tensors and scalars of one launch by name; it may be
// kept and launched many times. `bindArguments` finds the value of every dim
// from the tensors' extents and checks everything that the program requires of
// its operands. It knows nothing of GPUs, so that the CPU target shares it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Manifest.h"

#include <array>
#include <concepts>
#include <initializer_list>

namespace tegula::rt {

/// A tensor in device memory. Sizes and strides are in elements, in the order
/// of the declaration (logical order); strides may be 0 for inputs.
struct TensorView {
  void *data = nullptr;
  ElementType type = ElementType::f32;
  int rank = 0;
  int64_t sizes[maxRank] = {};
  int64_t strides[maxRank] = {};

  /// A row-major tensor. At most `maxRank` sizes.
  static TensorView contiguous(void *data, ElementType type,
                               std::initializer_list<int64_t> sizes);
  /// Sets the strides of a row-major tensor.
  void setContiguous();
  /// Whether some extent is 0.
  bool isEmpty() const;
  /// "[2, 8, 300, 128]".
  std::string shapeText() const;
};

/// The arguments of one item, by name. Uses no heap memory.
class Arguments {
public:
  explicit Arguments(std::shared_ptr<const Signature> signature);

  /// Sets a tensor or a scalar. Errors: no such name; a scalar for a tensor; a
  /// value that its declared type cannot hold.
  Status set(std::string_view name, const TensorView &view);
  template <std::integral T> Status set(std::string_view name, T value) {
    return setScalar(name, Value(static_cast<int64_t>(value)));
  }
  template <std::floating_point T> Status set(std::string_view name, T value) {
    return setScalar(name, Value(static_cast<double>(value)));
  }
  /// Marks an optional output as not wanted.
  Status setNull(std::string_view name);

  /// Gives a launch memory on the GPU for what its kernels pass on (see
  /// KernelSet::scratchBytes). No two launches that may run at the same time
  /// may have the same. Null: the launch takes and frees its own, in the order
  /// of its stream.
  void setScratch(void *data, size_t bytes) {
    scratchData = data;
    scratchSize = bytes;
  }

  const Signature &signature() const { return *sig; }
  const TensorView &tensor(int index) const { return tensors[index].view; }
  bool hasTensor(int index) const { return tensors[index].isSet; }
  const Value &scalar(int index) const { return scalars[index].value; }
  bool hasScalar(int index) const { return scalars[index].isSet; }
  void *scratch() const { return scratchData; }
  size_t scratchBytes() const { return scratchSize; }
  /// "q bf16[2, 8, 300, 128], ..." for messages.
  std::string shapesText() const;

private:
  Status setScalar(std::string_view name, Value value);
  Status unknownName(std::string_view name) const;

  struct TensorSlot {
    TensorView view;
    bool isSet = false;
  };
  struct ScalarSlot {
    Value value;
    bool isSet = false;
  };
  std::shared_ptr<const Signature> sig;
  std::array<TensorSlot, maxTensors> tensors;
  std::array<ScalarSlot, maxSlots> scalars;
  void *scratchData = nullptr;
  size_t scratchSize = 0;
};

/// The value of every slot: dims, then scalars.
struct Binding {
  std::array<Value, maxSlots> slots;
  int count = 0;
  std::span<const Value> values() const {
    return {slots.data(), static_cast<size_t>(count)};
  }
};

/// Binds the dims, and checks types, ranks, extents, requirements, addresses
/// and strides. Uses no heap memory when all is well. Errors: `invalidArgument`
/// naming the operand, the value and the rule.
Status bindArguments(const Arguments &arguments, Binding &binding);

} // namespace tegula::rt
