//===- BindArguments.cpp - dims from extents, and all operand checks ------===//
//
// In order: each tensor on its own (set, type, rank, extents), bare names,
// names with an offset, the other extents, the head ratio, the program's
// requires, then addresses and strides. The first thing that is wrong is
// reported.
//
//===----------------------------------------------------------------------===//
#include "runtime/Arguments.h"
#include "runtime/Concat.h"

#include <algorithm>
#include <cstdio>

namespace tegula::rt {

namespace {

class Binder {
public:
  Binder(const Arguments &arguments, Binding &binding)
      : arguments(arguments), signature(arguments.signature()),
        binding(binding) {}

  Status run();

private:
  Status checkTensor(int index);
  Status bindExtent(int index, int axis);
  Status checkExtent(int index, int axis);
  Status checkHeads();
  Status checkRequirement(const Requirement &requirement);
  Status checkMemory(int index);
  Status checkOverlap(int index);

  /// Runs `check(tensor, axis)` over all axes of tensors that are given.
  template <typename Check> Status forEachAxis(Check check) {
    for (int i = 0; i != numTensors(); ++i)
      for (int axis = 0; axis != view(i).rank; ++axis)
        TEGULA_RETURN_IF_FAILED(check(i, axis));
    return Status();
  }
  int numTensors() const { return static_cast<int>(signature.tensors.size()); }
  const TensorInfo &info(int index) const { return signature.tensors[index]; }
  const TensorView &view(int index) const { return arguments.tensor(index); }
  /// An optional output that the caller does not want.
  bool isSkipped(int index) const {
    return info(index).isOptional && !view(index).data && view(index).rank == 0;
  }
  Status error(int index, std::string what) const {
    return invalidArgument(
        concat("`", info(index).name, "`: ", std::move(what)));
  }

  const Arguments &arguments;
  const Signature &signature;
  Binding &binding;
  struct Giver {
    int tensor = -1;
    int axis = -1;
  };
  std::array<Giver, maxSlots> givers;
};

} // namespace

Status Binder::checkTensor(int index) {
  if (!arguments.hasTensor(index))
    return invalidArgument(concat("`", info(index).name, "` is not set; `",
                                  signature.name, "` takes ",
                                  signature.orderText()));
  if (isSkipped(index))
    return Status();
  const TensorView &tensor = view(index);
  // A bool is 0 or 1 in one byte, so it reads the same as i8 and u8.
  bool isByte = info(index).type == ElementType::i8 ||
                info(index).type == ElementType::u8;
  if (tensor.type != info(index).type &&
      !(isByte && tensor.type == ElementType::boolean))
    return error(index, concat("expected ", elementTypeName(info(index).type),
                               ", but got ", elementTypeName(tensor.type)));
  if (tensor.rank != info(index).rank())
    return error(index,
                 concat("expected rank ", info(index).rank(), " (",
                        signature.shapeText(info(index)), "), but got rank ",
                        tensor.rank, " (", tensor.shapeText(), ")"));
  for (int axis = 0; axis != tensor.rank; ++axis)
    if (tensor.sizes[axis] < 0 || tensor.sizes[axis] > maxExtent)
      return error(index,
                   concat("extent ", tensor.sizes[axis], " of axis ", axis,
                          " (", tensor.shapeText(),
                          ") is not between 0 and 2^29 (", maxExtent, ")"));
  return Status();
}

/// Lets an extent `X` or `X + c` give X its value, unless X has one.
Status Binder::bindExtent(int index, int axis) {
  const Extent &extent = info(index).extents[axis];
  if (!extent.expr)
    return Status();
  std::optional<Expr::Offset> offset = extent.expr->asOffset();
  if (!offset || offset->slot >= signature.numDims ||
      givers[offset->slot].tensor >= 0)
    return Status();
  int64_t value = view(index).sizes[axis] - offset->offset;
  if (value < 0 || value > maxExtent)
    return error(index, concat("extent ", view(index).sizes[axis], " of axis ",
                               axis, " (", extent.expr->infix(signature.slots),
                               ") makes ", signature.slots[offset->slot], " = ",
                               value, ", which is not between 0 and 2^29"));
  binding.slots[offset->slot] = Value(value);
  givers[offset->slot] = {index, axis};
  return Status();
}

Status Binder::checkExtent(int index, int axis) {
  const Extent &extent = info(index).extents[axis];
  int64_t got = view(index).sizes[axis];
  if (!extent.expr) {
    if (got == extent.fixed)
      return Status();
    return error(index,
                 concat("expected extent ", extent.fixed, " along axis ", axis,
                        ", but got ", got, " (", view(index).shapeText(),
                        " for ", signature.shapeText(info(index)), ")"));
  }
  Result<int64_t> want = extent.expr->evaluateInteger(binding.values());
  if (!want.ok())
    return error(
        index, concat("extent of axis ", axis, ": ", want.status().message()));
  if (got == *want)
    return Status();

  std::string text = extent.expr->infix(signature.slots);
  std::optional<Expr::Offset> offset = extent.expr->asOffset();
  std::string where;
  if (offset && offset->slot < signature.numDims) {
    Giver giver = givers[offset->slot];
    where = concat(": `", info(giver.tensor).name, "` ",
                   view(giver.tensor).shapeText(), " has ",
                   signature.slots[offset->slot], " = ",
                   binding.slots[offset->slot].text());
  }
  return error(index,
               concat("expected extent ", text, " = ", *want, " along axis ",
                      axis, ", but got ", got, " (", view(index).shapeText(),
                      " for ", signature.shapeText(info(index)), ")", where));
}

/// Query heads come in groups that share a key head.
Status Binder::checkHeads() {
  int heads = signature.findDim("H"), groups = signature.findDim("G");
  if (heads < 0 || groups < 0)
    return Status();
  int64_t h = binding.slots[heads].integer, g = binding.slots[groups].integer;
  if (g == 0 ? h == 0 : h % g == 0)
    return Status();
  return invalidArgument(concat("H = ", h,
                                " query heads is not a multiple of G = ", g,
                                " key heads (", arguments.shapesText(), ")"));
}

Status Binder::checkRequirement(const Requirement &requirement) {
  std::string place =
      requirement.place.empty() ? "" : concat(" (", requirement.place, ")");
  Result<Value> value = requirement.expr.evaluate(binding.values());
  if (!value.ok())
    return invalidArgument(concat("`require ", requirement.text,
                                  "`: ", value.status().message(), place));
  if (value->isTrue())
    return Status();
  std::string values;
  for (int slot : requirement.expr.usedSlots())
    values += concat(values.empty() ? ": " : ", ", signature.slots[slot], " = ",
                     binding.slots[slot].text());
  return invalidArgument(
      concat("`require ", requirement.text, "` does not hold", values, place));
}

/// Outputs may not overlap themselves: two threads would write one element.
/// Axes are taken from the smallest stride up; each has to step over all that
/// the ones before reach.
Status Binder::checkOverlap(int index) {
  const TensorView &tensor = view(index);
  int axes[maxRank];
  int count = 0;
  for (int axis = 0; axis != tensor.rank; ++axis)
    if (tensor.sizes[axis] > 1)
      axes[count++] = axis;
  auto step = [&](int axis) { return std::abs(tensor.strides[axis]); };
  std::sort(axes, axes + count,
            [&](int a, int b) { return step(a) < step(b); });
  int64_t reach = 0;
  for (int i = 0; i != count; ++i) {
    if (step(axes[i]) <= reach)
      return error(
          index, concat("elements of an output may not share memory, but "
                        "axis ",
                        axes[i], " of extent ", tensor.sizes[axes[i]],
                        " has stride ", tensor.strides[axes[i]],
                        ", and the axes inside it reach ", reach, " elements"));
    reach += (tensor.sizes[axes[i]] - 1) * step(axes[i]);
  }
  return Status();
}

Status Binder::checkMemory(int index) {
  const TensorView &tensor = view(index);
  if (isSkipped(index) || tensor.isEmpty())
    return Status();
  int64_t size = elementSize(tensor.type);
  if (!tensor.data) {
    if (info(index).isOptional)
      return Status();
    return error(index, concat("the pointer is null, but the shape ",
                               tensor.shapeText(), " is not empty"));
  }
  auto address = reinterpret_cast<uintptr_t>(tensor.data);
  if (address % size != 0) {
    char hex[32];
    std::snprintf(hex, sizeof hex, "0x%llx",
                  static_cast<unsigned long long>(address));
    return error(index,
                 concat("the address ", hex, " is not a multiple of ", size,
                        ", the size of ", elementTypeName(tensor.type)));
  }
  // The farthest element has to be addressable: 2^47 bytes is more than any
  // GPU maps, and keeps the sums here and in kernels inside i64.
  int64_t reach = 0;
  for (int axis = 0; axis != tensor.rank; ++axis) {
    int64_t stride = tensor.strides[axis], bytes = 0;
    if (tensor.sizes[axis] == 1)
      continue;
    if (stride == INT64_MIN ||
        __builtin_mul_overflow(std::abs(stride),
                               (tensor.sizes[axis] - 1) * size, &bytes) ||
        __builtin_add_overflow(reach, bytes, &reach) ||
        reach > int64_t(1) << 47)
      return error(index,
                   concat("stride ", stride, " of axis ", axis, " (extent ",
                          tensor.sizes[axis], ") reaches beyond 2^47 bytes"));
  }
  return info(index).isOutput ? checkOverlap(index) : Status();
}

Status Binder::run() {
  binding.count = static_cast<int>(signature.slots.size());
  for (int i = 0; i != numTensors(); ++i)
    TEGULA_RETURN_IF_FAILED(checkTensor(i));
  for (size_t i = 0; i != signature.scalars.size(); ++i) {
    if (!arguments.hasScalar(static_cast<int>(i)))
      return invalidArgument(concat("`", signature.scalars[i].name,
                                    "` is not set; `", signature.name,
                                    "` takes ", signature.orderText()));
    binding.slots[signature.numDims + i] =
        arguments.scalar(static_cast<int>(i));
  }

  // Bare names first, so that `B + 1` is checked against `B` and not taken
  // for its origin.
  TEGULA_RETURN_IF_FAILED(forEachAxis([&](int index, int axis) {
    const Extent &extent = info(index).extents[axis];
    bool isName = extent.expr && extent.expr->text()[0] != '(';
    return isName ? bindExtent(index, axis) : Status();
  }));
  TEGULA_RETURN_IF_FAILED(forEachAxis(
      [&](int index, int axis) { return bindExtent(index, axis); }));
  for (int slot = 0; slot != signature.numDims; ++slot)
    if (givers[slot].tensor < 0)
      return invalidArgument(concat("`", signature.slots[slot],
                                    "` is not known, because the optional "
                                    "output that gives it is null; pass its "
                                    "shape"));
  TEGULA_RETURN_IF_FAILED(forEachAxis(
      [&](int index, int axis) { return checkExtent(index, axis); }));

  TEGULA_RETURN_IF_FAILED(checkHeads());
  for (const Requirement &requirement : signature.requirements)
    TEGULA_RETURN_IF_FAILED(checkRequirement(requirement));
  for (int i = 0; i != numTensors(); ++i)
    TEGULA_RETURN_IF_FAILED(checkMemory(i));
  return Status();
}

Status bindArguments(const Arguments &arguments, Binding &binding) {
  return Binder(arguments, binding).run();
}

} // namespace tegula::rt
