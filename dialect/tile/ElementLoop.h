//===- ElementLoop.h - loops inside one element's code ----------*- C++ -*-===//
//
// A bounded reduction is a loop of scalars in the region of a mask or a map.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_DIALECT_TILE_ELEMENTLOOP_H
#define TEGULA_DIALECT_TILE_ELEMENTLOOP_H

#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tegula::tile {

/// Moves ahead of `loop` what it computes anew for each of its steps: a divided
/// index, say, need not be divided again. No op of an element's code traps.
void hoistElementCode(mlir::LoopLikeOpInterface loop);

} // namespace tegula::tile

#endif
