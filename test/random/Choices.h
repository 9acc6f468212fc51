//===- Choices.h - random decisions that can be replayed --------*- C++ -*-===//
//
// A generator of programs asks for every decision here. The decisions are
// recorded, so that a program can be made again from them, and a smaller one
// from fewer or smaller decisions: 0 is the simplest answer to every question,
// and what is asked past the end of a record is answered by 0.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace tegula::generated {

class Choices {
public:
  using Record = std::vector<uint32_t>;

  explicit Choices(uint64_t seed) : seed(seed), isFresh(true) {}
  explicit Choices(Record record) : made(std::move(record)), isFresh(false) {}

  /// A number from 0 to count - 1.
  unsigned below(unsigned count);
  int64_t between(int64_t low, int64_t high) {
    return low + below(static_cast<unsigned>(high - low + 1));
  }
  bool chance(unsigned percent) { return below(100) >= 100 - percent; }
  template <typename T> T pick(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<unsigned>(list.size()))];
  }
  template <typename List> const auto &pickFrom(const List &list) {
    assert(!list.empty() && "nothing to choose from");
    return list[below(static_cast<unsigned>(list.size()))];
  }

  /// The answers that were given.
  Record record() const;

private:
  uint64_t seed = 0;
  Record made;
  size_t asked = 0;
  bool isFresh;
};

/// Makes `record` smaller as long as `fails` holds for what it gives, with at
/// most `budget` calls of it.
Choices::Record shrink(Choices::Record record, unsigned budget,
                       llvm::function_ref<bool(const Choices::Record &)> fails);

} // namespace tegula::generated
