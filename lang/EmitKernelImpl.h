//===- EmitKernelImpl.h - the state shared by ProgramEmitter's parts ------===//
//
// Private to EmitKernel.cpp (values and bounds), EmitMemory.cpp (loads and
// stores), EmitReductions.cpp, EmitSoftmaxState.cpp and EmitStatements.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_EMITKERNELIMPL_H
#define TEGULA_LANG_EMITKERNELIMPL_H

#include "dialect/tile/TileDialect.h"
#include "lang/EmitKernel.h"
#include "lang/EmitOperators.h"
#include "mlir/IR/BuiltinTypes.h"
#include <limits>

namespace tegula::lang {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// What a value is in the dialect: one op result, or max, sum and accumulator
/// of a state. Of a tile: the axes that the result has; others have extent 1.
struct Emitted {
  llvm::SmallVector<mlir::Value, 3> parts;
  llvm::SmallVector<int64_t, 4> axes;
};

class ProgramEmitter {
public:
  ProgramEmitter(const Item &item, mlir::OpBuilder &builder,
                 const LocationMap &locations, const KernelValues &values)
      : item(item), program(*item.program), b(builder), locations(locations),
        values(values) {}

  void run();

private:
  using Known = llvm::DenseMap<const Term *, Emitted>;

  // EmitStatements.cpp
  void emitGrid();
  void emitBlock(const std::vector<Statement> &statements);
  void emitStatement(const Statement &s);
  void emitFor(const Statement &s);
  void emitBody(const Statement &s, mlir::Value index, mlir::ValueRange carried,
                llvm::SmallVectorImpl<mlir::Value> &next);
  void emitIf(const Statement &s);
  void emitPrint(const Statement &s);

  // EmitMemory.cpp
  llvm::SmallVector<mlir::Value> scalarIndices(const Place &place);
  llvm::SmallVector<mlir::Value> tileIndices(const Place &place);
  Emitted emitLoad(const Term &v);
  mlir::Value loadBox(const Term &v);
  mlir::Value gather(const Term &v);
  mlir::Value lookUp(const Term &v);
  mlir::Value usedLanes(const Term &where, const Place &place);
  mlir::Value readBool(ElemType elem, mlir::Value memory);
  mlir::Value writeBool(ElemType elem, mlir::Value value);
  void emitStore(const Statement &s);
  void emitAtomic(const Statement &s);
  mlir::Value storeMask(const Statement &s);

  // EmitReductions.cpp
  Emitted emitReduce(const Term &v);
  Emitted emitCombine(const Term &v);
  Emitted emitDot(const Term &v);

  // EmitSoftmaxState.cpp
  Emitted emitState(const Term &v);
  Emitted emitOnlineSoftmax(const Term &v);
  mlir::Value visibleScores(const Term &v, mlir::Value scores);
  mlir::Value rowMax(const Term &state);
  mlir::Value weighted(mlir::Value weights, mlir::Value factor);
  Emitted emitMerge(const Term &v);
  Emitted emitPartial(const Term &v);
  tile::FinishOp finish(const Term &state);

  // Values (EmitKernel.cpp).
  const Emitted &emit(const Term &v);
  Emitted compute(const Term &v);
  mlir::Value emitScalar(const Term &v) { return emit(v).parts[0]; }
  /// With all axes.
  mlir::Value emitTile(const Term &v);
  void appendParts(const Term &v, llvm::SmallVectorImpl<mlir::Value> &parts);
  void define(const Term &local, mlir::ValueRange &parts);
  Emitted whole(const Term &v, mlir::Value value);
  Emitted emitConstant(const Term &v);
  Emitted emitOperator(const Term &v);
  mlir::Value emitOp(const Term &v, mlir::ValueRange args);

  // Bounds.
  /// base + lane, as a tile of rank 1.
  mlir::Value lanes(const Term *base, int64_t count);
  /// Which lanes of a tile of `shape` are inside the bound of an axis.
  mlir::Value inBound(const Bound &bound, unsigned axis,
                      llvm::ArrayRef<int64_t> shape);
  mlir::Value both(mlir::Value a, mlir::Value b);
  /// `tile` with `neutral` in the lanes past the bound of an axis.
  mlir::Value neutralise(mlir::Value tile, const Bound &bound, unsigned axis,
                         mlir::Value neutral);

  // Types and small ops.
  mlir::RankedTensorType tileType(llvm::ArrayRef<int64_t> shape, ElemType elem);
  mlir::Type typeOf(const TileType &type);
  void typesOf(const TileType &type, llvm::SmallVectorImpl<mlir::Type> &types);
  mlir::Value splat(mlir::Value scalar, llvm::ArrayRef<int64_t> shape);
  mlir::Value spread(mlir::Value tile, llvm::ArrayRef<int64_t> axes,
                     llvm::ArrayRef<int64_t> shape);
  mlir::Value constant(int64_t value) {
    return ops().constant(b.getI64Type(), value);
  }
  OperatorEmitter ops() { return OperatorEmitter(b, loc); }

  /// Runs `body` with the builder, place and known values of a region.
  template <typename Body> void inRegion(mlir::Block *block, Body body) {
    mlir::OpBuilder::InsertionGuard guard(b);
    mlir::Location saved = loc;
    b.setInsertionPointToEnd(block);
    known.emplace_back();
    body();
    known.pop_back();
    loc = saved;
  }

  const Item &item;
  const Program &program;
  mlir::OpBuilder &b;
  const LocationMap &locations;
  const KernelValues &values;
  mlir::Location loc = mlir::UnknownLoc::get(b.getContext());
  std::vector<Known> known = std::vector<Known>(1); ///< by nested region
  llvm::SmallVector<mlir::Value> coordinates;
};

inline llvm::SmallVector<int64_t, 4> allAxes(unsigned rank) {
  return llvm::to_vector<4>(llvm::seq<int64_t>(0, rank));
}

} // namespace tegula::lang

#endif
