//===- MathExpansions.h - Math functions of f32 by GPU instructions -*- C++
//-*-===//
//
// Each function takes f32 scalars or vectors of one type and builds the
// expansion at the builder's place. The errors are what the unit test finds, in
// units in the last place: with exact instructions, and with instructions at
// the error bounds that the PTX ISA gives.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_PASSES_LOWER_MATHEXPANSIONS_H
#define TEGULA_PASSES_LOWER_MATHEXPANSIONS_H

#include "mlir/IR/Builders.h"

namespace tegula {

/// e^x, 1 and 5 ulp.
mlir::Value expandExp(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value x);
/// 2^x without the instruction: relative error 3e-6; 0 from -127 down, 2^126 from
/// 126 up, anything for a NaN.
mlir::Value expandExp2(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value x);
/// Natural logarithm, 1.5 and 7 ulp.
mlir::Value expandLog(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value x);
/// Logarithm to base 2, 2 and 9 ulp.
mlir::Value expandLog2(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value x);
/// Logarithm to base 10, 2.5 and 12 ulp.
mlir::Value expandLog10(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value x);
/// log(1 + x), 3 and 9 ulp.
mlir::Value expandLog1p(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value x);
/// Hyperbolic tangent, 2 and 2.5 ulp; +-1 for large |x|.
mlir::Value expandTanh(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value x);
/// The same by the instruction: a relative error of 2^-11 (PTX ISA, tanh).
mlir::Value expandTanhApproximately(mlir::OpBuilder &builder,
                                    mlir::Location loc, mlir::Value x);
/// x / y, within the 2 ulp that the PTX ISA gives div.full.
mlir::Value expandDivision(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value x, mlir::Value y);
/// 1 / sqrt x, 0.5 and 3 ulp.
mlir::Value expandRsqrt(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value x);
/// x^y with the special cases of C's powf, 1.5 and 6 ulp.
mlir::Value expandPow(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value x, mlir::Value y);

} // namespace tegula

#endif // TEGULA_PASSES_LOWER_MATHEXPANSIONS_H
