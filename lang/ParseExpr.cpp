//===- ParseExpr.cpp - expressions ----------------------------------------===//
//
// Precedence climbing. Spellings of other languages (`and`, `//`, `**`, chained
// comparisons) are reported with what to write and read as that, so that the
// rest of the text is still checked.
//
//===----------------------------------------------------------------------===//
#include "lang/ParserImpl.h"
#include <cmath>
#include <limits>

using namespace tegula::lang;
using namespace tegula::lang::ast;
using llvm::SMRange;
using llvm::StringRef;

static std::vector<ExprPtr> args(ExprPtr a, ExprPtr b = nullptr,
                                 ExprPtr c = nullptr) {
  std::vector<ExprPtr> list;
  for (ExprPtr *e : {&a, &b, &c})
    if (*e)
      list.push_back(std::move(*e));
  return list;
}

/// From the begin of one range to the end of another, where both are there.
static SMRange spanOf(SMRange first, SMRange last) {
  return first.isValid() && last.isValid() ? SMRange(first.Start, last.End)
                                           : SMRange();
}

/// What stands for an expression that a message was given for.
static ExprPtr errorExpr(SMRange range) {
  auto e = std::make_unique<Expr>();
  e->range = range;
  return e;
}

ExprPtr Parser::makeOperator(Op op, std::vector<ExprPtr> operands,
                             SMRange opRange) {
  SMRange range =
      spanOf(operands.size() == 1 ? opRange : operands.front()->range,
             operands.back()->range);
  ExprPtr e = ast::op(op, std::move(operands), opRange, range);
  if (e->depth > maxExprDepth) {
    errorTooDeep(e->nameRange,
                 "this expression is more than " + llvm::Twine(maxExprDepth) +
                     " operators deep; name parts of it with `let`");
    return std::make_unique<Expr>();
  }
  return e;
}

ExprPtr Parser::parseExpr() {
  if (nesting >= maxNesting) {
    errorTooDeep(peek().range(), "this expression is nested more than " +
                                     llvm::Twine(maxNesting) +
                                     " deep; name parts of it with `let`");
    return std::make_unique<Expr>();
  }
  ++nesting;
  ExprPtr e = parseBinary(1);
  if (!panicking && peek().is("?")) {
    SMRange question = take().range();
    ExprPtr yes = parseExpr();
    if (!panicking)
      expect(":", " of `?`");
    ExprPtr no = panicking ? std::make_unique<Expr>() : parseExpr();
    e = panicking
            ? std::make_unique<Expr>()
            : makeOperator(Op::Select,
                           args(std::move(e), std::move(yes), std::move(no)),
                           question);
  }
  --nesting;
  return e;
}

namespace {
/// A spelling of other languages, and what it is here.
struct Foreign {
  StringRef spelling, replacement, message;
  Op op;
};
} // namespace

static const Foreign *foreignOperator(const Token &token) {
  static const Foreign table[] = {
      {"//", "/", "there is no `//`; `/` on integers is already floored",
       Op::Div},
      {"**", "", "there is no `**`; write `pow(x, y)`", Op::Pow},
      {"and", "&&", "there is no `and`; write `&&`", Op::And},
      {"or", "||", "there is no `or`; write `||`", Op::Or}};
  for (const Foreign &f : table)
    if (token.is(f.spelling))
      return &f;
  return nullptr;
}

/// The binary operator that comes next, by whatever spelling.
std::optional<Op> Parser::peekBinary() {
  if (const Foreign *foreign = foreignOperator(peek()))
    return foreign->op;
  if (peek().kind != Token::Punctuation)
    return std::nullopt;
  return binaryOp(peek().text);
}

static int climbingPrecedence(Op op) {
  return op == Op::Pow ? 10 : binaryPrecedence(op);
}

ExprPtr Parser::parseBinary(int precedence) {
  ExprPtr left = parseUnary();
  while (!panicking) {
    std::optional<Op> op = peekBinary();
    if (!op || climbingPrecedence(*op) < precedence)
      return left;
    const Token &token = take();
    if (const Foreign *foreign = foreignOperator(token)) {
      Diagnostic &d = diagnostics.error(token.range(), foreign->message);
      if (!foreign->replacement.empty())
        d.fix(token.range(), foreign->replacement);
    }
    ExprPtr right = parseBinary(climbingPrecedence(*op) + 1);
    if (panicking)
      break;
    if (*op == Op::Pow) {
      SMRange range = spanOf(left->range, right->range);
      left = ast::call("pow", args(std::move(left), std::move(right)),
                       token.range(), range);
      continue;
    }
    if (token.is("//")) { // what follows may be a comment
      left = errorExpr(rangeFrom(left->range));
      continue;
    }
    left = makeOperator(*op, args(std::move(left), std::move(right)),
                        token.range());
    if (!panicking && isComparison(*op))
      left = parseChain(std::move(left));
  }
  return std::make_unique<Expr>();
}

/// After `a < b`: reports `a < b < c`, whose second half has no left operand of
/// its own, and gives up on the chain's value.
ExprPtr Parser::parseChain(ExprPtr left) {
  std::string conjunction = toText(*left);
  std::string middle = toText(*left->args[1]);
  SMRange start = left->range;
  bool chained = false;
  for (;;) {
    std::optional<Op> op = panicking ? std::nullopt : peekBinary();
    if (!op || !isComparison(*op))
      break;
    chained = true;
    take();
    ExprPtr right = parseBinary(binaryPrecedence(*op) + 1);
    std::string text = toText(*right);
    conjunction += (" && " + middle + " " + opSpelling(*op) + " " + text).str();
    middle = text;
  }
  if (!chained || panicking)
    return left;
  diagnostics
      .error(rangeFrom(start),
             "comparisons do not chain; write `" + conjunction + "`")
      .fix(rangeFrom(start), conjunction);
  return errorExpr(rangeFrom(start));
}

bool Parser::startsOperand(const Token &token) const {
  return token.kind == Token::Word || token.kind == Token::Integer ||
         token.kind == Token::Float || token.is("(") || token.is("-") ||
         token.is("!") || token.is("~");
}

ExprPtr Parser::parseUnary() {
  const Token &token = peek();
  bool isNot = token.is("not") && startsOperand(peek(1)) && !peek(1).is("-");
  std::optional<Op> op = token.is("-")            ? std::optional(Op::Neg)
                         : token.is("!") || isNot ? std::optional(Op::Not)
                         : token.is("~")          ? std::optional(Op::BitNot)
                                                  : std::nullopt;
  if (!op) {
    if (token.is("+") && startsOperand(peek(1))) {
      if (Diagnostic *d = error(token.range(), "there is no unary `+`"))
        d->fix(token.range(), "");
      return std::make_unique<Expr>();
    }
    return parsePrimary();
  }
  if (nesting >= maxNesting) {
    errorTooDeep(token.range(), "this expression is nested more than " +
                                    llvm::Twine(maxNesting) + " deep");
    return std::make_unique<Expr>();
  }
  take();
  if (isNot)
    diagnostics.error(token.range(), "there is no `not`; write `!`")
        .fix(token.range(), "!");
  ++nesting;
  ExprPtr operand = parseUnary();
  --nesting;
  if (panicking)
    return std::make_unique<Expr>();
  return makeOperator(*op, args(std::move(operand)), token.range());
}

ExprPtr Parser::parsePrimary() {
  const Token &token = peek();
  switch (token.kind) {
  case Token::Integer:
  case Token::Float:
    return parseNumber();
  case Token::Word:
    // `let b`, where an operand is missing before it.
    if (inKernel && isStatementWord(token.text) &&
        peek(1).kind == Token::Word && !token.is("if") && !token.is("for"))
      break;
    return parseNamed();
  default:
    break;
  }
  if (token.is("(")) {
    take();
    ExprPtr e = parseExpr();
    if (!panicking && expect(")", "", &token))
      e->range = rangeFrom(token.range());
    return e;
  }
  if (token.is("[")) {
    take();
    std::vector<ExprPtr> extents = parseExprs("]");
    if (!panicking)
      expect("]", "", &token);
    return ast::shape(std::move(extents), rangeFrom(token.range()));
  }
  errorExpected("an expression");
  return std::make_unique<Expr>();
}

ExprPtr Parser::parseNumber() {
  const Token &token = take();
  if (token.kind == Token::Float) {
    double value = 0;
    // A malformed number was reported by the lexer and counts as 0.
    (void)token.text.getAsDouble(value);
    if (std::isinf(value)) {
      diagnostics.error(token.range(), "`" + token.text +
                                           "` does not fit in f64; write "
                                           "`inf`");
      return errorExpr(token.range());
    }
    return ast::real(value, token.range());
  }
  uint64_t value;
  if (token.text.getAsInteger(token.text.starts_with("0x") ? 0 : 10, value) ||
      value > uint64_t(std::numeric_limits<int64_t>::max())) {
    diagnostics.error(token.range(), "`" + token.text +
                                         "` does not fit in i64, whose largest "
                                         "value is 9223372036854775807");
    return errorExpr(token.range());
  }
  return ast::integer(int64_t(value), token.range());
}

/// A word and what makes a place or a call of it.
ExprPtr Parser::parseNamed() {
  const Token &word = take();
  SMRange range = word.range();
  if (at >= 2 && isClauseWord(word.text) &&
      tokens[at - 2].kind == Token::Punctuation &&
      binaryOp(tokens[at - 2].text)) {
    wordAsName = &word;
    wordOperator = &tokens[at - 2];
  }
  if (word.text == "true" || word.text == "false")
    return ast::boolean(word.text == "true", range);
  if (word.text == "inf")
    return ast::real(std::numeric_limits<double>::infinity(), range);
  if (word.is("if") || word.is("while") || word.is("for")) {
    error(range, "there is no `" + word.text +
                     "` in an expression; write `c ? a : b`");
    return std::make_unique<Expr>();
  }
  if (inKernel && word.is("load") && peek().kind == Token::Word)
    return parseLoad(word);
  if (peek().is("["))
    return parseIndexed(word);
  if (!peek().is("("))
    return ast::name(word.text, range);
  return parseCall(word);
}

/// From the `[` of a place on.
ExprPtr Parser::parseIndexed(const Token &word) {
  const Token &open = take();
  std::vector<ExprPtr> indices;
  auto refuseSlice = [&] {
    if (!panicking && !inKernel && (peek().is(":") || peek().is(":+")))
      error(peek().range(), "a slice belongs to a `kernel` item; an "
                            "attention item reads one element");
  };
  list([&] {
    refuseSlice();
    indices.push_back(inKernel ? parseIndex() : parseExpr());
    refuseSlice();
  });
  if (!panicking)
    expect("]", "", &open);
  return ast::index(word.text, std::move(indices), word.range(),
                    rangeFrom(word.range()));
}

/// From the `(` of a call on.
ExprPtr Parser::parseCall(const Token &callee) {
  const Token &open = take();
  if (peek().kind == Token::Word && peek(1).is("in"))
    return parseBounded(callee, open);
  std::vector<ExprPtr> list;
  std::vector<ast::Name> names;
  bool named = false;
  while (!panicking && !peek().is(")")) {
    ast::Name name;
    if (peek().kind == Token::Word && peek(1).is("=")) {
      name = parseName("a name");
      take();
      named = true;
    }
    names.push_back(std::move(name));
    list.push_back(parseExpr());
    if (!takeIf(","))
      break;
  }
  if (!panicking)
    expect(")", "", &open);
  ExprPtr call = ast::call(callee.text, std::move(list), callee.range(),
                           rangeFrom(callee.range()));
  if (named)
    call->argNames = std::move(names);
  return call;
}

/// `any(t in KS: condition)`, from its variable on.
ExprPtr Parser::parseBounded(const Token &reduction, const Token &open) {
  ast::Name variable = parseName("a name");
  take();
  ExprPtr extent = parseExpr();
  ExprPtr value = !panicking && expect(":", " after the extent")
                      ? parseExpr()
                      : std::make_unique<Expr>();
  if (!panicking)
    expect(")", "", &open);
  static constexpr StringRef known[] = {"sum", "min", "max", "any", "all"};
  if (!panicking && !llvm::is_contained(known, reduction.text)) {
    StringRef near;
    Diagnostic &d = diagnostics.error(
        reduction.range(), "`" + reduction.text + "` does not reduce over `" +
                               variable.text +
                               " in ...`; known: sum, min, max, any, all" +
                               didYouMean(reduction.text, known, &near));
    if (!near.empty())
      d.fix(reduction.range(), near);
    return errorExpr(rangeFrom(reduction.range()));
  }
  return ast::bounded(reduction.text, std::move(variable), std::move(extent),
                      std::move(value), reduction.range(),
                      rangeFrom(reduction.range()));
}
