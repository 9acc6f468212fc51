//===- Ptx.h - MLIR of the nvvm stage to PTX --------------------*- C++ -*-===//
//
// In: a module of llvm and nvvm operations. Out: PTX text. LLVM's NVPTX backend
// runs in this process; no optimisation pipeline runs on the kernel, the order
// of operations that the passes chose is the order that ptxas sees.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_CODEGEN_PTX_H
#define TEGULA_CODEGEN_PTX_H

#include "codegen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tegula {

struct PtxOptions {
  const Target *target = &defaultTarget();
  /// Where not null, receives the LLVM IR that code generation starts from.
  std::string *llvmIr = nullptr;
};

struct PtxCode {
  std::string text;
  /// Name of the kernel's entry point; the first where there are several.
  std::string symbol;
  /// 80 for PTX 8.0: the lowest version that the target and the instructions
  /// used need.
  unsigned ptxVersion = 0;
};

/// Registers the translations to LLVM IR of the dialects at the `nvvm` stage.
/// emitPtx does so itself for a context that lacks them.
void registerPtxTranslations(mlir::DialectRegistry &registry);

/// Generates PTX for `module`. Fails with diagnostics on the module's context:
/// at the operation for what NVPTX cannot select, at the kernel for what LLVM
/// reports.
mlir::FailureOr<PtxCode> emitPtx(mlir::ModuleOp module,
                                 const PtxOptions &options = {});

} // namespace tegula

#endif // TEGULA_CODEGEN_PTX_H
