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
  bool remarks = false;
  bool debug = false;
  bool approximateTanh = false;
};

struct CompileOptions : CommonOptions {
  std::vector<std::string> emit; ///< names of stages, or "manifest"
  std::string stopAfter, startFrom, dumpDir, output;
  bool verifyProtocol = false;
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

struct ExplainOptions : CommonOptions {
  std::vector<std::pair<std::string, int64_t>> sizes;
  Pairs arguments; ///< VALUE may be "@file.npy"
  uint64_t seed = 0;
  bool json = false;
  std::string html, svg; ///< the file to write instead of text
};

struct BenchOptions {
  /// The user's files, with what `tegula run` takes; else grids are timed.
  std::vector<std::string> files;
  std::string item;
  Pairs defines, arguments;
  std::vector<std::pair<std::string, int64_t>> sizes;
  std::vector<std::string> schedule; ///< FIELD=VALUE
  std::vector<std::string> grids;
  /// Empty: those that are present.
  std::vector<std::string> peers;
  Pairs peerPaths;
  /// Filters of the grids; empty ones let everything through.
  std::vector<int64_t> seqs, dims;
  std::vector<std::string> masks;
  int rounds = 5;
  bool list = false;
  /// The files to write; `output` is a folder, or a file that `plot` goes
  /// beside.
  std::string json, plot, output;
  /// Results of an earlier run to draw.
  std::string from;
  std::string python;
  /// As it was typed, for the results.
  std::string commandLine;
};

struct CommandLine {
  std::optional<CompileOptions> compile;
  std::optional<RunOptions> run;
  std::optional<ExplainOptions> explain;
  std::optional<BenchOptions> bench;
};

/// Reads the command line. --help and --version print and end the process with
/// 0; everything wrong is an error with exit code 2.
llvm::Expected<CommandLine> parseCommandLine(int argc, char **argv);

} // namespace tegula::tool
