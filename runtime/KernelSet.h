//===- KernelSet.h - the kernels of one item --------------------*- C++ -*-===//
//
// An item has a fast kernel with conditions on its operands (`pipelined`) and
// one that takes any strides, alignment and lengths (`direct`). The set picks
// at each launch and says which it took and why. The direct kernel may come
// from a callback, so that a JIT compiles it only when it is needed. One more
// kernel may go before each launch, on the same arguments and stream: a debug
// build checks there what the program claims of its arguments.
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
};

class KernelSet {
public:
  /// `preferred` is used where its conditions hold, else `fallback`, or what
  /// `provider` makes; `before` is launched before either. All but the first
  /// may be absent. Errors: kernels whose signatures differ.
  static Result<std::shared_ptr<KernelSet>>
  create(std::shared_ptr<Kernel> preferred,
         std::shared_ptr<Kernel> fallback = nullptr,
         KernelProvider provider = nullptr,
         std::shared_ptr<Kernel> before = nullptr);

  const Signature &signature() const {
    return *preferred->manifest().signature;
  }
  Arguments arguments() const { return preferred->arguments(); }

  /// Loads all kernels of the set into the context of `stream`, making the
  /// fallback if there is a provider: after it, any launch there can be
  /// captured.
  Status prepare(void *stream) const;

  /// Which kernel a launch of these arguments would take; loads nothing.
  Result<LaunchReport> choose(const Arguments &arguments) const;

  /// As Kernel::scratchBytes, of the kernel that a launch of these arguments
  /// takes; makes the fallback if it is that.
  Result<size_t> scratchBytes(const Arguments &arguments) const;

  /// As Kernel::launch, with the kernel that fits. Errors beside those: no
  /// kernel takes these operands; with `unavailable`, the fallback has to be
  /// made while `stream` is being captured.
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
  KernelSet(std::shared_ptr<Kernel> preferred, std::shared_ptr<Kernel> before)
      : preferred(std::move(preferred)), before(std::move(before)) {}
  Result<const Kernel *> fallbackFor(bool mayMake,
                                     const std::string &reason) const;

  const std::shared_ptr<Kernel> preferred, before;
  mutable std::mutex making;
  mutable std::shared_ptr<Kernel> fallback; // owns `ready`
  mutable std::atomic<const Kernel *> ready{nullptr};
  KernelProvider provider;
};

} // namespace tegula::rt
