//===- Tiles.cpp - which tiles of the score matrix there is work in -------===//
//
// The counting program runs twice: over the grid for its extents and its
// counts, then again where each tile's class is wanted.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Tiles.h"
#include "tools/tegula/Evaluate.h"
#include "tools/tegula/ExecuteShared.h"

#include "runtime/Packing.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"

#include <algorithm>

using namespace tegula;
using namespace tegula::tool;

TileCounts TileMap::counts() const {
  int64_t kinds[3] = {};
  for (TileClass each : classes)
    ++kinds[static_cast<unsigned>(each)];
  return {kinds[0], kinds[1], kinds[2]};
}

//===----------------------------------------------------------------------===//
// As the kernel visits them
//===----------------------------------------------------------------------===//

static rt::TensorView viewOf(void *data, ElementType type,
                             llvm::ArrayRef<int64_t> shape) {
  rt::TensorView view;
  view.data = data;
  view.type = type;
  view.rank = static_cast<int>(shape.size());
  llvm::copy(shape, view.sizes);
  view.setContiguous();
  return view;
}

/// Runs the pre-pass, and gives its table to `arguments` of the counting
/// program.
static rt::Status findClasses(const VisitsProgram &visits, Problem &problem,
                              std::vector<char> &table,
                              rt::Arguments &arguments) {
  const char *name = "prepass.table";
  rt::Arguments own = visits.prepass->arguments();
  if (llvm::Error error =
          setArguments(problem, own, [&](unsigned number) -> void * {
            return problem.tensors[number].data();
          }))
    return rt::internalError(llvm::toString(std::move(error)));
  const rt::Signature &signature = own.signature();
  std::vector<rt::Value> slots;
  for (int dim = 0; dim != signature.numDims; ++dim)
    slots.emplace_back(problem.dim(signature.slots[dim]));
  for (size_t scalar = 0; scalar != signature.scalars.size(); ++scalar)
    slots.push_back(own.scalar(static_cast<int>(scalar)));
  llvm::SmallVector<int64_t> shape;
  int64_t size = 1;
  const rt::TensorInfo &tensor = signature.tensors[signature.findTensor(name)];
  for (const rt::Extent &extent : tensor.extents) {
    rt::Result<int64_t> value = extent.expr
                                    ? extent.expr->evaluateInteger(slots)
                                    : rt::Result<int64_t>(extent.fixed);
    if (!value.ok())
      return value.status();
    shape.push_back(*value);
    size *= *value;
  }
  table.assign(size * elementSize(tensor.type), 0);
  rt::TensorView view = viewOf(table.data(), tensor.type, shape);
  TEGULA_RETURN_IF_FAILED(own.set(name, view));
  TEGULA_RETURN_IF_FAILED(arguments.set(name, view));
  return visits.prepass->run(own);
}

llvm::Expected<ProvedTiles>
tegula::tool::countProved(const VisitsProgram &visits, Problem &problem,
                          int64_t blocks, bool withMap) {
  rt::Arguments arguments = visits.kernel->arguments();
  if (llvm::Error error =
          setArguments(problem, arguments, [&](unsigned number) -> void * {
            return problem.tensors[number].data();
          }))
    return error;
  std::vector<char> table;
  if (visits.prepass)
    if (rt::Status status = findClasses(visits, problem, table, arguments);
        !status.ok())
      return statusError(status);
  int64_t counts[2] = {}, grid[rt::maxRank] = {};
  std::vector<TileClass> classes;
  auto run = [&](int64_t programs) -> rt::Status {
    classes.assign(programs * blocks, TileClass::dead);
    std::fill(std::begin(counts), std::end(counts), 0);
    TEGULA_RETURN_IF_FAILED(
        arguments.set("visits.counts", viewOf(counts, ElementType::i64, {2})));
    TEGULA_RETURN_IF_FAILED(
        arguments.set("visits.grid", viewOf(grid, ElementType::i64,
                                            {int64_t(std::size(grid))})));
    TEGULA_RETURN_IF_FAILED(
        arguments.set("visits.classes", viewOf(classes.data(), ElementType::i8,
                                               {programs, blocks})));
    return visits.kernel->run(arguments);
  };
  if (rt::Status status = run(0); !status.ok())
    return statusError(status);
  ProvedTiles proved;
  int64_t programs = 1;
  for (int64_t extent : grid)
    if (extent != 0) {
      proved.grid.push_back(extent);
      programs *= extent;
    }
  if (proved.grid.empty())
    programs = 0;
  if (withMap) {
    if (rt::Status status = run(programs); !status.ok())
      return statusError(status);
    proved.map.emplace(programs, blocks);
    proved.map->classes = std::move(classes);
  }
  proved.counts = {programs * blocks - counts[0] - counts[1], counts[0],
                   counts[1]};
  return proved;
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

bool tegula::tool::maskDependsOn(const lang::Item &item, lang::IndexVar index) {
  return llvm::any_of(item.masks, [&](const lang::Expr *mask) {
    return mask->dependsOn(index);
  });
}

int64_t tegula::tool::headsPerTile(const Problem &problem,
                                   llvm::ArrayRef<int64_t> grid,
                                   int64_t rows) {
  int64_t heads = problem.dim("H");
  if (grid.size() < 2 || grid[1] == heads)
    return 1;
  return int64_t(1) << packingShift(problem.dim("M"), heads, problem.dim("G"),
                                    rows);
}

/// The classes of one program's tiles, whose rows are those of `heads` heads
/// from the first one on, position by position.
static void classify(const Problem &problem, Row first, int64_t heads,
                     int64_t endOfHeads, int64_t rows, int64_t keys,
                     llvm::MutableArrayRef<TileClass> classes) {
  int64_t count = problem.dim("N"), queries = problem.dim("M");
  std::vector<char> some(classes.size(), false), all(classes.size(), true);
  if (count % keys != 0)
    all.back() = false;
  for (int64_t number = 0; number < rows; ++number) {
    Row row = first;
    row.h += number % heads;
    row.i += number / heads;
    if (row.h >= endOfHeads || row.i >= queries)
      continue;
    RowEvaluator<double> evaluator(problem, row, count);
    std::vector<char> visible(count, true);
    for (const lang::Expr *mask : problem.item->masks) {
      Column<double> column = evaluator.evaluate(*mask);
      for (int64_t j = 0; j < count; ++j)
        visible[j] &= column.integer(j) != 0;
    }
    for (int64_t j = 0; j < count; ++j) {
      some[j / keys] |= visible[j];
      all[j / keys] &= visible[j];
    }
  }
  for (auto [n, tile] : llvm::enumerate(classes))
    tile = !some[n] ? TileClass::dead
           : all[n] ? TileClass::full
                    : TileClass::partial;
}

std::optional<TileMap> tegula::tool::countExact(const Problem &problem,
                                                int64_t rows, int64_t keys,
                                                int64_t perTile) {
  using lang::IndexVar;
  const lang::Item &item = *problem.item;
  int64_t queries = problem.dim("M"), heads = problem.dim("H"),
          batch = problem.dim("B"),
          ratio = heads / std::max<int64_t>(problem.dim("G"), 1);
  if (item.program || std::max(queries, problem.dim("N")) > maxExactLength)
    return std::nullopt;
  // Without a second head to a tile, each head is a part of its own.
  int64_t perHead = llvm::divideCeil(queries * perTile, rows),
          parts = llvm::divideCeil(ratio, perTile);
  int64_t tilesOfHeads = parts * problem.dim("G");
  TileMap map(perHead * tilesOfHeads * batch,
              llvm::divideCeil(problem.dim("N"), keys));
  if (map.classes.empty())
    return map;
  // What stands for a program: the one of the first heads and batch entry with
  // the same mask, where no head of a tile lacks.
  auto original = [&](int64_t program) {
    int64_t m = program % perHead, h = program / perHead % tilesOfHeads,
            b = program / perHead / tilesOfHeads;
    if (!maskDependsOn(item, IndexVar::H))
      h = maskDependsOn(item, IndexVar::G) ? h / parts * parts : 0;
    if (!maskDependsOn(item, IndexVar::B))
      b = 0;
    return (b * tilesOfHeads + h) * perHead + m;
  };
  auto tilesOf = [&](int64_t program) {
    return llvm::MutableArrayRef(map.classes)
        .slice(program * map.blocks, map.blocks);
  };
  llvm::parallelFor(0, map.programs, [&](size_t program) {
    int64_t number = static_cast<int64_t>(program);
    int64_t tile = number / perHead % tilesOfHeads, g = tile / parts,
            h = g * ratio + tile % parts * perTile;
    if (original(number) == number)
      classify(problem,
               {number / perHead / tilesOfHeads, h, g,
                number % perHead * rows / perTile},
               perTile, (g + 1) * ratio, rows, keys, tilesOf(number));
  });
  for (int64_t program = 0; program < map.programs; ++program)
    if (int64_t from = original(program); from != program)
      llvm::copy(tilesOf(from), tilesOf(program).begin());
  return map;
}

std::string tegula::tool::firstUnsound(const TileMap &proved,
                                       const TileMap &exact) {
  for (int64_t program = 0; program < exact.programs; ++program)
    for (int64_t block = 0; block < exact.blocks; ++block) {
      TileClass believed = proved.at(program, block),
                is = exact.at(program, block);
      std::string where = "block " + std::to_string(block) + " of program " +
                          std::to_string(program);
      if (believed == TileClass::dead && is != TileClass::dead)
        return where + " is skipped, but holds visible pairs";
      if (believed == TileClass::full && is != TileClass::full)
        return where + " is not tested, but holds hidden pairs";
    }
  return "";
}
