// Tegula's passes: see Passes.td for what each does.
#pragma once

#include "dialect/tile/TileDialect.h"
#include "dialect/warp/WarpDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::LLVM { class LLVMDialect; }
namespace mlir::NVVM { class NVVMDialect; }

namespace tegula {
#define GEN_PASS_DECL
#include "passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace tegula
