// What the roles of a kernel share: a walk of the same tile program that keeps what each needs.
#pragma once

#include "passes/schedule/Rings.h"
#include "passes/schedule/TileNumbers.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace tegula {

/// Where a role is written, what values became, and the ring counters, which every loop on the way to a ring carries.
class RoleBuilder {
public:
  RoleBuilder(mlir::OpBuilder &b, const mlir::IRMapping &arguments, Rings &rings, tile::ScheduleAttr schedule)
      : b(b), map(arguments), arguments(arguments), rings(rings), schedule(schedule) {}
  virtual ~RoleBuilder() = default;

  /// The whole role: the loop over tiles with one tile's program in it.
  mlir::LogicalResult build(tile::KernelOp kernel);

  /// One tile's program with what stands before it, outside any loop over tiles.
  mlir::LogicalResult buildProgram(tile::KernelOp kernel, const TileNumbers &numbers, mlir::Value number);

protected:
  /// One tile's program, from its place in the grid on.
  mlir::LogicalResult buildTile(tile::KernelOp kernel, const TileNumbers &numbers, mlir::Value number);

  virtual mlir::LogicalResult emit(mlir::Operation &op) = 0;
  virtual void finishBlock(mlir::Block &) {}
  /// Whether whole warps run the role, and take tile numbers that the machine cannot know to be uniform.
  virtual bool inStep() const { return false; }
  /// Behind the loop over tiles; `extras` hold what it gave.
  virtual mlir::LogicalResult finishTiles(const TileNumbers &) { return mlir::success(); }

  /// Maps the results of a row span to `rows` rows from `offset` on.
  void mapRowSpan(tile::RowSpanOp op, mlir::IRMapping &results, mlir::Value offset, int64_t rows);

  void advance(unsigned ring, mlir::Location loc);

  /// Opens an scf.for in place of a block loop, with the counters carried behind `inits`; the body is filled by `fill`, which gives the next values.
  mlir::scf::ForOp loop(tile::ForBlocksOp op, mlir::Value upper, llvm::ArrayRef<mlir::Value> inits,
                        llvm::function_ref<mlir::FailureOr<llvm::SmallVector<mlir::Value>>(mlir::ValueRange)> fill);

  mlir::OpBuilder &b;
  mlir::IRMapping map;
  const mlir::IRMapping &arguments;
  Rings &rings;
  tile::ScheduleAttr schedule;
  llvm::SmallVector<mlir::Value> counters;
  llvm::SmallVector<mlir::Value> extras; ///< more that the loop over tiles carries
  mlir::Value zero;

private:
  mlir::LogicalResult buildPreamble(tile::KernelOp kernel);
  TileNumbers numberTiles(tile::KernelOp kernel, tile::ProgramIdOp id);
  TileNumbers::Keys sharedKeys(tile::KernelOp kernel);
};

} // namespace tegula
