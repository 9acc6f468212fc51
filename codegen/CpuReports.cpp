//===- CpuReports.cpp - what a kernel says while it runs ------------------===//
//
// Kernels run on the thread that calls them, so the reports of a run belong to
// a thread.
//
//===----------------------------------------------------------------------===//
#include "codegen/CpuReports.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include <cstdio>

using namespace tegula;

static thread_local CpuReports *current = nullptr;

CpuReports::CpuReports() : outer(current) { current = this; }
CpuReports::~CpuReports() { current = outer; }

void CpuReports::print(llvm::StringRef text) {
  if (!current->isFailing)
    fwrite(text.data(), 1, text.size(), stderr);
  else if (current->isFirst)
    current->failed += text;
}

void CpuReports::printText(const char *text, int64_t length) { print({text, static_cast<size_t>(length)}); }

void CpuReports::printInteger(int64_t value) { print(std::to_string(value)); }

void CpuReports::printReal(double value) {
  char text[32];
  print({text, static_cast<size_t>(snprintf(text, sizeof text, "%g", value))});
}

void CpuReports::printFlag(int64_t value) { print(value ? "true" : "false"); }

void CpuReports::assertionFailed(int64_t begins) {
  current->isFailing = begins;
  current->isFirst = current->failed.empty();
}

llvm::Error CpuReports::define(llvm::orc::LLJIT &jit) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](llvm::StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  add("tegula.print_text", &printText);
  add("tegula.print_integer", &printInteger);
  add("tegula.print_real", &printReal);
  add("tegula.print_flag", &printFlag);
  add("tegula.assertion_failed", &assertionFailed);
  return jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
}
