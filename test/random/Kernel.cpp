//===- Kernel.cpp - random tile programs ----------------------------------===//
//
// A program computes on tiles over the axes R, C and K of its tensors. How an
// axis is cut is the frame: by the grid, by a loop, or one slice that holds all
// of it. The kind of a value names its axes ("RC", "C", "" for a scalar); each
// value is made from loads, smaller kinds, and reductions of larger ones.
//
//===----------------------------------------------------------------------===//
#include "Expressions.h"
#include "RandomProgram.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>

using namespace tegula;
using namespace tegula::generated;

namespace {
/// Where the lanes of an axis are now.
struct Axis {
  std::string first, length; ///< of the slice
  std::string inside;        ///< an index of one element
  bool changes = false;      ///< with a loop
};

/// A name that stands for a value.
struct Value {
  std::string name, kind;
  char family; ///< 'i', 'f' or 'b'
  double size = 0;
  /// Whether it may end where a loop's slice ends.
  bool mayEnd = false;
};

class KernelGenerator {
public:
  explicit KernelGenerator(Choices &choices) : choices(choices) {}
  RandomProgram make();

private:
  // Values, by family and kind. None is a constant.
  std::string integer(const std::string &kind, int depth);
  std::string boolean(const std::string &kind, int depth);
  Real real(const std::string &kind, int depth);
  std::string realWithin(const std::string &kind, int depth, double limit);
  std::string positive(const std::string &kind, int depth);
  std::string anyOf(char family, const std::string &kind, int depth);
  std::string integerOrLiteral(const std::string &kind, int depth);
  std::string integerLiteral();
  std::string realLiteral();
  std::string literal(char family);
  std::string divisor(const std::string &kind, int depth);

  std::string leaf(char family, const std::string &kind, double &size);
  std::string load(char family, const std::string &kind);
  std::string counted(const std::string &kind);
  std::string gathered(char family, const std::string &kind, int depth);
  std::string spread(char family, const std::string &kind, int depth);
  std::string reduced(char family, const std::string &kind, int depth);
  std::string product(char family, int depth);
  std::string called(char family, const std::string &kind, int depth);

  // Declarations and statements.
  std::string input(char family, const std::string &axes);
  std::string output(char family, const std::string &kind);
  std::string slice(char axis) const;
  std::string shape(const std::string &kind) const;
  void addFns();
  void addLet(const std::string &kind);
  void addStore(const std::string &kind);
  void addAtomic();
  void addBranch();
  void addLoop(char axis);
  void addStatements(int count);
  void line(const std::string &text) {
    body += std::string(2 * nesting, ' ') + text + "\n";
  }
  std::string fresh(const char *prefix) {
    return prefix + std::to_string(names++);
  }
  std::string anyKind() {
    return tileRows ? choices.pick({"RC", "C", "R", ""})
                    : choices.pick({"C", "C", "C", ""});
  }
  tool::SetupRequest problem();

  Choices &choices;
  std::map<char, Axis> axes;
  bool tileRows = true, wholeColumns = false;
  std::string coordinates; ///< of the grid, "yx"
  std::vector<std::string> signature, outputs, scalars;
  std::map<std::string, std::vector<std::string>> inputs;
  std::vector<Value> values;
  std::vector<Fn> fns;
  std::string fnText, body;
  tool::Pairs arguments;
  std::string rowLength, columnLength;
  /// Every load of a slice that changes is filled, as a variable asks for.
  bool filled = false;
  unsigned names = 0, nesting = 1;
};
} // namespace

static std::string operate(const std::string &a, const char *op,
                           const std::string &b) {
  return "(" + a + " " + op + " " + b + ")";
}

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
      text += " where " + operate(counted(kind), choices.pick({"<", ">"}),
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
  return operate(axis.first, "+", "iota(" + axis.length + ")");
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
    return operate(choices.pickFrom(scalars), choices.pick({"<", ">", "=="}),
                   "2");
  return "f32(" + choices.pickFrom(scalars) + " % 7)";
}

//===----------------------------------------------------------------------===//
// From other kinds
//===----------------------------------------------------------------------===//

std::string KernelGenerator::anyOf(char family, const std::string &kind,
                                   int depth) {
  return family == 'i'   ? integer(kind, depth)
         : family == 'f' ? realWithin(kind, depth, 100)
                         : boolean(kind, depth);
}

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

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

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
    return operate(integer(kind, less), choices.pick({"+", "-"}),
                   integerOrLiteral(kind, less));
  case 4:
    return operate(integerLiteral(), choices.pick({"-", "+", "*"}),
                   integer(kind, less));
  case 5:
    return operate(integer(kind, less), "*", integerOrLiteral(kind, less));
  case 6:
  case 7:
    return operate(integer(kind, less), "/", divisor(kind, less));
  case 8:
  case 9:
    return operate(integer(kind, less), "%", divisor(kind, less));
  case 10:
    return operate(integer(kind, less), choices.pick({"<<", ">>"}),
                   integerOrLiteral(kind, less));
  case 11:
    return operate(integer(kind, less), choices.pick({"&", "|", "^"}),
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
    return operate(integer(kind, less),
                   choices.pick({"<", "<=", ">", ">=", "==", "!="}),
                   integerOrLiteral(kind, less));
  case 2:
    return leaf('b', kind, size);
  case 3:
    return operate(real(kind, less).text, choices.pick({"<", "<=", ">", ">="}),
                   choices.chance(50) ? realLiteral() : real(kind, less).text);
  case 4:
  case 5:
    return operate(boolean(kind, less), choices.pick({"&&", "||", "&", "|"}),
                   boolean(kind, less));
  case 6:
    return "!" + boolean(kind, less);
  case 7:
    return operate(boolean(kind, less), choices.pick({"==", "!="}),
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
    return {operate(swap ? b.text : a.text, choices.pick({"+", "-"}),
                    swap ? a.text : b.text),
            a.size + b.size};
  }
  case 5:
  case 6: {
    Real a = real(kind, less), b = real(other, less);
    if (a.size * b.size > 1e4)
      return a;
    return {operate(a.text, "*", b.text), a.size * b.size};
  }
  case 7: {
    Real a = real(kind, less);
    return {operate(a.text, choices.pick({"+", "*", "-", "/"}), "2.0"),
            2 * a.size + 2};
  }
  case 8: {
    Real a = real(kind, less);
    return {operate(a.text, "/", positive(other, less)), 4 * a.size};
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

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void KernelGenerator::addFns() {
  fnText = "fn joined(a, b) = a + b\nfn both(a, b) = a & b\n"
           "fn product(a, b) = a * b\nfn larger(a, b) = max(a, b)\n";
  for (unsigned count = choices.below(3); count; --count) {
    Fn fn{fresh("fn"), "", choices.pick({'i', 'f'}), 1e3};
    Scope inner;
    std::string params;
    for (unsigned n = 0, arity = 1 + choices.below(3); n < arity; ++n) {
      char family = n == 0 ? fn.kind : choices.pick({'i', 'f'});
      std::string name(1, "abc"[n]);
      fn.params += family;
      if (family == 'i')
        inner.integers.push_back(name);
      else
        inner.reals.push_back({name, 4});
      params += (n ? ", " : "") + name;
    }
    if (inner.integers.empty())
      inner.integers = {"i32(a > 0.5)"};
    Expressions inside(choices, inner);
    // It has the shape of its first argument.
    fnText += "fn " + fn.name + "(" + params + ") = a + " +
              (fn.kind == 'i' ? inside.integer(2) : inside.realWithin(2, 100)) +
              "\n";
    fns.push_back(fn);
  }
}

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
    line(value.name + " = " + type + operate(value.name, op, next) + ")");
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

//===----------------------------------------------------------------------===//
// Programs and problems
//===----------------------------------------------------------------------===//

static int64_t blocks(int64_t length, const std::string &block) {
  return (length + std::stoi(block) - 1) / std::stoi(block);
}

tool::SetupRequest KernelGenerator::problem() {
  tool::SetupRequest request;
  int64_t r = choices.pick({5, 4, 1, 8, 9, 0});
  int64_t c = choices.pick({5, 4, 1, 8, 9, 17, 0});
  if (wholeColumns)
    c = std::min<int64_t>(c, std::stoi(columnLength));
  request.sizes = {{"R", r},
                   {"C", c},
                   {"K", choices.pick({3, 4, 1, 9, 0})},
                   {"P", choices.pick({7, 1, 20})},
                   {"Q", choices.pick({2, 1, 5})},
                   {"X", blocks(c, columnLength)},
                   {"Y", tileRows ? blocks(r, rowLength) : r}};
  request.arguments = arguments;
  request.seed = choices.below(1000);
  return request;
}

RandomProgram KernelGenerator::make() {
  RandomProgram program;
  rowLength = choices.pick({"4", "2", "8"});
  columnLength = choices.pick({"4", "8", "16"});
  std::string inner = choices.pick({"4", "8"});
  addFns();
  signature = {"lengths: bool[R,C,K,P]"};
  scalars = {"R", "C", "w"};
  arguments = {{"w", choices.pick({"3", "-2", "0", "11"})}};
  axes['R'] = {"y*BR", "BR", "min(y*BR + 1, R - 1)"};
  axes['C'] = {"x*BC", "BC", "min(x*BC + 1, C - 1)"};
  axes['K'] = {"0", "BK", "0"};
  std::string grid;
  switch (choices.below(4)) {
  case 0: // one row of blocks
    tileRows = false;
    coordinates = "x";
    axes['R'].inside = "0";
    grid = "grid (x in ceildiv(C, BC))";
    break;
  case 1: // whole rows
    tileRows = false;
    wholeColumns = true;
    coordinates = "y";
    axes['R'].inside = "y";
    axes['C'] = {"0", "BC", "0"};
    grid = "require C <= BC   grid (y in R)";
    break;
  case 2: // blocks of both
    coordinates = choices.pick({"xy", "yx"});
    grid = coordinates == "xy"
               ? "grid (x in ceildiv(C, BC), y in ceildiv(R, BR))"
               : "grid (y in ceildiv(R, BR), x in ceildiv(C, BC))";
    break;
  case 3: // blocks of rows, with loops over columns
    coordinates = "y";
    axes['C'] = {"0", "BC", "0"};
    grid = "grid (y in ceildiv(R, BR))";
    break;
  }
  for (char coordinate : coordinates)
    scalars.push_back(std::string(1, coordinate));
  unsigned count = 1 + choices.below(3);
  bool loopsOverColumns = coordinates == "y" && tileRows;
  if (loopsOverColumns)
    addLoop('C');
  addStatements(static_cast<int>(count));
  addStore(anyKind());

  program.item = "random";
  program.text = fnText + "kernel random(" + llvm::join(signature, ", ") +
                 ", w: i32) -> (" + llvm::join(outputs, ", ") +
                 ") {\n  static BR = " + rowLength + ", BC = " + columnLength +
                 ", BK = " + inner + "\n  " + grid + "\n" + body + "}\n";
  for (int n = 0; n < 3; ++n)
    program.problems.push_back(problem());
  return program;
}

RandomProgram tegula::generated::kernelProgram(Choices &choices) {
  return KernelGenerator(choices).make();
}
