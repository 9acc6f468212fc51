//===- Tiles.h - which tiles of the score matrix there is work in -*- C++
//-*-===//
//
// Two answers to one question. The compiled kernel's own loops say which blocks
// of keys it visits and in which of them it tests each element; brute force
// over all elements, by the reference's evaluator, says which it has to.
// Nothing of the second comes from the compiler.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Problem.h"

#include "codegen/Visits.h"

namespace tegula::tool {

/// In memory as the counting program writes it.
enum class TileClass : uint8_t {
  dead,    ///< no pair of it is visible
  partial, ///< some are, or it has keys past the last one
  full,    ///< all are
};

struct TileCounts {
  int64_t dead = 0, partial = 0, full = 0;
  int64_t total() const { return dead + partial + full; }
};

/// The class of each tile, by program of the grid and block of keys. The query
/// blocks are the fastest axis of the grid, then heads, then batch entries.
struct TileMap {
  int64_t programs = 0, blocks = 0;
  std::vector<TileClass> classes;

  TileMap() = default;
  TileMap(int64_t programs, int64_t blocks)
      : programs(programs), blocks(blocks), classes(programs * blocks) {}
  TileClass at(int64_t program, int64_t block) const {
    return classes[program * blocks + block];
  }
  TileCounts counts() const;
};

/// What the kernel does: `dead` are the tiles that it never looks at, `full`
/// those without a test.
struct ProvedTiles {
  TileCounts counts;
  std::vector<int64_t> grid; ///< extents, the fastest first
  /// Where it was asked for.
  std::optional<TileMap> map;
};

/// Runs the counting program over the whole grid. `blocks`: of keys, dead ones
/// included. The tensors that it reads are those of the problem.
llvm::Expected<ProvedTiles> countProved(const VisitsProgram &visits,
                                        Problem &problem, int64_t blocks,
                                        bool withMap);

/// The longest sequence that is looked at element by element.
inline constexpr int64_t maxExactLength = 16384;

/// How many query heads share a tile's `rows` rows: one, or what the launch's
/// rule says where the extents of a grid tell that there are fewer tiles of them.
int64_t headsPerTile(const Problem &problem, llvm::ArrayRef<int64_t> grid,
                     int64_t rows);

/// Every element of an attention item's mask, in tiles of `rows` by `keys`, of
/// whose rows `heads` in turn have one position; nothing for longer sequences
/// than that.
std::optional<TileMap> countExact(const Problem &problem, int64_t rows,
                                  int64_t keys, int64_t heads = 1);

/// Whether an item's mask depends on the index.
bool maskDependsOn(const lang::Item &item, lang::IndexVar index);

/// The first tile of which the kernel believes what is not so, in words; empty
/// where it is sound.
std::string firstUnsound(const TileMap &proved, const TileMap &exact);

} // namespace tegula::tool
