// Addresses of one slot of a ring: tile, full and empty barrier, and the parity of its phase. All follow from the counter.
#pragma once

#include "passes/lower/LowerWarp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tegula {

class RingSlot {
public:
  /// `counter` and `copy` are i64, `shared` the base of shared memory.
  RingSlot(mlir::OpBuilder &b, mlir::Location loc, warp::RingOp ring, mlir::Value shared, mlir::Value counter, mlir::Value copy)
      : b(b), loc(loc), ring(ring), shared(shared), stages(ring.getRing().getType().getStages()) {
    mlir::Value count = narrowToI32(b, loc, counter), depth = constantInt(b, loc, stages);
    mlir::Value slot = mlir::arith::RemUIOp::create(b, loc, count, depth);
    mlir::Value round = mlir::arith::DivUIOp::create(b, loc, count, depth);
    phase = mlir::arith::AndIOp::create(b, loc, round, constantInt(b, loc, 1));
    number = slot;
    if (ring.getCopies() > 1)
      number = mlir::arith::AddIOp::create(b, loc, slot, mlir::arith::MulIOp::create(b, loc, narrowToI32(b, loc, copy), depth));
  }

  mlir::Value tile() { return at(*ring.getOffset(), ring.getRing().getType().getSlotBytes()); }
  mlir::Value full() { return at(*ring.getBarriers(), 8); }
  mlir::Value empty() { return at(*ring.getBarriers() + 8 * ring.getCopies() * stages, 8); }
  mlir::Value note() { return at(*ring.getNotes(), 16); }
  /// Of the phase that the consumer waits for; the producer waits for the other one, which the first round passes.
  mlir::Value parity() { return phase; }
  mlir::Value otherParity() { return mlir::arith::XOrIOp::create(b, loc, phase, constantInt(b, loc, 1)); }

private:
  mlir::Value at(int64_t offset, int64_t size) {
    mlir::Value base = mlir::arith::AddIOp::create(b, loc, shared, constantInt(b, loc, offset));
    return mlir::arith::AddIOp::create(b, loc, base, mlir::arith::MulIOp::create(b, loc, number, constantInt(b, loc, size)));
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
  warp::RingOp ring;
  mlir::Value shared, number, phase;
  int64_t stages;
};

} // namespace tegula
