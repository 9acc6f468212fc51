//===- GenerateOperands.cpp - values of random tile programs --------------===//
//
// What operators take: literals, names and loads, and values made of those of
// another kind.
//
//===----------------------------------------------------------------------===//
#include "KernelGenerator.h"

#include "llvm/ADT/SmallVector.h"

using namespace tegula;
using namespace tegula::generated;

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

std::string KernelGenerator::integerLiteral() {
  return choices.pick({"1", "2", "3", "7", "0", "-1", "-5", "16", "31", "33",
                       "2147483647", "-2147483648"});
}

std::string KernelGenerator::realLiteral() {
  return choices.pick({"1.0", "0.5", "2.0", "0.0", "-1.5", "0.25", "-3.0"});
}

std::string KernelGenerator::literal(char family) {
  return family == 'f'   ? realLiteral()
         : family == 'i' ? choices.pick({"0", "1", "-3", "100"})
                         : choices.pick({"false", "true"});
}

std::string KernelGenerator::slice(char axis) const {
  const Axis &a = axes.at(axis);
  return a.first + " :+ " + a.length;
}

std::string KernelGenerator::shape(const std::string &kind) const {
  std::string text;
  for (char axis : kind)
    text += (text.empty() ? "" : ", ") + axes.at(axis).length;
  return "[" + text + "]";
}

std::string KernelGenerator::input(char family, const std::string &axes) {
  std::vector<std::string> &known = inputs[family + axes];
  if (known.size() >= 2 || (!known.empty() && choices.chance(60)))
    return choices.pickFrom(known);
  std::string name = fresh("x"), extents, elem, range;
  for (char axis : axes)
    extents += (extents.empty() ? "" : ",") + std::string(1, axis);
  if (family == 'f') {
    elem = choices.pick({"f64", "f64", "f32", "f16", "bf16"});
  } else if (family == 'b') {
    elem = "bool";
  } else {
    elem = choices.pick({"i32", "i32", "i64", "i16", "i8", "u8"});
    range = elem == "u8" ? " in 0..200" : " in -20..20";
  }
  signature.push_back(name + ": " + elem + "[" + extents + "]" + range);
  known.push_back(name);
  return name;
}

std::string KernelGenerator::load(char family, const std::string &kind) {
  // More axes than the kind has are read at one place.
  std::string all = kind;
  if (kind == "C" && choices.chance(40))
    all = "RC";
  if (kind == "R" && choices.chance(20))
    all = "RC";
  bool transposes = kind == "RC" && choices.chance(20);
  if (transposes)
    std::swap(all[0], all[1]);
  std::string place, name = input(family, all);
  bool changes = false, isScalar = kind.empty();
  for (char axis : all) {
    bool isSlice = kind.find(axis) != std::string::npos;
    changes |= isSlice && axes.at(axis).changes;
    place += (place.empty() ? "" : ", ") +
             (isSlice ? slice(axis) : axes.at(axis).inside);
  }
  std::string text = (isScalar ? "" : "load ") + name + "[" + place + "]";
  if (!isScalar && ((filled && changes) || choices.chance(15))) {
    if (choices.chance(30) && !transposes && kind.size() == 1)
      text += " where " + binary(counted(kind), choices.pick({"<", ">"}),
                                 choices.pick({"3", "R", "C"}));
    text += " fill " + literal(family);
  }
  return transposes ? "transpose(" + text + ")" : text;
}

/// Positions along an axis.
std::string KernelGenerator::counted(const std::string &kind) {
  const Axis &axis = axes.at(kind[0]);
  if (!filled && choices.chance(40))
    return "span(" + axis.first + ", " + axis.length + ", " + kind + ")";
  if (choices.chance(50))
    return "iota(" + axis.length + ")";
  return binary(axis.first, "+", "iota(" + axis.length + ")");
}

std::string KernelGenerator::leaf(char family, const std::string &kind,
                                  double &size) {
  size = 4;
  llvm::SmallVector<const Value *> known;
  for (const Value &value : values)
    if (value.family == family && value.kind == kind &&
        !(filled && value.mayEnd))
      known.push_back(&value);
  if (!known.empty() && choices.chance(60)) {
    const Value &value = *choices.pickFrom(known);
    size = value.size;
    return value.name;
  }
  if (!kind.empty())
    return family == 'i' && kind.size() == 1 && choices.chance(25)
               ? counted(kind)
               : load(family, kind);
  if (choices.chance(30) && family != 'b')
    return reduced(family, "", 0);
  if (family == 'i')
    return choices.pickFrom(scalars);
  if (family == 'b')
    return binary(choices.pickFrom(scalars), choices.pick({"<", ">", "=="}),
                  "2");
  return "f32(" + choices.pickFrom(scalars) + " % 7)";
}

//===----------------------------------------------------------------------===//
// From other kinds
//===----------------------------------------------------------------------===//

std::string KernelGenerator::gathered(char family, const std::string &kind,
                                      int depth) {
  std::string name = input(family, choices.chance(70) ? "P" : "PQ");
  std::string text = name + "[" + integer(kind, depth);
  bool isPlane = llvm::is_contained(inputs[family + std::string("PQ")], name);
  return text + (isPlane ? ", " + integer(kind, 0) + "]" : "]");
}

/// A vector along the other axis.
std::string KernelGenerator::spread(char family, const std::string &kind,
                                    int depth) {
  if (kind != "RC")
    return "broadcast(" + anyOf(family, "", depth) + ", " + shape(kind) + ")";
  bool isRow = choices.chance(50);
  std::string vector = anyOf(family, isRow ? "C" : "R", depth);
  std::string text = choices.chance(20)
                         ? "reshape(" + vector + ", " +
                               (isRow ? "[1, " + axes['C'].length + "]"
                                      : "[" + axes['R'].length + ", 1]") +
                               ")"
                         : (isRow ? "row(" : "col(") + vector + ")";
  return "broadcast(" + text + ", " + shape(kind) + ")";
}

/// A reduction of a kind that has one axis more, or a running sum.
std::string KernelGenerator::reduced(char family, const std::string &kind,
                                     int depth) {
  if (!kind.empty() && (kind == "RC" || choices.chance(30)) && family != 'b') {
    if (filled)
      return load(family, kind);
    std::string axis = kind == "RC" ? choices.pick({"1", "0"}) : "0";
    return "cumsum(" + anyOf(family, kind, depth) + ", axis = " + axis + ")";
  }
  std::string larger = "C", axis = "0";
  if (kind == "R")
    larger = "RC", axis = "1";
  else if (kind == "C" && tileRows)
    larger = "RC";
  else if (kind == "C")
    return load(family, kind);
  // What ends is reduced; what a variable takes keeps the other axis filled.
  std::string of = anyOf(family, larger, depth), by = ", axis = " + axis + ")";
  if (family == 'b')
    return choices.pick({"any(", "all("}) + of + by;
  switch (choices.below(6)) {
  default:
    return choices.pick({"sum(", "max(", "min("}) + of + by;
  case 4:
    if (family == 'i')
      return "argmax(" + anyOf(choices.pick({'i', 'f'}), larger, depth) + by;
    return "sum(" + of + by;
  case 5:
    if (family == 'i')
      return "reduce(i32(" + of + "), " +
             choices.pick({"joined, 0", "both, -1", "product, 1"}) + by;
    return "reduce(f64(" + of + "), " +
           choices.pick({"joined, 0.0", "larger, -1000000.0"}) + by;
  }
}

/// A product over K, or over C where that fits.
std::string KernelGenerator::product(char family, int depth) {
  std::string type = family == 'i'
                         ? choices.pick({"i32", "i8"})
                         : choices.pick({"f32", "f64", "f16", "bf16"});
  auto operand = [&](const std::string &kind) {
    std::string value = kind == "RK" || kind == "KC"
                            ? load(family, kind)
                            : anyOf(family, kind, depth);
    return type + "(" + value + ")";
  };
  return "dot(" + operand("RK") + ", " + operand("KC") + ")";
}

std::string KernelGenerator::called(char family, const std::string &kind,
                                    int depth) {
  llvm::SmallVector<const Fn *> fitting;
  for (const Fn &fn : fns)
    if (fn.kind == family)
      fitting.push_back(&fn);
  if (fitting.empty())
    return family == 'i' ? integer(kind, depth) : realWithin(kind, depth, 100);
  const Fn &fn = *choices.pickFrom(fitting);
  std::string text = fn.name + "(";
  for (size_t n = 0; n < fn.params.size(); ++n) {
    // The first has the kind, others may be scalars.
    std::string own = n == 0 || choices.chance(60) ? kind : "";
    text += (n ? ", " : "") + (fn.params[n] == 'i' ? integer(own, depth)
                                                   : realWithin(own, depth, 4));
  }
  return text + ")";
}
