//===- EmitTile.h - a resolved item to the tile dialect ---------*- C++ -*-===//
//
// Item in; out comes a module with one `tile.kernel` that holds a
// `tile.attention`, whose regions are the scalar code of the item's scale,
// scores and masks. Nothing after this sees the surface syntax.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_EMITTILE_H
#define TEGULA_LANG_EMITTILE_H

#include "lang/Item.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace tegula::lang {

/// Emits `item`. Locations are ranges of the text in `sources`, or unknown for
/// a program that has no text. Loads the dialects that it needs.
///
/// The kernel's arguments are the inputs, the parameters and the outputs in the
/// order of the C signature, then the run-time dims in order of first
/// appearance. Beside the attributes that TileOps.td names, a tensor may carry
/// `tile.sorted`, and `tile.range` (two prefix expressions). Every output may
/// be null at launch.
mlir::OwningOpRef<mlir::ModuleOp> emitTile(const Item &item,
                                           const llvm::SourceMgr &sources,
                                           mlir::MLIRContext &context);

} // namespace tegula::lang

#endif
