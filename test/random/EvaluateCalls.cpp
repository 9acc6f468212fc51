//===- EvaluateCalls.cpp - functions of a tile program, interpreted -------===//
//
// Functions of the program, and those of the language but for reductions.
//
//===----------------------------------------------------------------------===//
#include "KernelEvaluator.h"

#include "llvm/ADT/STLExtras.h"

using namespace tegula;
using namespace tegula::generated;
using lang::isFloat;

const lang::ast::Expr *KernelEvaluator::argument(const Expr &e,
                                                 unsigned position,
                                                 llvm::StringRef name) {
  for (size_t n = 0; n < e.args.size(); ++n) {
    bool isNamed = n < e.argNames.size() && !e.argNames[n].text.empty();
    if (isNamed ? e.argNames[n].text == name : n == position)
      return e.args[n].get();
  }
  return nullptr;
}

Tile KernelEvaluator::inlined(const lang::ast::Fn &fn, std::vector<Tile> args) {
  Names inside;
  for (auto [param, arg] : llvm::zip(fn.params, args)) {
    std::optional<ElemType> elem = lang::elemTypeFromName(param.elem.text);
    inside[param.name.text] =
        elem && isFloat(*elem) ? converted(arg, *elem) : arg;
  }
  std::swap(names, inside);
  for (const lang::ast::Fn::Let &let : fn.lets)
    names[let.name.text] = value(*let.value);
  Tile result = value(*fn.result);
  std::swap(names, inside);
  return result;
}

Tile KernelEvaluator::call(const Expr &e) {
  std::optional<ElemType> elem = lang::elemTypeFromName(e.name);
  if (auto known = typeNames.find(e.name); known != typeNames.end())
    elem = known->second;
  if (elem)
    return converted(value(*e.args[0]), *elem);
  if (!lang::isBuiltinFunction(e.name)) {
    std::vector<Tile> args;
    for (const lang::ast::ExprPtr &arg : e.args)
      args.push_back(value(*arg));
    return inlined(*file.findFn(e.name), std::move(args));
  }
  return function(e);
}

Tile KernelEvaluator::function(const Expr &e) {
  llvm::StringRef name = e.name;
  bool hasAxis = llvm::any_of(
      e.argNames, [](const auto &name) { return name.text == "axis"; });
  if (name == "reduce")
    return combined(e);
  if (name == "cumsum")
    return cumulative(e);
  if (hasAxis)
    return reduction(e);
  if (name == "dot")
    return product(e);
  if (name == "transpose")
    return transposed(e);
  if (name == "reshape")
    return reshaped(e);
  if (name == "iota" || name == "span") {
    bool isSpan = name == "span";
    int64_t base = isSpan ? number(*e.args[0]) : 0;
    Tile tile = blank(isSpan ? ElemType::I64 : ElemType::I32,
                      {number(*e.args[isSpan ? 1 : 0])});
    for (auto [lane, number] : llvm::enumerate(tile.lanes))
      number = Number::ofInteger(base + static_cast<int64_t>(lane));
    if (isSpan)
      tile.live[0] =
          std::clamp<int64_t>(number(*e.args[2]) - base, 0, tile.shape[0]);
    return tile;
  }
  if (name == "full")
    return stretched(value(*e.args[1]), shapeOf(*e.args[0]));
  if (name == "broadcast")
    return stretched(value(*e.args[0]), shapeOf(*e.args[1]));
  if (name == "row" || name == "col") {
    Tile tile = value(*e.args[0]);
    unsigned axis = name == "row";
    tile.shape.insert(tile.shape.begin() + !axis, 1);
    tile.live.insert(tile.live.begin() + !axis, 1);
    tile.isConstant = false;
    return tile;
  }

  std::vector<Tile> args;
  for (const lang::ast::ExprPtr &arg : e.args)
    args.push_back(value(*arg));
  if (name == "where") {
    std::vector<Tile> sides = {args[1], args[2]};
    ElemType elem =
        sides[0].elem == ElemType::Bool ? ElemType::Bool : unify(sides);
    return elementwise(Op::Select, elem, elem, {args[0], sides[0], sides[1]});
  }
  if (name == "clamp") {
    ElemType elem = unify(args);
    Tile low = elementwise(Op::Max, elem, elem, {args[0], args[1]});
    return elementwise(Op::Min, elem, elem, {low, args[2]});
  }
  Op op = *lang::functionOp(name);
  bool keeps =
      op == Op::Min || op == Op::Max || op == Op::Abs || op == Op::CeilDiv;
  ElemType elem = unify(args, /*toFloat=*/!keeps);
  return elementwise(op, elem, elem, std::move(args));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Tile KernelEvaluator::transposed(const Expr &e) {
  Tile tile = value(*e.args[0]);
  Shape order = e.args.size() > 1 ? shapeOf(*e.args[1]) : Shape{1, 0};
  Tile result = tile;
  for (unsigned axis = 0; axis < tile.rank(); ++axis) {
    result.shape[axis] = tile.shape[order[axis]];
    result.live[axis] = tile.live[order[axis]];
  }
  forLanes(result.shape, [&](int64_t lane, auto at) {
    Shape from(tile.rank());
    for (unsigned axis = 0; axis < tile.rank(); ++axis)
      from[order[axis]] = at[axis];
    result.lanes[lane] = tile.lanes[laneAt(tile.shape, from)];
  });
  return result;
}

/// An axis that ends somewhere stands whole in the new shape.
Tile KernelEvaluator::reshaped(const Expr &e) {
  Tile tile = value(*e.args[0]);
  Tile result = tile;
  result.shape = shapeOf(*e.args[1]);
  result.live = result.shape;
  llvm::ArrayRef<int64_t> old = tile.shape, now = result.shape;
  for (unsigned axis = 0; axis < tile.rank(); ++axis)
    for (unsigned other = 0; other < now.size(); ++other)
      if (now[other] == old[axis] &&
          countLanes(now.take_front(other)) ==
              countLanes(old.take_front(axis)) &&
          tile.live[axis] < tile.shape[axis])
        result.live[other] = tile.live[axis];
  return result;
}
