// The consumers of a kernel, or its only role.
#pragma once

#include "passes/schedule/RoleBuilder.h"

namespace tegula {

/// Everything but the loads of matrix operands: `pipelined` drains rings, `direct` reads global memory itself.
class ConsumerRole : public RoleBuilder {
public:
  /// `redo`: the guard of the kernel's stores, or null. `matrixOps` counts those issued.
  ConsumerRole(mlir::OpBuilder &b, const mlir::IRMapping &arguments, Rings &rings, tile::ScheduleAttr schedule, tile::RedoOp redo, uint64_t &matrixOps);

private:
  struct Slot {
    unsigned ring;
    mlir::Value counter, copy;
    mlir::Operation *last;                    ///< of the tile program: reads the tile, or a block in it does, and nothing behind it; null once it is emitted
    llvm::SmallVector<mlir::Value> readers;   ///< results of matrix ops that are not awaited yet
  };

  /// Blocks that this warpgroup has no use for, whose slots it must pass over all the same.
  struct Rest {
    llvm::SmallVector<unsigned> rings;        ///< in the order of their loads
    int64_t step;
    mlir::Value from, to;                     ///< block numbers
    mlir::Operation *last;                    ///< takes a slot of these rings before the rest; null once it is emitted
  };

  mlir::LogicalResult emit(mlir::Operation &op) override;
  mlir::LogicalResult emitOp(mlir::Operation &op);
  void finishBlock(mlir::Block &block) override;
  bool inStep() const override { return pipelined; }
  mlir::LogicalResult finishTiles(const TileNumbers &numbers) override;

  mlir::LogicalResult blockLoop(tile::ForBlocksOp blocks);
  mlir::Value boundByOwnRows(tile::ForBlocksOp blocks);
  mlir::Value rowsExist(tile::ForBlocksOp blocks);
  void take(tile::LoadOp load);
  bool hasRegistersFor(mlir::Operation &op) const;
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> readSlots(mlir::Operation &op);
  mlir::LogicalResult readNote(tile::ListedBlockOp block);
  void issue(tile::DotOp dot);

  void zeroUnseen(tile::ZeroUnseenOp op);
  mlir::Value seenPairs(tile::ZeroUnseenOp op);

  void awaitValue(mlir::Value value);
  void awaitOperands(mlir::Operation &op);
  void awaitFragmentReaders(mlir::Block *block);
  void releaseUnread();

  // RestOfBlocks.cpp
  mlir::Value forWholeTile(mlir::Value value, mlir::IRMapping &whole);
  void leaveRest(tile::ForBlocksOp blocks, mlir::Value upper, mlir::Value wholeUpper);
  void passOverRest();
  llvm::SmallVector<unsigned> ringsOf(tile::ForBlocksOp blocks) const;
  tile::ForBlocksOp begunBy(tile::LoadOp load) const;
  mlir::LogicalResult passOverFront(tile::ForBlocksOp blocks, mlir::Value first);
  tile::ListedBlockOp partedBlock(tile::ForBlocksOp blocks) const;
  mlir::Value mattersToOwnRows(tile::ListedBlockOp block);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> unlessHidden(tile::ListedBlockOp block, mlir::ValueRange carried,
                                                               llvm::function_ref<mlir::FailureOr<llvm::SmallVector<mlir::Value>>()> fill);
  void passOverSlot(mlir::OpBuilder &at, mlir::Location loc, unsigned ring, mlir::Value counter);
  void passOver(mlir::Location loc, llvm::ArrayRef<unsigned> numbers, mlir::Value from, mlir::Value to, int64_t step);

  // RedoRows.cpp
  mlir::LogicalResult storeOrMark(tile::RedoOp redo);
  void mark(tile::RedoOp op);
  mlir::LogicalResult redoMarked(const TileNumbers &numbers);
  mlir::LogicalResult redoTile(const TileNumbers &numbers, mlir::Value number);
  struct MarkPlace {
    llvm::SmallVector<mlir::Value> indices;
    mlir::Value shift, end;                   ///< of packed rows; else null
  };
  mlir::Value forEachMark(const TileNumbers &numbers, mlir::Value number, llvm::function_ref<mlir::Value(tile::StoreOp, const MarkPlace &)> test);

  bool pipelined, queryInRegisters;
  int64_t consumers;
  tile::RedoOp redo;
  uint64_t &matrixOps;
  llvm::MapVector<mlir::Value, mlir::Value> pending; ///< result of a dot -> the matrix op's pending value
  llvm::DenseMap<mlir::Value, mlir::Value> seen;     ///< tile in global memory -> which pairs of rows and keys are visible
  llvm::MapVector<mlir::Value, Slot> slots;          ///< loaded tile -> the slot that holds it
  llvm::SmallVector<Rest> rests;
  llvm::DenseSet<mlir::Operation *> begun;           ///< loops whose front is passed over
  llvm::DenseMap<mlir::Operation *, mlir::Value> partBits; ///< listed block -> the word of its note that says which parts of the rows it matters to
};

} // namespace tegula
