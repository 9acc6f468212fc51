//===- ParserImpl.h - the state shared by the parser's parts ----*- C++ -*-===//
//
// Private to Parser.cpp (items), ParseFn.cpp, ParseKernel.cpp, ParseClauses.cpp
// and ParseExpr.cpp.
//
// Error handling: `error` reports and sets `panicking`; until a clause or item
// has resynchronised, further errors are silent and every loop ends.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_PARSERIMPL_H
#define TEGULA_LANG_PARSERIMPL_H

#include "lang/AstKernel.h"
#include "lang/Lexer.h"
#include "lang/Parser.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tegula::lang {

class Parser {
public:
  Parser(unsigned bufferId, Diagnostics &diagnostics)
      : diagnostics(diagnostics), tokens(lex(bufferId, diagnostics)) {}

  ast::File parseFile();

private:
  // Tokens.
  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(at + ahead, tokens.size() - 1)];
  }
  const Token &take() {
    const Token &token = peek();
    if (at + 1 < tokens.size())
      ++at;
    return token;
  }
  bool takeIf(llvm::StringRef spelling);
  /// Takes `spelling` or reports what stands there instead; `opening` is the
  /// bracket that it closes, if it does.
  bool expect(llvm::StringRef spelling, llvm::StringRef purpose = "",
              const Token *opening = nullptr);
  llvm::SMRange rangeFrom(llvm::SMRange start) const;
  Diagnostic *error(llvm::SMRange range, const llvm::Twine &text);
  /// Ends the file's messages.
  void errorTooDeep(llvm::SMRange range, const llvm::Twine &text);
  Diagnostic *errorExpected(const llvm::Twine &what);
  /// How a message quotes the next token.
  static std::string quote(const Token &token);

  // Items (Parser.cpp).
  void parseItem(ast::File &file);
  void parseAttention(ast::File &file);
  void parseGroup(ast::File &file);
  void parseImport(ast::File &file);
  void parseSignature(ast::Attention &item);
  void skipSignature(ast::Attention &item);
  std::vector<ast::Tensor> parseTensors();
  ast::Tensor parseTensor();
  void parseType(ast::Tensor &tensor);
  void parseGroupNames(ast::Attention &item);
  void skipToClause();
  void skipToItem();
  bool skipBalanced();
  ast::Name parseName(llvm::StringRef what);
  void list(llvm::function_ref<void()> element);
  std::vector<ast::ExprPtr> parseExprs(llvm::StringRef close);

  // Functions (ParseFn.cpp).
  void parseFn(ast::File &file);
  void parseParameters(ast::Fn &fn);
  void parseBody(ast::Fn &fn);

  // Tile programs (ParseKernel.cpp).
  void parseKernel(ast::File &file);
  void parseKernelBody(ast::Kernel &kernel);
  void parseHeaderClause(ast::Attention &header, const Token &word);
  void parseGrid(ast::Kernel &kernel, const Token &word);
  std::vector<ast::Stmt> parseStatements(const Token &open, bool &incomplete);
  std::vector<ast::Stmt> parseBlock(bool &incomplete);
  bool parseStatement(ast::Stmt &stmt, bool &incomplete);
  bool refuseStatement();
  void parseBinding(ast::Stmt &stmt);
  void parseWrite(ast::Stmt &stmt);
  void parseFor(ast::Stmt &stmt, bool &incomplete);
  void parseIf(ast::Stmt &stmt, bool &incomplete);
  void parseReport(ast::Stmt &stmt);
  ast::ExprPtr parsePlace();
  ast::ExprPtr parseIndex();
  ast::ExprPtr parseLoad(const Token &word);
  void skipToStatement();

  // Clauses (ParseClauses.cpp).
  void parseClauses(ast::ClauseList &item);
  void parseClause(ast::ClauseList &item);
  void parseStatics(ast::ClauseList &item, const Token &word);
  void parseParams(ast::ClauseList &item, const Token &word);
  void parseLet(ast::ClauseList &item, const Token &word);
  void parseEmit(ast::ClauseList &item, const Token &word);
  void parseOutputs(ast::ClauseList &item, const Token &word);
  void parseSchedule(ast::ClauseList &item, const Token &word);
  void parseValueClause(ast::ClauseList &item, const Token &word,
                        ast::Clause::Kind kind);
  void parseReduce(ast::ClauseList &item, const Token &word);
  void parseUnsupported(ast::ClauseList &item, const Token &word);
  bool reportNoClause();

  // Expressions (ParseExpr.cpp).
  ast::ExprPtr parseExpr();
  ast::ExprPtr parseBinary(int precedence);
  ast::ExprPtr parseUnary();
  ast::ExprPtr parsePrimary();
  ast::ExprPtr parseNumber();
  ast::ExprPtr parseNamed();
  ast::ExprPtr parseIndexed(const Token &word);
  ast::ExprPtr parseCall(const Token &callee);
  ast::ExprPtr parseBounded(const Token &reduction, const Token &open);
  ast::ExprPtr parseChain(ast::ExprPtr left);
  std::optional<Op> peekBinary();
  bool startsOperand(const Token &token) const;
  ast::ExprPtr makeOperator(Op op, std::vector<ast::ExprPtr> args,
                            llvm::SMRange opRange);

  Diagnostics &diagnostics;
  std::vector<Token> tokens;
  size_t at = 0;
  bool panicking = false;
  bool isTooDeep = false; ///< so that what follows means little
  bool inKernel = false;
  unsigned nesting = 0;
  /// The last clause word that was read as a name right after an operator.
  const Token *wordAsName = nullptr;
  const Token *wordOperator = nullptr;
};

/// True for a word that begins a clause of an attention item.
bool isClauseWord(llvm::StringRef word);
/// True for a word that begins a statement or a header clause of a kernel.
bool isStatementWord(llvm::StringRef word);
/// True for a word that begins an item.
bool isItemWord(llvm::StringRef word);

} // namespace tegula::lang

#endif
