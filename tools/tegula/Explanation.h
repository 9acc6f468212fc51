//===- Explanation.h - what a kernel will do, before it runs ----*- C++ -*-===//
//
// The facts that `tegula explain` prints: of the mask, what was derived from it
// and what that saves; of the compiled kernel, what it holds and moves; of
// both, how they grow with the length.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Options.h"
#include "tools/tegula/Program.h"
#include "tools/tegula/Tiles.h"

#include "llvm/Support/JSON.h"

namespace tegula::tool {

/// Work and traffic of a problem. "Unfused" is an implementation that writes
/// the scores of all pairs to memory, reads them for the softmax, writes the
/// weights and reads them for the second product: four touches of an M x N
/// matrix a head.
struct Cost {
  /// Of the two matrix products, over the tiles that are visited.
  double flops = 0;
  /// Every operand and result moved once; unfused, with those touches.
  double fusedBytes = 0, unfusedBytes = 0;
  /// Scores that the kernel computes, which stay on the chip; and elements of
  /// matrices of scores that an unfused implementation reads or writes.
  double scores = 0, unfusedTouches = 0;
  /// The least time that the target's matrix units and memory leave.
  double milliseconds = 0;
  bool isMemoryBound = false;
};

/// The same item at another length.
struct LengthFacts {
  int64_t length = 0;
  TileCounts proved;
  Cost cost;
  /// Why it is not counted; empty if it is.
  std::string reason;
};

/// Something that is done for rows that may see no key.
struct Guard {
  std::string what, reason;
  bool isKept = true;
};

struct Explanation {
  std::string item, arch, device;
  std::vector<std::pair<std::string, int64_t>> sizes;
  llvm::json::Object manifest; ///< of the compiled kernel
  std::string diagnostics, stageTimes;
  int64_t sharedLimit = 0; ///< bytes that a CTA of the target may have

  /// Of programs with a loop over blocks of keys; else `notCounted` says why
  /// there is none.
  std::optional<VisitsProgram> visits;
  std::string notCounted;
  int64_t blocks = 0; ///< of keys
  std::optional<ProvedTiles> proved;
  int64_t headsPerTile = 1; ///< query heads that share a tile's rows
  /// Of attention items that are short enough; else `notExact` says why not.
  std::optional<TileMap> exact;
  std::string notExact;
  std::vector<Guard> guards;

  std::optional<Cost> cost; ///< of attention items
  std::vector<LengthFacts> lengths;

  llvm::StringRef form() const;
  const llvm::json::Object &schedule() const;
};

/// Compiles the item of `program` and counts. Errors: what compiling it or
/// setting the problem up says; an unsound kernel, exit code 70.
llvm::Expected<Explanation> explain(const Program &program,
                                    const ExplainOptions &options);

void printText(const Explanation &explanation, llvm::raw_ostream &os);
void printJson(const Explanation &explanation, llvm::raw_ostream &os);
/// One picture without anything outside of it: the map of tiles and the
/// pipeline.
void printSvg(const Explanation &explanation, llvm::raw_ostream &os);
/// The picture and the text on a page.
void printHtml(const Explanation &explanation, llvm::raw_ostream &os);

} // namespace tegula::tool
