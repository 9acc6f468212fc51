//===- CApi.cpp - the C interface over KernelSet and Arguments ------------===//
//
// Each function checks its pointers, calls the C++ interface and keeps the
// message of a failure for its thread.
//
//===----------------------------------------------------------------------===//
#include "runtime/CHandles.h"
#include "runtime/Concat.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace tegula::rt {

static_assert(static_cast<int>(StatusCode::sourceError) == TEGULA_SOURCE_ERROR);
static_assert(static_cast<int>(StatusCode::assertionFailed) ==
              TEGULA_ASSERTION_FAILED);
static_assert(static_cast<int>(StatusCode::driverError) == TEGULA_DRIVER_ERROR);
static_assert(static_cast<int>(ElementType::f64) == TEGULA_F64);
static_assert(static_cast<int>(ElementType::bf16) == TEGULA_BF16);
static_assert(static_cast<int>(Form::direct) == TEGULA_DIRECT);

static std::string &lastError() {
  thread_local std::string text;
  return text;
}

tegula_status recordStatus(const Status &status) noexcept {
  if (!status.ok()) {
    try {
      lastError() = status.message();
    } catch (...) {
      lastError().clear();
    }
  }
  return static_cast<tegula_status>(status.code());
}

Status checkNotNull(std::initializer_list<const void *> pointers,
                    const char *names) {
  for (const void *pointer : pointers)
    if (!pointer)
      return invalidArgument(
          concat("expected pointers that are not null for ", names));
  return Status();
}

static Result<TensorView> makeView(const char *name,
                                   const tegula_tensor &tensor) {
  if (tensor.type < TEGULA_BOOL || tensor.type > TEGULA_F64)
    return invalidArgument(concat("`", name, "`: there is no element type ",
                                  static_cast<int>(tensor.type)));
  if (tensor.rank < 0 || tensor.rank > maxRank)
    return invalidArgument(concat("`", name, "`: expected a rank of 0 to ",
                                  maxRank, ", but got ", tensor.rank));
  if (tensor.rank > 0 && !tensor.sizes)
    return invalidArgument(concat("`", name, "`: the sizes are null"));
  TensorView view;
  view.data = tensor.data;
  view.type = static_cast<ElementType>(tensor.type);
  view.rank = tensor.rank;
  std::copy_n(tensor.sizes, tensor.rank, view.sizes);
  if (tensor.strides)
    std::copy_n(tensor.strides, tensor.rank, view.strides);
  else
    view.setContiguous();
  return view;
}

static void writeReport(const LaunchReport &from, tegula_launch_report *to) {
  to->form = static_cast<tegula_form>(from.form);
  size_t size = std::min(from.reason.size(), sizeof to->reason - 1);
  std::memcpy(to->reason, from.reason.data(), size);
  to->reason[size] = 0;
}

/// The machine code where the driver takes it, else the PTX.
static Result<std::shared_ptr<Kernel>> loadCode(const tegula_code &code,
                                                int device) {
  TEGULA_RETURN_IF_FAILED(
      checkNotNull({code.manifest, code.cubin ? code.cubin : code.ptx},
                   "manifest and code"));
  if (code.cubin) {
    std::string_view cubin(static_cast<const char *>(code.cubin),
                           code.cubin_size);
    auto kernel = Kernel::load(code.manifest, cubin, device);
    const Status &status = kernel.status();
    bool isRefused = status.code() == StatusCode::unavailable ||
                     status.driverError() == cu::errorInvalidImage ||
                     status.driverError() == cu::errorNoBinaryForGpu;
    if (!isRefused || !code.ptx)
      return kernel;
  }
  return Kernel::load(code.manifest, code.ptx, device);
}

static Status loadCodes(std::span<const tegula_code> codes, int device,
                        tegula_kernel **kernel) {
  *kernel = nullptr;
  KernelChoice kernels;
  for (const tegula_code &code : codes) {
    Result<std::shared_ptr<Kernel>> one = loadCode(code, device);
    if (!one.ok())
      return one.status();
    const Manifest &manifest = (*one)->manifest();
    auto [slot, what] =
        manifest.before      ? std::pair(&kernels.before, "that goes before")
        : !kernels.preferred ? std::pair(&kernels.preferred, "")
        : manifest.isPacked  ? std::pair(&kernels.packed, "that is packed")
                             : std::pair(&kernels.fallback, "kernel");
    if (*slot)
      return invalidArgument(concat(
          "expected the code of one kernel or two, and at most of one that is "
          "packed and of one that goes before them, but got one more ",
          what));
    *slot = std::move(*one);
  }
  auto set = KernelSet::create(std::move(kernels));
  if (!set.ok())
    return set.status();
  *kernel = new tegula_kernel{std::move(*set)};
  return Status();
}

/// A tensor of the signature at `value.tensor`, with the extents that `slots`
/// give it.
static Result<TensorView> makeView(const TensorInfo &info,
                                   const tegula_value &value,
                                   std::span<const Value> slots) {
  TensorView view;
  view.data = const_cast<void *>(value.tensor.data);
  view.type = info.type;
  view.rank = info.rank();
  for (int axis = 0; axis != view.rank; ++axis) {
    const Extent &extent = info.extents[axis];
    view.sizes[axis] = extent.fixed;
    if (!extent.expr)
      continue;
    Result<int64_t> size = extent.expr->evaluateInteger(slots);
    if (!size.ok())
      return invalidArgument(concat("`", info.name, "`: extent of axis ", axis,
                                    ": ", size.status().message()));
    view.sizes[axis] = *size;
  }
  if (value.tensor.strides)
    std::copy_n(value.tensor.strides, view.rank, view.strides);
  else
    view.setContiguous();
  return view;
}

/// Sets all arguments from `values`, which are in the order of the signature.
static Status setAll(Arguments &arguments, const tegula_value *values,
                     size_t numValues, const int64_t *dims, size_t numDims) {
  const Signature &signature = arguments.signature();
  if (numValues != signature.order.size() ||
      numDims != static_cast<size_t>(signature.numDims))
    return invalidArgument(
        concat("expected ", signature.order.size(), " arguments (",
               signature.orderText(), ") and ", signature.numDims, " dims of `",
               signature.name, "`, but got ", numValues, " and ", numDims));
  std::array<Value, maxSlots> slots;
  std::copy_n(dims, numDims, slots.begin());
  for (size_t i = 0; i != numValues; ++i) {
    int number = signature.findScalar(signature.order[i]);
    if (number < 0)
      continue;
    const ScalarInfo &info = signature.scalars[number];
    Value value =
        isFloat(info.type) ? Value(values[i].real) : Value(values[i].integer);
    TEGULA_RETURN_IF_FAILED(value.isInteger()
                                ? arguments.set(info.name, value.integer)
                                : arguments.set(info.name, value.real));
    slots[numDims + number] = arguments.scalar(number);
  }
  std::span<const Value> known(slots.data(), signature.slots.size());
  for (size_t i = 0; i != numValues; ++i) {
    int number = signature.findTensor(signature.order[i]);
    if (number < 0)
      continue;
    const TensorInfo &info = signature.tensors[number];
    Result<TensorView> view = makeView(info, values[i], known);
    TEGULA_RETURN_IF_FAILED(view.ok() ? arguments.set(info.name, *view)
                                      : view.status());
  }
  return Status();
}

static Status launch(const tegula_kernel *kernel, const Arguments &arguments,
                     void *stream, tegula_launch_report *report) {
  LaunchReport chosen;
  Status status = kernel->set->launch(stream, arguments, &chosen);
  if (report)
    writeReport(chosen, report);
  return status;
}

} // namespace tegula::rt

using namespace tegula::rt;

const char *tegula_last_error(void) { return lastError().c_str(); }

const char *tegula_status_name(tegula_status status) {
  return statusCodeName(static_cast<StatusCode>(status));
}

tegula_status tegula_device_count(int *count) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(checkNotNull({count}, "count"));
    Result<int> found = Device::count();
    *count = found.ok() ? *found : 0;
    return found.status();
  });
}

tegula_status tegula_kernel_load(const char *manifest, const void *image,
                                 size_t image_size, int device,
                                 tegula_kernel **kernel) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(
        checkNotNull({manifest, image, kernel}, "manifest, image and kernel"));
    tegula_code code = {manifest, image, image_size, nullptr};
    return loadCodes({&code, 1}, device, kernel);
  });
}

tegula_status tegula_kernel_load_pair(const char *manifest, const void *image,
                                      size_t image_size,
                                      const char *direct_manifest,
                                      const void *direct_image,
                                      size_t direct_image_size, int device,
                                      tegula_kernel **kernel) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(
        checkNotNull({manifest, image, direct_manifest, direct_image, kernel},
                     "the two manifests, the two images and kernel"));
    tegula_code codes[] = {
        {manifest, image, image_size, nullptr},
        {direct_manifest, direct_image, direct_image_size, nullptr}};
    return loadCodes(codes, device, kernel);
  });
}

tegula_status tegula_kernel_load_codes(const tegula_code *codes,
                                       size_t num_codes, int device,
                                       tegula_kernel **kernel) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(checkNotNull({codes, kernel}, "codes and kernel"));
    return loadCodes({codes, num_codes}, device, kernel);
  });
}

void tegula_kernel_destroy(tegula_kernel *kernel) { delete kernel; }

tegula_status tegula_kernel_prepare(tegula_kernel *kernel, void *stream) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(checkNotNull({kernel}, "kernel"));
    return kernel->set->prepare(stream);
  });
}

tegula_status tegula_args_create(const tegula_kernel *kernel,
                                 tegula_args **args) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(checkNotNull({kernel, args}, "kernel and args"));
    *args = nullptr;
    *args = new tegula_args{kernel->set->arguments()};
    return Status();
  });
}

void tegula_args_destroy(tegula_args *args) { delete args; }

tegula_status tegula_args_set_tensor(tegula_args *args, const char *name,
                                     const tegula_tensor *tensor) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(checkNotNull({args, name}, "args and name"));
    if (!tensor)
      return args->arguments.setNull(name);
    Result<TensorView> view = makeView(name, *tensor);
    return view.ok() ? args->arguments.set(name, *view) : view.status();
  });
}

tegula_status tegula_args_set_int(tegula_args *args, const char *name,
                                  int64_t value) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(checkNotNull({args, name}, "args and name"));
    return args->arguments.set(name, value);
  });
}

tegula_status tegula_args_set_float(tegula_args *args, const char *name,
                                    double value) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(checkNotNull({args, name}, "args and name"));
    return args->arguments.set(name, value);
  });
}

tegula_status tegula_scratch_size(const tegula_kernel *kernel,
                                  const tegula_args *args, size_t *size) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(
        checkNotNull({kernel, args, size}, "kernel, args and size"));
    Result<size_t> bytes = kernel->set->scratchBytes(args->arguments);
    *size = bytes.ok() ? *bytes : 0;
    return bytes.status();
  });
}

tegula_status tegula_args_set_scratch(tegula_args *args, void *data,
                                      size_t size) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(checkNotNull({args}, "args"));
    args->arguments.setScratch(data, size);
    return Status();
  });
}

tegula_status tegula_choose(const tegula_kernel *kernel,
                            const tegula_args *args,
                            tegula_launch_report *report) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(
        checkNotNull({kernel, args, report}, "kernel, args and report"));
    Result<LaunchReport> chosen = kernel->set->choose(args->arguments);
    if (chosen.ok())
      writeReport(*chosen, report);
    return chosen.status();
  });
}

tegula_status tegula_launch(const tegula_kernel *kernel,
                            const tegula_args *args, void *stream,
                            tegula_launch_report *report) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(checkNotNull({kernel, args}, "kernel and args"));
    return launch(kernel, args->arguments, stream, report);
  });
}

tegula_status tegula_redone_rows(const tegula_kernel *kernel, void *stream,
                                 uint32_t *rows) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(checkNotNull({kernel, rows}, "kernel and rows"));
    Result<uint32_t> found = kernel->set->redoneRows(stream);
    *rows = found.ok() ? *found : 0;
    return found.status();
  });
}

tegula_status tegula_visits(const tegula_kernel *kernel, void *stream,
                            uint64_t *partial, uint64_t *full) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(
        checkNotNull({kernel, partial, full}, "kernel, partial and full"));
    Result<BlockVisits> found = kernel->set->visits(stream);
    *partial = found.ok() ? found->partial : 0;
    *full = found.ok() ? found->full : 0;
    return found.status();
  });
}

tegula_status tegula_launch_values(const tegula_kernel *kernel,
                                   const tegula_value *values,
                                   size_t num_values, const int64_t *dims,
                                   size_t num_dims, void *stream,
                                   tegula_launch_report *report) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(
        checkNotNull({kernel, values, dims}, "kernel and arguments"));
    Arguments arguments = kernel->set->arguments();
    TEGULA_RETURN_IF_FAILED(
        setAll(arguments, values, num_values, dims, num_dims));
    return launch(kernel, arguments, stream, report);
  });
}
