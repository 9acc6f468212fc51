//===- Commands.h - the subcommands -----------------------------*- C++ -*-===//
//
// Each does what its options say and returns an error with an exit code.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Options.h"

namespace tegula::tool {

/// `tegula compile`.
llvm::Error runCompile(const CompileOptions &options);

/// `tegula run`.
llvm::Error runRun(const RunOptions &options);

/// `tegula explain`.
llvm::Error runExplain(const ExplainOptions &options);

/// `tegula bench`.
llvm::Error runBench(const BenchOptions &options);

} // namespace tegula::tool
