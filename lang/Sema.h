//===- Sema.h - the meaning of an attention item ----------------*- C++ -*-===//
//
// AST in, resolved item out: flattens `with`, evaluates statics, resolves names
// and dims, types expressions, folds constants, and reports every mistake.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_SEMA_H
#define TEGULA_LANG_SEMA_H

#include "lang/Ast.h"
#include "lang/Diagnostics.h"
#include "lang/Item.h"
#include <memory>

namespace tegula::lang {

/// One `-D NAME=VALUE`.
struct Define {
  std::string name, value;
};

/// Analyses the item `itemName` of `file`; an empty name means the only one.
/// Gives null, and an error in `diagnostics`, where anything is wrong with the
/// file, the item or the defines.
std::unique_ptr<Item> analyze(const ast::File &file, llvm::StringRef itemName,
                              llvm::ArrayRef<Define> defines,
                              Diagnostics &diagnostics);

/// True for a function or a cast of the language, in any item; a `fn` cannot
/// be called that.
bool isBuiltinFunction(llvm::StringRef name);

/// Names of the items that a user can choose from, in text order;
/// those of imports only by name.
std::vector<std::string> itemNames(const ast::File &file);

} // namespace tegula::lang

#endif
