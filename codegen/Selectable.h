//===- Selectable.h - What the NVPTX backend can select ---------*- C++ -*-===//
//
// The boundary check of the `nvvm` stage: LLVM aborts or misbehaves on what its
// NVPTX backend cannot select, so all of it is refused before, with a message
// at the operation.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_CODEGEN_SELECTABLE_H
#define TEGULA_CODEGEN_SELECTABLE_H

#include "mlir/IR/BuiltinOps.h"

namespace tegula {

/// Fails, with a diagnostic at each offending operation, unless `module` holds
/// only builtin, llvm and nvvm operations, intrinsics and types that NVPTX
/// selects, and calls of functions that it defines.
mlir::LogicalResult verifySelectable(mlir::ModuleOp module);

} // namespace tegula

#endif // TEGULA_CODEGEN_SELECTABLE_H
