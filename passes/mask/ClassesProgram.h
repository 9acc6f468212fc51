// The program that finds the classes of blocks of pairs by looking at every pair.
#pragma once

#include "passes/mask/PrepassWriter.h"

namespace tegula {

/// Writes the program behind `kernel`, whose last argument is the scratch `[axes, tiles, blocks]` that it fills.
void writeClassesProgram(tile::KernelOp kernel, const PairCondition &condition, mlir::ArrayRef<GridAxis> axes);

} // namespace tegula
