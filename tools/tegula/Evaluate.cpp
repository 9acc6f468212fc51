//===- Evaluate.cpp - the language, interpreted ---------------------------===//
//
// A tree walk whose values are columns over the keys of a row. No lane has an
// effect or a trap, so both sides of `?:`, `&&` and `||` are simply computed.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Evaluate.h"
#include "tools/tegula/Arithmetic.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

using namespace tegula;
using namespace tegula::tool;
using tegula::lang::ElemType;
using tegula::lang::Expr;
using tegula::lang::Op;

ElementType tegula::tool::elementTypeOf(ElemType type) {
  switch (type) {
  case ElemType::Bool:
    return ElementType::boolean;
  case ElemType::I8:
    return ElementType::i8;
  case ElemType::U8:
    return ElementType::u8;
  case ElemType::I16:
    return ElementType::i16;
  case ElemType::I32:
    return ElementType::i32;
  case ElemType::I64:
    return ElementType::i64;
  case ElemType::F16:
    return ElementType::f16;
  case ElemType::BF16:
    return ElementType::bf16;
  case ElemType::F64:
    return ElementType::f64;
  default:
    return ElementType::f32;
  }
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

template <typename Real> static Real realOp(Op op, Real a, Real b) {
  switch (op) {
  case Op::Add:
    return a + b;
  case Op::Sub:
    return a - b;
  case Op::Mul:
    return a * b;
  case Op::Div:
    return a / b;
  case Op::Rem:
    return b == 0 ? std::numeric_limits<Real>::quiet_NaN()
                  : a - std::floor(a / b) * b;
  case Op::Pow:
    return std::pow(a, b);
  case Op::Min:
    return std::isnan(a) || std::isnan(b) ? a + b : std::min(a, b);
  case Op::Max:
    return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b);
  default:
    llvm_unreachable("no operator of two floats");
  }
}

template <typename Real> static Real realFunction(Op op, Real a) {
  switch (op) {
  case Op::Neg:
    return -a;
  case Op::Abs:
    return std::fabs(a);
  case Op::Exp:
    return std::exp(a);
  case Op::Exp2:
    return std::exp2(a);
  case Op::Log:
    return std::log(a);
  case Op::Log2:
    return std::log2(a);
  case Op::Tanh:
    return std::tanh(a);
  case Op::Sqrt:
    return std::sqrt(a);
  case Op::Rsqrt:
    return 1 / std::sqrt(a);
  default:
    llvm_unreachable("no function of one float");
  }
}

uint32_t tegula::tool::philox(uint64_t key, llvm::ArrayRef<uint32_t> counters) {
  auto key0 = static_cast<uint32_t>(key);
  auto key1 = static_cast<uint32_t>(key >> 32);
  uint32_t c0 = counters[0], c1 = counters[1], c2 = counters[2],
           c3 = counters[3];
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t(0xD2511F53) * c0, odd = uint64_t(0xCD9E8D57) * c2;
    c0 = static_cast<uint32_t>(odd >> 32) ^ c1 ^ key0;
    c1 = static_cast<uint32_t>(odd);
    c2 = static_cast<uint32_t>(even >> 32) ^ c3 ^ key1;
    c3 = static_cast<uint32_t>(even);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return c0;
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

static bool isReal(ElemType type) { return tegula::lang::isFloat(type); }

template <typename Real> static int64_t lanes(const Column<Real> &column) {
  return static_cast<int64_t>(
      std::max(column.integers.size(), column.reals.size()));
}

template <typename Real>
static int64_t commonLanes(llvm::ArrayRef<Column<Real>> columns) {
  // An empty column wins: there may be no key at all.
  int64_t count = 1;
  for (const Column<Real> &column : columns)
    if (int64_t own = lanes(column); own != 1)
      count = own;
  return count;
}

template <typename Real>
Column<Real> RowEvaluator<Real>::index(lang::IndexVar var) {
  Lanes result;
  switch (var) {
  case lang::IndexVar::B:
    result.integers = {row.b};
    break;
  case lang::IndexVar::H:
    result.integers = {row.h};
    break;
  case lang::IndexVar::G:
    result.integers = {row.g};
    break;
  case lang::IndexVar::I:
    result.integers = {row.i};
    break;
  case lang::IndexVar::J:
  case lang::IndexVar::E:
    result.integers.resize(laneCount);
    for (int64_t lane = 0; lane < laneCount; ++lane)
      result.integers[lane] = lane;
    break;
  case lang::IndexVar::D:
    llvm_unreachable("d appears in operands only");
  }
  return result;
}

template <typename Real>
Column<Real> RowEvaluator<Real>::rowValue(lang::RowValue which) {
  assert(values && "values of a row appear in an output only");
  switch (which) {
  case lang::RowValue::O:
    return {{}, values->o};
  case lang::RowValue::Lse:
    return {{}, {values->lse}};
  case lang::RowValue::RowMax:
    return {{}, {values->max}};
  case lang::RowValue::RowSum:
    return {{}, {values->sum}};
  }
  llvm_unreachable("every value is handled");
}

template <typename Real> Column<Real> RowEvaluator<Real>::let(unsigned number) {
  for (const auto &[known, lanes] : lets)
    if (known == number)
      return lanes;
  Lanes result = value(*problem.item->lets[number].value);
  lets.emplace_back(number, result);
  return result;
}

template <typename Real>
Column<Real> RowEvaluator<Real>::lookup(const Expr &expr) {
  llvm::SmallVector<Lanes, 4> indices;
  for (const Expr *arg : expr.args)
    indices.push_back(value(*arg));
  const Tensor &table = problem.tensors[expr.number];
  int64_t count = commonLanes<Real>(indices);
  bool real = isReal(expr.type);
  Lanes result;
  real ? result.reals.resize(count) : result.integers.resize(count);
  if (table.size() == 0)
    return result; // zeros
  for (int64_t lane = 0; lane < count; ++lane) {
    int64_t offset = 0;
    for (auto [axis, column] : llvm::enumerate(indices)) {
      int64_t last = table.shape()[axis] - 1;
      int64_t at = std::clamp<int64_t>(column.integer(lane), 0, last);
      offset += at * table.strides()[axis];
    }
    if (real)
      result.reals[lane] = static_cast<Real>(table.real(offset));
    else
      result.integers[lane] = table.integer(offset);
  }
  return result;
}

template <typename Real>
static void convert(const Expr &expr, const Column<Real> &from,
                    Column<Real> &to, int64_t count) {
  ElemType source = expr.args[0]->type, target = expr.castType;
  if (target == ElemType::Error)
    target = expr.type;
  for (int64_t n = 0; n < count; ++n) {
    if (isReal(expr.type))
      to.reals[n] = static_cast<Real>(
          roundTo16Bits(target, isReal(source) ? double(from.real(n))
                                               : double(from.integer(n))));
    else if (isReal(source))
      to.integers[n] = saturateTo(target, from.real(n));
    else if (target == ElemType::Bool)
      to.integers[n] = from.integer(n) != 0;
    else
      to.integers[n] = wrapTo(target, from.integer(n));
  }
}

template <typename Real>
Column<Real> RowEvaluator<Real>::apply(const Expr &expr) {
  llvm::SmallVector<Lanes, 3> args;
  for (const Expr *arg : expr.args)
    args.push_back(value(*arg));
  int64_t count = commonLanes<Real>(args);
  bool real = isReal(expr.type);
  Lanes result;
  real ? result.reals.resize(count) : result.integers.resize(count);
  const Lanes &a = args[0];

  if (expr.op == Op::Convert) {
    convert(expr, a, result, count);
  } else if (expr.op == Op::Random) {
    for (int64_t n = 0; n < count; ++n) {
      uint32_t counters[4];
      for (int c = 0; c < 4; ++c)
        counters[c] = static_cast<uint32_t>(args[c + 1].integer(n));
      uint32_t word = philox(static_cast<uint64_t>(a.integer(n)), counters);
      result.reals[n] = static_cast<Real>(word >> 8) * Real(0x1p-24);
    }
  } else if (expr.op == Op::Select) {
    for (int64_t n = 0; n < count; ++n) {
      const Lanes &chosen = a.integer(n) ? args[1] : args[2];
      if (real)
        result.reals[n] = chosen.real(n);
      else
        result.integers[n] = chosen.integer(n);
    }
  } else if (lang::isComparison(expr.op)) {
    bool ofReals = isReal(expr.args[0]->type);
    for (int64_t n = 0; n < count; ++n)
      result.integers[n] =
          ofReals ? compare(expr.op, a.real(n), args[1].real(n))
                  : compare(expr.op, a.integer(n), args[1].integer(n));
  } else if (args.size() == 2) {
    for (int64_t n = 0; n < count; ++n)
      if (real)
        result.reals[n] = realOp(expr.op, a.real(n), args[1].real(n));
      else
        result.integers[n] = applyToIntegers(expr.op, ElemType::I64,
                                             a.integer(n), args[1].integer(n));
  } else if (real) {
    for (int64_t n = 0; n < count; ++n)
      result.reals[n] = realFunction(expr.op, a.real(n));
  } else {
    for (int64_t n = 0; n < count; ++n) {
      int64_t x = a.integer(n);
      result.integers[n] =
          expr.op == Op::Not ? !x : applyToIntegers(expr.op, ElemType::I64, x);
    }
  }
  return result;
}

template <typename Real>
Column<Real> RowEvaluator<Real>::bounded(const Expr &expr) {
  bool real = isReal(expr.type);
  Lanes result;
  if (real)
    result.reals = {static_cast<Real>(lang::realIdentity(expr.op))};
  else
    result.integers = {lang::integerIdentity(expr.op)};
  int64_t extent = value(*expr.args[0]).integer(0);
  for (int64_t n = 0; n < extent; ++n) {
    size_t before = lets.size();
    variables.emplace_back(expr.number, n);
    Lanes sides[] = {std::move(result), value(*expr.args[1])};
    variables.pop_back();
    lets.resize(before);
    int64_t count = commonLanes<Real>(sides);
    result = {};
    real ? result.reals.resize(count) : result.integers.resize(count);
    for (int64_t lane = 0; lane < count; ++lane)
      if (real)
        result.reals[lane] =
            realOp(expr.op, sides[0].real(lane), sides[1].real(lane));
      else
        result.integers[lane] =
            applyToIntegers(expr.op, ElemType::I64, sides[0].integer(lane),
                            sides[1].integer(lane));
  }
  return result;
}

template <typename Real>
Column<Real> RowEvaluator<Real>::evaluate(const Expr &expr,
                                          const std::vector<Real> *newScores) {
  scores = newScores;
  return value(expr);
}

template <typename Real>
Column<Real>
RowEvaluator<Real>::evaluateOutput(const Expr &expr,
                                   const RowValues<Real> &newValues) {
  values = &newValues;
  return value(expr);
}

template <typename Real>
Column<Real> RowEvaluator<Real>::value(const Expr &expr) {
  Lanes result;
  switch (expr.kind) {
  case Expr::Constant:
    if (isReal(expr.type))
      result.reals = {static_cast<Real>(expr.real)};
    else
      result.integers = {expr.integer};
    return result;
  case Expr::Index:
    return index(expr.index);
  case Expr::Score:
    assert(scores && "`s` appears in scores and weights only");
    result.reals = *scores;
    return result;
  case Expr::Row:
    return rowValue(expr.row);
  case Expr::Dim:
    result.integers = {problem.dims[expr.number]};
    return result;
  case Expr::Scalar:
    if (isReal(expr.type))
      result.reals = {static_cast<Real>(problem.scalars[expr.number].real)};
    else
      result.integers = {problem.scalars[expr.number].integer};
    return result;
  case Expr::Let:
    return let(expr.number);
  case Expr::Variable:
    for (const auto &[number, at] : variables)
      if (number == expr.number)
        result.integers = {at};
    return result;
  case Expr::Lookup:
    return lookup(expr);
  case Expr::Operator:
    return apply(expr);
  case Expr::Bounded:
    return bounded(expr);
  }
  llvm_unreachable("every kind of expression has a value");
}

template class tegula::tool::RowEvaluator<float>;
template class tegula::tool::RowEvaluator<double>;

int64_t tegula::tool::evaluateOnHost(const Problem &problem, const Expr &expr) {
  return RowEvaluator<double>(problem, {}, 1).evaluate(expr).integer(0);
}

double tegula::tool::evaluateRealOnHost(const Problem &problem,
                                        const Expr &expr) {
  return RowEvaluator<double>(problem, {}, 1).evaluate(expr).real(0);
}
