//===- KernelSet.cpp - choose between pipelined and direct ----------------===//
//
// Arguments are bound once; the conditions of the preferred kernel decide. The
// fallback, once there, is read without a lock.
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

Result<std::shared_ptr<KernelSet>>
KernelSet::create(std::shared_ptr<Kernel> preferred,
                  std::shared_ptr<Kernel> fallback, KernelProvider provider,
                  std::shared_ptr<Kernel> before) {
  return guarded([&]() -> Result<std::shared_ptr<KernelSet>> {
    if (!preferred)
      return invalidArgument("a kernel set needs a kernel, but got null");
    for (const std::shared_ptr<Kernel> &other : {fallback, before})
      if (other)
        TEGULA_RETURN_IF_FAILED(checkSameSignature(*preferred, *other));
    std::shared_ptr<KernelSet> set(
        new KernelSet(std::move(preferred), std::move(before)));
    set->ready = fallback.get();
    set->fallback = std::move(fallback);
    set->provider = std::move(provider);
    return set;
  });
}

/// The fallback, made if need be. Making it loads a module, so a
/// launch on a captured stream may not.
Result<const Kernel *> KernelSet::fallbackFor(bool mayMake,
                                              const std::string &reason) const {
  if (const Kernel *kernel = ready.load(std::memory_order_acquire))
    return kernel;
  if (!provider)
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
  std::lock_guard lock(making);
  if (const Kernel *kernel = ready.load(std::memory_order_acquire))
    return kernel;
  Result<std::shared_ptr<Kernel>> made = provider();
  if (!made.ok())
    return made.status();
  if (!*made)
    return internalError("the provider of a kernel gave null");
  TEGULA_RETURN_IF_FAILED(checkSameSignature(*preferred, **made));
  fallback = std::move(*made);
  ready.store(fallback.get(), std::memory_order_release);
  return fallback.get();
}

Status KernelSet::prepare(void *stream) const {
  return guarded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(preferred->prepare(stream));
    if (before)
      TEGULA_RETURN_IF_FAILED(before->prepare(stream));
    if (!provider && !ready.load())
      return Status();
    Result<const Kernel *> other = fallbackFor(/*mayMake=*/true, "prepare");
    return other.ok() ? (*other)->prepare(stream) : other.status();
  });
}

Result<uint32_t> KernelSet::redoneRows(void *stream) const {
  Result<uint32_t> rows = preferred->redoneRows(stream);
  const Kernel *other = ready.load(std::memory_order_acquire);
  if (!rows.ok() || !other)
    return rows;
  Result<uint32_t> more = other->redoneRows(stream);
  return more.ok() ? Result<uint32_t>(*rows + *more) : more;
}

bool KernelSet::countsVisits() const {
  const Kernel *other = ready.load(std::memory_order_acquire);
  return preferred->countsVisits() || (other && other->countsVisits());
}

Result<BlockVisits> KernelSet::visits(void *stream) const {
  Result<BlockVisits> visits = preferred->visits(stream);
  const Kernel *other = ready.load(std::memory_order_acquire);
  if (!visits.ok() || !other)
    return visits;
  Result<BlockVisits> more = other->visits(stream);
  if (more.ok())
    more =
        BlockVisits{visits->partial + more->partial, visits->full + more->full};
  return more;
}

Result<LaunchReport> KernelSet::choose(const Arguments &arguments) const {
  return guarded([&]() -> Result<LaunchReport> {
    Result<Verdict> verdict = preferred->conditionsHold(arguments);
    if (!verdict.ok())
      return verdict.status();
    if (verdict->holds)
      return LaunchReport{preferred->manifest().form, ""};
    if (!provider && !ready.load())
      return fallbackFor(/*mayMake=*/false, verdict->reason).status();
    return LaunchReport{Form::direct, std::move(verdict->reason)};
  });
}

Result<size_t> KernelSet::scratchBytes(const Arguments &arguments) const {
  return guarded([&]() -> Result<size_t> {
    Result<Verdict> verdict = preferred->conditionsHold(arguments);
    if (!verdict.ok())
      return verdict.status();
    if (verdict->holds)
      return preferred->scratchBytes(arguments);
    Result<const Kernel *> other =
        fallbackFor(/*mayMake=*/true, verdict->reason);
    return other.ok() ? (*other)->scratchBytes(arguments) : other.status();
  });
}

Status KernelSet::launch(void *stream, const Arguments &arguments,
                         LaunchReport *report) const {
  return guarded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(preferred->checkSignature(arguments));
    Binding binding;
    TEGULA_RETURN_IF_FAILED(bindArguments(arguments, binding));
    const Kernel *kernel = preferred.get();
    Verdict verdict = checkConditions(kernel->manifest(), arguments, binding);
    if (!verdict.holds) {
      Result<bool> capturing = isCapturing(kernel->usedDriver(), stream);
      if (!capturing.ok())
        return capturing.status();
      Result<const Kernel *> other =
          fallbackFor(/*mayMake=*/!*capturing, verdict.reason);
      if (!other.ok())
        return other.status();
      kernel = *other;
      if (Verdict second =
              checkConditions(kernel->manifest(), arguments, binding);
          !second.holds)
        return invalidArgument(concat("no kernel of `", signature().name,
                                      "` can take this: ", verdict.reason, "; ",
                                      second.reason));
    }
    if (report) {
      report->form = kernel->manifest().form;
      report->reason = std::move(verdict.reason);
    }
    if (before)
      TEGULA_RETURN_IF_FAILED(before->launch(stream, arguments));
    return kernel->launchBound(stream, arguments, binding);
  });
}

} // namespace tegula::rt
