//===- TilesTest.cpp - what is skipped is dead, what is not tested is full ===//
//
// Every mask of the examples, at lengths around the borders of tiles: the loops
// of the kernel that the compiler makes, counted, beside brute force over all
// elements.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Tiles.h"
#include "Expect.h"
#include "codegen/Compiler.h"
#include "tools/tegula/Setup.h"
#include "llvm/Support/MathExtras.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace tegula;
using namespace tegula::tool;

namespace {
/// Which lengths an item takes.
enum class Lengths {
  any,
  square,  ///< M == N
  blocks,  ///< and a multiple of 256
  picture, ///< M == N == X * Y, both multiples of 8
  shortQueries,
};

struct MaskCase {
  const char *file, *item;
  Pairs arguments = {};
  Lengths lengths = Lengths::any;
  /// Of the dead tiles whose queries all exist, at least so many are never
  /// visited; 1: all of them, at each length.
  double skipped = 1;
  std::vector<std::pair<std::string, int64_t>> dims = {};
};

void PrintTo(const MaskCase &mask, std::ostream *os) {
  *os << mask.file << ' ' << mask.item;
}

class Masks : public testing::TestWithParam<MaskCase> {};
} // namespace

static const MaskCase cases[] = {
    {"variants.tg", "vanilla"},
    {"variants.tg", "causal"},
    {"variants.tg", "window", {{"W", "100"}}},
    {"variants.tg", "docs", {}, Lengths::square, 1},
    {"variants.tg", "docs", {{"doc", "3"}}, Lengths::square},
    {"variants.tg", "prefix"},
    {"variants.tg", "sinks", {{"W", "100"}}},
    {"variants.tg", "bias"},
    {"masks.tg", "dilated", {{"W", "199"}, {"R", "3"}}},
    {"masks.tg",
     "global_window",
     {{"W", "70"}, {"A", "5"}},
     Lengths::square,
     1},
    {"masks.tg", "streaming", {{"W", "100"}, {"A", "5"}}, Lengths::any, 1},
    {"masks.tg", "chunked", {{"C", "100"}}, Lengths::any, 1},
    {"masks.tg", "padding"},
    {"masks.tg",
     "shared_prefix",
     {{"P", "100"}, {"L", "50"}},
     Lengths::square,
     1},
    {"masks.tg", "block_diffusion", {{"L", "32"}}, Lengths::blocks, 1},
    {"masks.tg", "ring", {{"q0", "500"}, {"k0", "300"}}},
    {"masks.tg", "ring", {{"q0", "0"}, {"k0", "300"}}},
    {"masks.tg", "na1d", {{"K", "61"}}, Lengths::square, 1},
    {"masks.tg", "na2d", {{"K", "5"}}, Lengths::picture, .9},
    {"masks.tg", "na2d_tiled", {{"K", "5"}}, Lengths::picture, .87},
    {"masks.tg", "packed", {}, Lengths::square, 0, {{"ND", 7}}},
    {"masks.tg", "tree_table", {}, Lengths::shortQueries, 1},
    {"masks.tg", "given"},
    {"masks.tg", "given", {{"see", "0"}}},
    {"masks.tg", "given", {{"see", "1"}}},
    {"masks.tg", "given_causal"},
    {"masks.tg", "given_causal", {{"see", "1"}}},
    {"masks.tg", "tree_bits", {}, Lengths::shortQueries, 1},
    {"masks.tg", "nsa_selected", {{"BS", "16"}}, Lengths::any, 0},
    {"masks.tg", "moba", {{"BS", "16"}}, Lengths::any, 0},
    {"masks.tg", "bigbird", {{"BS", "16"}}, Lengths::square, 0, {{"NB", 40}}},
    {"masks.tg", "flamingo", {{"L", "64"}}, Lengths::any, 0},
};

static std::vector<SetupRequest> problemsOf(const MaskCase &mask) {
  std::vector<SetupRequest> problems;
  auto add = [&](int64_t m, int64_t n, Pairs arguments = {}) {
    SetupRequest request;
    request.sizes = {{"B", 2}, {"H", 2}, {"G", 1}, {"M", m}, {"N", n}};
    llvm::append_range(request.sizes, mask.dims);
    request.arguments = mask.arguments;
    llvm::append_range(request.arguments, arguments);
    request.seed = problems.size();
    problems.push_back(std::move(request));
  };
  if (mask.lengths == Lengths::picture) {
    for (auto [x, y] : {std::pair{16, 16}, {24, 40}, {40, 24}, {8, 96}})
      add(x * y, x * y, {{"X", std::to_string(x)}, {"Y", std::to_string(y)}});
    return problems;
  }
  for (int64_t length : {1, 64, 127, 128, 129, 256, 300, 520}) {
    int64_t n = mask.lengths == Lengths::blocks
                    ? static_cast<int64_t>(llvm::alignTo(length, 256))
                    : length;
    if (mask.lengths == Lengths::shortQueries) {
      add(std::min<int64_t>(n, 33), n);
      continue;
    }
    add(n, n);
    if (mask.lengths == Lengths::any) {
      add(n, n + 70);
      add(n + 70, n);
      add(n, 3);
    }
  }
  return problems;
}

TEST_P(Masks, SkipsDeadTilesAndTestsAllButFullOnes) {
  const MaskCase &mask = GetParam();
  std::string path =
      std::string(std::getenv("TEGULA_SOURCE_DIR")) + "/examples/" + mask.file;
  std::vector<lang::Define> defines = {{"D", "64"}, {"E", "64"}};
  auto program = valueOf(
      Program::create(valueOf(readText(path)), path, mask.item, defines));
  CompileRequest request;
  request.text = program->text();
  request.name = path;
  request.item = mask.item;
  request.defines = defines;
  request.optimize = false;
  for (const char *form : {"pipelined", "direct"}) {
    request.schedule = {std::string("form=") + form};
    Compiler compiler;
    CompileResult result;
    std::optional<VisitsProgram> visits =
        compiler.compileVisits(request, result);
    ASSERT_TRUE(visits) << result.diagnostics;
    double share = mask.skipped;
    int64_t skipped = 0, dead = 0;
    for (SetupRequest &setup : problemsOf(mask)) {
      Problem problem = valueOf(setUp(*program, setup));
      std::string where = std::string(form) +
                          ", M = " + std::to_string(problem.dim("M")) +
                          ", N = " + std::to_string(problem.dim("N"));
      ProvedTiles proved = valueOf(countProved(
          *visits, problem, llvm::divideCeil(problem.dim("N"), visits->keys),
          /*withMap=*/true));
      TileMap exact = *countExact(problem, visits->rows, visits->keys,
                                  headsPerTile(problem, proved.grid, visits->rows));
      ASSERT_EQ(proved.map->programs, exact.programs) << where;
      EXPECT_EQ(firstUnsound(*proved.map, exact), "") << where;
      TileCounts seen = proved.map->counts();
      EXPECT_EQ(seen.dead, proved.counts.dead) << where;
      EXPECT_EQ(seen.full, proved.counts.full) << where;
      int64_t own = 0, all = 0;
      int64_t perHead = llvm::divideCeil(problem.dim("M"), visits->rows);
      for (int64_t program = 0; program < exact.programs; ++program)
        for (int64_t block = 0; block < exact.blocks; ++block)
          if ((program % perHead + 1) * visits->rows <= problem.dim("M")) {
            own += proved.map->at(program, block) == TileClass::dead;
            all += exact.at(program, block) == TileClass::dead;
          }
      if (share == 1) {
        EXPECT_EQ(own, all) << where;
      }
      skipped += own;
      dead += all;
    }
    EXPECT_GE(double(skipped), share * double(dead)) << form;
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, Masks, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<MaskCase> &info) {
                           return info.param.item + std::string("_") +
                                  std::to_string(info.index);
                         });

/// That the comparison sees what it is for.
TEST(TileMaps, TellWhatIsUnsound) {
  TileMap proved(1, 2), exact(1, 2);
  proved.classes = {TileClass::full, TileClass::partial};
  exact.classes = {TileClass::full, TileClass::dead};
  EXPECT_EQ(firstUnsound(proved, exact), "");
  exact.classes[0] = TileClass::partial;
  EXPECT_EQ(firstUnsound(proved, exact),
            "block 0 of program 0 is not tested, but holds hidden pairs");
  proved.classes[1] = TileClass::dead;
  exact.classes = {TileClass::full, TileClass::partial};
  EXPECT_EQ(firstUnsound(proved, exact),
            "block 1 of program 0 is skipped, but holds visible pairs");
}

/// A block with keys past the last one has to be tested; rows past the last
/// query do not count.
TEST(TileMaps, TakeMissingKeysForHiddenOnes) {
  auto program = valueOf(Program::create(
      "attention t(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: "
      "T[B,H,M,E]) { static D = 8, E = 8, T = f32   mask i < 20 }",
      "t.tg", "", {}));
  SetupRequest request;
  request.sizes = {{"B", 1}, {"H", 1}, {"G", 1}, {"M", 20}, {"N", 20}};
  Problem problem = valueOf(setUp(*program, request));
  std::optional<TileMap> map = countExact(problem, 16, 16);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->classes, (std::vector{TileClass::full, TileClass::partial,
                                       TileClass::full, TileClass::partial}));
}
