// What lowering needs to know of one thread under a blocked layout: where its elements lie, and how threads pass values.
#pragma once

#include "passes/lower/LowerWarp.h"

namespace tegula {

class BlockedThread {
public:
  BlockedThread(mlir::OpBuilder &b, mlir::Location loc, const KernelState &state) : b(b), loc(loc), state(state) {}

  /// The sum of `weights[n]` over the bits n of the thread's number that are 1, as i32.
  mlir::Value sum(llvm::ArrayRef<int64_t> weights);
  /// The thread's part of the coordinate along `axis`, i32; a register's part is added to it.
  mlir::Value coordinate(warp::BlockedAttr layout, int64_t axis);
  /// Whether the thread is the first of those that hold the same elements; null where no other does.
  mlir::Value isFirstCopy(warp::BlockedAttr layout);
  /// Whether a register's element lies inside the extent of `axis`; null where all do.
  mlir::Value isInside(warp::BlockedAttr layout, int64_t axis, int64_t extent, int64_t registerOffset);
  /// Bit `bit` of the thread's number, i1.
  mlir::Value bit(unsigned bit);

  /// The value of the thread whose number differs in `bit`, one of the lane's.
  mlir::Value exchange(mlir::Value value, unsigned bit);
  /// All threads of the CTA meet; what they wrote to memory is there.
  void meet();

  /// A pointer into shared memory: `offset` bytes (i32) and a constant from its base.
  mlir::Value sharedPointer(mlir::Value offset, int64_t constant);
  /// `count` elements at `pointer` and `bytes` further.
  mlir::Value loadShared(mlir::Value pointer, int64_t bytes, mlir::Type element, int64_t count);
  void storeShared(mlir::ValueRange elements, mlir::Value pointer, int64_t bytes);

  llvm::SmallVector<mlir::Value> elementsOf(mlir::Value vector);
  mlir::Value vectorOf(mlir::ValueRange elements);
  mlir::Value constant(int64_t value, unsigned bits = 32) { return constantInt(b, loc, value, bits); }
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y);
  mlir::Value both(mlir::Value x, mlir::Value y); ///< x and y, either of which may be null (true)

  mlir::OpBuilder &b;
  mlir::Location loc;
  const KernelState &state;
};

/// A pattern that goes before that of fragments, where there is one.
template <typename OpTy> struct BlockedPattern : mlir::OpConversionPattern<OpTy> {
  BlockedPattern(const mlir::TypeConverter &types, mlir::MLIRContext *context, KernelState &state)
      : mlir::OpConversionPattern<OpTy>(types, context, /*benefit=*/2), state(state) {}

protected:
  KernelState &state;
};

/// How a type lies in memory: i1 as i8.
mlir::Type storedType(mlir::Type element);
/// The layout of a tile; null for other types and layouts.
warp::BlockedAttr blockedLayout(mlir::Type type);

} // namespace tegula
