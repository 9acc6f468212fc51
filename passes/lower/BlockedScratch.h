// How the ops of a blocked program use shared memory: one plan an op, read by the allocator (bytes) and the lowering (addresses).
//
// The allocator sets two attributes on such an op: `scratch`, the first byte, and `guarded`, where threads must meet before it writes, because
// nothing else keeps it from what the same op read in an earlier iteration, or another one read at the same place.
#pragma once

#include "dialect/warp/WarpDialect.h"
#include "llvm/ADT/SmallVector.h"

namespace tegula {

constexpr llvm::StringLiteral scratchAttr = "scratch", guardedAttr = "guarded";

/// What remains of a layout while an axis is being combined: register digits, and bits of the thread's number.
struct OpenDigits {
  llvm::SmallVector<warp::Digit> registers;
  llvm::SmallVector<warp::Digit> threads; ///< axis -1: copies, or combined already

  explicit OpenDigits(warp::BlockedAttr layout) : registers(layout.getRegisters()), threads(layout.getThreads()) {}
};

/// One step of combining along an axis: a digit of registers, a bit of the lane, or all bits of the warp at once.
struct AxisStep {
  enum Kind { Register, Lane, Warps } kind;
  unsigned index = 0;                ///< of the digit among the layout's registers, or of the bit
  llvm::SmallVector<unsigned> bits;  ///< of Warps, by rising stride
};

/// The steps along `axis`: by rising stride where `ordered` (functions that do not commute, running sums), else cheapest first.
llvm::SmallVector<AxisStep> axisSteps(warp::BlockedAttr layout, int64_t axis, bool ordered);

/// A step is done: its digit has one value, its bits hold copies.
void close(OpenDigits &open, const AxisStep &step);

/// Where warps put partial results: of each value still open, all parts side by side.
struct PartsPlan {
  int64_t parts;                               ///< 2 to the number of warp bits
  llvm::SmallVector<int64_t> registerWeights;  ///< of each open register digit, in values
  llvm::SmallVector<int64_t> threadWeights;    ///< of each bit of the thread's number that is open
  llvm::SmallVector<int64_t> partWeights;      ///< of each bit of the thread's number: its part
  int64_t values;                              ///< in all, without the parts

  PartsPlan(const OpenDigits &open, llvm::ArrayRef<unsigned> bits);
};

/// Where elements lie between two layouts, in elements: sum of coordinate times weight.
struct MovePlan {
  llvm::SmallVector<int64_t> fromWeights, toWeights;
  int64_t elements;
  bool keepsThreads; ///< no element changes its thread: nothing goes through memory
  bool isReshape;    ///< places past an extent would meet others

  MovePlan(mlir::RankedTensorType from, mlir::RankedTensorType to);
};

/// Where the operands of a matrix product lie. Both have `depth` along their inner axis; a pitch separates the lines along the other.
struct DotPlan {
  struct Operand {
    int64_t outerAxis, innerAxis;  ///< of the tile: rows (or columns) of the product, and its depth
    bool innerIsFast;              ///< neighbours along the depth are neighbours in memory
    int64_t pitch, lines;          ///< in elements
    int64_t offset;                ///< bytes from the scratch
    bool needsZeros;               ///< the depth is rounded up beyond what is written
    mlir::RankedTensorType tile;   ///< as the threads hold it, or copy it from memory
  };
  Operand lhs, rhs;
  int64_t depth;                   ///< rounded up to a step of the matrix op
  int64_t bytes;

  explicit DotPlan(warp::DotOp op);
};

/// Steps along the depth of one matrix op on such elements; 1 where there is none.
int64_t dotStep(mlir::Type element);

/// Bytes of shared memory that an op needs while it runs; 0 for most.
int64_t scratchBytes(mlir::Operation *op);

/// Sets `scratch` and `guarded` on the ops of a kernel; returns the bytes that they need.
int64_t allocateScratch(warp::KernelOp kernel);

} // namespace tegula
