// The part of a kernel that decides its synchronisation: ops that are events of rings and barriers, and what their counters, bounds and conditions are computed from.
#pragma once

#include "dialect/warp/WarpDialect.h"
#include "passes/verify/Protocol.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tegula {

class ProtocolSlice {
public:
  explicit ProtocolSlice(warp::KernelOp kernel);

  warp::KernelOp getKernel() const { return kernel; }
  /// Ops that are events, in the order of the text.
  llvm::ArrayRef<mlir::Operation *> getEvents() const { return events.getArrayRef(); }
  /// The ops of a block that a run has to look at.
  llvm::ArrayRef<mlir::Operation *> opsOf(mlir::Block *block) const;
  bool holdsEvents(mlir::Operation *op) const { return holders.contains(op); }
  bool holdsEvents(mlir::Region &region) const;
  /// The arm of a branch whose condition need not be known: the only one with events, and these ask that a slot be full and give nothing to other agents, so that a run which makes them asks for more than
  /// one that does not. Null: it must be known.
  mlir::Region *onlyOwnArm(mlir::scf::IfOp branch) const;

  /// Refuses events of the wrong number of threads: whole warps in an elected role, or one thread in another.
  mlir::LogicalResult verifyThreads() const;

private:
  void addEvent(mlir::Operation *op);
  void need(mlir::Value value);
  void needAll(mlir::ValueRange values);
  void needCarried(mlir::Operation *loop, mlir::Value init, mlir::Operation *terminator, unsigned number);
  void needSearch(mlir::scf::WhileOp loop);
  void needArgument(mlir::BlockArgument argument);
  void needResult(mlir::OpResult result);
  void markLive(mlir::Operation *op);

  warp::KernelOp kernel;
  llvm::SetVector<mlir::Operation *> events;
  llvm::DenseSet<mlir::Operation *> holders, live;
  llvm::DenseSet<mlir::Value> needed;
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<mlir::Operation *>> liveOps;
};

} // namespace tegula
