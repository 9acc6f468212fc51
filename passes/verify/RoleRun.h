// The roles of a kernel, run over small sizes, as events of slots and barriers.
#pragma once

#include "passes/verify/Choices.h"
#include "passes/verify/ProtocolSlice.h"

#include <map>

namespace tegula {

/// What is known of a value of a role in one run.
struct Known {
  enum Kind { Nothing, Number, Slot, Product } kind = Nothing;
  int64_t number = 0;    ///< Number; Slot: its number; Product: how many matrix ops were issued before it
  int round = 0;         ///< Slot: which fill
  bool isVarying = true; ///< Nothing: may differ between the warps of the warpgroup

  static Known of(int64_t number) { return {Number, number}; }
};

/// What the slots and barriers of a kernel are in every run, and which sizes its runs are over.
class RoleRun {
public:
  explicit RoleRun(const ProtocolSlice &slice);

  enum class Outcome {
    Done,
    TooLong, ///< a loop turns too often under these choices
    Unclear, ///< the text cannot be followed; a warning says where
    Refused, ///< the text is wrong; an error says where
  };

  /// The events of every warpgroup under these choices; an event's site is the number of its op among the slice's events.
  Outcome run(Choices &choices, protocol::System &system);

  /// Events that no run has come to.
  llvm::SmallVector<mlir::Operation *> unreached() const;

  /// What an argument of the kernel is in the runs. Dims of blocks: none, a part of one, and one more than so many that every slot is used again. Other dims: 1.
  llvm::SmallVector<int64_t> optionsFor(mlir::BlockArgument argument) const;
  /// Scalars and elements of tables: none, one, more than a block, more than all blocks; or both truth values.
  llvm::SmallVector<int64_t> optionsFor(mlir::Type element) const;
  std::string nameOf(mlir::BlockArgument argument) const;

private:
  friend class AgentRun;
  struct Ring {
    int firstSlot;
    int64_t copies, stages;
  };

  void addRing(warp::RingOp ring);
  void addUnit(warp::CopyOp copy);

  const ProtocolSlice &slice;
  protocol::System empty; ///< slots and barriers, without agents
  llvm::DenseMap<mlir::Value, Ring> rings;
  std::map<std::pair<int, int>, llvm::SmallVector<Known>> notes; ///< of the run that is being made: on a slot's fill
  int queueSlot = -1; ///< the first slot of the queue of tile numbers
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> asksForNumber; ///< the op in a loop over tiles before which consumers ask for the next one
  llvm::DenseMap<mlir::Operation *, int> siteOf;
  llvm::DenseSet<mlir::Operation *> reached;
  llvm::DenseMap<mlir::Attribute, int64_t> units; ///< rows of a block along a dim
  int64_t largestUnit = 1, mostStages = 1;
  llvm::SmallVector<int64_t> voteBarriers;
  Outcome outcome = Outcome::Done; ///< of the run that is being made
};

} // namespace tegula
