// tegula-cpu-legalize-floats: arithmetic on f16 and bf16 in f32; f64 rounded to them once.
//
// In: scalar arith. Out: the same, where 16-bit floats only meet extf and truncf to and from f32. The one idea: f32 has more than twice the
// digits of either type, so rounding an f32 result of + - * / or sqrt again gives the correctly rounded result.
#include "passes/cpu/CpuPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tegula {
#define GEN_PASS_DEF_CPULEGALIZEFLOATSPASS
#include "passes/cpu/CpuPasses.h.inc"
} // namespace tegula

using namespace mlir;

namespace {

bool isNarrow(Type type) { return type.isF16() || type.isBF16(); }

/// Scalar arith or math on a 16-bit float type, other than what f32 gives directly.
bool needsF32(Operation *op) {
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) || op->getNumResults() != 1 ||
      isa<arith::ConstantOp, arith::BitcastOp, arith::SelectOp>(op))
    return false;
  if (isa<arith::ExtFOp>(op))
    return isNarrow(op->getOperand(0).getType()) && !op->getResult(0).getType().isF32();
  if (isa<arith::TruncFOp>(op))
    return false;
  return isNarrow(op->getResult(0).getType()) || llvm::any_of(op->getOperandTypes(), isNarrow);
}

void computeInF32(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (OpOperand &operand : op->getOpOperands())
    if (isNarrow(operand.get().getType()))
      operand.set(arith::ExtFOp::create(b, b.getF32Type(), operand.get()));
  Type type = op->getResult(0).getType();
  if (!isNarrow(type))
    return;
  op->getResult(0).setType(b.getF32Type());
  b.setInsertionPointAfter(op);
  auto narrow = arith::TruncFOp::create(b, type, op->getResult(0));
  op->getResult(0).replaceAllUsesExcept(narrow, narrow);
}

/// Rounds an f64 to f32 "to odd": where f32 cannot hold the value, takes the neighbour whose last bit is 1, so that no second rounding can
/// go wrong.
Value roundToOdd(ImplicitLocOpBuilder &b, Value x) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  auto constant = [&](int32_t value) -> Value { return arith::ConstantOp::create(b, b.getI32IntegerAttr(value)); };
  Value nearest = arith::TruncFOp::create(b, f32, x);
  Value back = arith::ExtFOp::create(b, b.getF64Type(), nearest);
  Value bits = arith::BitcastOp::create(b, i32, nearest);
  Value inexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, x);
  Value lastBit = arith::AndIOp::create(b, bits, constant(1));
  Value even = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lastBit, constant(0));
  Value rounded = math::AbsFOp::create(b, back), exact = math::AbsFOp::create(b, x), away = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, rounded, exact);
  Value down = constant(-1), up = constant(1), step = arith::SelectOp::create(b, away, down, up);
  Value moved = arith::AddIOp::create(b, bits, step);
  Value odd = arith::SelectOp::create(b, arith::AndIOp::create(b, inexact, even), moved, bits);
  return arith::BitcastOp::create(b, f32, odd);
}

struct CpuLegalizeFloatsPass : tegula::impl::CpuLegalizeFloatsPassBase<CpuLegalizeFloatsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> wide, doubles;
    getOperation().walk([&](Operation *op) {
      if (needsF32(op))
        wide.push_back(op);
      else if (isa<arith::TruncFOp>(op) && isNarrow(op->getResult(0).getType()) && op->getOperand(0).getType().isF64())
        doubles.push_back(op);
    });
    for (Operation *op : wide)
      computeInF32(op);
    for (Operation *op : doubles) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      op->setOperand(0, roundToOdd(b, op->getOperand(0)));
    }
    legalized += wide.size() + doubles.size();
  }
};

} // namespace
