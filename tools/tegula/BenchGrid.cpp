//===- BenchGrid.cpp - what `tegula bench` times --------------------------===//
//
// The two grids as loops over head dims, kernels and lengths. Parameters are
// the same numbers on every machine.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/BenchGrid.h"
#include "tools/tegula/Fill.h"
#include "tools/tegula/Program.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace tegula;
using namespace tegula::tool;
using llvm::StringRef;

static constexpr StringRef names[] = {"hopper-forward", "hopper-variants"};

llvm::ArrayRef<StringRef> tegula::tool::gridNames() { return names; }

/// An empty list lets everything through.
template <typename T, typename U>
static bool passes(const std::vector<T> &filter, const U &value) {
  return filter.empty() || llvm::is_contained(filter, value);
}

/// A cell of bf16 with as many key heads as query heads and M = N = s.
static BenchCell makeCell(StringRef file, StringRef item, StringRef mask,
                          int64_t d, int64_t batch, int64_t heads, int64_t s) {
  BenchCell cell;
  cell.file = file;
  cell.item = item;
  cell.mask = mask;
  cell.dtype = "bf16";
  cell.d = d;
  cell.s = s;
  cell.defines = {{"D", std::to_string(d)}, {"E", std::to_string(d)}};
  cell.sizes = {{"B", batch}, {"H", heads}, {"G", heads}, {"M", s}, {"N", s}};
  return cell;
}

/// 16,384 tokens of width 2,048: full and causal, at every length.
static void addForward(StringRef file, std::vector<BenchCell> &cells) {
  for (int64_t d : {64, 128, 256})
    for (StringRef item : {"full", "causal"})
      for (int64_t s : {1024, 4096, 16384})
        cells.push_back(makeCell(file, item, item, d, 16384 / s, 2048 / d, s));
}

/// The document of each of `length` tokens: 12 documents that begin at random
/// places.
static std::vector<double> makeDocuments(int64_t length) {
  std::vector<double> document(length);
  for (uint64_t n = 1; n < 12; ++n)
    for (int64_t i = randomBits(streamKey(0, "documents"), n) % length;
         i < length; ++i)
      ++document[i];
  return document;
}

static void addVariants(StringRef file, std::vector<BenchCell> &cells) {
  constexpr int64_t batch = 4, heads = 16, length = 8192;
  std::vector<double> slopes;
  for (int h = 1; h <= heads; ++h)
    slopes.push_back(std::exp2(-8.0 * h / heads));
  for (int64_t d : {64, 128}) {
    auto add = [&](StringRef item, StringRef mask) -> BenchCell & {
      cells.push_back(makeCell(file, item, mask, d, batch, heads, length));
      return cells.back();
    };
    add("causal", "causal");
    add("window", "window").arguments = {{"W", "1024"}};
    add("alibi", "causal").tables = {{"slope", slopes}};
    add("softcap", "causal").arguments = {{"cap", "30"}};
    add("prefix", "prefix").tables = {{"plen", {512, 1024, 2048, 4096}}};
    add("documents", "documents").tables = {{"doc", makeDocuments(length)}};
    add("global_window", "global_window").arguments = {{"W", "1024"},
                                                       {"P", "64"}};
  }
}

BenchGrid tegula::tool::makeGrid(StringRef name, StringRef file,
                                 const BenchOptions &options) {
  BenchGrid grid{name.str(), {}};
  name == "hopper-forward" ? addForward(file, grid.cells)
                           : addVariants(file, grid.cells);
  llvm::erase_if(grid.cells, [&](const BenchCell &cell) {
    return !passes(options.dims, cell.d) || !passes(options.seqs, cell.s) ||
           (!passes(options.masks, cell.mask) &&
            !passes(options.masks, cell.item));
  });
  return grid;
}

llvm::Expected<BenchGrid>
tegula::tool::makeFileGrid(const BenchOptions &options) {
  BenchGrid grid{"files", {}};
  for (const std::string &path : options.files) {
    auto text = readText(path);
    if (!text)
      return text.takeError();
    std::vector<lang::Define> defines;
    for (const auto &[name, value] : options.defines)
      defines.push_back({name, value});
    auto program = Program::create(std::move(*text), displayName(path),
                                   options.item, defines);
    if (!program)
      return program.takeError();
    const lang::Item &item = (*program)->item();
    BenchCell cell;
    cell.file = path;
    cell.item = cell.mask = item.name;
    cell.defines = options.defines;
    cell.sizes = options.sizes;
    cell.arguments = options.arguments;
    if (!item.program) {
      cell.dtype = lang::elemTypeName(item.tensors[item.q.tensor].elem);
      cell.d = item.headDim();
    }
    for (const auto &[dim, length] : options.sizes)
      if (dim == "N")
        cell.s = length;
    grid.cells.push_back(std::move(cell));
  }
  return grid;
}
