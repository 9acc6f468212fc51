// Compiles the text of a tile program for this host.
#pragma once

#include "codegen/CpuKernel.h"
#include <string>

namespace tegula::test {

/// A module of one tile.kernel through the CPU pipeline (softmax ops expanded on the way). A failure is reported to GoogleTest and gives
/// null.
std::unique_ptr<CpuKernel> compileTile(const std::string &text);

} // namespace tegula::test
