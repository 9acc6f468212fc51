//===- Parser.cpp - items and clauses -------------------------------------===//
//
// Items, signatures and clauses. An item's clause words are contextual: a word
// is looked at as a clause word only where a clause can begin.
//
//===----------------------------------------------------------------------===//
#include "lang/ParserImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tegula::lang;
using namespace tegula::lang::ast;
using llvm::SMRange;
using llvm::StringRef;

static constexpr StringRef clauseWords[] = {
    "static",  "param",    "require", "let",    "scale",
    "score",   "mask",     "reduce",  "weight", "emit",
    "outputs", "schedule", "grad",    "extent", "branch"};
static constexpr StringRef itemWords[] = {
    "attention", "kernel", "fn", "clauses", "import", "reducer", "plan"};

bool tegula::lang::isClauseWord(StringRef word) {
  return llvm::is_contained(clauseWords, word);
}

static bool isItemWord(StringRef word) {
  return llvm::is_contained(itemWords, word);
}

ast::File tegula::lang::parse(unsigned bufferId, Diagnostics &diagnostics) {
  return Parser(bufferId, diagnostics).parseFile();
}

ast::File tegula::lang::parseText(StringRef text, StringRef fileName,
                                  Diagnostics &diagnostics) {
  unsigned id = diagnostics.sourceMgr().AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, fileName), llvm::SMLoc());
  ast::File file = parse(id, diagnostics);
  file.fileName = fileName.str();
  return file;
}

//===----------------------------------------------------------------------===//
// Tokens and errors
//===----------------------------------------------------------------------===//

bool Parser::takeIf(StringRef spelling) {
  if (panicking || !peek().is(spelling))
    return false;
  take();
  return true;
}

std::string Parser::quote(const Token &token) {
  if (token.kind == Token::End)
    return "the end of the file";
  StringRef text = token.text;
  return ("`" + text.take_front(40) + (text.size() > 40 ? "...`" : "`")).str();
}

Diagnostic *Parser::error(SMRange range, const llvm::Twine &text) {
  if (panicking)
    return nullptr;
  panicking = true;
  return &diagnostics.error(range, text);
}

Diagnostic *Parser::errorExpected(const llvm::Twine &what) {
  return error(peek().range(),
               "expected " + what + ", but found " + quote(peek()));
}

bool Parser::expect(StringRef spelling, StringRef purpose,
                    const Token *opening) {
  if (takeIf(spelling))
    return true;
  if (Diagnostic *d = errorExpected("`" + spelling + "`" + purpose))
    if (opening)
      d->note(opening->range(), "to close this `" + opening->text + "`");
  return false;
}

SMRange Parser::rangeFrom(SMRange start) const {
  return {start.Start, at == 0 ? start.End : tokens[at - 1].range().End};
}

ast::Name Parser::parseName(StringRef what) {
  if (panicking || peek().kind != Token::Word) {
    errorExpected(what);
    return {};
  }
  const Token &token = take();
  return {token.text.str(), token.range()};
}

void Parser::list(llvm::function_ref<void()> element) {
  do
    element();
  while (takeIf(","));
}

std::vector<ExprPtr> Parser::parseExprs(StringRef close) {
  std::vector<ExprPtr> exprs;
  if (!peek().is(close))
    list([&] { exprs.push_back(parseExpr()); });
  return exprs;
}

/// Skips from an opening bracket past the one that closes it.
bool Parser::skipBalanced() {
  const Token &opening = peek();
  unsigned depth = 0;
  do {
    const Token &token = peek();
    if (token.kind == Token::End) {
      error(token.range(), "expected a bracket that closes `" + opening.text +
                               "`, but found the end of the file")
          ->note(opening.range(), "opened here");
      return false;
    }
    take();
    if (token.is("(") || token.is("[") || token.is("{"))
      ++depth;
    else if (token.is(")") || token.is("]") || token.is("}"))
      --depth;
  } while (depth != 0);
  return true;
}

void Parser::skipToClause() {
  unsigned depth = 0;
  for (; peek().kind != Token::End; take()) {
    const Token &token = peek();
    if (depth == 0 &&
        (token.is("}") || token.is(";") ||
         (token.kind == Token::Word &&
          (isClauseWord(token.text) ||
           (isItemWord(token.text) && peek(1).kind == Token::Word)))))
      break;
    if (token.is("{"))
      ++depth;
    else if (token.is("}"))
      --depth;
  }
  panicking = false;
}

/// To the next item's word, or past the braces of the item that failed.
void Parser::skipToItem() {
  unsigned depth = 0;
  for (; peek().kind != Token::End; take()) {
    const Token &token = peek();
    if (token.kind == Token::Word && isItemWord(token.text) &&
        (depth == 0 || peek(1).kind == Token::Word))
      break;
    if (token.is("{"))
      ++depth;
    else if (token.is("}") && depth != 0 && --depth == 0) {
      take();
      break;
    }
  }
  panicking = false;
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

ast::File Parser::parseFile() {
  ast::File file;
  while (peek().kind != Token::End) {
    if (takeIf(";"))
      continue;
    parseItem(file);
    if (panicking)
      skipToItem();
  }
  return file;
}

void Parser::parseItem(ast::File &file) {
  const Token &word = peek();
  if (word.is("attention"))
    return parseAttention(file);
  if (word.is("fn") || word.is("clauses") || word.is("kernel"))
    return parseOther(file);
  if (word.is("import")) {
    error(word.range(), "`import` is not supported yet");
  } else if (word.is("reducer") || word.is("plan")) {
    error(word.range(), "`" + word.text + "` is reserved for later work");
  } else {
    StringRef near;
    std::string hint =
        word.kind == Token::Word
            ? didYouMean(word.text, {"attention", "kernel", "clauses"}, &near)
            : "";
    Diagnostic *d = errorExpected("an item such as `attention`");
    d->text += hint;
    if (!near.empty())
      d->fix(word.range(), near);
  }
  take();
}

/// Parses over `fn`, `clauses` and `kernel`, which are later work; Sema says so
/// where one is used.
void Parser::parseOther(ast::File &file) {
  const Token &word = take();
  OtherItem item{{word.text.str(), word.range()},
                 parseName(("a name for this " + word.text).str())};
  if (panicking)
    return;
  if (peek().is("("))
    skipBalanced();
  if (takeIf("->") && peek().is("("))
    skipBalanced();
  if (word.is("fn") && takeIf("="))
    parseExpr();
  else if (!panicking && peek().is("{"))
    skipBalanced();
  else if (!panicking)
    errorExpected("`{`");
  if (!panicking)
    file.others.push_back(std::move(item));
}

void Parser::parseAttention(ast::File &file) {
  take();
  Attention item;
  item.name = parseName("a name for this item");
  if (panicking)
    return;
  if (takeIf("=")) {
    item.base = parseName("the name of the item to derive from");
    if (!panicking && expect("with"))
      parseGroups(item);
  } else if (peek().is("(")) {
    parseSignature(item);
    if (panicking) { // The clauses can be read all the same.
      item.incomplete = true;
      while (peek().kind != Token::End && !peek().is("{") &&
             !isItemWord(peek().text))
        take();
      panicking = false;
    }
    if (!peek().is("{"))
      errorExpected("`{` and the item's clauses");
  } else {
    errorExpected("`(` and the tensors, or `= BASE with`");
  }
  item.incomplete |= panicking;
  if (!panicking && peek().is("{"))
    parseClauses(item);
  file.items.push_back(std::move(item));
}

void Parser::parseGroups(Attention &item) {
  if (!peek().is("{"))
    list([&] {
      ast::Name group = parseName("`{`, or the name of a `clauses` group");
      if (!panicking)
        item.groups.push_back(std::move(group));
    });
}

void Parser::parseSignature(Attention &item) {
  const Token &open = take();
  if (!peek().is(")"))
    item.inputs = parseTensors();
  if (!panicking && !expect(")", "", &open))
    return;
  if (!takeIf("->"))
    return;
  const Token &openOutputs = peek();
  if (!expect("(", " and the outputs"))
    return;
  if (!peek().is(")"))
    item.outputs = parseTensors();
  if (!panicking)
    expect(")", "", &openOutputs);
}

std::vector<Tensor> Parser::parseTensors() {
  std::vector<Tensor> tensors;
  list([&] {
    Tensor tensor = parseTensor();
    if (!panicking)
      tensors.push_back(std::move(tensor));
  });
  return tensors;
}

Tensor Parser::parseTensor() {
  Tensor tensor;
  tensor.name = parseName("the name of a tensor or scalar");
  if (!panicking)
    expect(":", " and a type, as in `x: f32[H]`");
  tensor.inout = takeIf("inout");
  if (panicking)
    return tensor;
  tensor.elem = parseName("an element type");
  const Token &open = peek();
  if (takeIf("[")) {
    tensor.isTensor = true;
    tensor.extents = parseExprs("]");
    if (!panicking)
      expect("]", "", &open);
  }
  while (!panicking) {
    if (takeIf("sorted")) {
      tensor.sorted = true;
    } else if (takeIf("in")) {
      tensor.low = parseExpr();
      if (!panicking && expect("..", " and the upper end of the range"))
        tensor.high = parseExpr();
    } else {
      break;
    }
  }
  return tensor;
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

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
