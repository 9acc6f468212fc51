//===- Lexer.h - source text to tokens --------------------------*- C++ -*-===//
//
// Splits a buffer into tokens. Clause words are contextual in this language, so
// every word is an identifier here; newlines never matter; `#` starts a
// comment.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_LEXER_H
#define TEGULA_LANG_LEXER_H

#include "lang/Diagnostics.h"
#include <vector>

namespace tegula::lang {

struct Token {
  enum Kind {
    End,
    Word,
    Integer,
    Float,
    String,
    Punctuation, ///< told apart by its text
    Unknown      ///< bytes that are no token, and have been reported
  };
  Kind kind;
  llvm::StringRef text;

  bool is(llvm::StringRef spelling) const {
    return (kind == Word || kind == Punctuation) && text == spelling;
  }
  llvm::SMRange range() const {
    return {llvm::SMLoc::getFromPointer(text.begin()),
            llvm::SMLoc::getFromPointer(text.end())};
  }
};

/// All tokens of buffer `bufferId`, closed by an End token.
std::vector<Token> lex(unsigned bufferId, Diagnostics &diagnostics);

} // namespace tegula::lang

#endif
