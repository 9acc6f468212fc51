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

#include "lang/IntegerRange.h"
#include "lang/Types.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace tegula::lang {

/// What is known of an integer operand.
struct IntegerOperand {
  std::optional<int64_t> constant;
  IntegerRange range;
};

class OperatorEmitter {
public:
  /// Constants by their attribute.
  using Constants = llvm::DenseMap<mlir::Attribute, mlir::Value>;

  /// With `known`, a constant is emitted once.
  OperatorEmitter(mlir::OpBuilder &builder, mlir::Location loc,
                  Constants *known = nullptr)
      : b(builder), loc(loc), known(known) {}

  mlir::Value emitFloat(Op op, mlir::ValueRange args);
  mlir::Value emitInteger(Op op, mlir::ValueRange args,
                          llvm::ArrayRef<IntegerOperand> operands);
  mlir::Value emitBool(Op op, mlir::ValueRange args);
  /// Of i64s, in [0, 1).
  mlir::Value emitRandom(mlir::ValueRange args, mlir::Type element);
  mlir::Value emitComparison(Op op, mlir::Value x, mlir::Value y);
  /// `value` of type `from` as `to`; see Op::Convert.
  mlir::Value emitConvert(mlir::Value value, ElemType from, ElemType to);
  /// A float as an integer in the range of `to`, of type `computed`:
  /// truncates, saturates, and NaN gives 0.
  mlir::Value emitSaturate(mlir::Value value, ElemType to, ElemType computed);

  /// `value` everywhere, in the type of `like` but for the element.
  mlir::Value constant(mlir::Type like, double value);
  mlir::Value constant(mlir::Type like, int64_t value);

private:
  mlir::Value emitDivision(Op op, mlir::Value x, mlir::Value y,
                           const IntegerOperand &dividend,
                           const IntegerOperand &divisor);
  mlir::Value emitShift(Op op, mlir::Value x, mlir::Value by,
                        const IntegerOperand &amount);
  mlir::Value constant(mlir::TypedAttr value);

  mlir::OpBuilder &b;
  mlir::Location loc;
  Constants *known;
};

/// The type of a computed or loaded element; bool is i1.
mlir::Type elementType(ElemType elem, mlir::MLIRContext *context);

} // namespace tegula::lang

#endif
