//===- ParseKernel.cpp - tile programs ------------------------------------===//
//
// `kernel` items: the clauses of the header, then statements. A statement
// begins with its word or with `NAME =`, so nothing has to end one. Loads,
// slices and shapes are expressions that only a kernel has.
//
//===----------------------------------------------------------------------===//
#include "lang/AstKernel.h"
#include "lang/ParserImpl.h"

using namespace tegula::lang;
using namespace tegula::lang::ast;
using llvm::SMRange;
using llvm::StringRef;

static constexpr StringRef statementWords[] = {"let", "var", "store", "atomic",
                                               "for", "if",  "print", "assert"};
static constexpr StringRef headerWords[] = {"static", "require", "grid",
                                            "schedule"};

bool tegula::lang::isStatementWord(StringRef word) {
  return llvm::is_contained(statementWords, word) ||
         llvm::is_contained(headerWords, word);
}

//===----------------------------------------------------------------------===//
// The item
//===----------------------------------------------------------------------===//

void Parser::parseKernel(File &file) {
  take();
  Kernel kernel;
  Attention &header = kernel.header;
  header.name = parseName("a name for this kernel");
  if (panicking)
    return;
  inKernel = true;
  if (!peek().is("("))
    errorExpected("`(` and the tensors");
  else
    parseSignature(header);
  bool hasSignature = !panicking;
  if (!hasSignature)
    skipSignature(header);
  if (peek().is("{"))
    parseKernelBody(kernel);
  else if (hasSignature)
    errorExpected("`{` and the tile program");
  header.incomplete |= panicking;
  inKernel = false;
  file.add(std::move(kernel));
}

void Parser::parseKernelBody(Kernel &kernel) {
  const Token &open = take();
  while (llvm::is_contained(headerWords, peek().text) || peek().is(";")) {
    const Token &word = take();
    if (word.is("grid"))
      parseGrid(kernel, word);
    else if (!word.is(";"))
      parseHeaderClause(kernel.header, word);
    if (panicking) {
      kernel.header.incomplete = true;
      skipToStatement();
    }
  }
  kernel.body = parseStatements(open, kernel.header.incomplete);
}

void Parser::parseHeaderClause(Attention &header, const Token &word) {
  if (word.is("static"))
    parseStatics(header, word);
  else if (word.is("schedule"))
    parseSchedule(header, word);
  else
    parseValueClause(header, word, Clause::Require);
}

void Parser::parseGrid(Kernel &kernel, const Token &word) {
  const Token &open = peek();
  if (!kernel.gridWord.text.empty()) {
    error(word.range(), "`grid` is given twice")
        ->note(kernel.gridWord.range, "first here");
    return;
  }
  kernel.gridWord = {word.text.str(), word.range()};
  if (!expect("(", " and the axes, as in `grid (m in ceildiv(M, BM))`"))
    return;
  list([&] {
    Kernel::Axis axis;
    axis.name = parseName("a name for the index");
    if (!panicking && expect("in", " and the extent"))
      axis.extent = parseExpr();
    kernel.grid.push_back(std::move(axis));
  });
  if (!panicking)
    expect(")", "", &open);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// To the next statement of this block, or to its end.
void Parser::skipToStatement() {
  unsigned depth = 0;
  for (; peek().kind != Token::End; take()) {
    const Token &token = peek();
    const Token *before = at == 0 ? nullptr : &tokens[at - 1];
    bool isAssignment = peek(1).is("=") && before && !before->is(",") &&
                        !llvm::is_contained(statementWords, before->text);
    bool begins = token.is("}") || token.is(";") ||
                  (token.kind == Token::Word &&
                   (isStatementWord(token.text) || isAssignment ||
                    (isItemWord(token.text) && peek(1).kind == Token::Word)));
    if (depth == 0 && begins)
      break;
    if (token.is("{"))
      ++depth;
    else if (token.is("}"))
      --depth;
  }
  panicking = false;
}

/// Statements up to the bracket that closes `open`.
std::vector<Stmt> Parser::parseStatements(const Token &open, bool &incomplete) {
  std::vector<Stmt> stmts;
  if (nesting + 1 >= maxNesting) {
    errorTooDeep(open.range(), "these blocks are nested more than " +
                                   llvm::Twine(maxNesting - 1) + " deep");
    return stmts;
  }
  ++nesting;
  while (!peek().is("}")) {
    if (peek().kind == Token::End ||
        (isItemWord(peek().text) && peek(1).kind == Token::Word)) {
      if (Diagnostic *d = errorExpected("a statement or `}`"))
        d->note(open.range(), "to close this `{`");
      incomplete = true;
      --nesting;
      return stmts;
    }
    if (takeIf(";"))
      continue;
    const size_t start = at;
    Stmt stmt;
    if (parseStatement(stmt, incomplete) && !panicking)
      stmts.push_back(std::move(stmt));
    if (!panicking)
      continue;
    incomplete = true;
    if (at == start)
      take();
    skipToStatement();
  }
  take();
  --nesting;
  return stmts;
}

std::vector<Stmt> Parser::parseBlock(bool &incomplete) {
  const Token &open = peek();
  if (!expect("{", " and statements"))
    return {};
  return parseStatements(open, incomplete);
}

/// False, and an error, where no statement begins here.
bool Parser::parseStatement(Stmt &stmt, bool &incomplete) {
  const Token &word = peek();
  stmt.word = {word.text.str(), word.range()};
  bool isAssignment = word.kind == Token::Word && peek(1).is("=");
  if (isAssignment || word.is("let") || word.is("var")) {
    stmt.kind = isAssignment     ? Stmt::Assign
                : word.is("let") ? Stmt::Let
                                 : Stmt::Var;
    if (!isAssignment)
      take();
    parseBinding(stmt);
  } else if (word.is("store") || word.is("atomic")) {
    stmt.kind = word.is("store") ? Stmt::Store : Stmt::Atomic;
    take();
    parseWrite(stmt);
  } else if (word.is("for")) {
    stmt.kind = Stmt::For;
    take();
    parseFor(stmt, incomplete);
  } else if (word.is("if")) {
    stmt.kind = Stmt::If;
    take();
    parseIf(stmt, incomplete);
  } else if (word.is("print") || word.is("assert")) {
    stmt.kind = word.is("print") ? Stmt::Print : Stmt::Assert;
    take();
    parseReport(stmt);
  } else {
    return refuseStatement();
  }
  return true;
}

bool Parser::refuseStatement() {
  const Token &word = peek();
  if (word.is("while")) {
    error(word.range(), "`while` is not in the language; use `for` with `if`");
  } else if (word.is("return") || word.is("break") || word.is("continue")) {
    error(word.range(), "`" + word.text +
                            "` is not in the language; use `if`, or choose "
                            "the range of the `for`");
  } else if (llvm::is_contained(headerWords, word.text)) {
    error(word.range(), "`" + word.text + "` stands before the statements");
  } else if (isClauseWord(word.text)) {
    error(word.range(), "`" + word.text + "` belongs to an `attention` item");
  } else if (peek(1).is("[")) {
    if (Diagnostic *d = error(word.range(),
                              "expected a statement, but found a place; write "
                              "`store " +
                                  word.text + "[...] = ...`"))
      d->fix(SMRange(word.range().Start, word.range().Start), "store ");
  } else {
    StringRef near;
    std::string hint = word.kind == Token::Word
                           ? didYouMean(word.text, statementWords, &near)
                           : "";
    if (Diagnostic *d = errorExpected("a statement")) {
      d->text += hint;
      if (!near.empty())
        d->fix(word.range(), near);
    }
  }
  return false;
}

/// `NAME = value`, of let, var and assignment.
void Parser::parseBinding(Stmt &stmt) {
  stmt.name = parseName("a name");
  if (!panicking && expect("=", " and the value"))
    stmt.value = parseExpr();
}

/// `place = value [where condition]`, with `+=` for an atomic.
void Parser::parseWrite(Stmt &stmt) {
  stmt.place = parsePlace();
  bool isStore = stmt.kind == Stmt::Store;
  if (!panicking && isStore && peek().is("+=")) {
    if (Diagnostic *d =
            error(peek().range(), "`+=` is for `atomic`; a `store` replaces"))
      d->fix(stmt.word.range, "atomic");
    return;
  }
  if (!panicking && expect(isStore ? "=" : "+=", " and the value"))
    stmt.value = parseExpr();
  if (takeIf("where"))
    stmt.condition = parseExpr();
}

void Parser::parseFor(Stmt &stmt, bool &incomplete) {
  stmt.name = parseName("a name for the index");
  if (panicking || !expect("in", " and `range(...)`"))
    return;
  if (!peek().is("range") || !peek(1).is("(")) {
    errorExpected("`range(first, end, step)`");
    return;
  }
  take();
  const Token &open = take();
  stmt.args = parseExprs(")");
  if (!panicking && expect(")", "", &open))
    stmt.body = parseBlock(incomplete);
}

void Parser::parseIf(Stmt &stmt, bool &incomplete) {
  stmt.condition = parseExpr();
  if (!panicking)
    stmt.body = parseBlock(incomplete);
  if (panicking || !takeIf("else"))
    return;
  if (!peek().is("if")) {
    stmt.otherwise = parseBlock(incomplete);
    return;
  }
  if (nesting + 2 >= maxNesting) { // with the block of the next `if`
    errorTooDeep(peek().range(), "this chain of `else if` is too long");
    return;
  }
  ++nesting;
  Stmt &next = stmt.otherwise.emplace_back();
  parseStatement(next, incomplete);
  --nesting;
}

/// `print(...)` and `assert(condition, "text")`.
void Parser::parseReport(Stmt &stmt) {
  const Token &open = peek();
  if (!expect("("))
    return;
  auto text = [&] {
    StringRef quoted = take().text;
    quoted.consume_front("\"");
    quoted.consume_back("\"");
    return quoted.str();
  };
  if (stmt.kind == Stmt::Assert) {
    stmt.condition = parseExpr();
    if (takeIf(",")) {
      if (peek().kind == Token::String)
        stmt.text = text();
      else
        errorExpected("a text in quotes");
    }
  } else if (!peek().is(")")) {
    list([&] {
      if (peek().kind != Token::String) {
        stmt.args.push_back(parseExpr());
        return;
      }
      SMRange range = peek().range();
      stmt.args.push_back(ast::text(text(), range));
    });
  }
  if (!panicking)
    expect(")", "", &open);
}

//===----------------------------------------------------------------------===//
// Expressions that only a kernel has
//===----------------------------------------------------------------------===//

/// `NAME[indices]`, of a load, a store or an atomic.
ExprPtr Parser::parsePlace() {
  const Token &word = peek();
  if (word.kind != Token::Word || !peek(1).is("[")) {
    errorExpected("a place, as in `x[i, 0 :+ 128]`");
    return std::make_unique<Expr>();
  }
  take();
  return parseIndexed(word);
}

/// An index, a slice `base :+ length [< end]`, or all of an axis, `:`.
ExprPtr Parser::parseIndex() {
  const Token &first = peek();
  if (takeIf(":"))
    return ast::slice({}, first.range());
  ExprPtr base = parseExpr();
  if (panicking || !peek().is(":+"))
    return base;
  take();
  SMRange start = base->range;
  std::vector<ExprPtr> parts;
  parts.push_back(std::move(base));
  parts.push_back(parseBinary(binaryPrecedence(Op::Add)));
  if (takeIf("<"))
    parts.push_back(parseBinary(binaryPrecedence(Op::Add)));
  return panicking ? std::make_unique<Expr>()
                   : ast::slice(std::move(parts), rangeFrom(start));
}

/// From after `load` on: a place, `where` which lanes, `fill` for the others.
ExprPtr Parser::parseLoad(const Token &word) {
  std::vector<ExprPtr> parts;
  parts.push_back(parsePlace());
  ExprPtr where;
  const Token &condition = peek();
  if (takeIf("where"))
    where = parseExpr();
  if (takeIf("fill")) {
    parts.push_back(parseUnary());
  } else if (where && !panicking) {
    error(condition.range(), "`where` after a load belongs to the load and "
                             "needs `fill`, the value of the other lanes");
  }
  if (where)
    parts.push_back(std::move(where));
  return panicking ? std::make_unique<Expr>()
                   : ast::load(std::move(parts), word.range(),
                               rangeFrom(word.range()));
}
