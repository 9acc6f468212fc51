//===- Parser.h - tokens to the AST -----------------------------*- C++ -*-===//
//
// Recursive descent over LANGUAGE's grammar. Errors are reported and parsing
// goes on at the next clause or item, so one run finds several. Clauses of
// later work (`extent`, `branch`, ...) are parsed as far as their end needs;
// Sema refuses them where they are used.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_PARSER_H
#define TEGULA_LANG_PARSER_H

#include "lang/Ast.h"
#include "lang/Diagnostics.h"

namespace tegula::lang {

/// Parses buffer `bufferId` of the diagnostics' source manager. Always gives a
/// file; where something is wrong, `diagnostics` has errors and the file lacks
/// what could not be understood. Imports are listed, not read.
ast::File parse(unsigned bufferId, Diagnostics &diagnostics);

/// Adds `text` to the source manager under `fileName` and parses it, and every
/// file that it imports: a path there is relative to the importing file.
ast::File parseText(llvm::StringRef text, llvm::StringRef fileName,
                    Diagnostics &diagnostics);

/// Names and texts of the files that `text` imports, as one string: what a
/// cache needs beside the text itself.
std::string importedText(llvm::StringRef text, llvm::StringRef fileName);

/// Nesting of brackets, unary operators and `?:` beyond this is refused, and so
/// are chains of binary operators beyond `maxExprDepth`: every walker of a tree
/// may recurse.
constexpr unsigned maxNesting = 200;
constexpr unsigned maxExprDepth = 500;

} // namespace tegula::lang

#endif
