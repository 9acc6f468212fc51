//===- ProgramParts.h - what the tile programs are made of ------*- C++ -*-===//
//
// Pieces of MLIR text, and the makers of each kind of program. Private to the
// sources of the table.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Program.h"

namespace tegula::exec {

/// The kernel `p` around a body; `tensors` and `dims` as MLIR arguments.
std::string kernel(const std::string &arguments, const std::string &body);
/// An argument that is a tensor: `dims` is a comma-separated list of names.
std::string tensor(const std::string &name, const std::string &type,
                   const std::vector<std::string> &dims,
                   const std::string &role = "in");
/// The argument that is the extent `name`.
std::string dim(const std::string &name);
/// Types of memory.
std::string vectorOf(const std::string &type);
std::string matrixOf(const std::string &type);
/// `%i = p * tile`, with one program for each tile of `dim`.
std::string gridOver(const std::string &dim, const std::string &tile);

// RowPrograms.cpp
ProgramCase vectorAdd(const std::string &type, int64_t n,
                      const std::string &tile);
ProgramCase rowSoftmax(int64_t rows, int64_t columns, const std::string &tile);
ProgramCase rmsNorm(int64_t rows, int64_t columns, const std::string &tile);
/// o[reduced] = KIND of a tile that covers x, whole extents only.
ProgramCase reduction(const std::string &kind, const std::string &type,
                      int64_t rows, int64_t columns, int axis);
ProgramCase runningSums(const std::string &type, int64_t rows, int64_t columns,
                        int axis);
/// The last element of each row that is not 0: associative, but does not
/// commute.
ProgramCase lastNonZero(int64_t rows, int64_t columns);

// MovePrograms.cpp
ProgramCase transposedCopy(const std::string &type);
ProgramCase reshaped(int64_t a, int64_t b, int64_t c1, int64_t d);
/// o[i, j] = (x[i, j] - mean over i) * w[j] + v[i]: both broadcasts.
ProgramCase broadcasts();
/// o[i] = x[ids[i]] where ids[i] is even, else 7; y[ids[i]] = i for ids unique.
ProgramCase gathers();
ProgramCase scatters();
ProgramCase histogram(const std::string &type);

// ProductPrograms.cpp
/// c = a * b + bias, with a loop over the depth; b as [K, N], or [N, K] read
/// transposed by the product, or by tile.transpose.
ProgramCase product(const std::string &type, const std::string &tiles,
                    const std::string &form, int64_t m, int64_t n, int64_t k);
/// One block of attention by hand: two products with a row softmax between.
ProgramCase attentionBlock();

// ControlPrograms.cpp
/// Row sums in a loop over column blocks, and a branch on the row's number.
ProgramCase loopAndBranch();
/// A tile starts before the tensor and ends past it; other axes out of range.
ProgramCase outside();

} // namespace tegula::exec
