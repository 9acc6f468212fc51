//===- GenerateStatements.cpp - statements of random tile programs --------===//
//
// Stores, atomics, variables, branches and loops.
//
//===----------------------------------------------------------------------===//
#include "KernelGenerator.h"

using namespace tegula;
using namespace tegula::generated;

/// An output for a kind; programs that share its axes write beside each other.
std::string KernelGenerator::output(char family, const std::string &kind) {
  std::string name = fresh("y"), extents, place;
  auto add = [&](const std::string &extent, const std::string &index) {
    extents += (extents.empty() ? "" : ",") + extent;
    place += (place.empty() ? "" : ", ") + index;
  };
  for (char axis : kind)
    add(std::string(1, axis), slice(axis));
  for (char coordinate : coordinates) {
    char axis = coordinate == 'x' ? 'C' : 'R';
    if (kind.find(axis) == std::string::npos)
      add(coordinate == 'x' ? "X" : "Y", std::string(1, coordinate));
  }
  if (extents.empty())
    add("1", "0");
  std::string elem = family == 'b' ? "bool"
                     : family == 'i'
                         ? choices.pick({"i64", "i32", "i8", "i16", "u8"})
                         : choices.pick({"f64", "f32", "f16", "bf16"});
  outputs.push_back(name + ": " + elem + "[" + extents + "]");
  return name + "[" + place + "]";
}

void KernelGenerator::addLet(const std::string &kind) {
  char family = choices.pick({'f', 'i', 'b'});
  Value value{fresh("v"), kind, family, 100, false};
  for (char axis : kind)
    value.mayEnd |= axes.at(axis).changes;
  line("let " + value.name + " = " + anyOf(family, kind, 3));
  values.push_back(value);
}

void KernelGenerator::addStore(const std::string &kind) {
  char family = choices.pick({'f', 'i', 'b'});
  std::string text = anyOf(family, kind, 3);
  // An index tile that names every element once.
  bool scatters = kind == "C" && coordinates == "x" && choices.chance(30);
  std::string place = output(family, kind);
  if (scatters) {
    size_t begin = place.find('[');
    place = place.substr(0, begin) + "[C - 1 - span(" + axes['C'].first + ", " +
            axes['C'].length + ", C)]";
  }
  std::string condition =
      choices.chance(20) ? " where " + boolean(kind, 1) : "";
  // In brackets, or `where` might belong to a load.
  line("store " + place + " = (" + text + ")" + condition);
}

void KernelGenerator::addAtomic() {
  std::string name = fresh("y");
  bool isInteger = choices.chance(60);
  signature.push_back(name + ": inout " + (isInteger ? "i32" : "f64") + "[P]" +
                      (isInteger ? " in -20..20" : ""));
  std::string kind = tileRows ? choices.pick({"C", "RC"}) : "C";
  std::string condition =
      choices.chance(20) ? " where " + boolean(kind, 1) : "";
  line("atomic " + name + "[" + integer(kind, 1) + "] += " +
       (isInteger ? "i32(" + integer(kind, 2) + ")"
                  : "f64(" + realWithin(kind, 2, 1e4) + ")") +
       condition);
}

/// A variable that one side or the other changes.
void KernelGenerator::addBranch() {
  std::string kind = anyKind(), name = fresh("v");
  bool isInteger = choices.chance(50);
  auto any = [&] {
    return isInteger ? "i32(" + integer(kind, 2) + ")"
                     : "f64(" + realWithin(kind, 2, 100) + ")";
  };
  line("var " + name + " = " + any());
  Value value{name, kind, isInteger ? 'i' : 'f', 100, false};
  for (char axis : kind)
    value.mayEnd |= axes.at(axis).changes;
  values.push_back(value);
  line("if " + boolean("", 2) + " {");
  ++nesting;
  line(name + " = " + any());
  --nesting;
  if (choices.chance(50)) {
    line("} else {");
    ++nesting;
    line(name + " = " + any());
    --nesting;
  }
  line("}");
}

/// Variables that a loop over blocks of an axis changes.
void KernelGenerator::addLoop(char axis) {
  std::string index = fresh("n");
  std::vector<Value> carried;
  bool usesProduct = axis == 'K' && tileRows;
  for (unsigned n = 0, end = 1 + choices.below(2); n < end; ++n) {
    Value value{fresh("v"), "", choices.pick({'f', 'i'}), 1e3, false};
    value.kind = usesProduct ? "RC"
                 : tileRows  ? choices.pick({"R", "", "RC"})
                             : "";
    if (axis == 'C' && value.kind.empty() && tileRows)
      value.kind = "R";
    std::string zero = value.family == 'i' ? "i32(C - C)" : "0.0 * f64(C)";
    line("var " + value.name + " = " +
         (value.kind.empty()
              ? zero
              : "full(" + shape(value.kind) + ", " + zero + ")"));
    carried.push_back(value);
  }
  values.insert(values.end(), carried.begin(), carried.end());
  line("for " + index + " in range(0, " + std::string(1, axis) + ", " +
       axes[axis].length + ") {");
  ++nesting;
  Axis outside = axes[axis];
  axes[axis].first = axes[axis].inside = index;
  axes[axis].changes = true;
  size_t known = values.size();
  scalars.push_back(index);
  if (axis == 'C') {
    for (unsigned n = choices.below(2); n; --n)
      addLet(anyKind());
    if (choices.chance(40))
      addStore("RC");
  }
  for (const Value &value : carried) {
    std::string type = value.family == 'i' ? "i32(" : "f64(", next;
    if (usesProduct) {
      next = product(value.family, 1);
    } else {
      filled = true;
      next = anyOf(value.family, value.kind, 2);
      filled = false;
      if (value.kind == "R" && choices.chance(70))
        next = "sum(" + anyOf(value.family, "RC", 2) + ", axis = 1)";
    }
    const char *op = value.family == 'i' ? choices.pick({"+", "^", "-"})
                                         : choices.pick({"+", "-"});
    line(value.name + " = " + type + binary(value.name, op, next) + ")");
  }
  scalars.pop_back();
  values.resize(known);
  axes[axis] = outside;
  --nesting;
  line("}");
}

void KernelGenerator::addStatements(int count) {
  for (; count > 0; --count)
    switch (choices.below(8)) {
    default:
      addStore(anyKind());
      break;
    case 3:
    case 4:
      addLet(anyKind());
      break;
    case 5:
      addBranch();
      break;
    case 6:
      addAtomic();
      break;
    case 7:
      if (tileRows)
        addLoop('K');
      break;
    }
}
