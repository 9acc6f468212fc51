//===- Messages.h - tables of texts and their messages ----------*- C++ -*-===//
//
// A text and the lines that it is answered with; the excerpt below each line is
// checked once, in FileMessagesTest. Mistakes of one clause stand in line 2 of
// an item that is otherwise complete.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_TEST_UNIT_LANG_MESSAGES_H
#define TEGULA_TEST_UNIT_LANG_MESSAGES_H

#include "Analyze.h"
#include "gtest/gtest.h"

namespace tegula::lang {

struct Case {
  const char *text, *messages;
};

/// The messages without the lines that quote the text.
inline std::string headlines(const Diagnostics &diagnostics) {
  std::string all = diagnostics.str(), out;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(all).split(lines, '\n', -1, false);
  for (llvm::StringRef line : lines)
    if (line.starts_with("t.tg:") || line.starts_with("error: ") ||
        line.starts_with("note: "))
      out += line.str() + "\n";
  return out;
}

/// Each text is the clauses of an item, which is made where no message is an
/// error.
inline void expectMessages(llvm::ArrayRef<Case> cases) {
  for (const Case &c : cases) {
    Analysis a(itemWith(c.text));
    EXPECT_EQ(headlines(a.diagnostics), c.messages) << c.text;
    EXPECT_EQ(a.item != nullptr, !a.diagnostics.hasErrors()) << c.text;
  }
}

} // namespace tegula::lang

#endif
