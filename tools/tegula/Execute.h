//===- Execute.h - compiled items, run on this machine ----------*- C++ -*-===//
//
// One interface over the two places that an item can run in: the CPU, and a GPU
// with tensors copied there and back. An executable may run many problems of
// its item.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Workspace.h"
#include "tools/tegula/Options.h"
#include "tools/tegula/Problem.h"

namespace tegula {
class Compiler;
struct CompileRequest;
struct CompileResult;
} // namespace tegula

namespace tegula::tool {

/// What one run says about itself.
struct Execution {
  std::string device;
  /// The fields of the schedule that ran, as JSON text of an object.
  std::string schedule;
  /// Why it was not the preferred kernel; empty if it was.
  std::string reason;
  /// Of the timed launches, in order.
  std::vector<double> milliseconds;
  /// Rows that the last launch computed a second time.
  uint32_t redoneRows = 0;
  /// Blocks of keys that the last launch visited, where its kernel counts them:
  /// in a debug build for a GPU.
  std::optional<rt::BlockVisits> visits = std::nullopt;
};

class Executable {
public:
  virtual ~Executable() = default;
  /// Computes the outputs of `problem`. `runs` timed launches, each on the same
  /// input; 0: as many as are worth it, of a kernel that prints one. Errors:
  /// arguments that the kernel refuses (exit code 1), an assertion that fails
  /// (3), a lack of memory (4), faults of the kernel (70).
  virtual llvm::Expected<Execution> run(Problem &problem, int runs) = 0;
  /// Warnings and remarks of the compilation.
  std::string diagnostics;
  /// The time of each stage, a line each.
  std::string stageTimes;
};

/// Compiles for this host. With `debug` runs check what the source claims of
/// the arguments: not true, that is an assertion that fails.
llvm::Expected<std::unique_ptr<Executable>>
compileForCpu(Compiler &compiler, const CompileRequest &request,
              bool debug = false);

/// Compiles for GPU 0: to a cubin where there is a ptxas, else to PTX for the
/// driver. Where the request leaves the form of the schedule open, operands
/// that the chosen kernel cannot take are given to a `direct` one, which is
/// compiled then; so `compiler` has to live as long as the result. `debug` is
/// as above, and its kernel part of what is timed; it also counts visits.
llvm::Expected<std::unique_ptr<Executable>>
compileForCuda(Compiler &compiler, const CompileRequest &request,
               bool debug = false);

/// Whether there is a GPU; if not, `reason` says why.
bool hasGpu(std::string &reason);

/// Times of stages, a line each: "attention 1.2 ms".
std::string stageTimesText(const CompileResult &result);

/// The failure of a compilation.
llvm::Error compileError(const CompileResult &result);

} // namespace tegula::tool
