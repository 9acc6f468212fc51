// What a run of a program assumes where the text does not say, and all the ways to assume it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tegula {

/// Sizes, scalars, elements of tables, conditions of data. A run asks for each by its key when it first needs it; what has been asked for keeps its value through the run, so that roles agree on it.
class Choices {
public:
  int64_t choose(llvm::StringRef key, llvm::ArrayRef<int64_t> options);

  /// Goes on to the next run; false where all have been made.
  bool next();

  /// ``N = 129, M = 1``: what was chosen among several options.
  std::string describe() const;

private:
  struct Choice {
    std::string key;
    llvm::SmallVector<int64_t> options;
    size_t index;
  };

  std::vector<Choice> taken; ///< in the order in which the run asked
  size_t asked = 0;
};

} // namespace tegula
