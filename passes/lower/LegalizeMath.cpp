//===- LegalizeMath.cpp - Math functions by GPU instructions --------------===//
//
// One pattern a function: types are brought to f32, MathExpansions.h writes the
// code. What has no pattern and does not select is an error at the operation.
//
//===----------------------------------------------------------------------===//
#include "passes/lower/LegalizeMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "passes/lower/MathExpansions.h"

using namespace mlir;

namespace tegula {

#define GEN_PASS_DEF_LEGALIZEMATHPASS
#include "passes/lower/LegalizeMath.h.inc"

/// `type` with elements of f32, or null where elements are wider or of no kind
/// that is handled.
static Type asF32(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return {};
  Type f32 = Float32Type::get(type.getContext());
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.isScalable() ? Type() : vector.clone(f32);
  return isa<FloatType>(type) ? f32 : Type();
}

namespace {

template <typename OpTy, auto expand>
struct ExpandPattern : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType(), wide = asF32(type);
    if (!wide)
      return rewriter.notifyMatchFailure(
          op, "expected f32, f16 or bf16 scalars or vectors");
    SmallVector<Value, 2> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          type == wide ? operand
                       : arith::ExtFOp::create(rewriter, loc, wide, operand)
                             .getResult());
    Value result;
    if constexpr (std::is_invocable_v<decltype(expand), OpBuilder &, Location,
                                      Value, Value>)
      result = expand(rewriter, loc, operands[0], operands[1]);
    else
      result = expand(rewriter, loc, operands[0]);
    if (type != wide)
      result = arith::TruncFOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Quotients of the elements of a tile. One of a scalar is computed once, and
/// stays rounded correctly.
struct DivideTiles : ExpandPattern<arith::DivFOp, expandDivision> {
  using ExpandPattern::ExpandPattern;

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<VectorType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "expected vectors");
    return ExpandPattern::matchAndRewrite(op, rewriter);
  }
};

/// 2^x of 16-bit floats at the precision of f32: the 16-bit instructions are
/// less exact than the types.
struct WidenExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::Exp2Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType(), wide = asF32(type);
    if (!wide || wide == type)
      return rewriter.notifyMatchFailure(
          op, "expected f16 or bf16 scalars or vectors");
    Value operand =
        arith::ExtFOp::create(rewriter, op.getLoc(), wide, op.getOperand());
    Value result = math::Exp2Op::create(rewriter, op.getLoc(), operand);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, result);
    return success();
  }
};

} // namespace

void populateLegalizeMathPatterns(RewritePatternSet &patterns,
                                  bool approximateTanh) {
  if (approximateTanh)
    patterns.add<ExpandPattern<math::TanhOp, expandTanhApproximately>>(
        patterns.getContext());
  else
    patterns.add<ExpandPattern<math::TanhOp, expandTanh>>(
        patterns.getContext());
  patterns.add<ExpandPattern<math::ExpOp, expandExp>,
               ExpandPattern<math::LogOp, expandLog>,
               ExpandPattern<math::Log2Op, expandLog2>,
               ExpandPattern<math::Log10Op, expandLog10>,
               ExpandPattern<math::Log1pOp, expandLog1p>,
               ExpandPattern<math::RsqrtOp, expandRsqrt>,
               ExpandPattern<math::PowFOp, expandPow>,
               DivideTiles, WidenExp2>(
      patterns.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
}

bool isLegalMath(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<math::Exp2Op>(op))
    return element.isF32();
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundOp,
             math::RoundEvenOp, math::SqrtOp, math::TruncOp>(op);
}

namespace {
struct LegalizeMathPass : impl::LegalizeMathPassBase<LegalizeMathPass> {
  using LegalizeMathPassBase::LegalizeMathPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateLegalizeMathPatterns(patterns, approximateTanh);
    FrozenRewritePatternSet frozen(std::move(patterns));
    getOperation()->walk([&](Operation *op) {
      legalised += isDivision(op) || (isMath(op) && !isLegalMath(op));
    });
    walkAndApplyPatterns(getOperation(), frozen);

    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (!isMath(op) || isLegalMath(op))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName() << "' on " << op->getResultTypes()
                      << " has no lowering for the GPU";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static bool isMath(Operation *op) {
    return isa_and_nonnull<math::MathDialect>(op->getDialect());
  }
  static bool isDivision(Operation *op) {
    return isa<arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op);
  }
};
} // namespace

} // namespace tegula
