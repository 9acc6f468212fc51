//===- ParseClauses.cpp - the clauses of an attention item ----------------===//
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

void Parser::parseClauses(Attention &item) {
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

void Parser::parseClause(Attention &item) {
  const Token &word = peek();
  if (word.kind != Token::Word || !isClauseWord(word.text)) {
    if (reportNoClause() && !item.clauses.empty()) {
      // Its last name is no name: the clause has no value.
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
  auto kind = llvm::StringSwitch<Clause::Kind>(word.text)
                  .Case("require", Clause::Require)
                  .Case("scale", Clause::Scale)
                  .Case("score", Clause::Score)
                  .Case("mask", Clause::Mask)
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

void Parser::parseStatics(Attention &item, const Token &word) {
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

void Parser::parseParams(Attention &item, const Token &word) {
  list([&] {
    Clause c = clause(Clause::Param, word);
    c.tensor = parseTensor();
    c.name = c.tensor.name;
    if (!panicking)
      item.clauses.push_back(std::move(c));
  });
  item.incomplete |= panicking;
}

void Parser::parseLet(Attention &item, const Token &word) {
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

void Parser::parseValueClause(Attention &item, const Token &word,
                              Clause::Kind kind) {
  Clause c = clause(kind, word);
  c.value = parseExpr();
  if (!panicking)
    item.clauses.push_back(std::move(c));
}

void Parser::parseReduce(Attention &item, const Token &word) {
  Clause c = clause(Clause::Reduce, word);
  c.name = parseName("the name of a reduction");
  const Token &open = peek();
  if (!panicking && expect("(")) {
    while (!panicking && !peek().is(")")) {
      if (peek().kind == Token::Word && peek(1).is("="))
        take(), take();
      c.args.push_back(parseExpr());
      if (!takeIf(","))
        break;
    }
    if (!panicking)
      expect(")", "", &open);
  }
  if (!panicking)
    item.clauses.push_back(std::move(c));
}

/// The clauses of later work; only their end matters here.
void Parser::parseUnsupported(Attention &item, const Token &word) {
  Clause c = clause(Clause::Unsupported, word);
  parseUnsupportedTail(word.text);
  if (!panicking)
    item.clauses.push_back(std::move(c));
}

void Parser::parseUnsupportedTail(StringRef word) {
  if (word == "weight") {
    parseExpr();
  } else if (word == "outputs" || word == "grad") {
    list([&] { parseName("a name"); });
  } else if (word == "schedule") {
    if (peek().is("{"))
      skipBalanced();
    else
      errorExpected("`{`");
  } else if (word == "branch") {
    parseName("a name");
    if (!panicking && expect("in"))
      parseExpr();
  } else if (word == "extent") {
    list([&] {
      parseName("`M` or `N`");
      if (!panicking && expect("="))
        parseExpr();
    });
  } else { // emit
    parseName("an output");
    if (!panicking && peek().is("["))
      skipBalanced();
    if (takeIf(":")) {
      parseName("an element type");
      if (!panicking && peek().is("["))
        skipBalanced();
    }
    if (!panicking && expect("="))
      parseExpr();
  }
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
