// Scalar code of one element, emitted for the elements that a thread holds.
#pragma once

#include "passes/lower/LowerWarp.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tegula {

/// Of how many elements a value of such code is the same: all, those of a row, of a column, or none.
enum class Spread { Uniform = 0, Rows = 1, Columns = 2, Elements = 3 };

inline Spread join(Spread x, Spread y) { return static_cast<Spread>(static_cast<int>(x) | static_cast<int>(y)); }

/// Emits a region for all elements of a tile that one thread holds.
class RegionEmitter {
public:
  /// A region of a tile at row `firstRow` and, of a fragment, column `firstColumn`. Its arguments are the elements of `inputs`, then its indices.
  RegionEmitter(mlir::ConversionPatternRewriter &b, mlir::Location loc, mlir::RankedTensorType tile, const KernelState &state, mlir::Region &region, mlir::ValueRange inputs,
                mlir::Value firstRow, mlir::Value firstColumn);
  /// The yielded value, one an element; null where the region holds an op that is not scalar code.
  mlir::Value emit();

private:
  mlir::Value yielded() { return region.front().getTerminator()->getOperand(0); }

  mlir::Operation *waitBehind(const llvm::DenseMap<mlir::Value, Spread> &shapes);
  llvm::LogicalResult emitByLanes(const llvm::DenseMap<mlir::Value, Spread> &shapes);
  void fetchColumns(int64_t first);
  mlir::Value emitAtOnce();
  mlir::Value emitInGroups(const llvm::DenseMap<mlir::Value, Spread> &shapes);

  static bool hasRows(Spread spread) { return spread == Spread::Rows || spread == Spread::Elements; }
  static bool ofColumns(Spread spread) { return spread == Spread::Columns || spread == Spread::Elements; }
  int64_t elementsAtOnce(const llvm::DenseMap<mlir::Value, Spread> &shapes);
  llvm::DenseMap<mlir::Value, Spread> staticSpreads(mlir::Block &block, llvm::DenseMap<mlir::Value, Spread> known);
  llvm::LogicalResult emit(mlir::Block &block);
  void mapRow(mlir::Value argument, mlir::Value first);
  void mapColumns(int64_t first);
  void setColumns(mlir::Value base, llvm::ArrayRef<int64_t> offsets);

  mlir::Type held(mlir::Value value);
  bool isNarrow(mlir::Operation &op);
  mlir::Value as(mlir::Type type, mlir::Value value);
  llvm::LogicalResult emit(mlir::Operation &op);

  // ElementLines.cpp
  /// Integers that are the column's index, once more or less, and values that no column changes.
  struct Distance {
    int64_t columns = 0;
    llvm::SmallVector<std::pair<mlir::Value, int64_t>> rest;
    int64_t low = 0, high = 0; ///< of the rest
  };
  bool addTo(Distance &sum, mlir::Value value, int64_t sign);
  std::pair<mlir::Value, Spread> atBase(const Distance &sum);
  mlir::Value offsetsOf(mlir::Type element);

  /// A float that grows along the columns by the same step: `base + offset * step`, where a row has one base and one step, or all have. It is computed where an element needs it.
  struct Line {
    mlir::Value base, step;
    Spread baseSpread, stepSpread;
  };
  bool emitLine(mlir::Operation &op);
  void setLine(mlir::Value value, Line line);
  mlir::Value along(const Line &line);
  bool emitByDistance(mlir::Operation &op);

  llvm::LogicalResult emitLoop(mlir::scf::ForOp loop);
  llvm::SmallVector<Spread> carriedSpreads(mlir::scf::ForOp loop);
  llvm::LogicalResult emitLookups(tile::LookupOp op, Spread spread);
  llvm::LogicalResult emitMarks(tile::AnyRangeOp op);
  void readMarks(tile::AnyRangeOp op);

  int64_t count(Spread spread) const {
    return spread == Spread::Rows ? 2 : spread == Spread::Columns ? width / 2 : spread == Spread::Elements ? width : 1;
  }
  mlir::Type shaped(mlir::Type type, Spread spread) const { return spread == Spread::Uniform ? type : mlir::VectorType::get({count(spread)}, type); }
  Spread spreadOf(mlir::Value value) const;
  void set(mlir::Value value, mlir::Value emitted, Spread spread) { values[value] = {emitted, spread}; }
  mlir::Value get(mlir::Value value, Spread wanted, bool whole = false);
  mlir::Value widened(mlir::Value now, Spread spread, Spread wanted);

  mlir::ConversionPatternRewriter &b;
  mlir::Location loc;
  int64_t columns; ///< 0: one value a row
  int64_t width;   ///< how many elements are emitted at once
  const ThreadPlace &place;
  mlir::Region &region;
  mlir::Value column, firstColumn; ///< the index argument, and the tile's first
  mlir::Value columnBase;          ///< the columns are this and their offsets
  llvm::SmallVector<int64_t> columnOffsets;
  IndexRanges ranges;
  llvm::SetVector<mlir::Operation *> emitted; ///< by lanes
  llvm::MapVector<mlir::Value, llvm::SmallVector<mlir::Value>> byLanes; ///< what of theirs is read, a lane's columns
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, Spread>> values;
  llvm::DenseMap<mlir::Value, Line> lines;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> marks; ///< which of a row's columns some range holds, a bit a column that the thread has; words for both rows
};

} // namespace tegula
