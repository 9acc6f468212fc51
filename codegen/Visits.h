// What a kernel does with the blocks of keys of its mask: said in words, and counted by a program that has the kernel's own loops.
#pragma once

#include "codegen/CpuKernel.h"
#include "dialect/tile/TileDialect.h"
#include <string>
#include <vector>

namespace tegula {

/// One of the conditions that a mask consists of, and what follows from it for the keys that a row sees.
struct MaskTerm {
  std::string condition;
  std::vector<std::string> bounds; ///< "j <= i + N - M"; none: its blocks are told apart one by one, if at all
  bool isLookedUp = false;         ///< a pre-pass finds the classes of its blocks
  bool isSearched = false;         ///< blocks are found by the list of each row
  std::string placedBy;            ///< the sorted table in which a pre-pass finds where the keys of a row begin and end; or ""

  /// What follows from the condition, in words.
  std::string consequence() const;
};

/// Of the masks of a module at stage `attention`, or of programs whose masks are raised.
struct MaskFacts {
  std::vector<MaskTerm> terms;
  bool seesPrefix = true; ///< a row that sees a key sees all before it
};
MaskFacts describeMasks(mlir::ModuleOp module);

/// The program that tegula-count-visits makes, for this host.
struct VisitsProgram {
  std::unique_ptr<CpuKernel> kernel;  ///< takes the item's arguments and `visits.counts`, `visits.grid`, `visits.classes`
  std::unique_ptr<CpuKernel> prepass; ///< fills `prepass.table`, which the other one then takes too; may be null
  int64_t rows = 0, keys = 0;        ///< of a block
  int64_t steps = 1;                 ///< what counting a block costs: 1, or how many ranges are looked at
  /// What the weights of a row are relative to: its "running max", its max over the "first block" or over the "first visible block"; empty where there is no softmax.
  std::string reference;
  std::vector<std::string> tables; ///< the tensors that it reads
  MaskFacts mask;
};

} // namespace tegula
