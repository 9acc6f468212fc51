//===- EmitScalar.h - typed expressions to scalar ops -----------*- C++ -*-===//
//
// The code of one region of `tile.attention`: arith, math and `tile.lookup` ops
// on scalars. Integers are i64, floats the accumulator type, bools i1.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_EMITSCALAR_H
#define TEGULA_LANG_EMITSCALAR_H

#include "lang/EmitOperators.h"
#include "lang/Item.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/SourceMgr.h"

namespace tegula::lang {

/// Text ranges as MLIR locations.
class LocationMap {
public:
  LocationMap(const llvm::SourceMgr &sources, mlir::MLIRContext &context)
      : sources(sources), context(context) {}
  mlir::Location get(llvm::SMRange range) const;
  /// `file:line:column`, or "" where the range has no place.
  std::string place(llvm::SMRange range) const;

private:
  const llvm::SourceMgr &sources;
  mlir::MLIRContext &context;
};

/// The kernel's arguments, by number in the item. Static dims have no value.
struct KernelValues {
  std::vector<mlir::Value> tensors, scalars, dims;
};

/// Emits expressions into one region. Lets and constants are emitted once.
class ScalarEmitter {
public:
  /// `indices` are the region's b, h, g, i and, where it has one, j or e.
  ScalarEmitter(const Item &item, const KernelValues &values,
                const LocationMap &locations, mlir::OpBuilder &builder,
                mlir::ValueRange indices)
      : item(item), values(values), locations(locations), builder(builder),
        indices(indices) {}

  mlir::Value emit(const Expr &e);
  /// What `s` is from now on.
  void setScore(mlir::Value value) { score = value; }
  /// The value of o, lse, rowmax and rowsum in the region of an output; null
  /// where the region has none.
  void setRow(llvm::ArrayRef<mlir::Value> values) { row.assign(values); }
  mlir::Value realConstant(double value, mlir::Location loc);
  mlir::Value boolConstant(bool value, mlir::Location loc);
  mlir::FloatType accumulator() const;

private:
  mlir::Value integerConstant(int64_t value, mlir::Location loc);
  mlir::Value emitScalar(const Expr &e, mlir::Location loc);
  mlir::Value emitLookup(const Expr &e, mlir::Location loc);
  mlir::Value emitLet(const Expr &e);
  mlir::Value emitOperator(const Expr &e, mlir::Location loc);
  int64_t copies = 1; ///< of the code that is written now
  mlir::Value emitBounded(const Expr &e, mlir::Location loc);
  mlir::Value emitIteration(const Expr &e, mlir::Value variable,
                            mlir::Value before, mlir::Location loc);
  mlir::Value emitInteger(const Expr &e, mlir::ValueRange args,
                          mlir::Location loc);
  mlir::Value emitConvert(const Expr &e, mlir::Value value, mlir::Location loc);
  ElemType computeType(ElemType elem) const;
  IntegerRange rangeOf(const Expr &e, unsigned fuel = 8) const;
  OperatorEmitter ops(mlir::Location loc) {
    return OperatorEmitter(builder, loc, &known.constants);
  }

  const Item &item;
  const KernelValues &values;
  const LocationMap &locations;
  mlir::OpBuilder &builder;
  mlir::ValueRange indices;
  mlir::Value score;
  llvm::SmallVector<mlir::Value, 4> row;
  llvm::DenseMap<unsigned, mlir::Value> variables;
  /// What has been emitted where it dominates the place of insertion.
  struct Known {
    llvm::DenseMap<unsigned, mlir::Value> lets, scalars;
    OperatorEmitter::Constants constants;
  };
  Known known;
};

} // namespace tegula::lang

#endif
