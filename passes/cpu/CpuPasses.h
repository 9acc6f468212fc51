// The CPU target: a tile program through linalg and LLVM. See CpuPasses.td for what each pass does.
//
// `buildCpuPipeline` starts at the `tile` stage with the softmax ops expanded and ends in the llvm dialect; codegen/CpuKernel.h runs the
// result.
#pragma once

#include "dialect/tile/TileDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace mlir {
namespace bufferization {
class BufferizationDialect;
}
namespace linalg {
class LinalgDialect;
}
namespace func {
class FuncDialect;
class FuncOp;
} // namespace func
} // namespace mlir

namespace tegula {
#define GEN_PASS_DECL
#include "passes/cpu/CpuPasses.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/cpu/CpuPasses.h.inc"

/// Adds to `registry` what the pipeline needs beyond the dialects that its passes load by themselves: how each dialect is bufferized and
/// converted to the llvm dialect. The pipeline's first pass asks for it, so only a tool that starts in the middle has to call it.
void registerCpuDialects(mlir::DialectRegistry &registry);

/// From the `tile` stage (softmax ops expanded, no encodings) to the llvm dialect. `pm` runs on a module.
void buildCpuPipeline(mlir::OpPassManager &pm);

} // namespace tegula
