//===- PrintElementLoop.cpp - bounded reductions as text ------------------===//
//
// A loop in the code of one element is written as a loop over a tile of all
// elements, ahead of the statement that reads its result.
//
//===----------------------------------------------------------------------===//
#include "lang/PrintKernelImpl.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::lang;

Operation *tegula::lang::elementOwner(Operation *op) {
  Operation *parent = op->getParentOp();
  while (isa<scf::ForOp>(parent))
    parent = parent->getParentOp();
  return isa<tile::MaskOp, tile::MapOp>(parent) ? parent : nullptr;
}

/// Writes what a loop reads and does not change ahead of it, where it belongs
/// to the same element's code.
LogicalResult KernelPrinter::nameOutside(Value value, Region &element) {
  if (names.count(value) || !element.isAncestor(value.getParentRegion()))
    return success();
  if (isa<BlockArgument>(value))
    return expression(value);
  Operation *op = value.getDefiningOp();
  if (op->hasTrait<OpTrait::ConstantLike>())
    return success();
  if (!isSpelledOut(*op))
    return define(value);
  for (Value operand : op->getOperands())
    if (failed(nameOutside(operand, element)))
      return failure();
  return success();
}

FailureOr<Text> KernelPrinter::elementLoop(scf::ForOp loop) {
  Operation *fold =
      loop.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  Operation *whole = elementOwner(loop);
  llvm::SetVector<Value> outside;
  getUsedValuesDefinedAbove(loop.getRegion(), outside);
  outside.insert(loop.getUpperBound());
  for (Value value : outside)
    if (failed(nameOutside(value, whole->getRegion(0))))
      return failure();
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(whole->getResult(0).getType()).getShape();
  FailureOr<Text> init = full(shape, loop.getInitArgs()[0]);
  FailureOr<Text> lower = expression(loop.getLowerBound());
  FailureOr<Text> upper = expression(loop.getUpperBound());
  FailureOr<Text> step = expression(loop.getStep());
  if (failed(init) || failed(lower) || failed(upper) || failed(step))
    return failure();
  std::string name = fresh("folded"), index = fresh("t");
  line() << "var " << name << " = " << init->text << "\n";
  line() << "for " << index << " in range(" << lower->text << ", "
         << upper->text << ", " << step->text << ") {\n";
  names[loop.getInductionVar()] = index;
  names[loop.getRegionIterArg(0)] = name;
  ++indent;
  FailureOr<Text> next = operation(fold);
  if (failed(next))
    return failure();
  line() << name << " = " << next->text << "\n";
  --indent;
  line() << "}\n";
  return Text{name};
}
