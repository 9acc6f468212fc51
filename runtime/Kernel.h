//===- Kernel.h - a compiled kernel that can be launched --------*- C++ -*-===//
//
// A kernel is a manifest and an image (cubin or PTX). It is loaded once per
// CUDA context; a launch then lays out the parameters, encodes tensor maps on
// the host and enqueues one kernel on the caller's stream, or two where a
// pre-pass finds something for the other. A launch allocates nothing but what
// these two share, in the order of the stream, where the caller gives no memory
// for it; it synchronises nothing and can be captured in a graph. Kernels are
// immutable for their users: any number of threads may launch one.
//
// A kernel that keeps counters on the GPU (Workspace.h) gets memory for 64
// streams and captured launches when it is loaded; the first launch on one more
// allocates. A graph may run beside plain launches and other graphs, but not
// beside itself: a second instantiation of one capture has the same counters.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Conditions.h"
#include "runtime/Device.h"
#include "runtime/Workspace.h"

#include <atomic>
#include <mutex>

namespace tegula::rt {

/// What the driver says about a loaded kernel.
struct KernelResources {
  int registers = 0;         // per thread
  int64_t localBytes = 0;    // per thread: spills and stack
  int64_t staticShared = 0;  // bytes per CTA, beside the dynamic part
  int64_t dynamicShared = 0; // bytes per CTA
};

class Kernel {
public:
  /// Reads `manifest`, keeps a copy of `image` and loads it on GPU number
  /// `device`. Errors: a manifest that is wrong, no such GPU or another
  /// architecture, an image that the driver refuses (with its log).
  static Result<std::shared_ptr<Kernel>>
  load(std::string_view manifest, std::string_view image, int device = 0);
  ~Kernel();
  Kernel(const Kernel &) = delete;
  Kernel &operator=(const Kernel &) = delete;

  const Manifest &manifest() const { return description; }
  /// An empty set of arguments for this kernel.
  Arguments arguments() const { return Arguments(description.signature); }

  /// Loads the kernel into the context of `stream` (a CUstream, or null for
  /// the current context), with its workspace, so that a later launch there has
  /// nothing to load.
  /// `load` has done this for the primary context of its GPU.
  Status prepare(void *stream) const;

  /// Whether this kernel can run on these arguments, and if not why. Errors:
  /// arguments that no kernel of the item could take.
  Result<Verdict> conditionsHold(const Arguments &arguments) const;

  /// Enqueues the kernel on `stream` (a CUstream; null is the default stream).
  /// Zero tiles launch nothing. Errors: arguments that are wrong, a condition
  /// that does not hold, memory of another GPU, a failed driver call; with
  /// `unavailable` a context that has to be prepared while the stream is being
  /// captured: the capture stays valid.
  Status launch(void *stream, const Arguments &arguments) const;

  /// The bytes of memory that a launch of these arguments needs beside its
  /// tensors, for what its pre-pass finds: see Arguments::setScratch.
  Result<size_t> scratchBytes(const Arguments &arguments) const;

  /// As above for arguments that `bindArguments` bound and whose conditions
  /// hold: what KernelSet calls.
  Status launchBound(void *stream, const Arguments &arguments,
                     const Binding &binding) const;

  /// Waits for `stream`, and gives the number of rows that its launches so far
  /// computed a second time, as a check of the first result failed; captured
  /// launches are not counted. Starts again at 0 after 2^32 - 1: take
  /// differences. 0 for a kernel without a workspace. Errors: `unavailable`
  /// while the stream is being captured.
  Result<uint32_t> redoneRows(void *stream) const;

  /// Whether the kernel counts the blocks of keys that it visits, as those of a
  /// debug build do.
  bool countsVisits() const { return description.countsVisits(); }

  /// As `redoneRows`, the blocks of keys that these launches visited, by
  /// whether their scores went through the element mask: each block counts once
  /// for each tile of queries that visits it, and one that no tile has work for
  /// not at all. What is computed again is not counted. 0 for a kernel that
  /// counts none.
  Result<BlockVisits> visits(void *stream) const;

  /// Refuses arguments that were made for another signature.
  Status checkSignature(const Arguments &arguments) const;

  /// The driver that the kernel was loaded with.
  const Driver &usedDriver() const { return driver; }

  /// The resources on the GPU of `load`.
  Result<KernelResources> resources() const;

private:
  struct Instance;
  Kernel(Manifest manifest, std::string image, const Driver &driver,
         const Device &device);

  Result<cu::Context> contextOf(void *stream) const;
  const Instance *find(cu::Context context, unsigned long long id) const;
  Result<const Instance *> instanceFor(cu::Context context, void *stream) const;
  Result<const Instance *> makeInstance(cu::Context context,
                                        unsigned long long id) const;
  template <typename T, typename Read>
  Result<T> readCounts(void *stream, Read read) const;
  Status configure(cu::Function function, int threads, int64_t sharedBytes,
                   const Device &device) const;
  Status checkPointers(const Instance &instance,
                       const Arguments &arguments) const;
  struct Entry;
  Result<int64_t> tilesOf(const GridRule &rule, const Arguments &arguments,
                          const Binding &binding) const;
  Result<size_t> scratchBytes(const Arguments &arguments,
                              const Binding &binding) const;
  Status enqueueAll(const Instance &instance, void *stream,
                    const Arguments &arguments, const Binding &binding,
                    int64_t tiles) const;
  Status enqueue(const Instance &instance, void *stream,
                 const Arguments &arguments, const Binding &binding,
                 const Entry &entry, cu::DevicePtr scratch) const;
  std::string launchText(const Arguments &arguments, const Entry &entry) const;

  const Manifest description;
  const std::string image;
  const Driver &driver;
  const Device &device; // of `load`
  /// One per context, newest first; read without a lock, added to under one.
  mutable std::atomic<Instance *> instances{nullptr};
  mutable std::mutex loading;
};

} // namespace tegula::rt
