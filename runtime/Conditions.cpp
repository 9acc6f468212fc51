//===- Conditions.cpp - the rules of TMA, and those of the manifest -------===//
//
// Each rule gives its reason with the operand and the value. The rules of TMA
// are those of cuTensorMapEncodeTiled; what depends on the box alone is checked
// when the manifest is read. A stride of 0 is legal: a broadcast axis.
//
//===----------------------------------------------------------------------===//
#include "runtime/Conditions.h"
#include "runtime/Concat.h"

#include <cstdlib>

namespace tegula::rt {

static Verdict no(std::string reason) { return {false, std::move(reason)}; }

static Verdict checkAligned(const TensorInfo &info, const TensorView &view,
                            int64_t bytes) {
  int64_t rest =
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(view.data) % bytes);
  if (rest == 0)
    return {};
  return no(concat("the address of `", info.name, "` is ", rest,
                   " bytes past a multiple of ", bytes));
}

static Verdict checkStrideMultiple(const TensorInfo &info,
                                   const TensorView &view, int inner,
                                   int64_t multiple) {
  for (int axis = 0; axis != view.rank; ++axis) {
    if (axis == inner || view.sizes[axis] <= 1)
      continue;
    int64_t bytes = view.strides[axis] * elementSize(view.type);
    if (bytes % multiple != 0)
      return no(concat("the stride of axis ", axis, " of `", info.name, "`, ",
                       bytes, " bytes, is not a multiple of ", multiple));
  }
  return {};
}

static Verdict checkInner(const TensorInfo &info, const TensorView &view,
                          int inner) {
  if (inner < 0 || view.sizes[inner] <= 1 || view.strides[inner] == 1)
    return {};
  return no(concat("axis ", inner, " of `", info.name, "` has stride ",
                   view.strides[inner], ", not 1"));
}

static Verdict checkNonempty(const TensorInfo &info, const TensorView &view) {
  if (!view.isEmpty())
    return {};
  return no(concat("`", info.name, "` is empty: ", view.shapeText()));
}

static Verdict checkTensorMap(const TensorInfo &info, const TensorView &view,
                              const KernelArgument &map) {
  if (Verdict verdict = checkNonempty(info, view); !verdict.holds)
    return verdict;
  if (!view.data)
    return no(concat("`", info.name, "` is null"));
  if (Verdict verdict = checkAligned(info, view, 16); !verdict.holds)
    return verdict;
  int inner = map.axes[0];
  if (Verdict verdict = checkInner(info, view, inner); !verdict.holds)
    return verdict;
  if (Verdict verdict = checkStrideMultiple(info, view, inner, 16);
      !verdict.holds)
    return verdict;
  for (int axis = 0; axis != view.rank; ++axis) {
    if (axis == inner || view.sizes[axis] <= 1)
      continue;
    int64_t bytes = view.strides[axis] * elementSize(view.type);
    if (bytes < 0 || bytes >= int64_t(1) << 40)
      return no(concat("the stride of axis ", axis, " of `", info.name, "`, ",
                       bytes, " bytes, is not between 0 and 2^40"));
  }
  return {};
}

static Verdict checkCondition(const Condition &condition,
                              const Arguments &arguments,
                              const Binding &binding) {
  if (condition.kind == Condition::Kind::expression) {
    Result<Value> value = condition.expr->evaluate(binding.values());
    if (value.ok() && value->isTrue())
      return {};
    const std::vector<std::string> &names = arguments.signature().slots;
    std::string reason = concat(
        condition.text.empty() ? condition.expr->infix(names) : condition.text,
        " does not hold");
    for (int slot : condition.expr->usedSlots())
      reason += concat(slot == condition.expr->usedSlots()[0] ? ": " : ", ",
                       names[slot], " = ", binding.slots[slot].text());
    return no(value.ok() ? reason
                         : concat(reason, ": ", value.status().message()));
  }
  const TensorInfo &info = arguments.signature().tensors[condition.tensor];
  const TensorView &view = arguments.tensor(condition.tensor);
  // Nothing is written to an output that is not wanted.
  if (info.isOptional && !view.data)
    return {};
  switch (condition.kind) {
  case Condition::Kind::aligned:
    return checkAligned(info, view, condition.bytes);
  case Condition::Kind::strideMultiple:
    return checkStrideMultiple(info, view, view.rank - 1, condition.bytes);
  case Condition::Kind::innerContiguous:
    return checkInner(info, view, view.rank - 1);
  default: // nonempty
    return checkNonempty(info, view);
  }
}

Verdict checkConditions(const Manifest &manifest, const Arguments &arguments,
                        const Binding &binding) {
  for (const KernelArgument &argument : manifest.arguments) {
    if (argument.kind != KernelArgument::Kind::tensorMap)
      continue;
    Verdict verdict =
        checkTensorMap(manifest.signature->tensors[argument.tensor],
                       arguments.tensor(argument.tensor), argument);
    if (!verdict.holds)
      return verdict;
  }
  for (const Condition &condition : manifest.conditions) {
    Verdict verdict = checkCondition(condition, arguments, binding);
    if (!verdict.holds)
      return verdict;
  }
  return {};
}

} // namespace tegula::rt
