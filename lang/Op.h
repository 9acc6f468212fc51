//===- Op.h - operators and built-in functions ------------------*- C++ -*-===//
//
// One enumeration for what an expression can compute, shared by the AST (as
// written) and the resolved item (typed).
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_OP_H
#define TEGULA_LANG_OP_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tegula::lang {

/// Integers are exact in 64 bits and wrap beyond; floats follow IEEE 754.
enum class Op {
  // one operand
  Neg,
  Not,    ///< of a bool
  BitNot, ///< of an integer
  // two operands of one type
  Add,
  Sub,
  Mul,
  Div,    ///< integers: floored, 0 where the divisor is 0
  Rem,    ///< integers: a - (a / b) * b, 0 where the divisor is 0
  Shl,    ///< integers: 0 where the amount is outside 0..64
  Shr,    ///< integers: the sign where the amount is outside 0..64
  BitAnd, ///< of integers or bools
  BitXor, ///< of integers
  BitOr,  ///< of integers or bools
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And, ///< of bools
  Or,  ///< of bools
  // three operands: bool, then two of one type
  Select,
  // built-in functions
  Min, ///< NaN if an operand is
  Max, ///< NaN if an operand is
  Abs,
  CeilDiv, ///< of integers: -(-a / b)
  Exp,
  Exp2,
  Log,
  Log2,
  Tanh,
  Sqrt,
  Rsqrt,
  Pow,
  // five operands: i64 seed, i32 counters
  Random, ///< Philox4x32-10: 24 random bits as a float in [0, 1)
  Convert ///< to the type of the expression
};

/// How an operator is written: `+`, `&&`, or a function's name.
llvm::StringRef opSpelling(Op op);

/// The built-in function of that name (not casts, not clamp).
std::optional<Op> functionOp(llvm::StringRef name);

/// Number of operands.
unsigned opArity(Op op);

/// Binary operators by precedence, 1 (`||`) to 9 (`* / %`); comparisons are 3
/// and do not chain. 0 for what is no binary operator.
int binaryPrecedence(Op op);
std::optional<Op> binaryOp(llvm::StringRef spelling);

/// What the reduction of nothing by Or, And, Add, Min or Max gives.
int64_t integerIdentity(Op op);
double realIdentity(Op op);

inline bool isComparison(Op op) { return op >= Op::Eq && op <= Op::Ge; }

} // namespace tegula::lang

#endif
