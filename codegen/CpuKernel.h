//===- CpuKernel.h - A kernel as machine code of this host ------*- C++ -*-===//
//
// The end of the CPU target: the llvm dialect, after `buildCpuPipeline`, becomes code in memory that is called with tensors, scalars and
// dims by name. Arguments are checked and dims are found by the same code that launches GPU kernels.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_CODEGEN_CPUKERNEL_H
#define TEGULA_CODEGEN_CPUKERNEL_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/Arguments.h"
#include <memory>

namespace tegula {

/// A compiled kernel. Independent of the MLIR context that it came from; `run` may be called from several threads at once.
class CpuKernel {
public:
  /// Compiles the one function with a manifest in `module`, which is in the llvm dialect. Loads translations into the module's context.
  /// Without `optimize` the code is slow, and there five times sooner. Errors: `internal`, or `unavailable` where this host has no JIT.
  static rt::Result<std::unique_ptr<CpuKernel>> create(mlir::ModuleOp module, bool optimize = true);

  ~CpuKernel();

  /// What the kernel takes.
  const rt::Signature &signature() const;
  /// The schedule's fields as JSON text, for reports.
  const std::string &schedule() const;
  /// A fresh set of arguments to fill and pass to `run`. Tensors are in host memory; sizes and strides in elements.
  rt::Arguments arguments() const;

  /// Binds and checks `arguments`, then runs every program of the grid on the calling thread. Errors: `invalidArgument`; `assertionFailed`, with
  /// place and message, where an assertion of the program did not hold: every program has run all the same.
  rt::Status run(const rt::Arguments &arguments) const;

private:
  struct Impl;
  explicit CpuKernel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace tegula

#endif // TEGULA_CODEGEN_CPUKERNEL_H
