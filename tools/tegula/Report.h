//===- Report.h - what `tegula run` prints ----------------------*- C++ -*-===//
//
// The facts of a run, and their two forms: a small table for people and one
// JSON object for scripts, whose keys are fixed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Execute.h"
#include "tools/tegula/Reference.h"

namespace tegula::tool {

struct OutputReport {
  std::string name;
  int64_t nan = 0;
  /// With --check only.
  std::optional<OutputCheck> check;
};

struct RunReport {
  bool ok = true;
  std::string item, target;
  Execution execution;
  std::vector<OutputReport> outputs;
  /// Of the forward pass, for the pairs of query and key that the mask leaves;
  /// none is known of a kernel.
  std::optional<double> flops;
  int64_t bytes = 0;
  /// "B=1 H=8 ...", for people.
  std::string problemText;
  std::vector<std::pair<std::string, int64_t>> sizes;
  int64_t checkedRows = 0, totalRows = 0;
  /// Outputs that were written outside of their bounds.
  std::vector<std::string> overrun;
};

void printText(const RunReport &report, llvm::raw_ostream &os);
void printJson(const RunReport &report, llvm::raw_ostream &os);

/// Floating-point operations of two matrix products over every visible pair;
/// for a mask on long sequences the number of pairs is counted on a spread of
/// rows.
double countFlops(const Problem &problem);

} // namespace tegula::tool
