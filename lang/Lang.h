//===- Lang.h - the language front end --------------------------*- C++ -*-===//
//
// Everything a driver needs:
//
//   llvm::SourceMgr sources;
//   lang::Diagnostics diagnostics(sources);
//   lang::ast::File file = lang::parseText(text, "causal.tg", diagnostics);
//   std::unique_ptr<lang::Item> item =
//       lang::analyze(file, /*itemName=*/"", {{"D", "64"}}, diagnostics);
//   diagnostics.print(llvm::errs());      // warnings, or why `item` is null
//
// EmitTile.h takes the item to the tile dialect.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_LANG_H
#define TEGULA_LANG_LANG_H

#include "lang/Ast.h"
#include "lang/Diagnostics.h"
#include "lang/Item.h"
#include "lang/Parser.h"
#include "lang/Sema.h"

#endif
