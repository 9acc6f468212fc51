//===- Kernel.cpp - load a kernel into contexts ---------------------------===//
//
// The module is loaded once per context that launches come from, normally just
// the primary one. Contexts are told apart by the driver's id, since an address
// may be used again. Attributes are set here and never at a launch.
//
//===----------------------------------------------------------------------===//
#include "runtime/Concat.h"
#include "runtime/KernelInstance.h"

namespace tegula::rt {

Kernel::Kernel(Manifest manifest, std::string image, const Driver &driver,
               const Device &device)
    : description(std::move(manifest)), image(std::move(image)), driver(driver),
      device(device) {}

Kernel::~Kernel() {
  for (Instance *instance = instances; instance;) {
    Instance *next = instance->next;
    delete instance;
    instance = next;
  }
}

Result<std::shared_ptr<Kernel>> Kernel::load(std::string_view manifestText,
                                             std::string_view image,
                                             int ordinal) {
  return guarded([&]() -> Result<std::shared_ptr<Kernel>> {
    Result<Manifest> manifest = Manifest::parse(manifestText);
    if (!manifest.ok())
      return manifest.status();
    if (image.empty())
      return invalidArgument(
          concat("the image of `", manifest->signature->name, "` is empty"));
    Result<const Device *> device = Device::get(ordinal);
    if (!device.ok())
      return device.status();
    std::shared_ptr<Kernel> kernel(new Kernel(
        std::move(*manifest), std::string(image), **Driver::get(), **device));
    Result<const Instance *> instance =
        kernel->instanceFor((*device)->context, /*stream=*/nullptr);
    if (!instance.ok())
      return instance.status();
    return kernel;
  });
}

Status Kernel::checkSignature(const Arguments &arguments) const {
  const Signature &own = *description.signature;
  if (arguments.signature().fingerprint == own.fingerprint)
    return Status();
  return invalidArgument(
      concat("these are arguments of `", arguments.signature().name, "` (",
             arguments.signature().orderText(), "), not of `", own.name, "` (",
             own.orderText(), ")"));
}

const Kernel::Instance *Kernel::find(cu::Context context,
                                     unsigned long long id) const {
  for (const Instance *instance = instances.load(std::memory_order_acquire);
       instance; instance = instance->next)
    if (instance->context == context && instance->contextId == id)
      return instance;
  return nullptr;
}

/// The context that a launch on `stream` belongs to.
Result<cu::Context> Kernel::contextOf(void *stream) const {
  cu::Context context = nullptr;
  // Null, 1 and 2 are the default streams of whatever context is current.
  if (reinterpret_cast<uintptr_t>(stream) > 2) {
    TEGULA_RETURN_IF_FAILED(TEGULA_CU(driver, streamGetCtx, stream, &context));
    return context;
  }
  TEGULA_RETURN_IF_FAILED(TEGULA_CU(driver, ctxGetCurrent, &context));
  return context ? context : device.context;
}

Result<const Kernel::Instance *> Kernel::instanceFor(cu::Context context,
                                                     void *stream) const {
  unsigned long long id = 0;
  TEGULA_RETURN_IF_FAILED(TEGULA_CU(driver, ctxGetId, context, &id));
  if (const Instance *instance = find(context, id))
    return instance;

  ContextScope scope(driver, context);
  TEGULA_RETURN_IF_FAILED(scope.status());
  Result<bool> capturing = isCapturing(driver, stream);
  if (!capturing.ok())
    return capturing.status();
  if (*capturing)
    return unavailable(concat("`", description.signature->name, "` (",
                              formName(description.form),
                              ") is not loaded in the context of the stream, "
                              "and cannot be loaded during a capture; prepare "
                              "before capture"));
  std::lock_guard lock(loading);
  if (const Instance *instance = find(context, id))
    return instance;
  return makeInstance(context, id);
}

Result<const Kernel::Instance *>
Kernel::makeInstance(cu::Context context, unsigned long long id) const {
  RelaxedCapture relaxed(driver);
  cu::Device handle = 0;
  TEGULA_RETURN_IF_FAILED(TEGULA_CU(driver, ctxGetDevice, &handle));
  // In this API a device's handle is its ordinal.
  Result<const Device *> found = Device::get(handle);
  if (!found.ok())
    return found.status();
  auto prefix = [&](const Status &status) {
    return Status(status.code(),
                  concat("loading `", description.signature->name, "` (",
                         formName(description.form), ", ", description.target,
                         "): ", status.message()),
                  status.driverError());
  };
  if (Status status =
          (*found)->supports(description.target, !isMachineCode(image));
      !status.ok())
    return prefix(status);

  Result<Module> module = Module::load(driver, context, image);
  if (!module.ok())
    return prefix(module.status());
  Result<cu::Function> function = module->function(description.symbol.c_str());
  if (!function.ok())
    return prefix(function.status());
  if (Status status = configure(*function, description.threads,
                                description.sharedBytes, **found);
      !status.ok())
    return prefix(status);
  cu::Function before = nullptr;
  if (const auto &prepass = description.prepass) {
    Result<cu::Function> made = module->function(prepass->symbol.c_str());
    if (!made.ok())
      return prefix(made.status());
    before = *made;
    if (Status status = configure(before, prepass->threads,
                                  prepass->sharedBytes, **found);
        !status.ok())
      return prefix(status);
  }

  std::unique_ptr<Workspace> workspace;
  if (description.hasWorkspace()) {
    Result<std::unique_ptr<Workspace>> made =
        Workspace::create(driver, context);
    if (!made.ok())
      return prefix(made.status());
    workspace = std::move(*made);
  }

  auto *instance = new Instance{context,         id,     std::move(*module),
                                *function,       before, *found,
                                std::move(workspace), instances.load()};
  instances.store(instance, std::memory_order_release);
  return instance;
}

/// Allows the shared memory that the kernel needs, and refuses a kernel that
/// could not be launched.
Status Kernel::configure(cu::Function function, int threads,
                         int64_t sharedBytes, const Device &on) const {
  int most = 0, fixed = 0;
  TEGULA_RETURN_IF_FAILED(TEGULA_CU(driver, funcGetAttribute, &most,
                                    cu::functionMaxThreadsPerBlock, function));
  if (most < threads)
    return invalidArgument(concat("the kernel takes at most ", most,
                                  " threads, but its manifest says ", threads));
  TEGULA_RETURN_IF_FAILED(TEGULA_CU(driver, funcGetAttribute, &fixed,
                                    cu::functionSharedSizeBytes, function));
  int64_t needed = sharedBytes + fixed;
  if (needed > on.sharedBytesOptin)
    return unavailable(concat(
        "the kernel needs ", needed, " bytes of shared memory, but device ",
        on.ordinal, " (", on.name, ") has ", on.sharedBytesOptin));
  return TEGULA_CU(driver, funcSetAttribute, function,
                   cu::functionMaxDynamicSharedSizeBytes,
                   static_cast<int>(sharedBytes));
}

Status Kernel::prepare(void *stream) const {
  return guarded([&]() -> Status {
    Result<cu::Context> context = contextOf(stream);
    if (!context.ok())
      return context.status();
    return instanceFor(*context, stream).status();
  });
}

/// The kernel's workspace in the context of `stream`.
template <typename T, typename Read>
Result<T> Kernel::readCounts(void *stream, Read read) const {
  return guarded([&]() -> Result<T> {
    Result<cu::Context> context = contextOf(stream);
    if (!context.ok())
      return context.status();
    Result<const Instance *> instance = instanceFor(*context, stream);
    if (!instance.ok())
      return instance.status();
    ContextScope scope(driver, *context);
    TEGULA_RETURN_IF_FAILED(scope.status());
    return read(*(*instance)->workspace);
  });
}

Result<uint32_t> Kernel::redoneRows(void *stream) const {
  if (!description.hasWorkspace())
    return 0u;
  return readCounts<uint32_t>(stream, [&](const Workspace &workspace) {
    return workspace.redoneRows(stream);
  });
}

Result<BlockVisits> Kernel::visits(void *stream) const {
  if (!countsVisits())
    return BlockVisits();
  return readCounts<BlockVisits>(stream, [&](const Workspace &workspace) {
    return workspace.visits(stream);
  });
}

Result<KernelResources> Kernel::resources() const {
  return guarded([&]() -> Result<KernelResources> {
    Result<const Instance *> instance = instanceFor(device.context, nullptr);
    if (!instance.ok())
      return instance.status();
    ContextScope scope(driver, device.context);
    TEGULA_RETURN_IF_FAILED(scope.status());
    int registers = 0, local = 0, shared = 0;
    const std::pair<int, int *> attributes[] = {
        {cu::functionNumRegs, &registers},
        {cu::functionLocalSizeBytes, &local},
        {cu::functionSharedSizeBytes, &shared}};
    for (auto [attribute, value] : attributes)
      TEGULA_RETURN_IF_FAILED(TEGULA_CU(driver, funcGetAttribute, value,
                                        attribute, (*instance)->function));
    return KernelResources{registers, local, shared, description.sharedBytes};
  });
}

} // namespace tegula::rt
