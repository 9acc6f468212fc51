//===- Ptxas.h - PTX to machine code by the CUDA toolkit --------*- C++ -*-===//
//
// In: PTX text. Out: a cubin, with what ptxas says of registers, spills and
// serialised matrix instructions. ptxas is looked for at run time; a machine
// without it gets a status of its own, as PTX can still be given to the driver.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_CODEGEN_PTXAS_H
#define TEGULA_CODEGEN_PTXAS_H

#include "codegen/Target.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace tegula {

enum class PtxasStatus {
  Ok,
  Missing, ///< no ptxas on this machine
  Failed,  ///< ptxas ran and refused the text, or did not run to its end
};

/// One line of ptxas with a number, such as `(C7510) Potential Performance
/// Loss: ...`.
struct PtxasNote {
  unsigned number;
  std::string text;
  /// Matrix instructions wait for one another: the kernel is right but several
  /// times slower.
  bool serialises;
};

/// What ptxas -v reports; the largest over the entry points of the text. Sizes
/// in bytes.
struct PtxasFacts {
  unsigned registers = 0;
  unsigned barriers = 0;
  unsigned stackBytes = 0;
  unsigned spillStores = 0;
  unsigned spillLoads = 0;
  unsigned sharedBytes = 0;
  llvm::SmallVector<PtxasNote> notes;
};

struct PtxasResult {
  PtxasStatus status = PtxasStatus::Missing;
  std::string cubin;
  PtxasFacts facts;
  /// Why it failed, one line without the log. For a failed run the PTX that
  /// `command` names is kept.
  std::string message;
  std::string command;
  std::string log;
};

struct PtxasOptions {
  const Target *target = &defaultTarget();
  /// Line numbers of the source in the machine code, for profilers.
  bool lineInfo = false;
  /// A run longer than this has failed; 0: no limit.
  unsigned secondsLimit = 600;
};

/// Path of ptxas: what TEGULA_PTXAS names (alone, where it is set), else the
/// first of PATH, CUDA_HOME, CUDA_PATH, /usr/local/cuda; empty where there is
/// none.
std::string findPtxas();

/// Assembles `ptx`.
PtxasResult assemblePtx(llvm::StringRef ptx, const PtxasOptions &options = {});

/// Reads the output of `ptxas -v`.
PtxasFacts parsePtxasLog(llvm::StringRef log);

} // namespace tegula

#endif // TEGULA_CODEGEN_PTXAS_H
