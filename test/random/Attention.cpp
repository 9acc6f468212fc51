//===- Attention.cpp - random attention items -----------------------------===//
//
// A base item, what a derived one adds to it (in clauses of its own, in a
// group, in functions), and lengths around the borders of small blocks.
//
//===----------------------------------------------------------------------===//
#include "Expressions.h"
#include "RandomProgram.h"

#include "llvm/ADT/StringExtras.h"

using namespace tegula;
using namespace tegula::generated;

namespace {
class AttentionGenerator {
public:
  explicit AttentionGenerator(Choices &choices) : choices(choices) {}
  RandomProgram make();
  RandomProgram makeMask();

private:
  void addFns();
  void addParams();
  void addTable();
  void addScalar();
  void addLets();
  void addMasks();
  std::string mask();
  std::string blockList();
  std::string term(const std::string &index);
  std::string condition(int depth);
  void addScores();
  void addReduction();
  void addEmits();
  tool::SetupRequest problem();

  Expressions expressions(std::string indices, bool seesScore = false);
  std::string fresh(const char *prefix) {
    return prefix + std::to_string(names++);
  }
  bool isDouble() const { return type == "f64"; }

  Choices &choices;
  std::string type, fns;
  std::vector<std::string> clauses, emits;
  /// Grows as things are declared; has no indices.
  Scope scope;
  /// `let`s over i and j, which `scale` and `emit` may not see.
  std::vector<std::string> pairLets;
  tool::Pairs arguments;
  bool hasTableDim = false, isSquare = false, hasLse = true;
  /// What a block shows and hides, and little else.
  bool hasMasksOnly = false;
  unsigned names = 0;
};
} // namespace

Expressions AttentionGenerator::expressions(std::string indices,
                                            bool seesScore) {
  Scope inner = scope;
  inner.indices = indices;
  inner.isDouble = isDouble();
  for (char index : indices)
    for (int weight = index == 'i' || index == 'j' ? 3 : 1; weight; --weight)
      inner.integers.push_back(std::string(1, index));
  if (indices.find('j') != std::string::npos) {
    inner.integers.insert(inner.integers.end(), pairLets.begin(),
                          pairLets.end());
    inner.hasBounded = true;
  }
  if (seesScore) {
    inner.reals.push_back({"s", 12});
    inner.reals.push_back({"s", 12});
    inner.hasRandom = true;
  }
  return Expressions(choices, inner);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void AttentionGenerator::addFns() {
  for (unsigned count = choices.below(3); count; --count) {
    Fn fn{fresh("fn"), "", choices.pick({'i', 'f'}), 0};
    Scope inner;
    inner.isDouble = isDouble();
    std::string params;
    for (unsigned n = 0, arity = 1 + choices.below(3); n < arity; ++n) {
      char kind = n == 0 ? fn.kind : choices.pick({'i', 'f'});
      std::string name = std::string(1, "xyz"[n]);
      fn.params += kind;
      if (kind == 'i')
        inner.integers.push_back(name);
      else
        inner.reals.push_back({name, 4});
      params += (n ? ", " : "") + name;
      if (choices.chance(20))
        params += kind == 'i' ? ": i32" : ": f32";
    }
    if (inner.integers.empty())
      inner.integers = {"i32(x > 0.5)"};
    auto value = [&](int depth) {
      Expressions inside(choices, inner);
      if (fn.kind == 'i')
        return inside.integer(depth);
      Real result = inside.real(depth);
      fn.size = result.size;
      return result.text;
    };
    fns += "fn " + fn.name + "(" + params + ")";
    if (choices.chance(60)) {
      fns += " = " + value(2) + "\n";
    } else {
      fns += " { let u = " + value(1);
      if (fn.kind == 'i')
        inner.integers.push_back("u");
      else
        inner.reals.push_back({"u", fn.size});
      fns += "   return " + value(2) + " }\n";
    }
    scope.fns.push_back(fn);
  }
}

void AttentionGenerator::addScalar() {
  std::string name = fresh("p");
  switch (choices.below(5)) {
  default: {
    bool wide = choices.chance(30);
    clauses.push_back("param " + name + (wide ? ": i64" : ": i32"));
    scope.integers.push_back(name);
    int64_t value = choices.between(-4, 24);
    arguments.emplace_back(name, std::to_string(value));
    if (choices.chance(20))
      clauses.push_back("require " + name + (value > 0 ? " > 0" : " <= 8 / 2"));
    break;
  }
  case 3:
    clauses.push_back("param " + name + ": f32");
    scope.reals.push_back({name, 2});
    arguments.emplace_back(name, choices.pick({"1.0", "-0.5", "2.0", "0.75"}));
    break;
  case 4:
    clauses.push_back("param " + name + ": bool");
    scope.bools.push_back(name);
    arguments.emplace_back(name, choices.pick({"true", "false"}));
    break;
  }
}

void AttentionGenerator::addTable() {
  struct Shape {
    const char *extents, *axes;
  };
  static constexpr Shape shapes[] = {
      {"N", "j"},          {"M", "i"},    {"B", "b"},    {"B,N", "bj"},
      {"B,H,M,N", "bhij"}, {"H,N", "hj"}, {"G,M", "gi"}, {"H", "h"},
      {"M,N", "ij"},       {"M+1", "\0"}, {"N+1", "\0"}, {"P", "\0"}};
  Shape shape = shapes[choices.below(std::size(shapes))];
  Table table{fresh("t"), choices.pick({'i', 'i', 'f', 'b'}), "", 0};
  std::string extents = shape.extents;
  for (unsigned axis = 0; axis <= llvm::StringRef(extents).count(','); ++axis)
    table.axes += shape.axes[axis];
  if (extents == "N" && isSquare && choices.chance(50))
    table.axes = "i";
  if (extents == "P")
    hasTableDim = true;
  std::string text = "param " + table.name + ": ";
  if (table.kind == 'b') {
    text += "bool[" + extents + "]";
  } else if (table.kind == 'f') {
    table.size = 3.5;
    text += choices.pick({"f32", "T"}) + ("[" + extents + "]");
  } else {
    std::string elem = choices.pick({"i32", "i32", "i64", "i16", "i8", "u8"});
    text += elem + "[" + extents + "]";
    if (choices.chance(30))
      text += choices.pick({" sorted in 0..6", " sorted"});
    else
      text += choices.pick({" in 0..5", " in 0..40", " in 0..N + 1",
                            elem == "u8" ? "" : " in -9..20"});
  }
  clauses.push_back(text);
  scope.tables.push_back(table);
}

void AttentionGenerator::addParams() {
  if (choices.chance(30)) {
    isSquare = true;
    clauses.push_back("require M == N");
  }
  if (choices.chance(30)) {
    clauses.push_back("static W = " + std::to_string(choices.between(0, 5)));
    scope.constant = "W";
  }
  for (unsigned count = choices.below(3); count; --count)
    addScalar();
  for (unsigned count = choices.below(4); count; --count)
    addTable();
}

void AttentionGenerator::addLets() {
  for (unsigned count = choices.below(3); count; --count) {
    std::string name = fresh("v");
    if (choices.chance(30)) {
      clauses.push_back("let " + name + " = " + expressions("bhgi").integer(2));
      scope.integers.push_back(name);
    } else {
      clauses.push_back("let " + name + " = " +
                        expressions("bhgij").integer(2));
      pairLets.push_back(name);
    }
  }
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

/// The shapes of masks that people write, and any other condition.
std::string AttentionGenerator::mask() {
  Expressions any = expressions("bhgij");
  std::string row = choices.pick({"i + (N - M)", "i", "i - 3"});
  switch (choices.below(10)) {
  case 0:
    return row + choices.pick({" >= ", " > ", " <= ", " != "}) + "j";
  case 1:
    return row + " - j " + choices.pick({"< ", "<= ", ">= "}) +
           any.integerLiteral();
  case 2:
    return "abs(" + row + " - j) " + choices.pick({"<= ", "> "}) +
           any.integer(0);
  case 3:
    return row + " >= j && " + row + " - j < " + any.integer(1);
  case 4: {
    std::string block = choices.pick({"8", "16", "3", "5"});
    return row + " / " + block + " == j / " + block;
  }
  case 5:
    return "j " + std::string(choices.pick({"<", ">="})) + " " + any.integer(1);
  case 7:
    return "(" + row + " - j) / " + choices.pick({"8", "4", "-8"}) +
           choices.pick({" >= ", " < ", " == "}) +
           choices.pick({"0", "1", "-1"});
  case 6:
    return row + " >= j || " + any.boolean(1);
  default:
    return any.boolean(3);
  }
}

/// A few steps from an index, each of which an interval follows: over a block
/// of positions the term often spans few values.
std::string AttentionGenerator::term(const std::string &index) {
  std::string text = index;
  for (unsigned steps = choices.below(4); steps; --steps) {
    std::string by = choices.pick({"3", "8", "5", "16", "2", "p"});
    switch (choices.below(13)) {
    case 0:
      text = "(" + text + choices.pick({" + ", " - "}) + by + ")";
      break;
    case 1:
      text = "(" + text + " * " + choices.pick({"2", "-1", "3", "-2"}) + ")";
      break;
    case 2:
    case 3:
      text = "(" + text + " / " + by + ")";
      break;
    case 4:
      text = "(" + text + " % " + by + ")";
      break;
    case 5:
      text = "ceildiv(" + text + ", " + by + ")";
      break;
    case 6:
      text = choices.pick({"min(", "max("}) + text + ", " + by + ")";
      break;
    case 7:
      text = "(" + by + " - " + text + ")";
      break;
    case 8:
      text = choices.pick({"min(", "max("}) + text + ", " + index + " - " + by +
             ")";
      break;
    case 9:
      text = "((" + text + " - " + by + ") * (" + index + " - 9))";
      break;
    case 10:
      text =
          "(" + condition(0) + " ? " + text + " : " + by + " - " + index + ")";
      break;
    case 11:
      text = "abs(" + text + " - " + by + ")";
      break;
    case 12: // leaves i64 for some positions
      text = "(" + text + " * " +
             choices.pick({"4611686018427387904", "2305843009213693952"}) + ")";
      break;
    }
  }
  return text;
}

/// Terms of positions compared, in few connectives: often true, or false, for
/// whole blocks.
std::string AttentionGenerator::condition(int depth) {
  if (depth <= 0) {
    std::string row = choices.pick({"i", "i", "(i + (N - M))", "h", "b"});
    const char *op = choices.pick({"<", "<=", ">", ">=", "==", "!="});
    switch (choices.below(9)) {
    case 7: // bounds keys by both ends of a scaled sum
      return "((j " + std::string(choices.pick({"- 5", "+ i", "- i"})) +
             ") * " + choices.pick({"2", "3"}) + " " + op + " " +
             choices.pick({"i", "12", "h - i"}) + ")";
    case 4: { // the largest remainder, and its neighbour
      int64_t by = choices.pick({8, 4, 5, 3});
      return std::string("(") + choices.pick({"i", "j"}) +
             (" % " + std::to_string(by)) + " " + op + " " +
             std::to_string(by - 1) + ")";
    }
    case 5: // blocks on the diagonal, and quotients on both sides of 0
      return choices.chance(50)
                 ? "(i / 8 " + std::string(op) + " j / 8)"
                 : "((i - j) / " + std::string(choices.pick({"8", "p"})) + " " +
                       op + " " + choices.pick({"0", "-1"}) + ")";
    case 6: // nothing is known of it over a block
      return "(((i ^ j) & 3) " + std::string(op) + " 1)";
    case 0:
      return "(" + term("j") + " " + op + " " +
             choices.pick({"16", "3", "-5", "0", "25", "8"}) + ")";
    case 1:
      return "(" + term("(" + row + " - j)") + " " + op + " " +
             choices.pick({"0", "-1", "8", "3"}) + ")";
    default:
      return "(" + term(row) + " " + op + " " + term("j") + ")";
    }
  }
  std::string a = condition(depth - 1), b = condition(depth - 1);
  switch (choices.below(7)) {
  case 0:
    return a;
  case 4: // a comparison is just inverted, but not these
    return "!(" + a + " || " + b + ")";
  case 5:
    return "!(" + a + " && " + b + ")";
  case 1:
    return "(" + a + " && " + b + ")";
  case 2:
    return "(" + a + " || " + b + ")";
  case 3:
    return "!" + a;
  default:
    return "(" + condition(0) + " ? " + a + " : " + b + ")";
  }
}

/// Blocks chosen for each query or block of queries.
std::string AttentionGenerator::blockList() {
  std::string list = fresh("list"), block = choices.pick({"8", "16", "4", "p"}),
              row = choices.pick({"i", "i / 8", "i / p"});
  clauses.push_back("param " + list + ": i32[M,3] in -1..6");
  return choices.pick({"any", "any", "all"}) + ("(t in 3: " + list) + "[" +
         row + ", t] " + choices.pick({"==", "!=", ">="}) + " j / " + block +
         ")";
}

void AttentionGenerator::addMasks() {
  if (hasMasksOnly) {
    clauses.push_back("param p: i32");
    clauses.push_back("mask " + condition(choices.below(4)));
    return;
  }
  for (unsigned count = choices.below(3); count; --count)
    clauses.push_back("mask " + mask());
}

void AttentionGenerator::addScores() {
  if (choices.chance(25))
    clauses.push_back("scale " + expressions("bhgi").realWithin(2, 1));
  for (unsigned count = choices.below(3); count; --count) {
    Expressions any = expressions("bhgij", /*seesScore=*/true);
    switch (choices.below(5)) {
    case 0:
      clauses.push_back("score s + " + any.realWithin(2, 20));
      break;
    case 1:
      clauses.push_back("score 3.0 * tanh(s / 3.0)");
      break;
    case 2:
      clauses.push_back("score " + any.boolean(2) + " ? s : -inf");
      break;
    default:
      clauses.push_back("score " + any.realWithin(3, 40));
      break;
    }
  }
}

void AttentionGenerator::addReduction() {
  Expressions any = expressions("bhgij", /*seesScore=*/true);
  switch (choices.below(8)) {
  default:
    break;
  case 5:
    clauses.push_back("reduce softmax(extra = " +
                      expressions("bhgi").realWithin(2, 12) + ")");
    break;
  case 6:
    hasLse = false;
    clauses.push_back("reduce sum(" + any.realWithin(2, 20) + ")");
    break;
  case 7:
    hasLse = false;
    clauses.push_back("reduce mean(" + any.positive(2) + ")");
    break;
  }
  if (choices.chance(20))
    clauses.push_back("weight " +
                      expressions("bhgij", hasLse).realWithin(2, 20));
}

void AttentionGenerator::addEmits() {
  for (unsigned count = choices.below(3); count; --count) {
    bool perElement = choices.chance(30);
    Expressions any = [&] {
      Scope saved = scope;
      if (perElement)
        scope.reals.push_back({"o", 4});
      scope.reals.push_back({"rowsum", 1e3});
      if (hasLse) {
        scope.reals.push_back({"lse", 30});
        scope.reals.push_back({"rowmax", 30});
      }
      Expressions made = expressions(perElement ? "bhgie" : "bhgi");
      scope = saved;
      return made;
    }();
    // An infinite lse makes NaN in places where a rounded one does not.
    std::string name = fresh("x");
    std::string extents = perElement ? "[B,H,M,E]" : "[B,H,M]";
    if (choices.chance(30))
      emits.push_back("emit " + name + ": i32" + extents + " = i32(" +
                      any.integer(2) + ")");
    else
      emits.push_back("emit " + name + ": " + (isDouble() ? "f64" : "f32") +
                      extents + " = " + any.realWithin(2, 40));
  }
}

//===----------------------------------------------------------------------===//
// Items and problems
//===----------------------------------------------------------------------===//

tegula::tool::SetupRequest AttentionGenerator::problem() {
  tool::SetupRequest request;
  int64_t groups = choices.between(1, 2), ratio = choices.pick({1, 2, 3});
  int64_t m = choices.pick({9, 1, 8, 17, 25, 0, 3, 40});
  int64_t n = choices.pick({9, 1, 8, 17, 25, 0, 33, 40});
  if (hasMasksOnly) {
    m = choices.pick({40, 24, 17, 64});
    n = choices.pick({40, 24, 33, 64});
    arguments = {{"p", choices.pick({"8", "-8", "0", "3", "1", "-1"})}};
  }
  request.sizes = {{"B", choices.pick({1, 2, 0})},
                   {"H", groups * ratio},
                   {"G", groups},
                   {"M", m},
                   {"N", isSquare ? m : n}};
  if (hasTableDim)
    request.sizes.emplace_back("P", choices.pick({5, 1, 0, 20}));
  request.layout = choices.pick({tool::Layout::bhsd, tool::Layout::bshd});
  request.arguments = arguments;
  request.seed = choices.below(1000);
  return request;
}

RandomProgram AttentionGenerator::make() {
  RandomProgram program;
  hasMasksOnly = choices.chance(50);
  type = hasMasksOnly
             ? "f64"
             : choices.pick({"f64", "f64", "f64", "f32", "f16", "bf16"});
  if (!hasMasksOnly) {
    addFns();
    addParams();
  }
  size_t declared = clauses.size();
  if (hasMasksOnly) {
    addMasks();
  } else {
    addLets();
    addMasks();
    addScores();
    addReduction();
    addEmits();
  }

  std::string lse = isDouble() ? ", lse: f64[B,H,M]" : ", lse: f32[B,H,M]";
  program.text = fns + "attention base(q: T[B,H,M,D], k: T[B,G,N,D], v: " +
                 "T[B,G,N,E]) -> (o: T[B,H,M,E]" + (hasLse ? lse : "") +
                 ") {\n  static D = " + choices.pick({"8", "16"}) +
                 ", E = " + choices.pick({"8", "16", "24"}) + ", T = " + type +
                 "\n";
  // A prefix stays in the base, the rest is added in a group or by an item.
  size_t inBase = choices.chance(50) ? clauses.size() : declared;
  auto list = [](llvm::ArrayRef<std::string> some) {
    std::string text;
    for (const std::string &clause : some)
      text += "  " + clause + "\n";
    return text;
  };
  llvm::ArrayRef<std::string> all = clauses;
  program.text += list(all.take_front(inBase));
  if (inBase == clauses.size())
    program.text += list(emits);
  program.text += "}\n";
  program.item = "base";
  if (inBase < clauses.size()) {
    bool group = choices.chance(50);
    if (group)
      program.text +=
          "clauses group {\n" + list(all.drop_front(inBase)) + "}\n";
    program.text += "attention derived = base with ";
    program.text +=
        group ? "group {\n" + list(emits) + "}\n"
              : "{\n" + list(all.drop_front(inBase)) + list(emits) + "}\n";
    program.item = "derived";
  }
  program.schedule = {
      "block_m=" + std::string(choices.pick({"8", "8", "16", "64"})),
      "block_n=" + std::string(choices.pick({"8", "8", "16", "64"}))};
  if (hasMasksOnly)
    program.schedule = {"block_m=8", "block_n=8"};
  for (int n = 0; n < 2; ++n)
    program.problems.push_back(problem());
  return program;
}

RandomProgram AttentionGenerator::makeMask() {
  type = "f64";
  hasLse = false;
  addFns();
  addParams();
  clauses.push_back("param p: i32");
  addLets();
  for (unsigned count = 1 + choices.below(2); count; --count)
    switch (choices.below(4)) {
    case 0:
      clauses.push_back("mask " + condition(choices.below(3)));
      break;
    case 1: {
      std::string list = blockList();
      clauses.push_back("mask " + list);
      break;
    }
    default:
      clauses.push_back("mask " + mask());
      break;
    }
  RandomProgram program;
  program.text = fns + "attention base(q: T[B,H,M,D], k: T[B,G,N,D], v: "
                       "T[B,G,N,E]) -> (o: T[B,H,M,E]) {\n  static D = 8, E = "
                       "8, T = f64\n";
  for (const std::string &clause : clauses)
    program.text += "  " + clause + "\n";
  program.text += "}\n";
  program.item = "base";
  program.schedule = {
      "block_m=" + std::string(choices.pick({"8", "8", "16", "32"})),
      "block_n=" + std::string(choices.pick({"8", "8", "16", "32"}))};
  tool::Pairs common = arguments;
  for (int n = 0; n < 3; ++n) {
    arguments = common;
    arguments.emplace_back("p", choices.pick({"8", "-8", "0", "3", "1", "50"}));
    program.problems.push_back(problem());
    for (auto &[name, length] : program.problems.back().sizes)
      if (name == "N" || (name == "M" && isSquare))
        length = isSquare ? program.problems.back().sizes[3].second
                          : choices.pick({40, 24, 33, 64, 9, 100});
  }
  return program;
}

RandomProgram tegula::generated::maskProgram(Choices &choices) {
  return AttentionGenerator(choices).makeMask();
}

RandomProgram tegula::generated::attentionProgram(Choices &choices) {
  return AttentionGenerator(choices).make();
}
