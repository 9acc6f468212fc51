//===- CApi.cpp - the C interface over KernelSet and Arguments ------------===//
//
// Each function checks its pointers, calls the C++ interface and keeps the
// message of a failure for its thread.
//
//===----------------------------------------------------------------------===//
#include "runtime/CHandles.h"
#include "runtime/Concat.h"

#include <algorithm>
#include <cstring>

namespace tegula::rt {

static_assert(static_cast<int>(StatusCode::sourceError) == TEGULA_SOURCE_ERROR);
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

static Status checkNotNull(std::initializer_list<const void *> pointers,
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

static Result<std::shared_ptr<Kernel>>
loadOne(const char *manifest, const void *image, size_t size, int device) {
  return Kernel::load(manifest,
                      std::string_view(static_cast<const char *>(image), size),
                      device);
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
    *kernel = nullptr;
    auto loaded = loadOne(manifest, image, image_size, device);
    if (!loaded.ok())
      return loaded.status();
    auto set = KernelSet::create(std::move(*loaded));
    if (!set.ok())
      return set.status();
    *kernel = new tegula_kernel{std::move(*set)};
    return Status();
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
    *kernel = nullptr;
    auto first = loadOne(manifest, image, image_size, device);
    if (!first.ok())
      return first.status();
    auto second =
        loadOne(direct_manifest, direct_image, direct_image_size, device);
    if (!second.ok())
      return second.status();
    auto set = KernelSet::create(std::move(*first), std::move(*second));
    if (!set.ok())
      return set.status();
    *kernel = new tegula_kernel{std::move(*set)};
    return Status();
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
    LaunchReport chosen;
    Status status = kernel->set->launch(stream, args->arguments, &chosen);
    if (report)
      writeReport(chosen, report);
    return status;
  });
}
