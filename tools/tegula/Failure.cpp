//===- Failure.cpp - exit codes of the command line tool ------------------===//
//
// Turns the errors of the tool into text on stderr and an exit code.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Failure.h"

#include "llvm/Support/raw_ostream.h"

using namespace tegula::tool;

char Failure::ID = 0;

int tegula::tool::reportError(llvm::Error error) {
  llvm::outs().flush(); // what went well comes first
  int code = 0;
  auto keepFirst = [&](ExitCode next) {
    if (code == 0)
      code = static_cast<int>(next);
  };
  llvm::handleAllErrors(
      std::move(error),
      [&](const Failure &failure) {
        keepFirst(failure.code);
        llvm::StringRef text = llvm::StringRef(failure.message).rtrim();
        llvm::errs() << (failure.rendered ? "" : "tegula: error: ") << text
                     << '\n';
      },
      [&](const llvm::ErrorInfoBase &other) {
        keepFirst(ExitCode::internal);
        llvm::errs() << "tegula: error: internal: " << other.message() << '\n';
      });
  return code;
}
