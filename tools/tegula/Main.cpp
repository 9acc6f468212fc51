//===- Main.cpp - the tegula command --------------------------------------===//
//
// Parses the command line, runs a subcommand, ends with its exit code.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Commands.h"
#include "tools/tegula/Failure.h"

#include "llvm/Support/InitLLVM.h"

using namespace tegula::tool;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::Expected<CommandLine> commandLine = parseCommandLine(argc, argv);
  if (!commandLine)
    return reportError(commandLine.takeError());
  if (commandLine->compile)
    return reportError(runCompile(*commandLine->compile));
  if (commandLine->explain)
    return reportError(runExplain(*commandLine->explain));
  if (commandLine->bench)
    return reportError(runBench(*commandLine->bench));
  return reportError(runRun(*commandLine->run));
}
