//===- EvaluateOperators.cpp - expressions of a tile program, interpreted -===//
//
// Names, constants and operators, with the types that operands are brought to.
//
//===----------------------------------------------------------------------===//
#include "KernelEvaluator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace tegula;
using namespace tegula::generated;
using lang::isFloat;
using lang::isInteger;

int64_t KernelEvaluator::number(const Expr &e) {
  Number number = value(e).scalar();
  undecided |= !number.isKnown();
  return number.integer;
}

KernelEvaluator::Shape KernelEvaluator::shapeOf(const Expr &e) {
  Shape shape;
  if (e.kind == Expr::Shape)
    for (const lang::ast::ExprPtr &extent : e.args)
      shape.push_back(number(*extent));
  else
    shape.push_back(number(e));
  return shape;
}

Tile KernelEvaluator::value(const Expr &e) {
  switch (e.kind) {
  case Expr::Integer:
    return constant(llvm::isInt<32>(e.integer) ? ElemType::I32 : ElemType::I64,
                    Number::ofInteger(e.integer));
  case Expr::Float:
    return constant(item.accumulator, convert(Number::ofReal(e.real),
                                              ElemType::F64, item.accumulator));
  case Expr::Bool:
    return constant(ElemType::Bool, Number::ofInteger(e.integer));
  case Expr::Name:
    return name(e);
  case Expr::Index:
  case Expr::Load:
    return load(e);
  case Expr::Call:
    return call(e);
  case Expr::Operator:
    return operation(e);
  default:
    llvm_unreachable("no value of a tile program");
  }
}

Tile KernelEvaluator::name(const Expr &e) {
  auto known = names.find(e.name);
  assert(known != names.end() && "the program was accepted");
  return known->second;
}

/// Brings numbers to one type.
ElemType KernelEvaluator::unify(std::vector<Tile> &args, bool toFloat) {
  bool anyFloat = toFloat, anyDouble = false, anySingle = false,
       anyWide = false, anyValue = false;
  for (Tile &arg : args) {
    arg = converted(arg, computeType(arg.elem));
    anyFloat |= isFloat(arg.elem);
    if (arg.isConstant) {
      anyWide |= arg.isScalar() && isInteger(arg.elem) &&
                 !llvm::isInt<32>(arg.scalar().integer);
      continue;
    }
    anyValue = true;
    anySingle |= arg.elem == ElemType::F32;
    anyDouble |= arg.elem == ElemType::F64;
    anyWide |= arg.elem == ElemType::I64;
  }
  if (!anyValue)
    for (const Tile &arg : args)
      anyWide |= arg.elem == ElemType::I64;
  ElemType target = !anyFloat   ? anyWide ? ElemType::I64 : ElemType::I32
                    : anyDouble ? ElemType::F64
                    : anySingle ? ElemType::F32
                                : item.accumulator;
  for (Tile &arg : args)
    arg = converted(arg, target);
  return target;
}

Tile KernelEvaluator::elementwise(Op op, ElemType elem, ElemType result,
                                  std::vector<Tile> args) {
  if (llvm::all_of(args, [](const Tile &arg) {
        return arg.isConstant && arg.isScalar();
      })) {
    // Constants are exact; one that leaves i32 is an i64.
    llvm::SmallVector<Number, 3> numbers;
    for (const Tile &arg : args)
      numbers.push_back(arg.scalar());
    ElemType wide = isInteger(elem) ? ElemType::I64 : elem;
    Number folded = apply(op, wide, numbers);
    if (result == ElemType::I32 && !llvm::isInt<32>(folded.integer))
      result = ElemType::I64;
    return constant(result, folded);
  }
  Shape shape;
  for (const Tile &arg : args)
    for (unsigned axis = 0; axis < arg.rank(); ++axis) {
      if (shape.size() <= axis)
        shape.push_back(1);
      shape[axis] = std::max(shape[axis], arg.shape[axis]);
    }
  Tile tile = blank(result, shape);
  for (Tile &arg : args) {
    arg = stretched(arg, shape);
    for (unsigned axis = 0; axis < tile.rank(); ++axis)
      tile.live[axis] = std::min(tile.live[axis], arg.live[axis]);
  }
  llvm::SmallVector<Number, 3> numbers(args.size());
  forLanes(shape, [&](int64_t lane, auto at) {
    if (!isLive(tile, at))
      return;
    for (auto [number, arg] : llvm::zip(numbers, args))
      number = arg.lanes[lane];
    tile.lanes[lane] = apply(op, elem, numbers);
  });
  return tile;
}

Tile KernelEvaluator::operation(const Expr &e) {
  std::vector<Tile> args;
  for (const lang::ast::ExprPtr &arg : e.args)
    args.push_back(value(*arg));
  switch (e.op) {
  case Op::Not:
  case Op::And:
  case Op::Or:
    return elementwise(e.op, ElemType::Bool, ElemType::Bool, std::move(args));
  case Op::Neg:
  case Op::BitNot: {
    args[0] = converted(args[0], computeType(args[0].elem));
    ElemType elem = args[0].elem;
    return elementwise(e.op, elem, elem, std::move(args));
  }
  case Op::Select: {
    std::vector<Tile> sides = {args[1], args[2]};
    ElemType elem =
        sides[0].elem == ElemType::Bool ? ElemType::Bool : unify(sides);
    if (args[0].isConstant && args[0].isScalar() && sides[0].isScalar() &&
        sides[1].isScalar())
      return sides[args[0].scalar().integer ? 0 : 1];
    return elementwise(Op::Select, elem, elem, {args[0], sides[0], sides[1]});
  }
  case Op::Shl:
  case Op::Shr: {
    // An amount outside the width stays outside, whatever its type.
    ElemType elem = computeType(args[0].elem);
    args[0] = converted(args[0], elem);
    args[1] = converted(args[1], ElemType::I64);
    return elementwise(e.op, elem, elem, std::move(args));
  }
  default:
    break;
  }
  bool ofBools = args[0].elem == ElemType::Bool;
  ElemType elem = ofBools ? ElemType::Bool : unify(args);
  bool isBool = ofBools || lang::isComparison(e.op);
  return elementwise(e.op, elem, isBool ? ElemType::Bool : elem,
                     std::move(args));
}
