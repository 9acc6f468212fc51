//===- Options.h - the command line -----------------------------*- C++ -*-===//
//
// What the user asked for, as plain structs: parsed, checked for contradictions
// and free of defaults that depend on the machine. Every option acts or is
// refused.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Tensor.h"

#include <optional>
#include <utility>

namespace tegula::tool {

/// NAME=VALUE pairs in the order of the command line.
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// What every command takes.
struct CommonOptions {
  std::string file; ///< "-" is standard input
  std::string item;
  Pairs defines;
  std::optional<std::string> arch;
  std::vector<std::string> schedule; ///< FIELD=VALUE
  bool time = false;
};

struct CompileOptions : CommonOptions {
  std::vector<std::string> emit; ///< names of stages, or "manifest"
  std::string stopAfter, startFrom, dumpDir, output;
};

/// Where `tegula run` executes.
enum class RunTarget { cpu, cuda };

struct RunOptions : CommonOptions {
  std::vector<std::pair<std::string, int64_t>> sizes;
  Layout layout = Layout::bhsd;
  Pairs arguments; ///< VALUE may be "@file.npy"
  Pairs outputs;   ///< the files
  std::optional<RunTarget> target;
  bool check = false, json = false;
  uint64_t seed = 0;
  double logitOffset = 0;
  /// The text of a later stage to run instead: stage and path.
  std::pair<std::string, std::string> replace;
  /// Timed launches; 0: as many as are worth it.
  int runs = 0;
};

struct CommandLine {
  std::optional<CompileOptions> compile;
  std::optional<RunOptions> run;
};

/// Reads the command line. --help and --version print and end the process with
/// 0; everything wrong is an error with exit code 2.
llvm::Expected<CommandLine> parseCommandLine(int argc, char **argv);

} // namespace tegula::tool
