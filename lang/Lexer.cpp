//===- Lexer.cpp - source text to tokens ----------------------------------===//
//
// Hand-written, over the bytes of one buffer. A buffer may hold any bytes.
//
//===----------------------------------------------------------------------===//
#include "lang/Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tegula::lang;
using llvm::StringRef;

namespace {

class Lexer {
public:
  Lexer(StringRef text, Diagnostics &diagnostics)
      : rest(text), diagnostics(diagnostics) {
    rest.consume_front("\xEF\xBB\xBF");
  }

  std::vector<Token> run() {
    if (rest.starts_with("\xFF\xFE") || rest.starts_with("\xFE\xFF")) {
      diagnostics.error(Token{Token::Unknown, rest.take_front(2)}.range(),
                        "this file is UTF-16; save it as UTF-8");
      rest = rest.take_back(0);
    }
    while (skipBlanks(), !rest.empty())
      next();
    tokens.push_back({Token::End, rest});
    return std::move(tokens);
  }

private:
  void skipBlanks() {
    for (;;) {
      rest = rest.ltrim(" \t\r\n\f\v");
      if (!rest.starts_with("#"))
        return;
      rest = rest.drop_front(std::min(rest.find('\n'), rest.size()));
    }
  }

  void take(Token::Kind kind, size_t length) {
    tokens.push_back({kind, rest.take_front(length)});
    rest = rest.drop_front(length);
  }

  void next() {
    char c = rest.front();
    if (llvm::isAlpha(c) || c == '_')
      return take(Token::Word, wordLength(rest));
    if (llvm::isDigit(c) ||
        (c == '.' && rest.size() > 1 && llvm::isDigit(rest[1])))
      return number();
    if (c == '"')
      return string();
    static constexpr llvm::StringLiteral punctuation[] = {
        "->", "..", ":+", "+=", "==", "!=", "<=", ">=", "&&", "||",
        "<<", ">>", "//", "**", "(",  ")",  "[",  "]",  "{",  "}",
        ",",  ":",  ";",  "=",  "+",  "-",  "*",  "/",  "%",  "<",
        ">",  "!",  "~",  "&",  "|",  "^",  "?"};
    for (StringRef p : punctuation)
      if (rest.starts_with(p))
        return take(Token::Punctuation, p.size());
    unknown();
  }

  static size_t wordLength(StringRef text) {
    return std::min(
        text.find_if_not([](char c) { return llvm::isAlnum(c) || c == '_'; }),
        text.size());
  }

  static size_t digits(StringRef text, size_t at) {
    while (at < text.size() && llvm::isDigit(text[at]))
      ++at;
    return at;
  }

  void number() {
    size_t n;
    bool isFloat = false;
    if (rest.starts_with("0x")) {
      n = 2;
      while (n < rest.size() && llvm::isHexDigit(rest[n]))
        ++n;
    } else {
      n = digits(rest, 0);
      // `0..N` is a range, `1.` and `1.5` are numbers.
      if (n < rest.size() && rest[n] == '.' &&
          !rest.drop_front(n).starts_with("..")) {
        isFloat = true;
        n = digits(rest, n + 1);
      }
      if (n < rest.size() && (rest[n] == 'e' || rest[n] == 'E')) {
        size_t sign = n + 1;
        if (sign < rest.size() && (rest[sign] == '+' || rest[sign] == '-'))
          ++sign;
        size_t end = digits(rest, sign);
        if (end > sign) {
          isFloat = true;
          n = end;
        }
      }
    }
    size_t tail = wordLength(rest.drop_front(n));
    if (tail != 0 || rest.take_front(n) == "0x") {
      StringRef bad = rest.take_front(n + tail);
      diagnostics.error(Token{Token::Integer, bad}.range(),
                        "`" + bad + "` is no number");
      // Goes on as a number, so that the parser has nothing to add.
      return take(Token::Float, bad.size());
    }
    take(isFloat ? Token::Float : Token::Integer, n);
  }

  void string() {
    size_t end = rest.find_first_of("\"\n", 1);
    if (end == StringRef::npos || rest[end] == '\n') {
      StringRef bad = rest.take_front(std::min(end, rest.size()));
      diagnostics.error(Token{Token::String, bad}.range(),
                        "expected `\"` at the end of this text");
      return take(Token::String, bad.size());
    }
    take(Token::String, end + 1);
  }

  void unknown() {
    size_t n = 1;
    // One message for a run of bytes that no token begins with.
    while (n < rest.size() && (static_cast<unsigned char>(rest[n]) >= 0x80 ||
                               static_cast<unsigned char>(rest[n]) < 9))
      ++n;
    StringRef bad = rest.take_front(n);
    bool printable = llvm::all_of(
        bad, [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
    if (reported.insert(bad).second) {
      StringRef meant = replacement(bad);
      std::string text = printable && n <= 16
                             ? ("`" + bad + "` is not in the language").str()
                             : "these bytes are not in the language";
      if (!meant.empty())
        text += ("; write `" + meant + "`").str();
      Diagnostic &d =
          diagnostics.error(Token{Token::Unknown, bad}.range(), text);
      if (!meant.empty())
        d.fix(Token{Token::Unknown, bad}.range(), meant);
    }
    take(Token::Unknown, n);
  }

  /// What is written for a character of mathematics or of a text program.
  static StringRef replacement(StringRef bytes) {
    return llvm::StringSwitch<StringRef>(bytes)
        .Case("\u2264", "<=")
        .Case("\u2265", ">=")
        .Case("\u2260", "!=")
        .Case("\u00d7", "*")
        .Cases({"\u2212", "\u2013", "\u2014"}, "-")
        .Cases({"\u201c", "\u201d", "'"}, "\"")
        .Default("");
  }

  StringRef rest;
  Diagnostics &diagnostics;
  std::vector<Token> tokens;
  llvm::StringSet<> reported; ///< each spelling once
};

} // namespace

std::vector<Token> tegula::lang::lex(unsigned bufferId,
                                     Diagnostics &diagnostics) {
  StringRef text =
      diagnostics.sourceMgr().getMemoryBuffer(bufferId)->getBuffer();
  return Lexer(text, diagnostics).run();
}
