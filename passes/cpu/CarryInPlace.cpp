// tegula-cpu-carry-in-place: loops write what they carry back into the buffers that it came in.
//
// In: linalg on tensors. Out: the same, with each tile that a loop yields materialized in the loop's own argument, and each tile that a branch
// yields in a buffer of the branch. The one idea: then no buffer outlives an iteration, and one allocation a tile serves the whole call.
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
    getOperation().walk([&](scf::IfOp branch) {
      for (Region &region : branch->getRegions())
        if (!region.empty())
          yieldOwn(region.front());
    });
    getOperation().walk([&](scf::ForOp loop) { carry(loop); });
  }

  void copy(OpOperand &tile) {
    OpBuilder b(tile.getOwner());
    auto type = cast<RankedTensorType>(tile.get().getType());
    tile.set(bufferization::AllocTensorOp::create(b, tile.getOwner()->getLoc(), type, ValueRange(), /*copy=*/tile.get()));
    ++copied;
  }

  /// What a branch passes on would make the branch's results, and with them all that a loop carries through it, one buffer to bufferization.
  void yieldOwn(Block &block) {
    for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      Operation *definition = bufferOf(operand.get()).getDefiningOp();
      if (!isa_and_nonnull<tensor::EmptyOp, bufferization::ToTensorOp>(definition) || definition->getBlock() != &block)
        copy(operand);
    }
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
      // Of an inner loop's result: that loop may start from the argument and read it as well.
      bool mayBeAnother = tiles.size() > 1 && !isOwn && !isa_and_nonnull<tensor::EmptyOp, bufferization::ToTensorOp>(definition);
      if (!mayBeAnother && !isa_and_nonnull<scf::ForOp>(definition))
        continue;
      copy(*tile);
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
