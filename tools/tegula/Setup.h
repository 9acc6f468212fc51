//===- Setup.h - from a command line to numbers -----------------*- C++ -*-===//
//
// Binds the dims, reads the scalars, loads or fills the tensors and checks what
// the item requires of them, all before anything is compiled.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Options.h"
#include "tools/tegula/Problem.h"
#include "tools/tegula/Program.h"

#include <set>

namespace tegula::tool {

/// What fixes a problem's numbers.
struct SetupRequest {
  std::vector<std::pair<std::string, int64_t>> sizes = {};
  Layout layout = Layout::bhsd;
  Pairs arguments = {}; ///< VALUE may be "@file.npy"
  uint64_t seed = 0;
  double logitOffset = 0;
  /// Lengths of dims that nothing else gives one.
  std::vector<std::pair<std::string, int64_t>> defaults = {};
  /// The tensors to make, by name; all where it is left out. The
  /// others get their shape and one element that stands for all.
  std::optional<std::set<std::string>> tensors = {};
  /// What no tensor may pass; 0: what memory holds.
  int64_t maxTensorBytes = 0;
};

/// Errors: exit code 2 for names and values that do not fit the item, 1 for
/// files and for lengths that the item refuses, 4 for memory. Outputs are
/// filled with NaN.
llvm::Expected<Problem> setUp(const Program &program,
                              const SetupRequest &request);

} // namespace tegula::tool
