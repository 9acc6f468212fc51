//===- MathExpansions.h - Math functions of f32 by GPU instructions -*- C++ -*-===//
//
// Each function takes f32 scalars or vectors of one type and builds the expansion at the builder's place. Errors are in units in the
// last place of the result, with the instructions' own errors (2^-22 relative for 2^x and 1/x, 2^-22 absolute for log2 x near 1).
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_PASSES_LOWER_MATHEXPANSIONS_H
#define TEGULA_PASSES_LOWER_MATHEXPANSIONS_H

#include "mlir/IR/Builders.h"

namespace tegula {

/// e^x, 3 ulp.
mlir::Value expandExp(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// Natural logarithm, 6 ulp.
mlir::Value expandLog(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// Logarithm to base 2, 6 ulp.
mlir::Value expandLog2(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// Logarithm to base 10, 6 ulp.
mlir::Value expandLog10(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// log(1 + x), 6 ulp.
mlir::Value expandLog1p(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// Hyperbolic tangent, 4 ulp; +-1 for large |x|.
mlir::Value expandTanh(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// 1 / sqrt x, 2 ulp.
mlir::Value expandRsqrt(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// x^y with the special cases of C's powf, 4 ulp.
mlir::Value expandPow(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, mlir::Value y);

} // namespace tegula

#endif // TEGULA_PASSES_LOWER_MATHEXPANSIONS_H
