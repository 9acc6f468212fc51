//===- KernelSet.cpp - choose among the kernels of an item ----------------===//
//
// Arguments are bound once; the manifest of the preferred kernel decides. What
// a provider has made is read without a lock.
//
//===----------------------------------------------------------------------===//
#include "runtime/KernelSet.h"
#include "runtime/Concat.h"

namespace tegula::rt {

static Status checkSameSignature(const Kernel &a, const Kernel &b) {
  const Signature &left = *a.manifest().signature;
  const Signature &right = *b.manifest().signature;
  if (left.fingerprint == right.fingerprint)
    return Status();
  return invalidArgument(concat(
      "the ", formName(a.manifest().form), " kernel `", left.name, "` (",
      left.orderText(), ") and the ", formName(b.manifest().form), " kernel `",
      right.name, "` (", right.orderText(), ") differ in their signatures"));
}

KernelSet::KernelSet(KernelChoice kernels)
    : preferred(std::move(kernels.preferred)),
      before(std::move(kernels.before)),
      fallback(std::move(kernels.fallback),
               std::move(kernels.fallbackProvider)),
      packed(std::move(kernels.packed), std::move(kernels.packedProvider)) {}

Result<std::shared_ptr<KernelSet>> KernelSet::create(KernelChoice kernels) {
  return guarded([&]() -> Result<std::shared_ptr<KernelSet>> {
    if (!kernels.preferred)
      return invalidArgument("a kernel set needs a kernel, but got null");
    for (const std::shared_ptr<Kernel> &other :
         {kernels.fallback, kernels.packed, kernels.before})
      if (other)
        TEGULA_RETURN_IF_FAILED(checkSameSignature(*kernels.preferred, *other));
    return std::shared_ptr<KernelSet>(new KernelSet(std::move(kernels)));
  });
}

Result<const Kernel *> KernelSet::Other::get(const Kernel &preferred) const {
  if (const Kernel *known = ready())
    return known;
  std::lock_guard lock(making);
  if (const Kernel *known = ready())
    return known;
  Result<std::shared_ptr<Kernel>> result = provider();
  if (!result.ok())
    return result.status();
  if (!*result)
    return internalError("the provider of a kernel gave null");
  TEGULA_RETURN_IF_FAILED(checkSameSignature(preferred, **result));
  kernel = std::move(*result);
  made.store(kernel.get(), std::memory_order_release);
  return kernel.get();
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// The fallback, made if need be. Making it loads a module, so a launch on a
/// captured stream may not.
Result<const Kernel *> KernelSet::fallbackFor(bool mayMake,
                                              const std::string &reason) const {
  if (const Kernel *kernel = fallback.ready())
    return kernel;
  if (!fallback.exists())
    return invalidArgument(concat("the ", formName(preferred->manifest().form),
                                  " kernel of `", signature().name,
                                  "` cannot take this: ", reason,
                                  "; no direct kernel was given"));
  if (!mayMake)
    return unavailable(concat("`", signature().name,
                              "` needs its direct "
                              "kernel (",
                              reason,
                              "), which cannot be made "
                              "during a capture; prepare before capture"));
  return fallback.get(*preferred);
}

/// Whether rows of several heads should share tiles.
Result<bool> KernelSet::packs(const Binding &binding) const {
  const std::optional<Expr> &packing = preferred->manifest().packing;
  if (!packing || !packed.exists())
    return false;
  Result<int64_t> shift = packing->evaluateInteger(binding.values());
  return shift.ok() ? Result<bool>(*shift > 0) : Result<bool>(shift.status());
}

Result<bool> KernelSet::mayMake(Making making, void *stream) const {
  if (making != Making::unlessCaptured)
    return making == Making::always;
  Result<bool> capturing = isCapturing(preferred->usedDriver(), stream);
  return capturing.ok() ? Result<bool>(!*capturing)
                        : Result<bool>(capturing.status());
}

/// The packed kernel where it is the better one and can be had; else the
/// preferred one where it fits; else the fallback.
Result<LaunchReport> KernelSet::choose(const Arguments &arguments,
                                       const Binding &binding, Making making,
                                       void *stream) const {
  Result<bool> wantsPacked = packs(binding);
  if (!wantsPacked.ok())
    return wantsPacked.status();
  Verdict verdict = checkConditions(preferred->manifest(), arguments, binding);
  bool isThere = verdict.holds ? !*wantsPacked || packed.ready() != nullptr
                               : fallback.ready() || !fallback.exists();
  Result<bool> may = isThere ? Result<bool>(false) : mayMake(making, stream);
  if (!may.ok())
    return may.status();
  if (*wantsPacked && verdict.holds && (*may || packed.ready())) {
    Result<const Kernel *> kernel = packed.get(*preferred);
    if (!kernel.ok())
      return kernel.status();
    const Manifest &manifest = (*kernel)->manifest();
    if (checkConditions(manifest, arguments, binding).holds)
      return LaunchReport{manifest.form,
                          "rows of several query heads share its tiles",
                          *kernel};
  }
  if (verdict.holds)
    return LaunchReport{preferred->manifest().form, "", preferred.get()};
  Result<const Kernel *> other = fallbackFor(*may, verdict.reason);
  if (!other.ok())
    return other.status();
  const Manifest &manifest = (*other)->manifest();
  Verdict second = checkConditions(manifest, arguments, binding);
  if (!second.holds)
    return invalidArgument(concat("no kernel of `", signature().name,
                                  "` can take this: ", verdict.reason, "; ",
                                  second.reason));
  return LaunchReport{manifest.form, std::move(verdict.reason), *other};
}

Result<LaunchReport> KernelSet::choose(const Arguments &arguments) const {
  return guarded([&]() -> Result<LaunchReport> {
    TEGULA_RETURN_IF_FAILED(preferred->checkSignature(arguments));
    Binding binding;
    TEGULA_RETURN_IF_FAILED(bindArguments(arguments, binding));
    Verdict verdict =
        checkConditions(preferred->manifest(), arguments, binding);
    Result<bool> wantsPacked = packs(binding);
    if (!wantsPacked.ok())
      return wantsPacked.status();
    bool isMade = verdict.holds ? !*wantsPacked || packed.ready()
                                : fallback.ready() || !fallback.exists();
    if (isMade)
      return choose(arguments, binding, Making::never);
    // What would be made fits: its conditions are those of the preferred one.
    if (verdict.holds)
      return LaunchReport{preferred->manifest().form,
                          "rows of several query heads share its tiles"};
    return LaunchReport{Form::direct, std::move(verdict.reason)};
  });
}

Result<size_t> KernelSet::scratchBytes(const Arguments &arguments) const {
  return guarded([&]() -> Result<size_t> {
    TEGULA_RETURN_IF_FAILED(preferred->checkSignature(arguments));
    Binding binding;
    TEGULA_RETURN_IF_FAILED(bindArguments(arguments, binding));
    Result<LaunchReport> chosen = choose(arguments, binding, Making::always);
    return chosen.ok() ? chosen->kernel->scratchBytes(arguments)
                       : chosen.status();
  });
}

Status KernelSet::launch(void *stream, const Arguments &arguments,
                         LaunchReport *report) const {
  return guarded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(preferred->checkSignature(arguments));
    Binding binding;
    TEGULA_RETURN_IF_FAILED(bindArguments(arguments, binding));
    Result<LaunchReport> chosen =
        choose(arguments, binding, Making::unlessCaptured, stream);
    if (!chosen.ok())
      return chosen.status();
    if (before)
      TEGULA_RETURN_IF_FAILED(before->launch(stream, arguments));
    Status status = chosen->kernel->launchBound(stream, arguments, binding);
    if (report)
      *report = std::move(*chosen);
    return status;
  });
}

//===----------------------------------------------------------------------===//
// All kernels of the set
//===----------------------------------------------------------------------===//

Status KernelSet::prepare(void *stream) const {
  return guarded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(preferred->prepare(stream));
    if (before)
      TEGULA_RETURN_IF_FAILED(before->prepare(stream));
    for (const Other *other : {&fallback, &packed}) {
      if (!other->exists())
        continue;
      Result<const Kernel *> kernel = other->get(*preferred);
      if (!kernel.ok())
        return kernel.status();
      TEGULA_RETURN_IF_FAILED((*kernel)->prepare(stream));
    }
    return Status();
  });
}

/// Calls `count` for each kernel that is there, until one fails.
template <typename Count> Status KernelSet::forEachReady(Count count) const {
  TEGULA_RETURN_IF_FAILED(count(*preferred));
  for (const Other *other : {&fallback, &packed})
    if (const Kernel *kernel = other->ready())
      TEGULA_RETURN_IF_FAILED(count(*kernel));
  return Status();
}

Result<uint32_t> KernelSet::redoneRows(void *stream) const {
  uint32_t rows = 0;
  Status status = forEachReady([&](const Kernel &kernel) {
    Result<uint32_t> more = kernel.redoneRows(stream);
    rows += more.ok() ? *more : 0;
    return more.status();
  });
  return status.ok() ? Result<uint32_t>(rows) : Result<uint32_t>(status);
}

bool KernelSet::countsVisits() const {
  bool counts = false;
  (void)forEachReady([&](const Kernel &kernel) {
    counts |= kernel.countsVisits();
    return Status();
  });
  return counts;
}

Result<BlockVisits> KernelSet::visits(void *stream) const {
  BlockVisits visits;
  Status status = forEachReady([&](const Kernel &kernel) {
    Result<BlockVisits> more = kernel.visits(stream);
    if (more.ok())
      visits = {visits.partial + more->partial, visits.full + more->full};
    return more.status();
  });
  return status.ok() ? Result<BlockVisits>(visits)
                     : Result<BlockVisits>(status);
}

} // namespace tegula::rt
