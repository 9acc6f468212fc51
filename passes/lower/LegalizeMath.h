//===- LegalizeMath.h - Math functions by GPU instructions ------*- C++ -*-===//
//
// The pass `tegula-legalize-math` (see LegalizeMath.td) and its patterns, for
// use in other passes.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_PASSES_LOWER_LEGALIZEMATH_H
#define TEGULA_PASSES_LOWER_LEGALIZEMATH_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace mlir::arith {
class ArithDialect;
}
namespace mlir::math {
class MathDialect;
}
namespace mlir::vector {
class VectorDialect;
}
namespace mlir::LLVM {
class LLVMDialect;
}

namespace tegula {

#define GEN_PASS_DECL
#include "passes/lower/LegalizeMath.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/lower/LegalizeMath.h.inc"

/// Rewrites of math functions on f32, f16, bf16 scalars and vectors to
/// operations that NVPTX selects, and of floored and ceiled division. With
/// `approximateTanh`, tanh is its instruction.
void populateLegalizeMathPatterns(mlir::RewritePatternSet &patterns,
                                  bool approximateTanh = false);

/// Whether NVPTX selects `op`, of the math dialect, on its types.
bool isLegalMath(mlir::Operation *op);

} // namespace tegula

#endif // TEGULA_PASSES_LOWER_LEGALIZEMATH_H
