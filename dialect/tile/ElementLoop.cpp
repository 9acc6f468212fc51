#include "dialect/tile/ElementLoop.h"

#include "dialect/tile/TileDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace tegula::tile;

void tegula::tile::hoistElementCode(LoopLikeOpInterface loop) {
  moveLoopInvariantCode(
      loop.getLoopRegions(),
      [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
      [](Operation *op, Region *) {
        return !op->hasTrait<OpTrait::IsTerminator>() &&
               (isMemoryEffectFree(op) || isa<LookupOp>(op));
      },
      [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
}
