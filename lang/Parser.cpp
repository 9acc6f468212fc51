//===- Parser.cpp - items, signatures, recovery ---------------------------===//
//
// The file down to an item's braces, and where parsing goes on after an error.
//
//===----------------------------------------------------------------------===//
#include "lang/ParserImpl.h"

using namespace tegula::lang;
using namespace tegula::lang::ast;
using llvm::SMRange;
using llvm::StringRef;

static constexpr StringRef itemWords[] = {
    "attention", "kernel", "fn", "clauses", "import", "reducer", "plan"};

bool tegula::lang::isItemWord(StringRef word) {
  return llvm::is_contained(itemWords, word);
}

ast::File tegula::lang::parse(unsigned bufferId, Diagnostics &diagnostics) {
  return Parser(bufferId, diagnostics).parseFile();
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
  if (std::exchange(panicking, true) || isTooDeep)
    return nullptr;
  return &diagnostics.error(range, text);
}

void Parser::errorTooDeep(SMRange range, const llvm::Twine &text) {
  error(range, text);
  isTooDeep = true;
}

Diagnostic *Parser::errorExpected(const llvm::Twine &what) {
  if (peek().kind == Token::Unknown) { // has had its message
    panicking = true;
    return nullptr;
  }
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
    // Braces close the item, not what is open in it.
    if (token.kind == Token::End || token.is("{") || token.is("}")) {
      if (Diagnostic *d =
              errorExpected("a bracket that closes `" + opening.text + "`"))
        d->note(opening.range(), "opened here");
      return false;
    }
    take();
    if (token.is("(") || token.is("["))
      ++depth;
    else if (token.is(")") || token.is("]"))
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
  if (word.is("fn"))
    return parseFn(file);
  if (word.is("clauses"))
    return parseGroup(file);
  if (word.is("import"))
    return parseImport(file);
  if (word.is("kernel"))
    return parseKernel(file);
  if (word.is("reducer") || word.is("plan")) {
    error(word.range(), "`" + word.text + "` is reserved for later work");
  } else {
    StringRef near;
    std::string hint =
        word.kind == Token::Word
            ? didYouMean(word.text, {"attention", "kernel", "clauses"}, &near)
            : "";
    if (Diagnostic *d = errorExpected("an item such as `attention`")) {
      d->text += hint;
      if (!near.empty())
        d->fix(word.range(), near);
    }
  }
  take();
}

void Parser::parseGroup(ast::File &file) {
  take();
  Group group;
  group.name = parseName("a name for this group of clauses");
  if (panicking)
    return;
  if (peek().is("{"))
    parseClauses(group);
  else
    errorExpected("`{` and the clauses");
  group.incomplete |= panicking;
  file.add(std::move(group));
}

void Parser::parseImport(ast::File &file) {
  take();
  const Token &path = peek();
  if (path.kind != Token::String) {
    errorExpected("a file name in quotes, as in `import \"lib.tg\"`");
    return;
  }
  take();
  StringRef text = path.text;
  text.consume_front("\"");
  if (!text.consume_back("\"")) // has had its message
    return;
  file.imports.push_back({text.str(), path.range()});
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
      parseGroupNames(item);
  } else if (peek().is("(")) {
    parseSignature(item);
    if (panicking)
      skipSignature(item);
    if (!peek().is("{"))
      errorExpected("`{` and the item's clauses");
  } else {
    errorExpected("`(` and the tensors, or `= BASE with`");
  }
  item.incomplete |= panicking;
  if (!panicking && peek().is("{"))
    parseClauses(item);
  file.add(std::move(item));
}

void Parser::parseGroupNames(Attention &item) {
  if (!peek().is("{"))
    list([&] {
      ast::Name group = parseName("`{`, or the name of a `clauses` group");
      if (!panicking)
        item.groups.push_back(std::move(group));
    });
}

/// After an error in it: the clauses can be read all the same.
void Parser::skipSignature(Attention &item) {
  item.incomplete = true;
  while (peek().kind != Token::End && !peek().is("{") &&
         !isItemWord(peek().text))
    take();
  panicking = false;
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

/// `f32`, or `f32[B,H]`.
void Parser::parseType(Tensor &tensor) {
  tensor.elem = parseName("an element type");
  const Token &open = peek();
  if (!takeIf("["))
    return;
  tensor.isTensor = true;
  tensor.extents = parseExprs("]");
  if (!panicking)
    expect("]", "", &open);
}

Tensor Parser::parseTensor() {
  Tensor tensor;
  tensor.name = parseName("the name of a tensor or scalar");
  if (!panicking)
    expect(":", " and a type, as in `x: f32[H]`");
  tensor.inout = takeIf("inout");
  if (!panicking)
    parseType(tensor);
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
