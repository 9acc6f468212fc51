//===- KernelSet.h - the kernels of one item --------------------*- C++ -*-===//
//
// An item has a fast kernel with conditions on its operands (`pipelined`), one
// that takes any strides, alignment and lengths (`direct`), and perhaps one
// whose tiles hold rows of several query heads (`packed`), for launches that it
// saves tiles. The set picks at each launch and says which it took and why. All
// but the first may come from a callback, so that a JIT compiles them only when
// they are needed. One more kernel may go before each launch, on the same
// arguments and stream: a debug build checks there what the program claims of
// its arguments.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Kernel.h"

#include <functional>

namespace tegula::rt {

/// Makes a kernel when it is first needed. Called under a lock, and again after
/// a failure.
using KernelProvider = std::function<Result<std::shared_ptr<Kernel>>()>;

/// Which kernel a launch took.
struct LaunchReport {
  Form form = Form::direct;
  /// Why it was not the preferred one; empty if it was.
  std::string reason;
  /// The kernel; null where it is not made yet.
  const Kernel *kernel = nullptr;
};

/// The kernels of an item, of which only `preferred` has to be there.
struct KernelChoice {
  /// Used where its conditions hold.
  std::shared_ptr<Kernel> preferred;
  /// Used elsewhere; else what the provider makes is.
  std::shared_ptr<Kernel> fallback = nullptr;
  KernelProvider fallbackProvider = nullptr;
  /// Used where `packing` of the preferred kernel's manifest is above 0 and its
  /// own conditions hold.
  std::shared_ptr<Kernel> packed = nullptr;
  KernelProvider packedProvider = nullptr;
  /// Launched before any of them.
  std::shared_ptr<Kernel> before = nullptr;
};

class KernelSet {
public:
  /// Errors: kernels whose signatures differ.
  static Result<std::shared_ptr<KernelSet>> create(KernelChoice kernels);

  const Signature &signature() const {
    return *preferred->manifest().signature;
  }
  Arguments arguments() const { return preferred->arguments(); }

  /// Loads all kernels of the set into the context of `stream`, making those
  /// that have a provider: after it, any launch there can be captured.
  Status prepare(void *stream) const;

  /// Which kernel a launch of these arguments would take; loads nothing.
  Result<LaunchReport> choose(const Arguments &arguments) const;

  /// As Kernel::scratchBytes, of the kernel that a launch of these arguments
  /// takes; makes it if need be.
  Result<size_t> scratchBytes(const Arguments &arguments) const;

  /// As Kernel::launch, with the kernel that fits. Errors beside those: no
  /// kernel takes these operands; with `unavailable`, the fallback has to be
  /// made while `stream` is being captured. Where the packed kernel would have
  /// to, the preferred one is taken.
  Status launch(void *stream, const Arguments &arguments,
                LaunchReport *report = nullptr) const;

  /// As Kernel::redoneRows, over all kernels of the set.
  Result<uint32_t> redoneRows(void *stream) const;

  /// As Kernel::countsVisits and Kernel::visits, over the kernels of the set
  /// that there are.
  bool countsVisits() const;
  Result<BlockVisits> visits(void *stream) const;

  /// The kernel that is used where its conditions hold.
  const Kernel &preferredKernel() const { return *preferred; }

private:
  /// A kernel that is there, or is made when it is first needed.
  class Other {
  public:
    Other(std::shared_ptr<Kernel> kernel, KernelProvider provider)
        : provider(std::move(provider)), kernel(std::move(kernel)),
          made(this->kernel.get()) {}
    bool exists() const { return provider || ready(); }
    const Kernel *ready() const { return made.load(std::memory_order_acquire); }
    /// The kernel, made if need be; its signature has to be that of
    /// `preferred`.
    Result<const Kernel *> get(const Kernel &preferred) const;

  private:
    const KernelProvider provider;
    mutable std::mutex making;
    mutable std::shared_ptr<Kernel> kernel; // owns `made`
    mutable std::atomic<const Kernel *> made;
  };

  explicit KernelSet(KernelChoice kernels);
  /// Whether a choice may make a kernel, which loads a module.
  enum class Making { never, always, unlessCaptured };
  Result<LaunchReport> choose(const Arguments &arguments,
                              const Binding &binding, Making making,
                              void *stream = nullptr) const;
  Result<bool> mayMake(Making making, void *stream) const;
  Result<bool> packs(const Binding &binding) const;
  Result<const Kernel *> fallbackFor(bool mayMake,
                                     const std::string &reason) const;
  template <typename Count> Status forEachReady(Count count) const;

  const std::shared_ptr<Kernel> preferred, before;
  const Other fallback, packed;
};

} // namespace tegula::rt
