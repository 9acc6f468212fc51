// What the parts of tegula-lower-warp share: the type conversion, and the facts of the kernel at hand.
#pragma once

#include "dialect/warp/WarpDialect.h"
#include "passes/lower/IndexRange.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tegula {

/// Values at the top of the function that every pattern may use. All i32.
struct ThreadPlace {
  mlir::Value thread;      ///< in the CTA
  mlir::Value group;       ///< warpgroup in the CTA, uniform
  mlir::Value laneIsFirst; ///< i1
  mlir::Value row;         ///< first row of a fragment that this thread holds, i64: 16 * warp in group + lane / 4; the second is 8 further
  mlir::Value column;      ///< first column, i64: 2 * (lane % 4)
  mlir::Value shared;      ///< base of shared memory, 1024-byte aligned; null without rings
};

/// The kernel while it is lowered.
struct KernelState {
  mlir::LLVM::LLVMFuncOp function;
  tile::ScheduleAttr schedule; ///< null for a tile program in blocked layouts
  int64_t threads;             ///< of the CTA
  ThreadPlace place;
  mlir::Value workspace;       ///< pointer to the launch's counters: next tile, CTAs that left, rows computed again (u32 each), from byte 16 on visits of partial and of full blocks (u64); null where nothing uses it
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> tensorMaps; ///< of each warp.copy, one a panel
  llvm::DenseMap<mlir::Value, IndexRange> ranges;            ///< of dims and warpgroup numbers
};

/// A memref as its parts: pointer, strides in elements, extents (i64).
struct MemoryParts {
  mlir::Value pointer;
  mlir::ValueRange strides, extents;

  MemoryParts(mlir::ValueRange parts)
      : pointer(parts.front()), strides(parts.drop_front().take_front((parts.size() - 1) / 2)),
        extents(parts.drop_front(1 + (parts.size() - 1) / 2)) {}
};

/// Fragments to vectors of one thread, memrefs to their parts, slots to addresses.
class ThreadTypeConverter : public mlir::TypeConverter {
public:
  ThreadTypeConverter();
};

/// Where consumers ask for the number of the next tile and where they find out its place: beside the last product, whose slots are then freed, and before the last one that stores; its end where there is none.
std::pair<mlir::Operation *, mlir::Operation *> tileEnd(mlir::Block &body);

/// A loop over tiles whose numbers come from the grid's counter, taken by the elected role and passed on through a queue (see TileLoop.cpp).
void lowerDynamicTiles(warp::ForTilesOp op, warp::QueueOp queue, warp::RoleOp role, KernelState &state);
/// Opens a branch for the first lane if a whole warp runs the role; else what follows at `b` is one thread's already.
void enterFirstLane(mlir::OpBuilder &b, mlir::Location loc, warp::RoleOp role, const KernelState &state);
/// Puts each count of a visited block under a branch for one thread of the role.
void countByOneThread(warp::RoleOp role, int64_t firstWarpgroup, const KernelState &state);
/// Plain counting: ctaid, ctaid + nctaid, ...
void lowerStridedTiles(warp::ForTilesOp op);
/// Sets up the queue's barriers, in one thread.
void initialiseQueue(mlir::OpBuilder &b, warp::QueueOp queue, mlir::Value shared);

/// Replaces warp.kernel by llvm.func with the arguments that the manifest describes: roles and the tile loop become control flow.
mlir::FailureOr<KernelState> lowerStructure(warp::KernelOp kernel);
/// Drops arguments that nothing reads and writes the manifest.
void finishKernel(KernelState &state);

/// Hides each element as it is tested, so that flags live no longer than that: the code of a tile of flags, then of its selects, keeps more of them than there are predicate registers.
void fuseSelects(warp::KernelOp kernel);

void populateFragmentPatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateElementPatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateMatrixPatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateCopyPatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateReadPatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateUnseenPatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateBarrierPatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateNotePatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateVisitPatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateTileLoopPatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateRedoPatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateBlockedMemoryPatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateBlockedMovePatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateBlockedReducePatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateDeviceReportPatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);
void populateBlockedDotPatterns(mlir::RewritePatternSet &patterns, const mlir::TypeConverter &types, KernelState &state);

/// An integer constant of the llvm dialect.
mlir::Value constantInt(mlir::OpBuilder &b, mlir::Location loc, int64_t value, unsigned bits = 32);
/// The value of an i64 as i32: for quantities known to be small.
mlir::Value narrowToI32(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value);
/// `pointer + sum(indices * strides)` elements.
mlir::Value elementAddress(mlir::OpBuilder &b, mlir::Location loc, mlir::Type element, mlir::Value pointer, mlir::ValueRange indices,
                           mlir::ValueRange strides);

} // namespace tegula
