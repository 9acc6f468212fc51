//===- Npy.h - NumPy files --------------------------------------*- C++ -*-===//
//
// Reads and writes `.npy` files (format versions 1, 2 and 3; C and Fortran
// order; little endian). Types: f2 f4 f8 i1 i2 i4 i8 u1 b1. NumPy has no bf16:
// it is read from `V2` (what ml_dtypes writes) or from the bits as `u2`, and
// written as `V2`; `np.load(f).view(np.uint16)` or `.view(ml_dtypes.bfloat16)`
// gets at it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Tensor.h"
#include "llvm/ADT/StringRef.h"

namespace tegula::tool {

/// The header of a file, and where its elements begin.
struct NpyHeader {
  /// As written: "<f2", "|b1", ...
  std::string descr;
  bool fortranOrder = false;
  llvm::SmallVector<int64_t, 4> shape;
  size_t dataBegin = 0;
};

/// Parses the header of `contents`; `path` is for messages.
llvm::Expected<NpyHeader> parseNpyHeader(llvm::StringRef contents,
                                         llvm::StringRef path);

/// Reads the file at `path` into `tensor`, whose type and shape it must have;
/// `name` is the tensor's name in messages.
llvm::Error readNpy(llvm::StringRef path, llvm::StringRef name, Tensor &tensor);

/// Only the shape of the file at `path`.
llvm::Expected<llvm::SmallVector<int64_t, 4>>
readNpyShape(llvm::StringRef path);

/// Writes `tensor` in logical C order. The file appears whole or not at all.
llvm::Error writeNpy(llvm::StringRef path, const Tensor &tensor);

} // namespace tegula::tool
