// tegula-cpu-carry-in-place: loops write what they carry back into the buffers that it came in.
//
// In: linalg on tensors. Out: the same, with each tile that a loop yields materialized in the loop's own argument. The one idea: then no
// buffer outlives an iteration, and one allocation a tile serves the whole call.
#include "passes/cpu/CpuPasses.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace tegula {
#define GEN_PASS_DEF_CPUCARRYINPLACEPASS
#include "passes/cpu/CpuPasses.h.inc"
} // namespace tegula

using namespace mlir;

namespace {

/// The tile whose buffer `value` is computed in, if all goes well.
Value bufferOf(Value value) {
  while (auto op = value.getDefiningOp<DestinationStyleOpInterface>())
    value = op.getTiedOpOperand(cast<OpResult>(value))->get();
  return value;
}

struct CpuCarryInPlacePass : tegula::impl::CpuCarryInPlacePassBase<CpuCarryInPlacePass> {
  void runOnOperation() override {
    getOperation().walk([&](scf::ForOp loop) { carry(loop); });
  }

  void carry(scf::ForOp loop) {
    Operation *yield = loop.getBody()->getTerminator();
    SmallVector<OpOperand *> tiles;
    for (OpOperand &operand : yield->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        tiles.push_back(&operand);
    OpBuilder b(yield);
    // What may lie in another argument's buffer would be overwritten before it is read.
    for (OpOperand *tile : tiles) {
      Value buffer = bufferOf(tile->get());
      Operation *definition = buffer.getDefiningOp();
      bool isOwn = buffer == loop.getRegionIterArg(tile->getOperandNumber());
      if (tiles.size() == 1 || isOwn || isa_and_nonnull<tensor::EmptyOp, bufferization::ToTensorOp>(definition))
        continue;
      auto type = cast<RankedTensorType>(buffer.getType());
      tile->set(bufferization::AllocTensorOp::create(b, yield->getLoc(), type, ValueRange(), /*copy=*/tile->get()));
      ++copied;
    }
    for (OpOperand *tile : tiles) {
      Value argument = loop.getRegionIterArg(tile->getOperandNumber());
      if (tile->get() != argument)
        tile->set(bufferization::MaterializeInDestinationOp::create(b, yield->getLoc(), tile->get(), argument).getResult());
    }
    carried += tiles.size();
  }
};

} // namespace
