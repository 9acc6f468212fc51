//===- EmitSignature.h - an item's arguments to a tile.kernel ---*- C++ -*-===//
//
// What every item has, whatever its body: a `tile.kernel` whose arguments carry
// their names, extents and roles, and the `require`s that hold at launch.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_EMITSIGNATURE_H
#define TEGULA_LANG_EMITSIGNATURE_H

#include "lang/EmitScalar.h"

namespace tegula::lang {

/// How elements of a type are held: `bool` and `u8` as i8.
mlir::Type memoryType(ElemType elem, mlir::OpBuilder &builder);

/// Creates the kernel of `item`, fills in `values` with its arguments, and
/// leaves the builder at the end of its empty body.
void emitSignature(const Item &item, mlir::OpBuilder &builder,
                   const LocationMap &locations, KernelValues &values);

} // namespace tegula::lang

#endif
