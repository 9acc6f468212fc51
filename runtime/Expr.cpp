//===- Expr.cpp - parse and evaluate prefix expressions -------------------===//
//
// The parser is a recursive descent over tokens split at blanks and
// parentheses; its depth is limited, so that no text exhausts the stack.
// Arithmetic on i64 is checked.
//
//===----------------------------------------------------------------------===//
#include "runtime/Expr.h"
#include "runtime/Concat.h"
#include "runtime/Packing.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace tegula::rt {

namespace {
struct OpInfo {
  std::string_view name;
  Expr::Op op;
  int least, most; // operands
};
} // namespace

static constexpr int anyNumber = 1 << 20;
static constexpr OpInfo opTable[] = {
    {"+", Expr::Op::add, 2, anyNumber},
    {"-", Expr::Op::sub, 1, 2},
    {"*", Expr::Op::mul, 2, anyNumber},
    {"/", Expr::Op::div, 2, 2},
    {"%", Expr::Op::mod, 2, 2},
    {"min", Expr::Op::min, 2, anyNumber},
    {"max", Expr::Op::max, 2, anyNumber},
    {"ceildiv", Expr::Op::ceildiv, 2, 2},
    {"<<", Expr::Op::shiftLeft, 2, 2},
    {">>", Expr::Op::shiftRight, 2, 2},
    {"==", Expr::Op::eq, 2, 2},
    {"!=", Expr::Op::ne, 2, 2},
    {"<", Expr::Op::lt, 2, 2},
    {"<=", Expr::Op::le, 2, 2},
    {">", Expr::Op::gt, 2, 2},
    {">=", Expr::Op::ge, 2, 2},
    {"&&", Expr::Op::logicalAnd, 2, anyNumber},
    {"||", Expr::Op::logicalOr, 2, anyNumber},
    {"!", Expr::Op::logicalNot, 1, 1},
    {"?", Expr::Op::select, 3, 3},
    {"neg", Expr::Op::neg, 1, 1},
    {"abs", Expr::Op::abs, 1, 1},
    {"packing", Expr::Op::packing, 4, 4},
};

std::string Value::text() const {
  return isInteger() ? concat(integer) : concat(real);
}

//===----------------------------------------------------------------------===//
// Parser
//===----------------------------------------------------------------------===//

class ExprParser {
public:
  ExprParser(std::string_view text, std::span<const std::string> names)
      : text(text), names(names) {
    expr.source = text;
  }

  Result<Expr> run() {
    if (Result<int> root = parse(0); !root.ok())
      return root.status();
    if (skipBlanks(); at != text.size())
      return error("expected the end");
    return std::move(expr);
  }

private:
  void skipBlanks() {
    while (at < text.size() &&
           (text[at] == ' ' || text[at] == '\t' || text[at] == '\n'))
      ++at;
  }

  std::string_view token() {
    skipBlanks();
    size_t start = at;
    if (at < text.size() && (text[at] == '(' || text[at] == ')'))
      return text.substr(at++, 1);
    while (at < text.size() && text[at] != ' ' && text[at] != '\t' &&
           text[at] != '\n' && text[at] != '(' && text[at] != ')')
      ++at;
    return text.substr(start, at - start);
  }

  Status error(std::string what) {
    return invalidArgument(
        concat("bad expression `", text, "`, column ", at + 1, ": ", what));
  }

  int add(Expr::Node node) {
    expr.nodes.push_back(node);
    return static_cast<int>(expr.nodes.size()) - 1;
  }

  Result<int> parse(int depth) {
    if (depth > 64)
      return error("nested deeper than 64 levels");
    std::string_view word = token();
    if (word.empty())
      return error("expected a number, a name or `(`, but the text ends");
    if (word == ")")
      return error("expected a number, a name or `(`, but got `)`");
    return word == "(" ? parseCall(depth) : parseAtom(word);
  }

  Result<int> parseCall(int depth) {
    std::string_view name = token();
    const OpInfo *info =
        std::find_if(std::begin(opTable), std::end(opTable),
                     [&](const OpInfo &entry) { return entry.name == name; });
    if (info == std::end(opTable))
      return error(concat("unknown operator `", name, "`"));
    std::vector<int> children;
    while (skipBlanks(), at < text.size() && text[at] != ')') {
      Result<int> child = parse(depth + 1);
      if (!child.ok())
        return child;
      children.push_back(*child);
    }
    if (token() != ")")
      return error("expected `)`, but the text ends");
    int count = static_cast<int>(children.size());
    if (count < info->least || count > info->most)
      return error(concat("`", name, "` does not take ", count, " operand",
                          count == 1 ? "" : "s"));
    Expr::Op op = info->op;
    if (op == Expr::Op::sub && count == 1)
      op = Expr::Op::neg;
    int first = static_cast<int>(expr.operands.size());
    expr.operands.insert(expr.operands.end(), children.begin(), children.end());
    return add({op, {}, first, count});
  }

  Result<int> parseAtom(std::string_view word) {
    if (word == "true" || word == "false")
      return add({Expr::Op::literal, Value(int64_t(word == "true"))});
    if (word == "inf")
      return add(
          {Expr::Op::literal, Value(std::numeric_limits<double>::infinity())});
    if (word[0] == '-' || word[0] == '.' || (word[0] >= '0' && word[0] <= '9'))
      return parseNumber(word);
    auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end())
      return error(concat("unknown name `", word, "`"));
    int slot = static_cast<int>(found - names.begin());
    if (std::find(expr.used.begin(), expr.used.end(), slot) == expr.used.end())
      expr.used.push_back(slot);
    return add({Expr::Op::slot, {}, slot});
  }

  Result<int> parseNumber(std::string_view word) {
    const char *begin = word.data(), *end = begin + word.size();
    int64_t integer = 0;
    if (auto [stop, code] = std::from_chars(begin, end, integer);
        code == std::errc() && stop == end)
      return add({Expr::Op::literal, Value(integer)});
    double real = 0;
    if (auto [stop, code] = std::from_chars(begin, end, real);
        code == std::errc() && stop == end &&
        word.find_first_of(".eEinf") != std::string_view::npos)
      return add({Expr::Op::literal, Value(real)});
    return error(concat("bad number `", word, "`"));
  }

  std::string_view text;
  std::span<const std::string> names;
  size_t at = 0;
  Expr expr;
};

Result<Expr> Expr::parse(std::string_view text,
                         std::span<const std::string> names) {
  return ExprParser(text, names).run();
}

//===----------------------------------------------------------------------===//
// Shape and text of a parsed expression
//===----------------------------------------------------------------------===//

static std::string_view opName(Expr::Op op) {
  for (const OpInfo &info : opTable)
    if (info.op == op)
      return info.name;
  return "";
}

std::optional<Expr::Offset> Expr::asOffset() const {
  const Node &root = nodes.back();
  if (root.op == Op::slot)
    return Offset{root.first, 0};
  if ((root.op != Op::add && root.op != Op::sub) || root.count != 2)
    return std::nullopt;
  const Node *name = &nodes[operands[root.first]];
  const Node *number = &nodes[operands[root.first + 1]];
  if (root.op == Op::add && name->op == Op::literal)
    std::swap(name, number);
  if (name->op != Op::slot || number->op != Op::literal ||
      !number->value.isInteger() ||
      number->value.integer == std::numeric_limits<int64_t>::min())
    return std::nullopt;
  int64_t offset = number->value.integer;
  return Offset{name->first, root.op == Op::add ? offset : -offset};
}

std::string Expr::infixNode(int index, std::span<const std::string> names,
                            bool inner) const {
  const Node &node = nodes[index];
  if (node.op == Op::literal)
    return node.value.text();
  if (node.op == Op::slot)
    return names[node.first];
  auto operand = [&](int i, bool isInner) {
    return infixNode(operands[node.first + i], names, isInner);
  };
  if (node.op == Op::neg || node.op == Op::logicalNot)
    return concat(node.op == Op::neg ? "-" : "!", operand(0, true));

  std::string out;
  if (node.op == Op::select) {
    out = concat(operand(0, true), " ? ", operand(1, true), " : ",
                 operand(2, true));
  } else if (node.op == Op::min || node.op == Op::max ||
             node.op == Op::ceildiv || node.op == Op::abs ||
             node.op == Op::packing) {
    out = concat(opName(node.op), "(");
    for (int i = 0; i != node.count; ++i)
      out += concat(i ? ", " : "", operand(i, false));
    return out + ")";
  } else {
    for (int i = 0; i != node.count; ++i)
      out +=
          concat(i ? concat(" ", opName(node.op), " ") : "", operand(i, true));
  }
  return inner ? concat("(", out, ")") : out;
}

std::string Expr::infix(std::span<const std::string> names) const {
  return infixNode(static_cast<int>(nodes.size()) - 1, names, false);
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static std::optional<int64_t> floorDivide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (a == std::numeric_limits<int64_t>::min() && b == -1)
    return std::nullopt;
  int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

/// a op b on integers; empty where the result leaves i64.
static std::optional<int64_t> applyInteger(Expr::Op op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
  case Expr::Op::add:
    return __builtin_add_overflow(a, b, &out) ? std::nullopt
                                              : std::optional(out);
  case Expr::Op::sub:
    return __builtin_sub_overflow(a, b, &out) ? std::nullopt
                                              : std::optional(out);
  case Expr::Op::mul:
    return __builtin_mul_overflow(a, b, &out) ? std::nullopt
                                              : std::optional(out);
  case Expr::Op::div:
    return floorDivide(a, b);
  case Expr::Op::mod:
    if (b == 0 || b == -1)
      return 0;
    out = a % b;
    return out != 0 && (out < 0) != (b < 0) ? out + b : out;
  case Expr::Op::ceildiv:
    if (std::optional<int64_t> quotient = floorDivide(a, b))
      return *quotient + (b != 0 && b != -1 && a % b != 0);
    return std::nullopt;
  case Expr::Op::shiftLeft:
    if (b < 0 || b > 62 || a > INT64_MAX >> b || a < INT64_MIN >> b)
      return std::nullopt;
    return a << b;
  case Expr::Op::shiftRight: // as a division by 2^b
    return b < 0 ? std::nullopt : std::optional(a >> std::min<int64_t>(b, 63));
  case Expr::Op::min:
    return std::min(a, b);
  case Expr::Op::max:
    return std::max(a, b);
  case Expr::Op::eq:
    return a == b;
  case Expr::Op::ne:
    return a != b;
  case Expr::Op::lt:
    return a < b;
  case Expr::Op::le:
    return a <= b;
  case Expr::Op::gt:
    return a > b;
  case Expr::Op::ge:
    return a >= b;
  default:
    return std::nullopt;
  }
}

static Value applyReal(Expr::Op op, double a, double b) {
  switch (op) {
  case Expr::Op::add:
    return a + b;
  case Expr::Op::sub:
    return a - b;
  case Expr::Op::mul:
    return a * b;
  case Expr::Op::div:
    return a / b;
  case Expr::Op::mod:
    return a - b * std::floor(a / b);
  case Expr::Op::ceildiv:
    return std::ceil(a / b);
  case Expr::Op::min:
    return std::isnan(a) || a < b ? a : b;
  case Expr::Op::max:
    return std::isnan(a) || a > b ? a : b;
  case Expr::Op::eq:
    return int64_t(a == b);
  case Expr::Op::ne:
    return int64_t(a != b);
  case Expr::Op::lt:
    return int64_t(a < b);
  case Expr::Op::le:
    return int64_t(a <= b);
  case Expr::Op::gt:
    return int64_t(a > b);
  default: // ge
    return int64_t(a >= b);
  }
}

static Status overflow(Expr::Op op, const Value &a, const Value &b) {
  return invalidArgument(concat("(", opName(op), " ", a.text(), " ", b.text(),
                                ") does not fit 64 bits"));
}

static Result<Value> applyBinary(Expr::Op op, Value a, Value b) {
  bool isShift = op == Expr::Op::shiftLeft || op == Expr::Op::shiftRight;
  if (isShift && (!a.isInteger() || !b.isInteger()))
    return invalidArgument(concat("(", opName(op), " ", a.text(), " ", b.text(),
                                  ") is not of integers"));
  if (!a.isInteger() || !b.isInteger())
    return applyReal(op, a.asReal(), b.asReal());
  if (std::optional<int64_t> out = applyInteger(op, a.integer, b.integer))
    return Value(*out);
  return overflow(op, a, b);
}

/// Applies a binary operator from the left over two or more operands.
Result<Value> Expr::fold(const Node &node, std::span<const Value> slots) const {
  Result<Value> out = evaluateNode(operands[node.first], slots);
  for (int i = 1; out.ok() && i != node.count; ++i) {
    Result<Value> next = evaluateNode(operands[node.first + i], slots);
    if (!next.ok())
      return next;
    out = applyBinary(node.op, *out, *next);
  }
  return out;
}

/// Of extents: what is larger than any has no shift.
Result<Value> Expr::pack(const Node &node, std::span<const Value> slots) const {
  int64_t numbers[4];
  for (int i = 0; i != 4; ++i) {
    Result<Value> value = evaluateNode(operands[node.first + i], slots);
    if (!value.ok())
      return value;
    constexpr int64_t most = int64_t(1) << 29;
    if (!value->isInteger() || value->integer < 0 || value->integer > most)
      return invalidArgument(
          concat("`packing` is of extents, but got ", value->text()));
    numbers[i] = value->integer;
  }
  return Value(packingShift(numbers[0], numbers[1], numbers[2],
                            std::max<int64_t>(numbers[3], 1)));
}

Result<Value> Expr::evaluateNode(int index,
                                 std::span<const Value> slots) const {
  const Node &node = nodes[index];
  switch (node.op) {
  case Op::literal:
    return node.value;
  case Op::slot:
    return slots[node.first];
  case Op::logicalAnd:
  case Op::logicalOr: {
    bool stopAt = node.op == Op::logicalOr;
    for (int i = 0; i != node.count; ++i) {
      Result<Value> value = evaluateNode(operands[node.first + i], slots);
      if (!value.ok() || value->isTrue() == stopAt)
        return value.ok() ? Result<Value>(int64_t(stopAt)) : value;
    }
    return Value(int64_t(!stopAt));
  }
  case Op::select: {
    Result<Value> condition = evaluateNode(operands[node.first], slots);
    if (!condition.ok())
      return condition;
    return evaluateNode(operands[node.first + (condition->isTrue() ? 1 : 2)],
                        slots);
  }
  case Op::logicalNot:
  case Op::neg:
  case Op::abs: {
    Result<Value> value = evaluateNode(operands[node.first], slots);
    if (!value.ok())
      return value;
    if (node.op == Op::logicalNot)
      return Value(int64_t(!value->isTrue()));
    if (!value->isInteger())
      return Value(node.op == Op::neg ? -value->real : std::fabs(value->real));
    if (node.op == Op::abs && value->integer >= 0)
      return value;
    return applyBinary(Op::sub, Value(int64_t(0)), *value);
  }
  case Op::packing:
    return pack(node, slots);
  default:
    return fold(node, slots);
  }
}

Result<Value> Expr::evaluate(std::span<const Value> slots) const {
  return evaluateNode(static_cast<int>(nodes.size()) - 1, slots);
}

Result<int64_t> Expr::evaluateInteger(std::span<const Value> slots) const {
  Result<Value> value = evaluate(slots);
  if (!value.ok())
    return value.status();
  if (!value->isInteger())
    return invalidArgument(concat("`", source, "` is ", value->text(),
                                  ", but an integer is needed"));
  return value->integer;
}

} // namespace tegula::rt
