//===- GenerateOperators.cpp - expressions of random tile programs --------===//
//
// Operators and functions of values of one kind. The size of floats is
// estimated, so that results stay where rounding says little.
//
//===----------------------------------------------------------------------===//
#include "KernelGenerator.h"

#include <algorithm>

using namespace tegula;
using namespace tegula::generated;

std::string KernelGenerator::anyOf(char family, const std::string &kind,
                                   int depth) {
  return family == 'i'   ? integer(kind, depth)
         : family == 'f' ? realWithin(kind, depth, 100)
                         : boolean(kind, depth);
}

std::string KernelGenerator::integerOrLiteral(const std::string &kind,
                                              int depth) {
  if (choices.chance(40))
    return integerLiteral();
  return integer(choices.chance(80) ? kind : "", depth);
}

std::string KernelGenerator::divisor(const std::string &kind, int depth) {
  if (choices.chance(40))
    return integer(kind, depth);
  return choices.pick({"2", "3", "4", "-2", "5", "-3", "16"});
}

std::string KernelGenerator::integer(const std::string &kind, int depth) {
  double size;
  if (depth <= 0)
    return leaf('i', kind, size);
  int less = depth - 1;
  switch (choices.below(22)) {
  default:
    return leaf('i', kind, size);
  case 2:
  case 3:
    return binary(integer(kind, less), choices.pick({"+", "-"}),
                  integerOrLiteral(kind, less));
  case 4:
    return binary(integerLiteral(), choices.pick({"-", "+", "*"}),
                  integer(kind, less));
  case 5:
    return binary(integer(kind, less), "*", integerOrLiteral(kind, less));
  case 6:
  case 7:
    return binary(integer(kind, less), "/", divisor(kind, less));
  case 8:
  case 9:
    return binary(integer(kind, less), "%", divisor(kind, less));
  case 10:
    return binary(integer(kind, less), choices.pick({"<<", ">>"}),
                  integerOrLiteral(kind, less));
  case 11:
    return binary(integer(kind, less), choices.pick({"&", "|", "^"}),
                  integerOrLiteral(kind, less));
  case 12:
    return choices.pick({"-", "~"}) + integer(kind, less);
  case 13:
    return choices.pick({"min(", "max("}) + integer(kind, less) + ", " +
           integerOrLiteral(kind, less) + ")";
  case 14:
    if (choices.chance(50))
      return "abs(" + integer(kind, less) + ")";
    return "clamp(" + integer(kind, less) + ", " + integerLiteral() + ", " +
           integerOrLiteral(kind, less) + ")";
  case 15:
    return "ceildiv(" + integer(kind, less) + ", " + divisor(kind, less) + ")";
  case 16:
    if (choices.chance(50))
      return "where(" + boolean(kind, less) + ", " + integer(kind, less) +
             ", " + integerOrLiteral(kind, less) + ")";
    return "(" + boolean(choices.chance(70) ? kind : "", less) + " ? " +
           integer(kind, less) + " : " + integerOrLiteral(kind, less) + ")";
  case 17:
    if (choices.chance(30))
      return choices.pick({"i32(", "i64(", "i8(", "u8("}) +
             realWithin(kind, less, 1e4) + ")";
    return choices.pick({"i32(", "i64(", "i16(", "i8(", "u8("}) +
           integer(kind, less) + ")";
  case 18:
    return kind.empty() ? reduced('i', kind, less) : gathered('i', kind, less);
  case 19:
    return kind.empty() ? leaf('i', kind, size) : spread('i', kind, less);
  case 20:
    return reduced('i', kind, less);
  case 21:
    if (kind == "RC" && tileRows && !filled && choices.chance(40))
      return product('i', less);
    return called('i', kind, less);
  }
}

std::string KernelGenerator::boolean(const std::string &kind, int depth) {
  int less = depth - 1;
  double size;
  switch (depth <= 0 ? choices.below(3) : choices.below(10)) {
  default:
    return binary(integer(kind, less),
                  choices.pick({"<", "<=", ">", ">=", "==", "!="}),
                  integerOrLiteral(kind, less));
  case 2:
    return leaf('b', kind, size);
  case 3:
    return binary(real(kind, less).text, choices.pick({"<", "<=", ">", ">="}),
                  choices.chance(50) ? realLiteral() : real(kind, less).text);
  case 4:
  case 5:
    return binary(boolean(kind, less), choices.pick({"&&", "||", "&", "|"}),
                  boolean(kind, less));
  case 6:
    return "!" + boolean(kind, less);
  case 7:
    return binary(boolean(kind, less), choices.pick({"==", "!="}),
                  boolean(kind, less));
  case 8:
    return kind == "RC" ? spread('b', kind, less) : reduced('b', kind, less);
  case 9:
    return "where(" + boolean(kind, less) + ", " + boolean(kind, less) + ", " +
           boolean(kind, less) + ")";
  }
}

std::string KernelGenerator::realWithin(const std::string &kind, int depth,
                                        double limit) {
  Real value = real(kind, depth);
  if (value.size <= limit)
    return value.text;
  return choices.chance(50) && limit >= 2
             ? "clamp(" + value.text + ", -1.5, 2.0)"
             : "tanh(" + value.text + ")";
}

std::string KernelGenerator::positive(const std::string &kind, int depth) {
  switch (choices.below(3)) {
  case 0:
    return "(abs(" + realWithin(kind, depth - 1, 100) + ") + 0.5)";
  case 1:
    return "exp(" + realWithin(kind, depth - 1, 2) + ")";
  default:
    return "max(" + realWithin(kind, depth - 1, 100) + ", 0.25)";
  }
}

Real KernelGenerator::real(const std::string &kind, int depth) {
  double size = 4;
  if (depth <= 0) {
    std::string text = leaf('f', kind, size);
    return {text, size};
  }
  int less = depth - 1;
  std::string other = choices.chance(85) ? kind : "";
  switch (choices.below(20)) {
  default: {
    std::string text = leaf('f', kind, size);
    return {text, size};
  }
  case 2:
  case 3:
  case 4: {
    Real a = real(kind, less), b = real(other, less);
    bool swap = choices.chance(30);
    return {binary(swap ? b.text : a.text, choices.pick({"+", "-"}),
                   swap ? a.text : b.text),
            a.size + b.size};
  }
  case 5:
  case 6: {
    Real a = real(kind, less), b = real(other, less);
    if (a.size * b.size > 1e4)
      return a;
    return {binary(a.text, "*", b.text), a.size * b.size};
  }
  case 7: {
    Real a = real(kind, less);
    return {binary(a.text, choices.pick({"+", "*", "-", "/"}), "2.0"),
            2 * a.size + 2};
  }
  case 8: {
    Real a = real(kind, less);
    return {binary(a.text, "/", positive(other, less)), 4 * a.size};
  }
  case 9: {
    Real a = real(kind, less), b = real(other, less);
    return {choices.pick({"min(", "max("}) + a.text + ", " + b.text + ")",
            std::max(a.size, b.size)};
  }
  case 10:
    return {choices.pick({"exp(", "exp2("}) + realWithin(kind, less, 2) + ")",
            8};
  case 11:
    return {choices.pick({"log(", "sqrt(", "rsqrt(", "log2("}) +
                positive(kind, less) + ")",
            8};
  case 12:
    return {"tanh(" + realWithin(kind, less, 100) + ")", 1};
  case 13: {
    Real a = real(kind, less);
    return {choices.pick({"-", "abs"}) + ("(" + a.text + ")"), a.size};
  }
  case 14:
  case 15: {
    Real a = real(kind, less), b = real(other, less);
    std::string condition = boolean(choices.chance(70) ? kind : "", less);
    return {choices.chance(50)
                ? "where(" + condition + ", " + a.text + ", " + b.text + ")"
                : "(" + condition + " ? " + a.text + " : " + b.text + ")",
            std::max(a.size, b.size)};
  }
  case 16:
    if (kind == "RC" && tileRows && !filled && choices.chance(50))
      return {product('f', less), 1e3};
    return {called('f', kind, less), 1e3};
  case 17:
    if (kind.empty())
      return {reduced('f', kind, less), 1e3};
    return choices.chance(50) ? Real{gathered('f', kind, less), 4}
                              : Real{spread('f', kind, less), 100};
  case 18:
    return {reduced('f', kind, less), 1e3};
  case 19:
    if (choices.chance(50))
      return {choices.pick({"f16(", "bf16(", "f32("}) +
                  realWithin(kind, less, 1e4) + ")",
              1e4};
    return {"f32(" + integer(kind, less) + " % 16)", 16};
  }
}
