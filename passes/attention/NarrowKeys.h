// The number of keys of a block, in a program that is written already.
#pragma once

#include "dialect/tile/TileDialect.h"

namespace tegula {

/// Lets the attention loop `loop` take `keys` keys at a time, with the same meaning. False, and nothing changed, where its tiles cannot be told apart.
bool narrowKeys(tile::ForBlocksOp loop, int64_t keys);

} // namespace tegula
