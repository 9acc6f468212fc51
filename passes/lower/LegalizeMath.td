// The math legalisation pass of the GPU target.
#ifndef TEGULA_PASSES_LOWER_LEGALIZEMATH_TD
#define TEGULA_PASSES_LOWER_LEGALIZEMATH_TD

include "mlir/Pass/PassBase.td"

def LegalizeMathPass : Pass<"tegula-legalize-math"> {
  let summary = "rewrites math functions to what a GPU has instructions for";
  let description = [{
    A GPU has 2^x, log2 x, 1/x and 1/sqrt x to about 22 bits, and LLVM's NVPTX backend aborts on most other functions. On f32 scalars and vectors: `exp` by 2^x,
    corrected for what rounding its argument loses; `log`, `log2`, `log10`, `log1p` by log2 x, and by a polynomial near 1; `tanh` by 2^x, and by a polynomial near 0;
    `powf` by a two-part log2 x; `rsqrt` by its instruction; `arith.divf` of vectors by `div.full`; `arith.floordivsi` and `ceildivsi` by division. f16 and bf16 go through f32.
    Other functions of f64, and those not named here, are refused at the operation. Results are within a few ulp of the exact value (MathExpansions.h has the numbers),
    and +-0, infinities and NaN follow IEEE 754; denormals count as 0.

    Stands after fragments are distributed, so that one expansion serves scalar code and fragments, and before the conversions to llvm.

    Example: `math.exp %x : f32` becomes `arith.maximumf`, `minimumf` (bounds), `arith.mulf` (t = x log2 e), two `math.fma` (x - t ln 2), `math.exp2`, and a `math.fma` (the power
    times 1 + x - t ln 2).
  }];
  let options = [Option<"approximateTanh", "approximate-tanh", "bool", "false", "`tanh` of f32 is the instruction, which is exact to 11 bits">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect"];
  let statistics = [Statistic<"legalised", "ops-legalised", "operations rewritten">];
}

#endif
