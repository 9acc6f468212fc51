//===- BenchResults.h - what `tegula bench` prints and writes ---*- C++ -*-===//
//
// The results of a grid are one JSON object: facts of the machine, and `rows`.
// docs/benchmark.md describes its fields. Whoever times hands over rows; here
// they are printed as they come, and the files are written after each, so that
// a run that is cut short leaves what it has.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/BenchGrid.h"
#include "llvm/Support/JSON.h"

namespace tegula::tool {

/// The peers in the rows of `results`, in the order of their columns.
std::vector<std::string> peersOf(const llvm::json::Object &results);

void printTable(const llvm::json::Object &results, llvm::raw_ostream &os);

/// The file at `path`. Errors: exit code 1 where it is not what bench writes.
llvm::Expected<llvm::json::Object> readResults(llvm::StringRef path);

/// An SVG with bars of TFLOP/s: a panel for each mask and head dim with a group
/// of bars for each length, or, where there is one length, a panel for each
/// head dim with a group for each kernel.
std::string drawPlot(const llvm::json::Object &results);

/// Writes the file at `path`; its folder is made.
llvm::Error writeText(llvm::StringRef path, llvm::StringRef text);

/// Takes the rows of one grid.
class BenchRecorder {
public:
  /// `root` is the folder that holds `bench`.
  BenchRecorder(const BenchOptions &options, llvm::StringRef grid,
                llvm::StringRef root);

  /// Facts of the machine, before the first row.
  void describe(const llvm::json::Object &facts);
  bool isDescribed() const { return described; }
  llvm::Error add(llvm::json::Object row);
  /// Whether an output of ours was wrong.
  bool hasWrong() const { return wrong; }

private:
  llvm::json::Object results;
  std::vector<std::string> columns;
  std::string jsonPath, plotPath;
  bool described = false, wrong = false;
};

} // namespace tegula::tool
