//===- Number.cpp - numbers that know what rounding did to them -----------===//
//
// First-order error bounds. A result that a float holds exactly, made of
// operands that one holds exactly, has no error: so conditions on table values
// and small integers are decided.
//
//===----------------------------------------------------------------------===//
#include "Number.h"
#include "tools/tegula/Arithmetic.h"

using namespace tegula;
using namespace tegula::generated;

static constexpr double infinity = Number::infinity;

ElemType tegula::generated::computeType(ElemType elem) {
  if (elem == ElemType::F16 || elem == ElemType::BF16)
    return ElemType::F32;
  bool isNarrow =
      elem == ElemType::I8 || elem == ElemType::U8 || elem == ElemType::I16;
  return isNarrow ? ElemType::I32 : elem;
}

/// Half an ulp of 1.
static double roundoff(ElemType elem) {
  switch (elem) {
  case ElemType::F16:
    return 0x1p-11;
  case ElemType::BF16:
    return 0x1p-8;
  case ElemType::F32:
    return 0x1p-24;
  default:
    return 0x1p-53;
  }
}

static double largest(ElemType elem) {
  switch (elem) {
  case ElemType::F16:
    return 65504;
  case ElemType::BF16:
    return 0x1.FEp127;
  case ElemType::F32:
    return std::numeric_limits<float>::max();
  default:
    return std::numeric_limits<double>::max();
  }
}

static double smallest(ElemType elem) {
  return elem == ElemType::F16   ? 0x1p-25
         : elem == ElemType::F64 ? 0x1p-1074
                                 : 0x1p-126; // where f32 may be flushed to 0
}

static bool fitsFloat(double value) {
  return static_cast<double>(static_cast<float>(value)) == value;
}

static double toType(double value, ElemType elem) {
  return elem == ElemType::F32 ? static_cast<float>(value)
                               : tool::roundTo16Bits(elem, value);
}

Number tegula::generated::rounded(Number value, ElemType elem) {
  if (!value.isKnown() || std::isnan(value.real))
    return value;
  if (std::isinf(value.real))
    return value.error == 0 ? value : Number::unknown();
  if (std::fabs(value.real) + value.error > largest(elem) * 0.999)
    return Number::unknown();
  if (value.error == 0 && toType(value.real, elem) == value.real)
    return value;
  value.error += roundoff(elem) * std::fabs(value.real) + smallest(elem);
  return value;
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// A function whose value and error follow from three evaluations.
template <typename Function>
static Number smooth(Number a, ElemType elem, Function function) {
  double value = function(a.real), error = 0;
  if (a.error > 0) {
    double low = function(a.real - a.error), high = function(a.real + a.error);
    error = 2 * std::max(std::fabs(low - value), std::fabs(high - value));
    if (std::isnan(value) && std::isnan(low) && std::isnan(high))
      error = 0;
    else if (!(error < infinity))
      return Number::unknown();
  }
  // Libraries are right within a few ulps.
  if (std::isfinite(value) && value != std::rint(value))
    error += 8 * roundoff(elem) * std::fabs(value);
  return rounded(Number::ofReal(value, error), elem);
}

static Number divided(Number a, Number b, ElemType elem) {
  double value = a.real / b.real;
  if (b.error == 0 && a.error == 0)
    return rounded(Number::ofReal(value, std::isfinite(value)
                                             ? roundoff(elem) * std::fabs(value)
                                             : 0),
                   elem);
  double distance = std::fabs(b.real) - b.error;
  if (!(distance > 0))
    return Number::unknown();
  return rounded(
      Number::ofReal(value, (a.error + std::fabs(value) * b.error) / distance),
      elem);
}

static Number power(Number a, Number b, ElemType elem) {
  double value = std::pow(a.real, b.real), error = 0;
  for (double x : {a.real - a.error, a.real + a.error})
    for (double y : {b.real - b.error, b.real + b.error})
      error = std::max(error, 2 * std::fabs(std::pow(x, y) - value));
  if (!(error < infinity))
    return Number::unknown();
  return rounded(
      Number::ofReal(value, error + 16 * roundoff(elem) * std::fabs(value)),
      elem);
}

static Number applyReals(Op op, ElemType elem, Number a, Number b) {
  bool isExact =
      a.error == 0 && b.error == 0 && fitsFloat(a.real) && fitsFloat(b.real);
  auto value = [&](double result, double error) {
    if (std::isnan(result))
      return Number::ofReal(result,
                            a.error == 0 && b.error == 0 ? 0 : infinity);
    if (!isExact && elem == ElemType::F64) // doubles round here as well
      error += 0x1p-53 * std::fabs(result);
    return rounded(Number::ofReal(result, error), elem);
  };
  switch (op) {
  case Op::Neg:
    return Number::ofReal(-a.real, a.error);
  case Op::Abs:
    return Number::ofReal(std::fabs(a.real), a.error);
  case Op::Add:
    return value(a.real + b.real, a.error + b.error);
  case Op::Sub:
    return value(a.real - b.real, a.error + b.error);
  case Op::Mul:
    return value(a.real * b.real, std::fabs(a.real) * b.error +
                                      std::fabs(b.real) * a.error +
                                      a.error * b.error);
  case Op::Div:
    return divided(a, b, elem);
  case Op::Pow:
    return power(a, b, elem);
  case Op::Min:
  case Op::Max: {
    if (std::isnan(a.real) || std::isnan(b.real))
      return Number::ofReal(a.real + b.real);
    bool takesA = (op == Op::Min) == (a.real < b.real);
    return Number::ofReal(takesA ? a.real : b.real, std::max(a.error, b.error));
  }
  case Op::Exp:
    return smooth(a, elem, [](double x) { return std::exp(x); });
  case Op::Exp2:
    return smooth(a, elem, [](double x) { return std::exp2(x); });
  case Op::Log:
    return smooth(a, elem, [](double x) { return std::log(x); });
  case Op::Log2:
    return smooth(a, elem, [](double x) { return std::log2(x); });
  case Op::Tanh:
    return smooth(a, elem, [](double x) { return std::tanh(x); });
  case Op::Sqrt:
    return smooth(a, elem, [](double x) { return std::sqrt(x); });
  case Op::Rsqrt:
    return smooth(a, elem, [](double x) { return 1 / std::sqrt(x); });
  default:
    llvm_unreachable("no operator of floats");
  }
}

//===----------------------------------------------------------------------===//
// Everything
//===----------------------------------------------------------------------===//

static Number compared(Op op, ElemType elem, Number a, Number b) {
  if (!lang::isFloat(elem))
    return Number::ofInteger(tool::compare(op, a.integer, b.integer));
  double error = a.error + b.error;
  if (error > 0 && std::fabs(a.real - b.real) <= error)
    return Number::unknown();
  return Number::ofInteger(tool::compare(op, a.real, b.real));
}

/// One operand decides, whatever the other is.
static Number logical(Op op, Number a, Number b) {
  int64_t decides = op == Op::Or || op == Op::BitOr;
  for (const Number &side : {a, b})
    if (side.isKnown() && side.integer == decides)
      return Number::ofInteger(decides);
  return a.isKnown() && b.isKnown() ? Number::ofInteger(!decides)
                                    : Number::unknown();
}

Number tegula::generated::apply(Op op, ElemType elem,
                                llvm::ArrayRef<Number> args) {
  if (op == Op::Select)
    return !args[0].isKnown() ? Number::unknown()
                              : args[args[0].integer ? 1 : 2];
  bool ofBools = elem == ElemType::Bool;
  if (op == Op::And || op == Op::Or ||
      (ofBools && (op == Op::BitAnd || op == Op::BitOr)))
    return logical(op, args[0], args[1]);
  for (const Number &arg : args)
    if (!arg.isKnown())
      return Number::unknown();
  Number b = args.size() > 1 ? args[1] : Number();
  if (op == Op::Not)
    return Number::ofInteger(!args[0].integer);
  if (lang::isComparison(op))
    return compared(op, elem, args[0], b);
  if (lang::isFloat(elem))
    return applyReals(op, elem, args[0], b);
  return Number::ofInteger(
      tool::applyToIntegers(op, elem, args[0].integer, b.integer));
}

Number tegula::generated::convert(Number value, ElemType from, ElemType to) {
  if (from == to || !value.isKnown())
    return value;
  if (lang::isFloat(to)) {
    if (lang::isFloat(from)) {
      Number result = rounded(value, to);
      if (value.error == 0)
        return Number::ofReal(toType(value.real, to));
      return result;
    }
    double exact = static_cast<double>(value.integer), size = std::fabs(exact);
    return Number::ofReal(toType(exact, to),
                          size < 0x1p24 ? 0 : roundoff(to) * size);
  }
  if (!lang::isFloat(from))
    return Number::ofInteger(to == ElemType::Bool
                                 ? value.integer != 0
                                 : tool::wrapTo(to, value.integer));
  int64_t low = tool::saturateTo(to, value.real - value.error);
  return low == tool::saturateTo(to, value.real + value.error)
             ? Number::ofInteger(low)
             : Number::unknown();
}

Number tegula::generated::sum(ElemType elem, llvm::ArrayRef<Number> a,
                              llvm::ArrayRef<Number> b) {
  __int128 integers = 0;
  double reals = 0, error = 0, size = 0;
  bool isExact = true;
  for (size_t n = 0; n < a.size(); ++n) {
    Number term = a[n];
    if (!term.isKnown() || (!b.empty() && !b[n].isKnown()))
      return Number::unknown();
    isExact &= term.error == 0 && fitsFloat(term.real) &&
               term.real == std::rint(term.real);
    if (!b.empty()) {
      isExact &= b[n].error == 0 && b[n].real == std::rint(b[n].real);
      error +=
          std::fabs(term.real) * b[n].error + std::fabs(b[n].real) * term.error;
      term.real *= b[n].real;
      integers += __int128(term.integer) * b[n].integer;
    } else {
      error += term.error;
      integers += term.integer;
    }
    reals += term.real;
    size += std::fabs(term.real);
  }
  if (!lang::isFloat(elem))
    return Number::ofInteger(tool::wrapTo(elem, integers));
  if (std::isnan(reals) || std::isinf(reals))
    return Number::ofReal(reals, error > 0 ? infinity : 0);
  if (!isExact || !(size < 1 << 24))
    error += static_cast<double>(a.size() + 2) *
             (roundoff(elem) * size + smallest(elem));
  return rounded(Number::ofReal(reals, error), elem);
}

Number tegula::generated::identity(Op op, ElemType elem) {
  if (lang::isFloat(elem))
    return Number::ofReal(op == Op::Min ? infinity : -infinity);
  int64_t most =
      std::numeric_limits<int64_t>::max() >> (64 - lang::integerBits(elem));
  return Number::ofInteger(op == Op::Min ? most : -most - 1);
}
