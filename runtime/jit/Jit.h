//===- Jit.h - a program's text in, something to launch out -----*- C++ -*-===//
//
// The only part that links both compiler and runtime; this header needs
// neither LLVM nor MLIR. What was compiled before, by any thread, comes from
// memory: the key is everything that shapes the code, and each key is compiled
// once. The pipelined kernel is compiled at once, the direct one when operands
// need it.
//
//     rt::Jit jit;
//     auto kernel = jit.compile({.source = text, .defines = {{"D", "64"}}});
//     if (!kernel.ok())
//       puts(kernel.status().message().c_str());   // diagnostics, with places
//     rt::Arguments args = (*kernel)->kernels->arguments();
//     args.set("q", rt::TensorView::contiguous(q, rt::ElementType::bf16,
//                                              {2, 8, 300, 64}));  ...
//     (*kernel)->kernels->launch(stream, args);
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/KernelSet.h"

namespace tegula::rt {

/// What to compile.
struct JitRequest {
  /// The text of a `.tg` file.
  std::string source;
  /// Its name in diagnostics.
  std::string fileName = "<string>";
  /// The item; empty for the only one.
  std::string item = {};
  /// Values of statics, as `-D NAME=VALUE`.
  std::vector<std::pair<std::string, std::string>> defines = {};
  /// Fields of the schedule, as "FIELD=VALUE".
  std::vector<std::string> schedule = {};
  /// "sm_90a"; empty for the architecture of `device`.
  std::string arch = {};
  /// The GPU that the kernels are loaded on at once; a launch on another of
  /// the same architecture loads them there.
  int device = 0;
  /// Check at each launch what the program claims of its arguments: tensors
  /// that are `sorted` or `in` a range, indices inside of tables. On the CPU a
  /// run then ends in `assertionFailed`; a launch on a GPU, when the stream is
  /// waited for, in CUDA_ERROR_ASSERT, with the claim on standard output. On a
  /// GPU the kernels also count their visits of blocks: see Kernel::visits.
  bool debug = false;
  /// On a GPU: `tanh` by its instruction, whose relative error is 2^-11.
  bool approximateTanh = false;
};

/// A compiled and loaded item.
struct JitKernel {
  std::shared_ptr<KernelSet> kernels;
  /// Warnings and remarks of the compiler, as a person reads them.
  std::string diagnostics;
};

/// A compiled item for this host's CPU: the same tile program, run on tensors
/// in host memory.
class HostKernel {
public:
  virtual ~HostKernel();
  virtual const Signature &signature() const = 0;
  Arguments arguments() const { return makeArguments(); }
  /// Runs to the end. May be called from several threads.
  virtual Status run(const Arguments &arguments) const = 0;

private:
  virtual Arguments makeArguments() const = 0;
};

/// How often the JIT compiled and how often it did not have to.
struct JitStatistics {
  int64_t compiles = 0;
  int64_t hits = 0;
};

/// Compiles on demand. All members may be called from any thread. Kernels may
/// outlive it.
class Jit {
public:
  Jit();
  ~Jit();
  Jit(const Jit &) = delete;
  Jit &operator=(const Jit &) = delete;

  /// The JIT of the process; never destroyed. `tegula_compile` uses it.
  static Jit &shared();

  /// Compiles for a GPU and loads. Errors: `sourceError` with diagnostics that
  /// name file, line and column; `unavailable` without a driver or a GPU. What
  /// failed is tried anew by the next call.
  Result<std::shared_ptr<const JitKernel>> compile(const JitRequest &request);

  /// Compiles for the CPU; `arch` and `device` are not looked at.
  Result<std::shared_ptr<const HostKernel>>
  compileForHost(const JitRequest &request);

  JitStatistics statistics() const;
  /// Forgets all that was compiled. Kernels in use stay valid.
  void clear();

private:
  struct Impl;
  std::shared_ptr<Impl> impl;
};

} // namespace tegula::rt
