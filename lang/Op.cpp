//===- Op.cpp - operators and built-in functions --------------------------===//
//
// Spelling, arity and precedence, from one table in the order of the
// enumeration.
//
//===----------------------------------------------------------------------===//
#include "lang/Op.h"
#include <iterator>
#include <limits>

using namespace tegula::lang;

namespace {
struct OpInfo {
  llvm::StringLiteral spelling;
  unsigned arity;
  int precedence; // of a binary operator
};
} // namespace

static constexpr OpInfo infos[] = {
    {"-", 1, 0},     {"!", 1, 0},       {"~", 1, 0},      {"+", 2, 8},
    {"-", 2, 8},     {"*", 2, 9},       {"/", 2, 9},      {"%", 2, 9},
    {"<<", 2, 7},    {">>", 2, 7},      {"&", 2, 6},      {"^", 2, 5},
    {"|", 2, 4},     {"==", 2, 3},      {"!=", 2, 3},     {"<", 2, 3},
    {"<=", 2, 3},    {">", 2, 3},       {">=", 2, 3},     {"&&", 2, 2},
    {"||", 2, 1},    {"?:", 3, 0},      {"min", 2, 0},    {"max", 2, 0},
    {"abs", 1, 0},   {"ceildiv", 2, 0}, {"exp", 1, 0},    {"exp2", 1, 0},
    {"log", 1, 0},   {"log2", 1, 0},    {"tanh", 1, 0},   {"sqrt", 1, 0},
    {"rsqrt", 1, 0}, {"pow", 2, 0},     {"random", 5, 0}, {"cast", 1, 0}};
static_assert(std::size(infos) == static_cast<size_t>(Op::Convert) + 1);

llvm::StringRef tegula::lang::opSpelling(Op op) {
  return infos[static_cast<int>(op)].spelling;
}

unsigned tegula::lang::opArity(Op op) {
  return infos[static_cast<int>(op)].arity;
}

int tegula::lang::binaryPrecedence(Op op) {
  return infos[static_cast<int>(op)].precedence;
}

std::optional<Op> tegula::lang::functionOp(llvm::StringRef name) {
  for (int i = static_cast<int>(Op::Min); i <= static_cast<int>(Op::Pow); ++i)
    if (name == infos[i].spelling)
      return static_cast<Op>(i);
  return std::nullopt;
}

std::optional<Op> tegula::lang::binaryOp(llvm::StringRef spelling) {
  for (int i = static_cast<int>(Op::Add); i <= static_cast<int>(Op::Or); ++i)
    if (spelling == infos[i].spelling)
      return static_cast<Op>(i);
  return std::nullopt;
}

int64_t tegula::lang::integerIdentity(Op op) {
  return op == Op::Min   ? std::numeric_limits<int64_t>::max()
         : op == Op::Max ? std::numeric_limits<int64_t>::min()
                         : op == Op::And;
}

double tegula::lang::realIdentity(Op op) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return op == Op::Min ? infinity : op == Op::Max ? -infinity : 0;
}
