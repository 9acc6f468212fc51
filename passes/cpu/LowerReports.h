// tile.print and tile.assert on the CPU: calls of functions that codegen/CpuReports.h defines.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace tegula {

/// Rewrites the two ops into calls of functions that it declares in the module.
void populateLowerReportPatterns(mlir::RewritePatternSet &patterns);

} // namespace tegula
