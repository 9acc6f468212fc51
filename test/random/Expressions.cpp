//===- Expressions.cpp - random scalar expressions ------------------------===//
//
// Every binary operator has at least one operand that is no constant. Where
// floats are f32, decisions (comparisons, casts to integers) hang on values
// only that both sides compute without rounding.
//
//===----------------------------------------------------------------------===//
#include "Expressions.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cmath>

using namespace tegula;
using namespace tegula::generated;

std::string tegula::generated::binary(const std::string &a, const char *op,
                                      const std::string &b) {
  return "(" + a + " " + op + " " + b + ")";
}

//===----------------------------------------------------------------------===//
// Tables and functions
//===----------------------------------------------------------------------===//

const Table *Expressions::tableOf(char kind) {
  llvm::SmallVector<const Table *> fitting;
  for (const Table &table : scope.tables)
    if (table.kind == kind)
      fitting.push_back(&table);
  return fitting.empty() ? nullptr : choices.pickFrom(fitting);
}

std::string Expressions::lookup(const Table &table, int depth) {
  std::string text = table.name + "[";
  for (size_t axis = 0; axis < table.axes.size(); ++axis) {
    char own = table.axes[axis];
    bool known = own && scope.indices.find(own) != std::string::npos;
    std::string index = known && choices.chance(70)
                            ? std::string(1, own)
                            : integer(std::min(depth, 2));
    // A bare index over another dim would be refused.
    if (index.size() == 1 && index[0] != own)
      index += choices.pick({" + 1", " - 1", " * 2"});
    text += (axis ? ", " : "") + index;
  }
  return text + "]";
}

const Fn *Expressions::fnOf(char kind) {
  llvm::SmallVector<const Fn *> fitting;
  for (const Fn &fn : scope.fns)
    if (fn.kind == kind)
      fitting.push_back(&fn);
  return fitting.empty() ? nullptr : choices.pickFrom(fitting);
}

std::string Expressions::call(const Fn &fn, int depth) {
  std::string text = fn.name + "(";
  for (size_t n = 0; n < fn.params.size(); ++n)
    text += (n ? ", " : "") + (fn.params[n] == 'i' ? integer(depth - 1)
                                                   : realWithin(depth - 1, 4));
  return text + ")";
}

std::string Expressions::bounded(const char *reduction, char kind, int depth) {
  Scope outer = scope;
  scope.hasBounded = false;
  std::string variable = "t", text = reduction + std::string("(t in ");
  text += scope.constant.empty() || choices.chance(50)
              ? choices.pick({"3", "1", "0", "4"})
              : scope.constant;
  scope.integers.push_back(variable);
  scope.integers.push_back(variable);
  text += ": " + (kind == 'b' ? boolean(depth - 1) : integer(depth - 1)) + ")";
  scope = outer;
  return text;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

std::string Expressions::integerLiteral() {
  return choices.pick({"1", "2", "3", "4", "7", "0", "5", "8", "16", "-1", "-3",
                       "31", "33", "63", "100", "2147483647", "-2147483648",
                       "4294967296"});
}

std::string Expressions::integerLeaf() {
  const Table *table = choices.chance(25) ? tableOf('i') : nullptr;
  return table ? lookup(*table, 0) : choices.pickFrom(scope.integers);
}

std::string Expressions::integerOrLiteral(int depth) {
  return choices.chance(50) ? integer(depth) : integerLiteral();
}

std::string Expressions::divisor(int depth) {
  if (choices.chance(35)) {
    std::string by = integer(depth);
    // Over no value of `t`, a constant.
    return by.find("(t in ") == std::string::npos ? by : binary(by, "|", "1");
  }
  return choices.pick({"2", "3", "4", "5", "16", "-2", "-3", "7"});
}

std::string Expressions::integer(int depth) {
  if (depth <= 0)
    return integerLeaf();
  int less = depth - 1;
  switch (choices.below(20)) {
  default:
    return integerLeaf();
  case 3:
  case 4:
    return binary(integer(less), choices.pick({"+", "-"}),
                  integerOrLiteral(less));
  case 5:
    return binary(integerLiteral(), choices.pick({"-", "+", "*"}),
                  integer(less));
  case 6:
    return binary(integer(less), "*",
                  choices.chance(80)
                      ? choices.pick({"2", "-1", "3", "-5", "16", "1000"})
                      : integer(less));
  case 7:
  case 8:
    return binary(integer(less), "/", divisor(less));
  case 9:
  case 10:
    return binary(integer(less), "%", divisor(less));
  case 11:
    return binary(integer(less), choices.pick({"<<", ">>"}),
                  choices.chance(60)
                      ? choices.pick({"1", "2", "3", "5", "32", "64", "-1"})
                      : binary(integer(less), "&", "7"));
  case 12:
    return binary(integer(less), choices.pick({"&", "|", "^"}),
                  integerOrLiteral(less));
  case 13:
    return choices.pick({"-", "~"}) + integer(less);
  case 14:
    return choices.pick({"min(", "max("}) + integer(less) + ", " +
           integerOrLiteral(less) + ")";
  case 15:
    if (choices.chance(50))
      return "abs(" + integer(less) + ")";
    return "clamp(" + integer(less) + ", " + integerOrLiteral(less) + ", " +
           integerOrLiteral(less) + ")";
  case 16:
    return "ceildiv(" + integer(less) + ", " + divisor(less) + ")";
  case 17:
    return "(" + boolean(less) + " ? " + integer(less) + " : " +
           integerOrLiteral(less) + ")";
  case 18:
    if (scope.isDouble && choices.chance(30))
      return choices.pick({"i32(", "i64(", "i8(", "u8("}) + real(less).text +
             ")";
    return choices.pick({"i32(", "i64(", "i16(", "i8(", "u8("}) +
           integer(less) + ")";
  case 19:
    if (const Fn *fn = fnOf('i'))
      return call(*fn, less);
    if (scope.hasBounded && choices.chance(40))
      return bounded(choices.pick({"sum", "min", "max"}), 'i', less);
    if (const Table *table = tableOf('i'))
      return lookup(*table, less);
    return integerLeaf();
  }
}

//===----------------------------------------------------------------------===//
// Bools
//===----------------------------------------------------------------------===//

std::string Expressions::comparison(int depth) {
  const char *op = choices.pick({"<", "<=", ">", ">=", "==", "!="});
  if (choices.chance(80)) {
    std::string a = integer(depth), b = integerOrLiteral(depth);
    return choices.chance(20) ? binary(b, op, a) : binary(a, op, b);
  }
  if (!scope.isDouble)
    return binary(exactReal(), op, realLiteral());
  return binary(real(depth).text, choices.pick({"<", "<=", ">", ">="}),
                choices.chance(50) ? realLiteral() : real(depth).text);
}

std::string Expressions::boolean(int depth) {
  if (depth <= 0) {
    if (!scope.bools.empty() && choices.chance(20))
      return choices.pickFrom(scope.bools);
    return comparison(0);
  }
  int less = depth - 1;
  switch (choices.below(10)) {
  default:
    return comparison(less);
  case 4:
  case 5:
    return binary(boolean(less), choices.pick({"&&", "&"}), boolean(less));
  case 6:
    return binary(boolean(less), choices.pick({"||", "|"}), boolean(less));
  case 7:
    return "!" + boolean(less);
  case 8:
    if (const Table *table = tableOf('b'))
      return lookup(*table, less);
    if (scope.hasBounded)
      return bounded(choices.pick({"any", "all"}), 'b', less);
    return comparison(less);
  case 9:
    if (choices.chance(50))
      return binary(boolean(less), choices.pick({"==", "!="}), boolean(less));
    return "(" + boolean(less) + " ? " + boolean(less) + " : " + boolean(less) +
           ")";
  }
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

std::string Expressions::realLiteral() {
  return choices.pick(
      {"1.0", "0.5", "2.0", "0.0", "-1.5", "0.125", "-0.25", "3.0"});
}

/// What is the same number in f32 and f64.
std::string Expressions::exactReal() {
  const Table *table = choices.chance(60) ? tableOf('f') : nullptr;
  return table ? lookup(*table, 1) : "f32(" + integer(1) + " % 16)";
}

Real Expressions::realLeaf(int depth) {
  const Table *table = choices.chance(30) ? tableOf('f') : nullptr;
  if (table)
    return {lookup(*table, depth), table->size};
  if (!scope.reals.empty() && choices.chance(75))
    return choices.pickFrom(scope.reals);
  return {"f32(" + integer(std::min(depth, 1)) + " % 7)", 7};
}

std::string Expressions::realWithin(int depth, double limit) {
  Real value = real(depth);
  if (value.size <= limit)
    return value.text;
  if (limit >= 2 && choices.chance(50))
    return "clamp(" + value.text + ", -1.5, 2.0)";
  return "tanh(" + value.text + ")";
}

std::string Expressions::positive(int depth) {
  switch (choices.below(4)) {
  case 0:
    return "exp(" + realWithin(depth - 1, 2) + ")";
  case 1:
    return "(abs(" + realWithin(depth - 1, 30) + ") + 0.5)";
  case 2:
    return "(1.0 / (1.0 + exp(" + realWithin(depth - 1, 4) + ")))";
  default:
    return "max(" + realWithin(depth - 1, 30) + ", 0.25)";
  }
}

Real Expressions::real(int depth) {
  if (depth <= 0)
    return realLeaf(0);
  int less = depth - 1;
  switch (choices.below(18)) {
  default:
    return realLeaf(less);
  case 3:
  case 4: {
    Real a = real(less), b = real(less);
    return {binary(a.text, choices.pick({"+", "-"}), b.text), a.size + b.size};
  }
  case 5: {
    Real a = real(less);
    return {binary(a.text, choices.pick({"*", "/", "+", "-"}), "2.0"),
            2 * a.size + 2};
  }
  case 6: {
    Real a = real(less), b = real(less);
    if (a.size * b.size > 1e4)
      return a;
    return {binary(a.text, "*", b.text), a.size * b.size};
  }
  case 7: {
    Real a = real(less);
    return {binary(a.text, "/", positive(less)), 8 * a.size};
  }
  case 8: {
    Real a = real(less), b = real(less);
    return {choices.pick({"min(", "max("}) + a.text + ", " + b.text + ")",
            std::max(a.size, b.size)};
  }
  case 9:
    return {"tanh(" + realWithin(less, 30) + ")", 1};
  case 10:
    return {choices.pick({"exp(", "exp2("}) + realWithin(less, 2) + ")", 8};
  case 11:
    return {choices.pick({"log(", "log2(", "sqrt(", "rsqrt("}) +
                positive(less) + ")",
            8};
  case 12:
    return {"pow(" + positive(less) + ", " +
                choices.pick({"0.5", "2.0", "-1.0"}) + ")",
            64};
  case 13: {
    Real a = real(less);
    return {choices.pick({"-", "abs"}) + ("(" + a.text + ")"), a.size};
  }
  case 14:
  case 15: {
    Real a = real(less), b = real(less);
    return {"(" + boolean(less) + " ? " + a.text + " : " + b.text + ")",
            std::max(a.size, b.size)};
  }
  case 16:
    if (const Fn *fn = fnOf('f'))
      return {call(*fn, less), fn->size};
    if (scope.hasRandom)
      return {"random(" + integer(0) + ", i, j, h, b)", 1};
    return realLeaf(less);
  case 17:
    if (scope.isDouble && choices.chance(50))
      return {choices.pick({"f16(", "bf16("}) + realWithin(less, 1e4) + ")",
              1e4};
    return {"f32(" + integer(less) + " & 15)", 15};
  }
}
