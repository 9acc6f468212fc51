//===- SemaTileOperators.cpp - elementwise operators and functions --------===//
//
// Scalars fold where they are constants.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"
#include "llvm/ADT/STLExtras.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// False where an operand is an error, or is no value that operators take.
bool KernelSema::checkOperand(const Term &value, const ast::Expr &written,
                              StringRef op) {
  if (value.type.isError())
    return false;
  if (!value.type.isState)
    return true;
  report(written.range, "`" + op + "` takes tiles and scalars, but `" +
                            briefText(written) +
                            "` is a softmax state; its output is `finish(" +
                            briefText(written) + ")`");
  return false;
}

bool KernelSema::expectNumbers(StringRef op, const Terms &args,
                               const Written &written, bool integers) {
  bool ok = true;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!checkOperand(*args[i], *written[i], op)) {
      ok = false;
    } else if (args[i]->type.elem == ElemType::Bool) {
      report(written[i]->range,
             "`" + op + "` takes " + (integers ? "integers" : "numbers") +
                 ", but got " + describe(*args[i]) +
                 (integers ? "" : "; write `i32(...)` to count it as 0 or 1"));
      ok = false;
    } else if (integers && !isInteger(args[i]->type.elem)) {
      report(written[i]->range,
             "`" + op + "` takes integers, but got " + describe(*args[i]));
      ok = false;
    }
  }
  return ok;
}

bool KernelSema::expectBools(StringRef op, const Terms &args,
                             const Written &written) {
  bool ok = true;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!checkOperand(*args[i], *written[i], op)) {
      ok = false;
    } else if (args[i]->type.elem != ElemType::Bool) {
      report(written[i]->range, "`" + op + "` takes bools, but got " +
                                    describe(*args[i]) +
                                    "; write a comparison");
      ok = false;
    }
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

const Term *KernelSema::elementwise(Op op, ElemType result, const Terms &args,
                                    const Written &written, SMRange range) {
  for (const Term *arg : args)
    if (arg->type.isError())
      return errorValue();
  if (const Term *folded = foldScalar(op, result, args, range))
    return folded;
  TileType type(result);
  if (!joinShapes(range, args, written, type) || !checkSize(range, type.shape))
    return errorValue();
  Term value = node(Term::Operator, std::move(type), range, args);
  value.op = op;
  return add(std::move(value));
}

const Term *KernelSema::typeTileOperator(const ast::Expr &e) {
  if (opArity(e.op) == 1)
    return typeTileUnary(e);
  Terms args;
  Written written;
  for (const ast::ExprPtr &arg : e.args) {
    args.push_back(typeTile(*arg));
    written.push_back(arg.get());
  }
  StringRef spelling = opSpelling(e.op);
  switch (e.op) {
  case Op::Shl:
  case Op::Shr:
  case Op::BitAnd:
  case Op::BitXor:
  case Op::BitOr:
    return typeTileBits(e, std::move(args), std::move(written));
  case Op::And:
  case Op::Or:
    if (!expectBools(spelling, args, written))
      return errorValue();
    return elementwise(e.op, ElemType::Bool, args, written, e.range);
  case Op::Select:
    return typeTileSelect(e, std::move(args), std::move(written));
  default:
    break;
  }
  bool equality = e.op == Op::Eq || e.op == Op::Ne;
  if (equality && args[0]->type.elem == ElemType::Bool &&
      args[1]->type.elem == ElemType::Bool)
    return elementwise(e.op, ElemType::Bool, args, written, e.range);
  if (!expectNumbers(spelling, args, written, e.op == Op::Rem))
    return errorValue();
  ElemType result = unifyTiles(args, written);
  if ((e.op == Op::Div || e.op == Op::Rem) && isInteger(result) &&
      args[1]->isConstant() && args[1]->integer == 0) {
    report(e.range, "division of an integer by zero");
    return errorValue();
  }
  return elementwise(e.op, isComparison(e.op) ? ElemType::Bool : result, args,
                     written, e.range);
}

const Term *KernelSema::typeTileUnary(const ast::Expr &e) {
  Terms args = {typeTile(*e.args[0])};
  Written written = {e.args[0].get()};
  if (e.op == Op::Not) {
    if (!expectBools("!", args, written))
      return errorValue();
    return elementwise(e.op, ElemType::Bool, args, written, e.range);
  }
  if (e.op == Op::BitNot && args[0]->type.elem == ElemType::Bool) {
    report(e.range, "`~` inverts the bits of integers, but got bool; write `!`")
        .fix(e.nameRange, "!");
    return errorValue();
  }
  if (!expectNumbers(opSpelling(e.op), args, written, e.op == Op::BitNot))
    return errorValue();
  args[0] = widen(args[0]);
  return elementwise(e.op, args[0]->type.elem, args, written, e.range);
}

const Term *KernelSema::typeTileBits(const ast::Expr &e, Terms args,
                                     Written written) {
  StringRef spelling = opSpelling(e.op);
  if (args[0]->type.elem == ElemType::Bool &&
      args[1]->type.elem == ElemType::Bool) {
    if (e.op == Op::BitAnd || e.op == Op::BitOr)
      return elementwise(e.op == Op::BitAnd ? Op::And : Op::Or, ElemType::Bool,
                         args, written, e.range);
    if (e.op == Op::BitXor) {
      report(e.range, "`^` takes integers, but got bool; write `!=`")
          .fix(e.nameRange, "!=");
      return errorValue();
    }
  }
  if (!expectNumbers(spelling, args, written, /*integers=*/true))
    return errorValue();
  ElemType result;
  if (e.op == Op::Shl || e.op == Op::Shr) { // the amount adapts to the value
    for (const Term *&arg : args)
      arg = widen(arg);
    result = args[0]->type.elem;
    if (args[1]->type.elem == ElemType::I64 && result == ElemType::I32) {
      // An amount past 31 shifts everything out, and stays past it.
      const Term *width = integer(63, ElemType::I64, e.range);
      const Term *none = integer(-1, ElemType::I64, e.range);
      args[1] = elementwise(Op::Max, ElemType::I64, {args[1], none},
                            {written[1], written[1]}, e.range);
      args[1] = elementwise(Op::Min, ElemType::I64, {args[1], width},
                            {written[1], written[1]}, e.range);
    }
    args[1] = convert(args[1], result, written[1]->range);
  } else {
    result = unifyTiles(args, written);
  }
  return elementwise(e.op, result, args, written, e.range);
}

/// `c ? a : b`, or `where(c, a, b)`.
const Term *KernelSema::typeTileSelect(const ast::Expr &e, Terms args,
                                       Written written) {
  StringRef name = e.kind == ast::Expr::Call ? "where" : "?:";
  if (!expectBools(name, {args[0]}, {written[0]}) ||
      !checkOperand(*args[1], *written[1], name) ||
      !checkOperand(*args[2], *written[2], name))
    return errorValue();
  Terms sides = {args[1], args[2]};
  bool isBool = sides[0]->type.elem == ElemType::Bool;
  if (isBool != (sides[1]->type.elem == ElemType::Bool)) {
    report(e.range, "the two sides of `" + name + "` are " +
                        describe(*sides[0]) + " and " + describe(*sides[1]));
    return errorValue();
  }
  ElemType result =
      isBool ? ElemType::Bool : unifyTiles(sides, {written[1], written[2]});
  // The unused side of a constant choice is dropped.
  if (args[0]->isConstant() && sides[0]->type.isScalar() &&
      sides[1]->type.isScalar())
    return sides[args[0]->integer ? 0 : 1];
  return elementwise(Op::Select, result, {args[0], sides[0], sides[1]}, written,
                     e.range);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// `bf16(x)`: floats round, float to integer truncates and saturates, integers
/// wrap; the result has the type, and widens where it is computed with.
const Term *KernelSema::typeTileCast(const ast::Expr &e, ElemType target) {
  static constexpr Parameter parameter{"x", Value};
  Written args;
  if (!bind(e, parameter, args))
    return errorValue();
  const Term *value = typeTile(*args[0]);
  if (!checkOperand(*value, *args[0], e.name))
    return errorValue();
  if (target == ElemType::E4M3 || target == ElemType::E5M2) {
    report(e.range,
           "a cast to " + elemTypeName(target) + " is not supported yet");
    return errorValue();
  }
  if (target == ElemType::Bool && value->type.elem != ElemType::Bool) {
    report(e.range,
           "a number is no bool; write `" + toText(*args[0]) + " != 0`");
    return errorValue();
  }
  return convert(value, target, e.range);
}

const Term *KernelSema::typeElementwise(const Call &call) {
  const ast::Expr &e = call.e;
  Op op = *functionOp(e.name);
  Terms args = call.values;
  if (!expectNumbers(e.name, args, call.written, op == Op::CeilDiv))
    return errorValue();
  bool keepsIntegers =
      op == Op::Min || op == Op::Max || op == Op::Abs || op == Op::CeilDiv;
  ElemType result = unifyTiles(args, call.written, /*toFloat=*/!keepsIntegers);
  if (op == Op::CeilDiv && args[1]->isConstant() && args[1]->integer == 0) {
    report(e.range, "division of an integer by zero");
    return errorValue();
  }
  return elementwise(op, result, args, call.written, e.range);
}

const Term *KernelSema::typeTileClamp(const Call &call) {
  const ast::Expr &e = call.e;
  Terms args = call.values;
  if (!expectNumbers(e.name, args, call.written))
    return errorValue();
  ElemType result = unifyTiles(args, call.written);
  const Term *low = elementwise(Op::Max, result, {args[0], args[1]},
                                {call.written[0], call.written[1]}, e.range);
  return elementwise(Op::Min, result, {low, args[2]}, {&e, call.written[2]},
                     e.range);
}

const Term *KernelSema::typeWhere(const Call &call) {
  return typeTileSelect(call.e, call.values, call.written);
}

/// `random(seed, c0, c1, c2, c3)`.
const Term *KernelSema::typeRandomTile(const Call &call) {
  Terms args = call.values;
  if (!expectNumbers(call.e.name, args, call.written, /*integers=*/true))
    return errorValue();
  for (auto [arg, written] : llvm::zip(args, call.written))
    arg = convert(arg, ElemType::I64, written->range);
  return elementwise(Op::Random, item.accumulator, args, call.written,
                     call.e.range);
}
