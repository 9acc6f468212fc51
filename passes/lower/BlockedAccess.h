// A tile in global memory under a blocked layout: which elements exist, and where; and elements as the words of an access.
//
// The one idea: along each axis of memory, `width` elements from the tile's element `low` on exist, so that one unsigned comparison of a 32-bit
// coordinate decides.
#pragma once

#include "passes/lower/BlockedThread.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tegula {

/// Bytes of an element in memory.
int64_t storedBytes(mlir::Type element);
/// The first of each list of parts: of operands that are one value each.
llvm::SmallVector<mlir::Value> firstOf(llvm::ArrayRef<mlir::ValueRange> parts);
/// Elements of one type as the words of an access, and back (see `ptx::loadGlobalIf`).
llvm::SmallVector<mlir::Value> toWords(BlockedThread &t, mlir::ValueRange elements);
llvm::SmallVector<mlir::Value> fromWords(BlockedThread &t, mlir::ValueRange words, mlir::Type element, int64_t count);

class TileAccess {
public:
  /// `tile` has a blocked layout; `starts` has one index an axis of memory, `axes` one axis of memory an axis of the tile.
  TileAccess(BlockedThread &t, mlir::RankedTensorType tile, mlir::MemRefType type, MemoryParts memory, llvm::ArrayRef<mlir::Value> starts,
             llvm::ArrayRef<int64_t> axes);

  /// Neighbouring registers that one access may move.
  int64_t run() const;
  /// Whether accesses of `count` elements are aligned and either exist or do not: the same for all threads.
  mlir::Value movesTogether(int64_t count);
  /// Whether the element of a register exists; null where all do.
  mlir::Value exists(int64_t index);
  /// The address of a register's element. `contiguous`: the fast axis has stride 1.
  mlir::Value address(int64_t index, bool contiguous);
  /// The same for an element at any coordinates (i32).
  mlir::Value existsAt(llvm::ArrayRef<mlir::Value> coordinates);
  mlir::Value addressAt(llvm::ArrayRef<mlir::Value> coordinates);
  /// Forgets values that stand in one arm of a branch.
  void leaveBranch();

private:
  struct Axis {
    mlir::Value stride;                 ///< of memory, i64
    mlir::Value place;                  ///< the thread's coordinate, i32
    mlir::Value from;                   ///< the same, from the first element that exists
    mlir::Value low, width;             ///< i32; null: 0, and all exist
    int64_t extent = 0;                 ///< of the tile
    llvm::SmallVector<int64_t> offsets; ///< of each register
    llvm::DenseMap<int64_t, mlir::Value> inside;
  };

  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y);
  int64_t fastAxis() const { return layout.getRegisters().empty() ? all.size() - 1 : layout.getRegisters().front().axis; }
  void bound(Axis &axis, mlir::Value start, mlir::Value extent);

  BlockedThread &t;
  mlir::OpBuilder &b;
  mlir::Location loc;
  warp::BlockedAttr layout;
  mlir::Type stored;
  mlir::Value base, anywhere, startContiguous, startStrided;
  llvm::SmallVector<Axis> all;
};

} // namespace tegula
