//===- ParseClauses.cpp - the clauses of an item --------------------------===//
//
// Clause words are contextual: a word is looked at as one only where a clause
// can begin, so that a tensor may be called `mask`.
//
//===----------------------------------------------------------------------===//
#include "lang/ParserImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tegula::lang;
using namespace tegula::lang::ast;
using llvm::StringRef;

static constexpr StringRef clauseWords[] = {
    "static",  "param",    "require", "let",    "scale",
    "score",   "mask",     "reduce",  "weight", "emit",
    "outputs", "schedule", "grad",    "extent", "branch"};

bool tegula::lang::isClauseWord(StringRef word) {
  return llvm::is_contained(clauseWords, word);
}

void Parser::parseClauses(ClauseList &item) {
  const Token &open = take();
  while (!peek().is("}")) {
    if (peek().kind == Token::End ||
        (isItemWord(peek().text) && peek(1).kind == Token::Word)) {
      if (Diagnostic *d = errorExpected("a clause or `}`"))
        d->note(open.range(), "to close this `{`");
      item.incomplete = true;
      return;
    }
    if (takeIf(";"))
      continue;
    parseClause(item);
    if (panicking)
      skipToClause();
  }
  take();
}

void Parser::parseClause(ClauseList &item) {
  const Token &word = peek();
  if (word.kind != Token::Word || !isClauseWord(word.text)) {
    bool tookName = reportNoClause();
    // The value before it did not end there; a static's name is kept.
    if (!item.clauses.empty() && item.clauses.back().value &&
        (tookName || item.clauses.back().kind != Clause::Static)) {
      item.incomplete |= item.clauses.back().kind == Clause::Let;
      item.clauses.pop_back();
    }
    take();
    return;
  }
  take();
  if (word.is("static"))
    return parseStatics(item, word);
  if (word.is("param"))
    return parseParams(item, word);
  if (word.is("let"))
    return parseLet(item, word);
  if (word.is("reduce"))
    return parseReduce(item, word);
  if (word.is("emit"))
    return parseEmit(item, word);
  if (word.is("outputs"))
    return parseOutputs(item, word);
  if (word.is("schedule"))
    return parseSchedule(item, word);
  auto kind = llvm::StringSwitch<Clause::Kind>(word.text)
                  .Case("require", Clause::Require)
                  .Case("scale", Clause::Scale)
                  .Case("score", Clause::Score)
                  .Case("mask", Clause::Mask)
                  .Case("weight", Clause::Weight)
                  .Default(Clause::Unsupported);
  if (kind == Clause::Unsupported)
    return parseUnsupported(item, word);
  parseValueClause(item, word, kind);
}

static Clause clause(Clause::Kind kind, const Token &word) {
  Clause c;
  c.kind = kind;
  c.word = {word.text.str(), word.range()};
  return c;
}

void Parser::parseStatics(ClauseList &item, const Token &word) {
  list([&] {
    Clause c = clause(Clause::Static, word);
    c.name = parseName("the name of a static");
    if (takeIf("="))
      c.value = parseExpr();
    if (!panicking)
      item.clauses.push_back(std::move(c));
  });
  item.incomplete |= panicking;
}

void Parser::parseParams(ClauseList &item, const Token &word) {
  list([&] {
    Clause c = clause(Clause::Param, word);
    c.tensor = parseTensor();
    c.name = c.tensor.name;
    if (!panicking)
      item.clauses.push_back(std::move(c));
  });
  item.incomplete |= panicking;
}

void Parser::parseLet(ClauseList &item, const Token &word) {
  Clause c = clause(Clause::Let, word);
  c.name = parseName("a name");
  if (!panicking && peek().is("[")) { // let k[b,g,j,d]: T = ...
    c.kind = Clause::Unsupported;
    c.word.text = "let " + c.name.text + "[...]";
    skipBalanced();
    if (takeIf(":"))
      parseName("an element type");
  }
  if (!panicking && expect("=", " and the value"))
    c.value = parseExpr();
  item.incomplete |= panicking;
  if (!panicking)
    item.clauses.push_back(std::move(c));
}

void Parser::parseValueClause(ClauseList &item, const Token &word,
                              Clause::Kind kind) {
  Clause c = clause(kind, word);
  c.value = parseExpr();
  if (!panicking)
    item.clauses.push_back(std::move(c));
}

void Parser::parseReduce(ClauseList &item, const Token &word) {
  Clause c = clause(Clause::Reduce, word);
  c.name = parseName("the name of a reduction");
  if (!panicking && !peek().is("(")) {
    errorExpected("`(`");
    return;
  }
  if (!panicking)
    c.value = parseCall(tokens[at - 1]);
  if (!panicking)
    item.clauses.push_back(std::move(c));
}

void Parser::parseEmit(ClauseList &item, const Token &word) {
  Clause c = clause(Clause::Emit, word);
  c.name = c.tensor.name = parseName("an output");
  if (!panicking && peek().is("[")) { // emit o[cuq[b] + i, h, e]: ... = o
    c.kind = Clause::Unsupported;
    c.word.text = "emit " + c.name.text + "[...]";
    skipBalanced();
  }
  if (takeIf(":"))
    parseType(c.tensor);
  if (!panicking && expect("=", " and the value"))
    c.value = parseExpr();
  item.incomplete |= panicking;
  if (!panicking)
    item.clauses.push_back(std::move(c));
}

void Parser::parseOutputs(ClauseList &item, const Token &word) {
  Clause c = clause(Clause::Outputs, word);
  list([&] { c.names.push_back(parseName("the name of an output")); });
  if (!panicking)
    item.clauses.push_back(std::move(c));
}

void Parser::parseSchedule(ClauseList &item, const Token &word) {
  const Token &open = peek();
  if (!expect("{", " and fields, as in `schedule { block_m = 64 }`"))
    return;
  if (!peek().is("}"))
    list([&] {
      Clause c = clause(Clause::Schedule, word);
      c.name = parseName("a field of the schedule");
      if (!panicking && expect("=", " and the value"))
        c.value = parseExpr();
      if (!panicking)
        item.clauses.push_back(std::move(c));
    });
  if (!panicking)
    expect("}", "", &open);
}

/// The clauses of later work; only their end matters here.
void Parser::parseUnsupported(ClauseList &item, const Token &word) {
  Clause c = clause(Clause::Unsupported, word);
  if (word.is("grad")) {
    list([&] { parseName("a name"); });
  } else if (word.is("branch")) {
    parseName("a name");
    if (!panicking && expect("in"))
      parseExpr();
  } else { // extent
    list([&] {
      parseName("`M` or `N`");
      if (!panicking && expect("="))
        parseExpr();
    });
  }
  if (!panicking)
    item.clauses.push_back(std::move(c));
}

/// True where the clause before it ended in a clause word read as a name.
bool Parser::reportNoClause() {
  const Token &token = peek();
  StringRef near;
  static constexpr StringRef statements[] = {"grid", "store", "atomic",
                                             "var",  "for",   "if"};
  std::string hint =
      llvm::is_contained(statements, token.text)
          ? ("; `" + token.text + "` belongs to a `kernel` item").str()
      : token.kind == Token::Word ? didYouMean(token.text, clauseWords, &near)
      : token.is("=")             ? "; write `==` to compare"
      : token.is(",")             ? "; write `&&` to join conditions"
                                  : "";
  Diagnostic *d = errorExpected("a clause");
  if (!d)
    return false;
  d->text += hint;
  if (!near.empty())
    d->fix(token.range(), near);
  if (!wordAsName || at == 0 || wordAsName != &tokens[at - 1])
    return false;
  d->note(wordAsName->range(),
          "`" + wordAsName->text + "` is read as a name here, because `" +
              wordOperator->text + "` has no right operand");
  return true;
}
