//===- KernelEvaluator.cpp - a tile program, interpreted ------------------===//
//
// No optimisation, and no bound but those of axes: a lane outside holds an
// unknown number, and everything looks at the lanes inside only.
//
//===----------------------------------------------------------------------===//
#include "KernelEvaluator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace tegula;
using namespace tegula::generated;
using lang::isFloat;
using lang::isInteger;

static int64_t count(llvm::ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  return elements;
}

/// Calls `visit(lane, index)` for each lane of a shape.
template <typename Visit>
static void forLanes(llvm::ArrayRef<int64_t> shape, Visit visit) {
  llvm::SmallVector<int64_t, 3> index(shape.size(), 0);
  for (int64_t lane = 0, end = count(shape); lane < end; ++lane) {
    visit(lane, llvm::ArrayRef<int64_t>(index));
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
}

static int64_t laneAt(llvm::ArrayRef<int64_t> shape,
                      llvm::ArrayRef<int64_t> index) {
  int64_t lane = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    lane = lane * shape[axis] + (shape[axis] == 1 ? 0 : index[axis]);
  return lane;
}

static bool isLive(const Tile &tile, llvm::ArrayRef<int64_t> index) {
  for (unsigned axis = 0; axis < tile.rank(); ++axis)
    if (index[axis] >= tile.live[axis])
      return false;
  return true;
}

static Tile blank(ElemType elem, llvm::ArrayRef<int64_t> shape) {
  Tile tile;
  tile.elem = elem;
  tile.shape.assign(shape.begin(), shape.end());
  tile.live = tile.shape;
  tile.lanes.assign(count(shape), Number::unknown());
  return tile;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

KernelEvaluator::KernelEvaluator(const lang::ast::File &file,
                                 llvm::StringRef kernelName,
                                 const tool::Problem &problem)
    : file(file), kernel(*file.findKernel(kernelName)), problem(problem),
      item(*problem.item) {
  for (auto [tensor, declared] : llvm::zip(problem.tensors, item.tensors)) {
    std::vector<Number> &elements = memory.emplace_back(tensor.size());
    bool isReal = isFloat(declared.elem);
    tensor.forEach([&](int64_t linear, int64_t offset) {
      elements[linear] = isReal ? Number::ofReal(tensor.real(offset))
                                : Number::ofInteger(tensor.integer(offset));
    });
  }
  for (auto [dim, value] : llvm::zip(item.dims, problem.dims)) {
    Tile tile = blank(ElemType::I64, {});
    tile.lanes = {Number::ofInteger(value)};
    names[dim.name] = tile;
  }
  for (auto [scalar, value] : llvm::zip(item.scalars, problem.scalars)) {
    Tile tile = blank(scalar.type, {});
    tile.lanes = {isFloat(scalar.type) ? Number::ofReal(value.real)
                                       : Number::ofInteger(value.integer)};
    names[scalar.name] = tile;
  }
  declareStatics();
}

void KernelEvaluator::declareStatics() {
  for (const lang::ast::Clause &clause : kernel.header.clauses) {
    if (clause.kind != lang::ast::Clause::Static)
      continue;
    if (std::optional<ElemType> elem =
            lang::elemTypeFromName(clause.value->name);
        elem && clause.value->kind == Expr::Name)
      typeNames[clause.name.text] = *elem;
    else
      names[clause.name.text] = value(*clause.value);
  }
}

void KernelEvaluator::run() {
  Shape extents;
  for (const lang::ast::Kernel::Axis &axis : kernel.grid)
    extents.push_back(number(*axis.extent));
  Names outside = names;
  forLanes(extents, [&](int64_t, llvm::ArrayRef<int64_t> at) {
    names = outside;
    for (auto [axis, coordinate] : llvm::zip(kernel.grid, at)) {
      Tile tile = blank(ElemType::I64, {});
      tile.lanes = {Number::ofInteger(coordinate)};
      names[axis.name.text] = tile;
    }
    runBlock(kernel.body);
  });
}

void KernelEvaluator::runBlock(const std::vector<Stmt> &stmts) {
  for (const Stmt &stmt : stmts)
    runStatement(stmt);
}

void KernelEvaluator::runStatement(const Stmt &stmt) {
  switch (stmt.kind) {
  case Stmt::Let:
  case Stmt::Var:
    names[stmt.name.text] = value(*stmt.value);
    return;
  case Stmt::Assign: {
    Tile &variable = names.find(stmt.name.text)->second;
    ElemType elem = variable.elem;
    Tile next = converted(value(*stmt.value), elem);
    next.isConstant = false;
    names[stmt.name.text] = next;
    return;
  }
  case Stmt::Store:
  case Stmt::Atomic:
    return write(stmt);
  case Stmt::For: {
    int64_t begin = 0, end = 0, step = 1;
    if (stmt.args.size() == 1) {
      end = number(*stmt.args[0]);
    } else {
      begin = number(*stmt.args[0]);
      end = number(*stmt.args[1]);
      step = stmt.args.size() > 2 ? number(*stmt.args[2]) : 1;
    }
    auto iterate = [&](int64_t i) {
      Tile index = blank(ElemType::I64, {});
      index.lanes = {Number::ofInteger(i)};
      names[stmt.name.text] = index;
      runBlock(stmt.body);
    };
    // From the start on, variables end where a later iteration makes them end.
    while (takeEnds(afterDryRun([&] { iterate(begin); })))
      ;
    Names entry = names;
    for (int64_t i = begin; i < end && !undecided; i += step) {
      iterate(i);
      takeEnds(entry);
    }
    return;
  }
  case Stmt::If: {
    Number condition = value(*stmt.condition).scalar();
    undecided |= !condition.isKnown();
    const std::vector<Stmt> &taken =
        condition.integer ? stmt.body : stmt.otherwise;
    const std::vector<Stmt> &other =
        condition.integer ? stmt.otherwise : stmt.body;
    Names afterOther = afterDryRun([&] { runBlock(other); });
    runBlock(taken);
    takeEnds(afterOther);
    return;
  }
  case Stmt::Print:
  case Stmt::Assert:
    return;
  }
}

/// The names after `body`, which changes nothing.
KernelEvaluator::Names
KernelEvaluator::afterDryRun(llvm::function_ref<void()> body) {
  Names saved = names;
  bool wasUndecided = undecided, wasDry = std::exchange(isDry, true);
  body();
  isDry = wasDry;
  undecided = wasUndecided;
  std::swap(names, saved);
  return saved;
}

/// Ends are a matter of the text: a variable ends where another of its values
/// does, which it may never have. Whether anything changed.
bool KernelEvaluator::takeEnds(const Names &others) {
  bool changed = false;
  for (auto &entry : names) {
    auto other = others.find(entry.first());
    if (other == others.end())
      continue;
    Tile &tile = entry.second;
    for (unsigned axis = 0; axis < tile.rank(); ++axis) {
      int64_t live = std::min(tile.live[axis], other->second.live[axis]);
      changed |= live != tile.live[axis];
      tile.live[axis] = live;
    }
  }
  return changed;
}

/// An axis of extent 1 stands for all lanes of the place's.
void KernelEvaluator::write(const Stmt &stmt) {
  if (isDry)
    return;
  Place place = this->place(*stmt.place, /*nearest=*/false);
  ElemType elem = item.tensors[place.tensor].elem;
  Tile written = value(*stmt.value);
  written = stretched(converted(written, elem), place.tile.shape);
  Tile where;
  if (stmt.condition)
    where = stretched(value(*stmt.condition), place.tile.shape);
  forLanes(place.tile.shape, [&](int64_t lane, auto at) {
    int64_t element = place.elements[lane];
    if (element < 0 || !isLive(place.tile, at) || !isLive(written, at) ||
        (stmt.condition &&
         (!isLive(where, at) ||
          (where.lanes[lane].isKnown() && !where.lanes[lane].integer))))
      return;
    Number &target = memory[place.tensor][element];
    if (stmt.condition && !where.lanes[lane].isKnown())
      target = Number::unknown();
    else if (stmt.kind == Stmt::Atomic)
      target = apply(Op::Add, elem, {target, written.lanes[lane]});
    else
      target = written.lanes[lane];
  });
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Tile KernelEvaluator::constant(ElemType elem, Number number) const {
  Tile tile = blank(elem, {});
  tile.isConstant = true;
  tile.lanes = {number};
  return tile;
}

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

Tile KernelEvaluator::converted(Tile tile, ElemType elem) const {
  for (Number &lane : tile.lanes)
    lane = convert(lane, tile.elem, elem);
  tile.elem = elem;
  return tile;
}

Tile KernelEvaluator::stretched(const Tile &tile,
                                llvm::ArrayRef<int64_t> shape) const {
  if (llvm::ArrayRef<int64_t>(tile.shape) == shape)
    return tile;
  Tile result = blank(tile.elem, shape);
  result.isConstant = tile.isConstant && tile.isScalar();
  for (unsigned axis = 0; axis < tile.rank(); ++axis)
    if (tile.shape[axis] == shape[axis])
      result.live[axis] = tile.live[axis];
  forLanes(shape, [&](int64_t lane, auto at) {
    result.lanes[lane] =
        tile.lanes[tile.isScalar() ? 0 : laneAt(tile.shape, at)];
  });
  return result;
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

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

KernelEvaluator::Place KernelEvaluator::place(const Expr &e, bool nearest) {
  Place place;
  place.tensor = item.findTensor(e.name);
  llvm::ArrayRef<int64_t> extents = problem.tensors[place.tensor].shape();
  struct Axis {
    Tile index;    ///< of a slice: its first lane
    int axis = -1; ///< of a slice: its axis among the slices
  };
  std::vector<Axis> axes;
  Tile lanes = blank(ElemType::I64, {}), slices = lanes;
  for (auto [axis, index] : llvm::enumerate(e.args)) {
    if (index->kind != Expr::Slice) {
      axes.push_back({converted(value(*index), ElemType::I64)});
      const Tile &tile = axes.back().index;
      if (!tile.isScalar()) {
        if (lanes.isScalar())
          lanes = tile;
        for (unsigned n = 0; n < tile.rank(); ++n)
          lanes.live[n] = std::min(lanes.live[n], tile.live[n]);
      }
      continue;
    }
    int64_t base = 0, length = extents[axis], end = extents[axis];
    if (!index->args.empty()) {
      base = number(*index->args[0]);
      length = number(*index->args[1]);
      if (index->args.size() > 2)
        end = number(*index->args[2]);
    }
    axes.push_back({constant(ElemType::I64, Number::ofInteger(base)),
                    static_cast<int>(slices.rank())});
    slices.shape.push_back(length);
    slices.live.push_back(std::clamp<int64_t>(end - base, 0, length));
  }
  place.tile = blank(item.tensors[place.tensor].elem, {});
  for (const Tile *part : {&lanes, &slices}) {
    place.tile.shape.append(part->shape.begin(), part->shape.end());
    place.tile.live.append(part->live.begin(), part->live.end());
  }
  unsigned gathered = lanes.rank();
  forLanes(place.tile.shape, [&](int64_t, llvm::ArrayRef<int64_t> at) {
    int64_t element = 0;
    for (auto [axis, extent] : llvm::zip(axes, extents)) {
      Number index =
          axis.index
              .lanes[axis.index.isScalar()
                         ? 0
                         : laneAt(axis.index.shape, at.take_front(gathered))];
      int64_t coordinate = index.integer;
      if (axis.axis >= 0)
        coordinate += at[gathered + axis.axis];
      if (nearest && !axis.index.isScalar() && extent > 0)
        coordinate = std::clamp<int64_t>(coordinate, 0, extent - 1);
      if (!index.isKnown() || element == hidden)
        element = hidden;
      else if (coordinate < 0 || coordinate >= extent || element == outside)
        element = outside;
      else
        element = element * extent + coordinate;
    }
    place.elements.push_back(element);
  });
  return place;
}

/// Memory reads as 0 outside of it, but an index tile goes to the nearest
/// element.
Tile KernelEvaluator::load(const Expr &e) {
  const Expr &written = e.kind == Expr::Load ? *e.args[0] : e;
  Place place = this->place(written, /*nearest=*/true);
  Tile tile = place.tile;
  tile.lanes.resize(place.elements.size());
  forLanes(tile.shape, [&](int64_t lane, auto at) {
    int64_t element = place.elements[lane];
    tile.lanes[lane] = !isLive(tile, at) || element == hidden
                           ? Number::unknown()
                       : element == outside ? Number()
                                            : memory[place.tensor][element];
  });
  if (e.kind == Expr::Load && e.args.size() > 1) {
    Number fill = converted(value(*e.args[1]), tile.elem).scalar();
    Tile where;
    bool hasWhere = e.args.size() > 2;
    if (hasWhere)
      where = stretched(value(*e.args[2]), tile.shape);
    forLanes(tile.shape, [&](int64_t lane, auto at) {
      bool used = isLive(tile, at);
      if (hasWhere && used && isLive(where, at) && !where.lanes[lane].isKnown())
        tile.lanes[lane] = Number::unknown();
      else if (!used ||
               (hasWhere && (!isLive(where, at) || !where.lanes[lane].integer)))
        tile.lanes[lane] = fill;
    });
    tile.live = tile.shape;
  }
  return tile.isScalar() ? converted(tile, computeType(tile.elem)) : tile;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

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
// Along an axis
//===----------------------------------------------------------------------===//

/// Calls `visit(at, numbers)` for each line of lanes along `axis` that is
/// inside the other axes' bounds, with the lanes inside.
template <typename Visit>
static void forLines(const Tile &tile, unsigned axis, Visit visit) {
  llvm::SmallVector<int64_t, 3> outer = tile.shape;
  outer[axis] = 1;
  forLanes(outer, [&](int64_t line, llvm::ArrayRef<int64_t> at) {
    llvm::SmallVector<int64_t, 3> index(at.begin(), at.end());
    std::vector<Number> numbers;
    for (unsigned other = 0; other < tile.rank(); ++other)
      if (other != axis && index[other] >= tile.live[other])
        return;
    for (index[axis] = 0; index[axis] < tile.live[axis]; ++index[axis])
      numbers.push_back(tile.lanes[laneAt(tile.shape, index)]);
    index[axis] = 0;
    visit(line, llvm::ArrayRef<int64_t>(index), numbers);
  });
}

static Tile without(const Tile &tile, unsigned axis, ElemType elem) {
  llvm::SmallVector<int64_t, 3> shape = tile.shape;
  shape.erase(shape.begin() + axis);
  Tile result = blank(elem, shape);
  result.live = tile.live;
  result.live.erase(result.live.begin() + axis);
  return result;
}

static Number indexOfLargest(ElemType elem, llvm::ArrayRef<Number> numbers) {
  if (numbers.empty())
    return Number::unknown();
  size_t best = 0;
  for (size_t n = 1; n < numbers.size(); ++n) {
    if (isFloat(elem) && std::isnan(numbers[best].real))
      break;
    if (isFloat(elem) && std::isnan(numbers[n].real)) {
      best = n;
      break;
    }
    Number larger = apply(Op::Gt, elem, {numbers[n], numbers[best]});
    if (!larger.isKnown())
      return Number::unknown();
    if (larger.integer)
      best = n;
  }
  return Number::ofInteger(static_cast<int64_t>(best));
}

Tile KernelEvaluator::reduction(const Expr &e) {
  Tile tile = value(*e.args[0]);
  unsigned axis = number(*argument(e, 1, "axis"));
  tile = converted(tile, computeType(tile.elem));
  bool isArgMax = e.name == "argmax";
  Tile result = without(tile, axis, isArgMax ? ElemType::I32 : tile.elem);
  forLines(tile, axis, [&](int64_t line, auto, const auto &numbers) {
    Number &into = result.lanes[line];
    if (isArgMax) {
      into = indexOfLargest(tile.elem, numbers);
    } else if (e.name == "sum") {
      into = sum(tile.elem, numbers);
    } else {
      bool ofBools = e.name == "any" || e.name == "all";
      Op op = llvm::StringSwitch<Op>(e.name)
                  .Case("any", Op::Or)
                  .Case("all", Op::And)
                  .Case("min", Op::Min)
                  .Default(Op::Max);
      into =
          ofBools ? Number::ofInteger(op == Op::And) : identity(op, tile.elem);
      for (const Number &number : numbers)
        into = apply(op, tile.elem, {into, number});
    }
  });
  return result;
}

Tile KernelEvaluator::combined(const Expr &e) {
  Tile tile = value(*argument(e, 0, "x"));
  tile = converted(tile, computeType(tile.elem));
  const lang::ast::Fn &fn = *file.findFn(argument(e, 1, "f")->name);
  Tile init = converted(value(*argument(e, 2, "init")), tile.elem);
  unsigned axis = number(*argument(e, 3, "axis"));
  Tile result = without(tile, axis, tile.elem);
  forLines(tile, axis, [&](int64_t line, auto, const auto &numbers) {
    Tile into = init;
    into.isConstant = false;
    Tile next = into;
    for (const Number &number : numbers) {
      next.lanes = {number};
      into = converted(inlined(fn, {into, next}), tile.elem);
    }
    result.lanes[line] = into.scalar();
  });
  return result;
}

Tile KernelEvaluator::cumulative(const Expr &e) {
  Tile tile = value(*e.args[0]);
  unsigned axis = number(*argument(e, 1, "axis"));
  tile = converted(tile, computeType(tile.elem));
  Tile result = blank(tile.elem, tile.shape);
  result.live = tile.live;
  forLines(tile, axis, [&](int64_t, auto at, llvm::ArrayRef<Number> numbers) {
    llvm::SmallVector<int64_t, 3> index(at.begin(), at.end());
    for (size_t n = 0; n < numbers.size(); ++n) {
      index[axis] = static_cast<int64_t>(n);
      result.lanes[laneAt(tile.shape, index)] =
          sum(tile.elem, numbers.take_front(n + 1));
    }
  });
  return result;
}

Tile KernelEvaluator::product(const Expr &e) {
  Tile a = value(*e.args[0]), b = value(*e.args[1]);
  ElemType elem = a.elem == ElemType::F64 ? ElemType::F64
                  : isInteger(a.elem)     ? ElemType::I32
                                          : ElemType::F32;
  Tile result = blank(elem, {a.shape[0], b.shape[1]});
  result.live = {a.live[0], b.live[1]};
  int64_t inner = std::min(a.live[1], b.live[0]);
  Tile accumulator;
  if (e.args.size() > 2) {
    accumulator = converted(value(*e.args[2]), elem);
    for (unsigned axis : {0, 1})
      result.live[axis] = std::min(result.live[axis], accumulator.live[axis]);
  }
  forLanes(result.shape, [&](int64_t lane, auto at) {
    std::vector<Number> left, right;
    for (int64_t k = 0; k < inner; ++k) {
      left.push_back(a.lanes[at[0] * a.shape[1] + k]);
      right.push_back(b.lanes[k * b.shape[1] + at[1]]);
    }
    if (!isLive(result, at))
      return;
    result.lanes[lane] = sum(elem, left, right);
    if (accumulator.rank())
      result.lanes[lane] =
          apply(Op::Add, elem, {accumulator.lanes[lane], result.lanes[lane]});
  });
  return result;
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
          count(now.take_front(other)) == count(old.take_front(axis)) &&
          tile.live[axis] < tile.shape[axis])
        result.live[other] = tile.live[axis];
  return result;
}
