//===- ExplainCommand.cpp - tegula explain --------------------------------===//
//
// Reads the source, gathers the facts, prints them in the form that was asked
// for.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Commands.h"
#include "tools/tegula/Explanation.h"
#include "tools/tegula/Failure.h"

#include "llvm/Support/raw_ostream.h"

using namespace tegula;
using namespace tegula::tool;

static llvm::Error write(llvm::StringRef path, const Explanation &explanation,
                         void (*print)(const Explanation &,
                                       llvm::raw_ostream &)) {
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (!code) {
    print(explanation, file);
    file.flush();
    code = file.error();
    file.clear_error();
  }
  return code ? userError(path + ": cannot be written: " + code.message())
              : llvm::Error::success();
}

llvm::Error tegula::tool::runExplain(const ExplainOptions &options) {
  auto program = openProgram(options);
  if (!program)
    return program.takeError();
  auto explanation = explain(**program, options);
  if (!explanation)
    return explanation.takeError();
  llvm::errs() << explanation->diagnostics;
  if (options.time)
    llvm::errs() << explanation->stageTimes;
  if (!options.svg.empty())
    return write(options.svg, *explanation, printSvg);
  if (!options.html.empty())
    return write(options.html, *explanation, printHtml);
  return write("-", *explanation, options.json ? printJson : printText);
}
