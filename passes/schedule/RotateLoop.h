// Which loops tegula-rotate-loop takes.
#pragma once

#include "dialect/tile/TileDialect.h"

namespace tegula {

/// Whether the loop is one of attention, by its data flow: under a pipelined schedule it is rotated, and its classes become a list of live blocks.
bool isAttentionLoop(tile::ForBlocksOp loop);

} // namespace tegula
