//===- CpuReports.h - what a kernel says while it runs ----------*- C++ -*-===//
//
// The functions that the code of `tile.print` and `tile.assert` calls on the
// CPU. Printed text goes to the standard error, where it mixes with no result,
// but for that of the first failed assertion, which is kept for the caller of
// the kernel.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_CODEGEN_CPUREPORTS_H
#define TEGULA_CODEGEN_CPUREPORTS_H

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <string>

namespace tegula {

/// Collects the reports of kernels that this thread runs while it lives.
class CpuReports {
public:
  CpuReports();
  ~CpuReports();
  CpuReports(const CpuReports &) = delete;
  CpuReports &operator=(const CpuReports &) = delete;

  /// Place and message of the first assertion that failed, or nothing.
  const std::string &failure() const { return failed; }

  /// Lets the code of `jit` call the functions.
  static llvm::Error define(llvm::orc::LLJIT &jit);

private:
  static void print(llvm::StringRef text);
  static void printText(const char *text, int64_t length);
  static void printInteger(int64_t value);
  static void printReal(double value);
  static void printFlag(int64_t value);
  static void assertionFailed(int64_t begins);

  std::string failed;
  /// Whether what is printed belongs to a failed assertion, and whether that
  /// is the first one.
  bool isFailing = false, isFirst = false;
  CpuReports *outer;
};

} // namespace tegula

#endif // TEGULA_CODEGEN_CPUREPORTS_H
