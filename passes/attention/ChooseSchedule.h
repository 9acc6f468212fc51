// The schedule choice as a function: what the pass tegula-choose-schedule and the tests call.
#pragma once

#include "codegen/Target.h"
#include "dialect/tile/TileDialect.h"

namespace tegula {

/// What the choice depends on.
struct AttentionShape {
  int64_t headDim, valueDim; ///< of query and key, of value
  unsigned elementBits;      ///< of the operands: 16, 32 or 64
  bool growsWithRows = false; ///< later rows see more keys
  bool fixesReference = false; ///< the reference of weights may be fixed: see tegula-fix-reference
  bool seesPrefix = false;     ///< what a row sees starts in the first block, if at all
  bool computesScores = false; ///< a score is more than the product
  bool seesInterval = false;   ///< what a row sees are the keys between two limits
  bool listsKeys = false;      ///< what a row sees is in a list of its own
  bool seesByPlace = false;    ///< what a row sees follows from the places of row and key alone
  bool packsHeads = false;     ///< rows of several query heads may share a tile, at no cost to what is computed of one element
  int64_t tableBits = 0;       ///< of one pair, in the tables that come by blocks: see tegula-stage-tables
};

/// Head dims as the matrix instructions see them: the next multiple of 16.
inline int64_t paddedHeadDim(int64_t dim) { return (dim + 15) / 16 * 16; }

/// What a row's max may grow by, in log2, before weights are taken relative to the new one: weights stay below 2^8, inside f16. 0 where each block renews it.
inline int64_t rescaleThreshold(tile::SoftmaxForm softmax) { return softmax == tile::SoftmaxForm::Online ? 0 : 8; }

/// Bytes of shared memory that a pipelined schedule needs: query, key and value rings of 64-column panels, a block of tables, and barriers.
int64_t sharedBytes(tile::ScheduleAttr schedule, const AttentionShape &shape);

/// 32-bit registers that one consumer thread needs at the widest point of the block loop: scores, weights, accumulator and the rest, which is less where the
/// loop keeps no running max. Measured: schedules that need no more than they have assemble without spills.
int64_t consumerRegisters(tile::ScheduleAttr schedule, const AttentionShape &shape);

/// Reports what is wrong with a field, or with several where the name is empty.
using FieldError = llvm::function_ref<mlir::InFlightDiagnostic(llvm::StringRef field)>;

/// The schedule for a shape on a target (`target` null: the CPU), with FIELD=VALUE overrides applied. Reports by `emitError` and returns null
/// where an override is unknown, malformed, or cannot be met.
tile::ScheduleAttr chooseSchedule(mlir::MLIRContext *context, const AttentionShape &shape, const Target *target,
                                  llvm::ArrayRef<std::string> overrides, FieldError emitError);

/// Where a fault of a field is reported: in the `schedule` clause of the kernel that `op` is or stands in, or at `op` where the field is not from
/// there. With no name: at the clause's last field, if there are no `overrides`.
mlir::Location schedulePlace(mlir::Operation *op, llvm::ArrayRef<std::string> overrides, llvm::StringRef field);

/// The overrides of the next schedule to try where machine code under `schedule` spills: two warpgroups in place of four that do not overlap, a quarter of the keys of a block less, then `direct`, then a query tile in
/// memory. Keeps what the user fixed, `overrides`; nothing where that leaves no smaller one.
std::optional<std::vector<std::string>> smallerSchedule(tile::ScheduleAttr schedule, llvm::ArrayRef<std::string> overrides);

} // namespace tegula
