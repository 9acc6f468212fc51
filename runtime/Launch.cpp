//===- Launch.cpp - the launch path of a kernel ---------------------------===//
//
// Bind, check, count CTAs, find the context, lay out parameters, enqueue. All
// storage is on the stack; no heap memory is touched unless a message is made.
//
//===----------------------------------------------------------------------===//
#include "runtime/Concat.h"
#include "runtime/KernelInstance.h"
#include "runtime/TensorMap.h"

#include <algorithm>
#include <cstring>

namespace tegula::rt {

Result<Verdict> Kernel::conditionsHold(const Arguments &arguments) const {
  return guarded([&]() -> Result<Verdict> {
    TEGULA_RETURN_IF_FAILED(checkSignature(arguments));
    Binding binding;
    TEGULA_RETURN_IF_FAILED(bindArguments(arguments, binding));
    return checkConditions(description, arguments, binding);
  });
}

Status Kernel::launch(void *stream, const Arguments &arguments) const {
  return guarded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(checkSignature(arguments));
    Binding binding;
    TEGULA_RETURN_IF_FAILED(bindArguments(arguments, binding));
    if (Verdict verdict = checkConditions(description, arguments, binding);
        !verdict.holds)
      return invalidArgument(concat("the ", formName(description.form),
                                    " kernel of `", description.signature->name,
                                    "` cannot take this: ", verdict.reason));
    return launchBound(stream, arguments, binding);
  });
}

/// One of the functions that a launch enqueues.
struct Kernel::Entry {
  const char *what; // "" for the kernel itself
  cu::Function function;
  const std::vector<KernelArgument> &arguments;
  unsigned grid, threads, sharedBytes;
};

Result<int64_t> Kernel::tilesOf(const GridRule &rule,
                                const Arguments &arguments,
                                const Binding &binding) const {
  const std::string &name = description.signature->name;
  Result<int64_t> tiles = rule.tiles.evaluateInteger(binding.values());
  if (!tiles.ok())
    return invalidArgument(concat("the number of tiles of `", name,
                                  "`: ", tiles.status().message(), " (",
                                  arguments.shapesText(), ")"));
  if (*tiles < 0)
    return internalError(concat("the grid rule of `", name, "` gives ", *tiles,
                                " tiles (", arguments.shapesText(), ")"));
  return tiles;
}

Result<size_t> Kernel::scratchBytes(const Arguments &arguments,
                                    const Binding &binding) const {
  if (!description.scratchBytes)
    return size_t(0);
  Result<int64_t> bytes =
      description.scratchBytes->evaluateInteger(binding.values());
  if (!bytes.ok() || *bytes < 0)
    return invalidArgument(concat(
        "the scratch memory of `", description.signature->name, "`: ",
        bytes.ok() ? concat(*bytes, " bytes") : bytes.status().message(), " (",
        arguments.shapesText(), ")"));
  return static_cast<size_t>(*bytes);
}

Result<size_t> Kernel::scratchBytes(const Arguments &arguments) const {
  return guarded([&]() -> Result<size_t> {
    TEGULA_RETURN_IF_FAILED(checkSignature(arguments));
    Binding binding;
    TEGULA_RETURN_IF_FAILED(bindArguments(arguments, binding));
    return scratchBytes(arguments, binding);
  });
}

Status Kernel::launchBound(void *stream, const Arguments &arguments,
                           const Binding &binding) const {
  return guarded([&]() -> Status {
    Result<int64_t> tiles = tilesOf(description.grid, arguments, binding);
    if (!tiles.ok())
      return tiles.status();
    if (*tiles == 0)
      return Status();

    Result<cu::Context> context = contextOf(stream);
    if (!context.ok())
      return context.status();
    Result<const Instance *> instance = instanceFor(*context, stream);
    if (!instance.ok())
      return instance.status();
    TEGULA_RETURN_IF_FAILED(checkPointers(**instance, arguments));
    return enqueueAll(**instance, stream, arguments, binding, *tiles);
  });
}

/// Refuses memory that a kernel on this GPU would fault on, since a fault ends
/// the whole context.
Status Kernel::checkPointers(const Instance &instance,
                             const Arguments &arguments) const {
  auto check = [&](const char *name, const void *data) -> Status {
    int type = 0, ordinal = -1;
    unsigned managed = 0;
    int attributes[] = {cu::pointerMemoryType, cu::pointerDeviceOrdinal,
                        cu::pointerIsManaged};
    void *values[] = {&type, &ordinal, &managed};
    TEGULA_RETURN_IF_FAILED(
        TEGULA_CU(driver, pointerGetAttributes, 3, attributes, values,
                  reinterpret_cast<cu::DevicePtr>(data)));
    if (type == 0 && !instance.device->pageableAccess)
      return invalidArgument(concat(
          "`", name, "`: the pointer is not memory that device ",
          instance.device->ordinal, " (", instance.device->name,
          ") can read; expected device memory"));
    if (type == cu::memoryTypeDevice && !managed &&
        ordinal != instance.device->ordinal)
      return invalidArgument(concat("`", name, "` is memory of device ",
                                    ordinal,
                                    ", but the stream belongs to device ",
                                    instance.device->ordinal));
    return Status();
  };
  const Signature &signature = *description.signature;
  for (int i = 0; i != static_cast<int>(signature.tensors.size()); ++i) {
    const TensorView &view = arguments.tensor(i);
    if (view.data && !view.isEmpty())
      TEGULA_RETURN_IF_FAILED(
          check(signature.tensors[i].name.c_str(), view.data));
  }
  if (description.scratchBytes && arguments.scratch())
    return check("scratch", arguments.scratch());
  return Status();
}

std::string Kernel::launchText(const Arguments &arguments,
                               const Entry &entry) const {
  return concat("launching ", entry.what, "`", description.signature->name,
                "` (", formName(description.form), ", ", entry.grid,
                " CTAs of ", entry.threads, " threads, ", entry.sharedBytes,
                " bytes of shared memory; ", arguments.shapesText(), ")");
}

/// Writes `value` as the C type of `type` at `to`.
static void storeScalar(void *to, ElementType type, const Value &value) {
  if (type == ElementType::f32) {
    float narrow = static_cast<float>(value.asReal());
    std::memcpy(to, &narrow, sizeof narrow);
  } else if (type == ElementType::f64) {
    double real = value.asReal();
    std::memcpy(to, &real, sizeof real);
  } else {
    // Little endian: the low bytes come first, whatever the width.
    std::memcpy(to, &value.integer, sizeof value.integer);
  }
}

namespace {
/// Memory for one launch: the caller's, or taken and given back in the order of
/// the stream, so that it may be captured and no one waits. The context has to
/// be current.
class Scratch {
public:
  Scratch(const Driver &driver, void *stream)
      : driver(driver), stream(stream) {}
  ~Scratch() {
    if (own)
      (void)driver.api.memFreeAsync(memory, stream);
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  Status take(size_t bytes, const Arguments &arguments) {
    if (bytes == 0)
      return Status();
    if (void *given = arguments.scratch()) {
      if (arguments.scratchBytes() < bytes)
        return invalidArgument(concat("the launch needs ", bytes,
                                      " bytes of scratch memory, but got ",
                                      arguments.scratchBytes()));
      memory = reinterpret_cast<cu::DevicePtr>(given);
      return Status();
    }
    Status status = TEGULA_CU(driver, memAllocAsync, &memory, bytes, stream);
    own = status.ok();
    return own ? status
               : status.with(concat(", allocating ", bytes,
                                    " bytes of scratch memory"));
  }
  cu::DevicePtr address() const { return memory; }

private:
  const Driver &driver;
  void *const stream;
  cu::DevicePtr memory = 0;
  bool own = false;
};
} // namespace

Status Kernel::enqueueAll(const Instance &instance, void *stream,
                          const Arguments &arguments, const Binding &binding,
                          int64_t tiles) const {
  auto entryOf = [&](const char *what, cu::Function function, const auto &of,
                     int64_t tiles) {
    int64_t most = of.grid.persistent
                       ? int64_t(instance.device->multiprocessors) *
                             description.ctasPerSm
                       : INT32_MAX;
    return Entry{what,
                 function,
                 of.arguments,
                 static_cast<unsigned>(std::min(tiles, most)),
                 static_cast<unsigned>(of.threads),
                 static_cast<unsigned>(of.sharedBytes)};
  };
  Entry entry = entryOf("", instance.function, description, tiles);
  ContextScope scope(driver, instance.context);
  if (!scope.status().ok())
    return scope.status().with(", " + launchText(arguments, entry));
  Result<size_t> bytes = scratchBytes(arguments, binding);
  if (!bytes.ok())
    return bytes.status();
  Scratch scratch(driver, stream);
  if (Status status = scratch.take(*bytes, arguments); !status.ok())
    return status.with(", " + launchText(arguments, entry));
  if (const auto &prepass = description.prepass) {
    Result<int64_t> count = tilesOf(prepass->grid, arguments, binding);
    if (!count.ok())
      return count.status();
    if (*count != 0)
      TEGULA_RETURN_IF_FAILED(enqueue(
          instance, stream, arguments, binding,
          entryOf("the pre-pass of ", instance.prepass, *prepass, *count),
          scratch.address()));
  }
  return enqueue(instance, stream, arguments, binding, entry,
                 scratch.address());
}

/// In the context of `instance`, which is current.
Status Kernel::enqueue(const Instance &instance, void *stream,
                       const Arguments &arguments, const Binding &binding,
                       const Entry &entry, cu::DevicePtr scratch) const {
  auto explain = [&](const Status &status) {
    return status.with(", " + launchText(arguments, entry));
  };
  cu::TensorMap maps[maxTensorMaps];
  uint64_t words[maxArguments];
  void *params[maxArguments];
  int numMaps = 0, count = 0;
  for (const KernelArgument &argument : entry.arguments) {
    void *to = &words[count];
    switch (argument.kind) {
    case KernelArgument::Kind::tensorMap:
      to = &maps[numMaps];
      if (Status status = encodeTensorMap(driver, argument,
                                          arguments.tensor(argument.tensor),
                                          binding.values(), maps[numMaps++]);
          !status.ok())
        return explain(status);
      break;
    case KernelArgument::Kind::pointer:
      words[count] =
          reinterpret_cast<uint64_t>(arguments.tensor(argument.tensor).data);
      break;
    case KernelArgument::Kind::stride:
      words[count] = static_cast<uint64_t>(
          arguments.tensor(argument.tensor).strides[argument.axis]);
      break;
    case KernelArgument::Kind::dim:
    case KernelArgument::Kind::scalar:
      storeScalar(to, argument.type, binding.slots[argument.slot]);
      break;
    case KernelArgument::Kind::value: {
      Result<int64_t> value =
          argument.expr->evaluateInteger(binding.values());
      if (!value.ok())
        return explain(value.status());
      words[count] = static_cast<uint64_t>(*value);
      break;
    }
    case KernelArgument::Kind::workspace: {
      Result<cu::DevicePtr> slot = instance.workspace->slotFor(stream);
      if (!slot.ok())
        return explain(slot.status());
      words[count] = *slot;
      break;
    }
    case KernelArgument::Kind::scratch:
      words[count] = scratch;
      break;
    }
    params[count++] = to;
  }

  cu::LaunchConfig config{};
  config.gridX = entry.grid;
  config.gridY = config.gridZ = config.blockY = config.blockZ = 1;
  config.blockX = entry.threads;
  config.sharedBytes = entry.sharedBytes;
  config.stream = stream;
  Status status = TEGULA_CU(driver, launchKernelEx, &config, entry.function,
                            params, nullptr);
  if (status.ok())
    return status;
  status = explain(status);
  // Faults are sticky: every later call in the context reports them.
  bool isFault = status.driverError() == cu::errorIllegalAddress ||
                 status.driverError() == cu::errorAssert ||
                 (status.driverError() >= cu::errorHardwareStack &&
                  status.driverError() <= cu::errorLaunchFailed);
  return isFault ? status.with("; the fault is of earlier work in this context")
                 : status;
}

} // namespace tegula::rt
