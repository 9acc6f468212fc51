//===- SemaTerms.cpp - the values of a tile program -----------------------===//
//
// Scalars are numbered so that equal ones are known to be. Beside its type a
// value has facts that save work later: the size of an integer, and the axes
// past whose bound it is 0.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace tegula::lang;
using llvm::SMRange;

/// Terms that one program may have, functions inlined.
static constexpr size_t maxValues = 1 << 20;

Diagnostic &KernelSema::report(SMRange range, const llvm::Twine &text) {
  Diagnostic &d = diagnostics.error(range, text);
  constexpr size_t most = 3;
  for (size_t i = 0; i < std::min(frames.size(), most); ++i) {
    const Frame &frame = frames[frames.size() - 1 - i];
    d.note(frame.call, "in this call of `" + frame.fn->name.text + "`");
  }
  return d;
}

const Term *KernelSema::errorValue() {
  if (!errorNode)
    errorNode = &program.values.emplace_back();
  return errorNode;
}

Term KernelSema::node(Term::Kind kind, TileType type, SMRange range,
                      llvm::ArrayRef<const Term *> args) const {
  Term value;
  value.kind = kind;
  value.type = std::move(type);
  value.range = range;
  value.args.append(args.begin(), args.end());
  return value;
}

const Term *KernelSema::add(Term value) {
  for (const Term *arg : value.args) {
    if (!arg)
      continue;
    if (arg->type.isError())
      return errorValue();
    value.loopDepth = std::max(value.loopDepth, arg->loopDepth);
    value.depth = std::max(value.depth, arg->depth + 1);
  }
  if (value.depth > maxItemDepth || program.values.size() >= maxValues) {
    if (!tooLarge)
      report(value.range, value.depth > maxItemDepth
                              ? "this expression is more than " +
                                    llvm::Twine(maxItemDepth) +
                                    " operators deep; name parts of it with "
                                    "`let`"
                              : llvm::Twine("this program is too large, "
                                            "its functions inlined"));
    tooLarge = true;
    return errorValue();
  }
  if (isInteger(value.type.elem))
    noteRange(value);
  number(value);
  if (value.kind == Term::Operator)
    noteZeros(value);
  return &program.values.emplace_back(std::move(value));
}

/// Equal pure scalars get one number, everything else one of its own.
void KernelSema::number(Term &value) {
  auto fresh = [&] { value.valueNumber = ++lastNumber; };
  if (!value.type.isScalar() || value.type.isState)
    return fresh();
  std::vector<uint64_t> key = {uint64_t(value.kind)};
  switch (value.kind) {
  case Term::Constant:
    if (isFloat(value.type.elem))
      key.insert(key.end(), {1, llvm::bit_cast<uint64_t>(value.real)});
    else
      key.push_back(uint64_t(value.integer));
    break;
  case Term::Dim:
    key.push_back(uint64_t(find(int(value.number))));
    break;
  case Term::Scalar:
  case Term::Coordinate:
    key.push_back(value.number);
    break;
  case Term::Operator: {
    const Term &first = *value.args[0];
    if (value.op == Op::Convert && value.type.elem == ElemType::I64 &&
        isInteger(first.type.elem)) {
      value.valueNumber = first.valueNumber; // the same integer
      return;
    }
    key.insert(key.end(), {uint64_t(value.op), uint64_t(value.type.elem)});
    for (const Term *arg : value.args)
      key.push_back(arg->valueNumber);
    if ((value.op == Op::Add || value.op == Op::Mul) && key[4] < key[3])
      std::swap(key[3], key[4]);
    break;
  }
  default:
    return fresh();
  }
  unsigned &known = numbers[std::move(key)];
  if (known == 0)
    known = ++lastNumber;
  value.valueNumber = known;
}

/// A result that may wrap is only known to have its type.
void KernelSema::noteRange(Term &value) const {
  ElemType type = value.type.elem;
  IntegerRange range = IntegerRange::ofType(type);
  switch (value.kind) {
  case Term::Constant:
    range = IntegerRange::ofConstant(value.integer);
    break;
  case Term::Dim:
    range = IntegerRange::ofDim();
    break;
  case Term::Coordinate:
    range = {program.grid[value.number].extent->values.bits, true};
    break;
  case Term::Local: // what made it says more
    range = value.values;
    break;
  case Term::Iota:
    range = IntegerRange::ofConstant(value.type.shape[0]);
    break;
  case Term::Splat:
  case Term::Spread:
  case Term::Broadcast:
  case Term::Transpose:
  case Term::Reshape:
    range = value.args[0]->values;
    break;
  case Term::Operator: {
    llvm::SmallVector<IntegerRange, 3> args;
    for (const Term *arg : value.args)
      args.push_back(arg->values);
    if (value.op != Op::Convert)
      range = IntegerRange::ofOperator(value.op, args);
    else if (isInteger(value.args[0]->type.elem))
      range = args[0];
    break;
  }
  default:
    break;
  }
  value.values = range.wrapped(type);
}

static bool isZero(const Term &value) {
  if (value.kind == Term::Splat)
    return isZero(*value.args[0]);
  return value.isConstant() && value.integer == 0 && value.real == 0;
}

static bool isFinite(const Term &value) {
  if (value.kind == Term::Splat)
    return isFinite(*value.args[0]);
  return !isFloat(value.type.elem) ||
         (value.isConstant() && std::isfinite(value.real));
}

/// Which axes of an elementwise result hold 0 past their bounds, because the
/// operands do.
void KernelSema::noteZeros(Term &value) const {
  for (unsigned axis = 0; axis < value.type.rank(); ++axis) {
    auto zero = [&](const Term *arg) {
      return isZero(*arg) || (arg->type.isTile() &&
                              arg->type.shape[axis] == value.type.shape[axis] &&
                              (arg->zeroPast >> axis & 1));
    };
    bool isZeroPast = false;
    switch (value.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Max:
    case Op::Min:
    case Op::Neg:
    case Op::Abs:
    case Op::Tanh:
    case Op::Sqrt:
    case Op::Convert:
    case Op::Or:
      isZeroPast = llvm::all_of(value.args, zero);
      break;
    case Op::Mul:
      isZeroPast = (zero(value.args[0]) &&
                    (zero(value.args[1]) || isFinite(*value.args[1]))) ||
                   (zero(value.args[1]) && isFinite(*value.args[0]));
      break;
    case Op::And:
    case Op::BitAnd:
      isZeroPast = llvm::any_of(value.args, zero);
      break;
    case Op::Select:
      isZeroPast = zero(value.args[1]) && zero(value.args[2]);
      break;
    default:
      break;
    }
    value.zeroPast |= unsigned(isZeroPast) << axis;
  }
}

const Term *KernelSema::integer(int64_t value, ElemType elem, SMRange range) {
  Term constant = node(Term::Constant, elem, range);
  constant.integer = value;
  return add(std::move(constant));
}

const Term *KernelSema::real(double value, ElemType elem, SMRange range) {
  Term constant = node(Term::Constant, elem, range);
  constant.real = value;
  return add(std::move(constant));
}

const Term *KernelSema::local(const TileType &type, SMRange range) {
  Term value = node(Term::Local, type, range);
  value.loopDepth = blockDepth;
  return add(std::move(value));
}

std::string KernelSema::describe(const TileType &type) {
  std::string text =
      type.isState ? "a softmax state" : elemTypeName(type.elem).str();
  if (type.isScalar())
    return text;
  text += '[';
  for (int64_t extent : type.shape)
    text += (text.back() == '[' ? "" : ", ") + std::to_string(extent);
  return text + ']';
}

std::string KernelSema::describe(const Term &value) const {
  std::string text = describe(value.type);
  if (value.isConstant() && isInteger(value.type.elem))
    text += " (value " + std::to_string(value.integer) + ")";
  return text;
}
