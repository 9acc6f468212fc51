// Tables that are read at the place of a score: by its row and its column.
#pragma once

#include "dialect/tile/TileDialect.h"

namespace tegula {

/// Whether a lookup in `region` reads at leading indices that are the same for the whole tile, then (row, column), of a table whose elements a bulk copy moves.
/// `varying` are the region's arguments that differ in a tile; the last two are row and column.
bool readsPair(tile::LookupOp lookup, mlir::Region &region, mlir::ValueRange varying);

/// Whether a load in a block loop is a block of such a table, for elementwise code: of rows that the loop does not change, and of its columns.
bool isPairTile(tile::LoadOp load);

/// Bits of one pair in all tables that the program reads in one of these ways; a table counts once.
int64_t pairTableBits(tile::KernelOp program);

/// Bits of one pair in all tables that scores and weights of an attention read so; a table counts once. Masks read theirs in some blocks alone.
int64_t pairTableBits(tile::AttentionOp op);

} // namespace tegula
