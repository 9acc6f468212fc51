//===- Analyze.h - text to item, for the tests of lang ----------*- C++ -*-===//
//
// Runs the front end over a text and keeps what it made and what it said.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_TEST_UNIT_LANG_ANALYZE_H
#define TEGULA_TEST_UNIT_LANG_ANALYZE_H

#include "lang/Lang.h"

namespace tegula::lang {

struct Analysis {
  Analysis(llvm::StringRef text, llvm::StringRef name = "",
           std::vector<Define> defines = {})
      : diagnostics(sources), file(parseText(text, "t.tg", diagnostics)),
        item(analyze(file, name, defines, diagnostics)) {}

  std::string messages() const { return diagnostics.str(); }

  llvm::SourceMgr sources;
  Diagnostics diagnostics;
  ast::File file;
  std::unique_ptr<Item> item;
};

/// A complete item; `clauses` begin in column 3 of its line 2.
inline std::string
itemWith(llvm::StringRef clauses,
         llvm::StringRef statics = "static D = 64, E = 64, T = bf16") {
  return ("attention a(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: "
          "T[B,H,M,E], lse: f32[B,H,M]) { " +
          statics + "\n  " + clauses + "\n}\n")
      .str();
}

} // namespace tegula::lang

#endif
