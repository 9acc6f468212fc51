//===- Problem.h - one attention problem with its numbers -------*- C++ -*-===//
//
// An item of the language, the value of each of its dims and scalars, and its
// tensors: what the reference, the CPU and the GPU all start from.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lang/Item.h"
#include "tools/tegula/Tensor.h"

namespace tegula::tool {

/// The value of a scalar parameter, rounded to its type; `real` is set for
/// floats, `integer` for integers and bools.
struct ScalarValue {
  int64_t integer = 0;
  double real = 0;
};

struct Problem {
  const lang::Item *item = nullptr;
  /// By number in Item::dims, Item::scalars, Item::tensors.
  std::vector<int64_t> dims;
  std::vector<ScalarValue> scalars;
  std::vector<Tensor> tensors;
  /// Added to every score, after all `score` clauses.
  double logitOffset = 0;

  /// The value of the dim called `name`, or of the static one; 1 if there is
  /// none.
  int64_t dim(llvm::StringRef name) const {
    int number = item->findDim(name);
    return number < 0 ? 1 : dims[number];
  }
};

/// The element type in memory of a type of the language.
ElementType elementTypeOf(lang::ElemType type);

} // namespace tegula::tool
