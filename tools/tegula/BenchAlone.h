//===- BenchAlone.h - our kernels timed without peers -----------*- C++ -*-===//
//
// In this process, on a stream of its own.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/BenchResults.h"

namespace tegula::tool {

/// Checks and times the cells of a grid. Cells that do not compile or that
/// refuse their arguments are left out; their errors come back together.
llvm::Error timeAlone(const BenchOptions &options, const BenchGrid &grid,
                      BenchRecorder &recorder);

} // namespace tegula::tool
