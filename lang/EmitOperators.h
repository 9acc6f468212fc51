//===- EmitOperators.h - operators on scalars and tiles ---------*- C++ -*-===//
//
// arith and math ops for the language's operators. They are elementwise, so
// that a type here is a scalar's or a tile's alike. What the language defines
// everywhere and arith does not (division by zero, shifts outside the width,
// float to integer) gets a select each, and none where facts make it needless.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_EMITOPERATORS_H
#define TEGULA_LANG_EMITOPERATORS_H

#include "lang/Op.h"
#include "lang/Types.h"
#include "mlir/IR/Builders.h"

namespace tegula::lang {

/// What is known of an integer operand.
struct IntegerFacts {
  std::optional<int64_t> constant;
  bool nonNegative = false;
  /// It is above the smallest integer of its type.
  bool canNegate = false;
};

class OperatorEmitter {
public:
  OperatorEmitter(mlir::OpBuilder &builder, mlir::Location loc)
      : b(builder), loc(loc) {}

  mlir::Value emitFloat(Op op, mlir::ValueRange args);
  mlir::Value emitInteger(Op op, mlir::ValueRange args,
                          llvm::ArrayRef<IntegerFacts> facts);
  mlir::Value emitBool(Op op, mlir::ValueRange args);
  mlir::Value emitComparison(Op op, mlir::Value x, mlir::Value y);
  /// `value` of type `from` as `to`; see Op::Convert.
  mlir::Value emitConvert(mlir::Value value, ElemType from, ElemType to);

  /// `value` everywhere, in the type of `like` but for the element.
  mlir::Value constant(mlir::Type like, double value);
  mlir::Value constant(mlir::Type like, int64_t value);

private:
  mlir::Value emitDivision(Op op, mlir::Value x, mlir::Value y,
                           const IntegerFacts &dividend,
                           const IntegerFacts &divisor);
  mlir::Value emitShift(Op op, mlir::Value x, mlir::Value by,
                        const IntegerFacts &amount);
  mlir::Value emitSaturate(mlir::Value value, ElemType to);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// The type of a computed or loaded element; bool is i1.
mlir::Type elementType(ElemType elem, mlir::MLIRContext *context);

} // namespace tegula::lang

#endif
