//===- CpuReports.cpp - what a kernel says while it runs ------------------===//
//
// Kernels run on the thread that calls them, so the reports of a run belong to
// a thread.
//
//===----------------------------------------------------------------------===//
#include "codegen/CpuReports.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include <cinttypes>
#include <cstdio>

using namespace tegula;

static thread_local CpuReports *current = nullptr;

CpuReports::CpuReports() : outer(current) { current = this; }
CpuReports::~CpuReports() { current = outer; }

void CpuReports::printText(const char *text, int64_t length) {
  fwrite(text, 1, static_cast<size_t>(length), stderr);
}

void CpuReports::printInteger(int64_t value) {
  fprintf(stderr, "%" PRId64, value);
}

void CpuReports::printReal(double value) { fprintf(stderr, "%g", value); }

void CpuReports::printFlag(int64_t value) {
  fputs(value ? "true" : "false", stderr);
}

void CpuReports::assertionFailed(const char *text, int64_t length) {
  if (current->failed.empty())
    current->failed.assign(text, static_cast<size_t>(length));
}

llvm::Error CpuReports::define(llvm::orc::LLJIT &jit) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](llvm::StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  add("tegula.print_text", &printText);
  add("tegula.print_integer", &printInteger);
  add("tegula.print_real", &printReal);
  add("tegula.print_flag", &printFlag);
  add("tegula.assertion_failed", &assertionFailed);
  return jit.getMainJITDylib().define(
      llvm::orc::absoluteSymbols(std::move(symbols)));
}
