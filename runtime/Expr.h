//===- Expr.h - prefix expressions of the manifest --------------*- C++ -*-===//
//
// Extents, requires and the grid rule travel as prefix text over named values:
// `(* (ceildiv M 128) (* H B))`. A text is parsed once, its names resolved to
// slots, and evaluated at each launch without touching the heap. Values are
// i64 or f64; `/`, `%` and `ceildiv` on integers floor and ceil, by zero they
// give 0; a result that leaves i64 is an error.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Status.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tegula::rt {

/// An integer or a float; booleans are the integers 0 and 1.
struct Value {
  enum class Kind : uint8_t { integer, real };
  Kind kind = Kind::integer;
  union {
    int64_t integer = 0;
    double real;
  };

  Value() = default;
  Value(int64_t v) : kind(Kind::integer), integer(v) {}
  Value(double v) : kind(Kind::real), real(v) {}
  bool isInteger() const { return kind == Kind::integer; }
  double asReal() const {
    return isInteger() ? static_cast<double>(integer) : real;
  }
  bool isTrue() const { return isInteger() ? integer != 0 : real != 0; }
  /// "64", "0.125".
  std::string text() const;
};

/// A parsed expression.
///
/// Operators: `+ * min max && ||` (two or more operands), `-` (one or two),
/// `/ % ceildiv << >> == != < <= > >=` (two), `neg abs !` (one), `?` (three),
/// `packing` (four: see Packing.h). `&&`,
/// `||` and `?` evaluate only what they need. An integer meets a float as a
/// float. Numbers: `128`, `-3`, `0.5`, `1e-3`; also `true`, `false`, `inf`.
class Expr {
public:
  /// `names` maps a name to its slot: its position in the list. Errors:
  /// `invalidArgument` with the text and the place in it.
  static Result<Expr> parse(std::string_view text,
                            std::span<const std::string> names);

  /// The value, where `slots[i]` is the value of the i-th name. Errors:
  /// `invalidArgument` for overflow, with the operator and the operands.
  Result<Value> evaluate(std::span<const Value> slots) const;
  /// As above, for an expression that has to be an integer.
  Result<int64_t> evaluateInteger(std::span<const Value> slots) const;

  /// The slots that occur, each once, in order of first appearance.
  const std::vector<int> &usedSlots() const { return used; }
  /// The prefix text.
  const std::string &text() const { return source; }
  /// The same for readers: "B + 1", "ceildiv(M, 128) * H".
  std::string infix(std::span<const std::string> names) const;

  /// For `name`, `(+ name c)`, `(+ c name)` and `(- name c)`: the slot and the
  /// signed offset c. An extent of that shape gives its name a value.
  struct Offset {
    int slot;
    int64_t offset;
  };
  std::optional<Offset> asOffset() const;

  enum class Op : uint8_t {
    literal,
    slot,
    add,
    sub,
    mul,
    div,
    mod,
    min,
    max,
    ceildiv,
    shiftLeft,
    shiftRight,
    eq,
    ne,
    lt,
    le,
    gt,
    ge,
    logicalAnd,
    logicalOr,
    logicalNot,
    select,
    neg,
    abs,
    packing,
  };

private:
  friend class ExprParser;
  struct Node {
    Op op;
    Value value;   // literal
    int first = 0; // slot number, or first operand in `operands`
    int count = 0; // operands
  };
  Result<Value> evaluateNode(int node, std::span<const Value> slots) const;
  std::string infixNode(int node, std::span<const std::string> names,
                        bool inner) const;
  Result<Value> fold(const Node &node, std::span<const Value> slots) const;
  Result<Value> pack(const Node &node, std::span<const Value> slots) const;

  std::string source;
  std::vector<Node> nodes;   // the root is the last
  std::vector<int> operands; // node numbers
  std::vector<int> used;
};

} // namespace tegula::rt
