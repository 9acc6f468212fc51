//===- BenchGrid.h - what `tegula bench` times ------------------*- C++ -*-===//
//
// A grid is a list of cells; a cell is one item at fixed sizes with the values
// of its parameters, and what its row in the results says of it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Options.h"

namespace tegula::tool {

struct BenchCell {
  std::string file, item;
  Pairs defines;
  std::vector<std::pair<std::string, int64_t>> sizes;
  Pairs arguments; ///< VALUE may be "@file.npy"
  /// Parameters that are tensors of one axis.
  std::vector<std::pair<std::string, std::vector<double>>> tables;
  std::string dtype, mask;
  int64_t d = 0, s = 0; ///< head dim; keys
};

struct BenchGrid {
  std::string name;
  std::vector<BenchCell> cells;
};

/// "hopper-forward", "hopper-variants".
llvm::ArrayRef<llvm::StringRef> gridNames();

/// The cells of the grid called `name`, whose kernels are in `file`, that the
/// filters of `options` leave.
BenchGrid makeGrid(llvm::StringRef name, llvm::StringRef file,
                   const BenchOptions &options);

/// The items of the user's files, one cell each. Errors: exit code 1 for the
/// sources.
llvm::Expected<BenchGrid> makeFileGrid(const BenchOptions &options);

} // namespace tegula::tool
