//===- TensorMap.cpp - cuTensorMapEncodeTiled -----------------------------===//
//
// Extents and strides innermost first; strides in bytes, from the second axis
// on. Elements outside the tensor arrive as zeros.
//
//===----------------------------------------------------------------------===//
#include "runtime/TensorMap.h"
#include "runtime/Concat.h"

namespace tegula::rt {

static int swizzleCode(int bytes) {
  return bytes == 128  ? cu::swizzle128B
         : bytes == 64 ? cu::swizzle64B
         : bytes == 32 ? cu::swizzle32B
                       : cu::swizzleNone;
}

static int l2PromotionCode(int bytes) {
  return bytes == 256   ? cu::l2Promotion256B
         : bytes == 128 ? cu::l2Promotion128B
         : bytes == 64  ? cu::l2Promotion64B
                        : cu::l2PromotionNone;
}

Status encodeTensorMap(const Driver &driver, const KernelArgument &argument,
                       const TensorView &view, std::span<const Value> slots,
                       cu::TensorMap &map) {
  constexpr int mostAxes = 5;
  int rank = static_cast<int>(argument.axes.size());
  uint64_t sizes[mostAxes], strides[mostAxes];
  uint32_t steps[mostAxes], box[mostAxes];
  int64_t size = elementSize(view.type);
  // The bytes that one step of the axis at hand takes if memory is packed,
  // rounded up to what TMA accepts.
  uint64_t packed = static_cast<uint64_t>(size);
  for (int i = 0; i != rank; ++i) {
    int axis = argument.axes[i];
    sizes[i] = static_cast<uint64_t>(view.sizes[axis]);
    steps[i] = 1;
    int64_t extent = argument.box[i].fixed;
    if (const std::optional<Expr> &expr = argument.box[i].expr) {
      Result<int64_t> value = expr->evaluateInteger(slots);
      if (!value.ok())
        return value.status();
      extent = *value;
    }
    if (extent < 1 || extent > maxBox)
      return invalidArgument(
          concat("expected a box of 1 to ", maxBox, " elements along axis ",
                 axis, ", but got ", extent));
    box[i] = static_cast<uint32_t>(extent);
    uint64_t stride = static_cast<uint64_t>(view.strides[axis] * size);
    if (sizes[i] == 1 && i > 0)
      stride = packed;
    if (i > 0)
      strides[i - 1] = stride;
    uint64_t reach = (i == 0 ? static_cast<uint64_t>(size) : stride) * sizes[i];
    packed = std::max<uint64_t>((reach + 15) / 16 * 16, 16);
    packed = std::min(packed, (uint64_t(1) << 40) - 16);
  }
  Status status =
      TEGULA_CU(driver, tensorMapEncodeTiled, &map,
                tensorMapDataType(view.type), static_cast<uint32_t>(rank),
                view.data, sizes, strides, box, steps,
                cu::interleaveNone, swizzleCode(argument.swizzle),
                l2PromotionCode(argument.l2Promotion), cu::oobFillNone);
  if (status.ok())
    return status;
  std::string what =
      concat(", for a tensor map of shape ", view.shapeText(), ", strides [");
  for (int axis = 0; axis != view.rank; ++axis)
    what += concat(axis ? ", " : "", view.strides[axis]);
  what += "], box [";
  for (int i = 0; i != rank; ++i)
    what += concat(i ? ", " : "", box[i]);
  return status.with(what + "] (innermost first)");
}

} // namespace tegula::rt
