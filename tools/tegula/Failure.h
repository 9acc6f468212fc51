//===- Failure.h - exit codes of the command line tool ----------*- C++ -*-===//
//
// Every step of the tool returns an llvm::Error that carries a message and the
// exit code to end with. Scripts rely on the codes; the texts are lower case,
// without a full stop, and name what was found and what was expected.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace tegula::tool {

enum class ExitCode : int {
  done = 0,
  /// The source or an argument is wrong.
  user = 1,
  /// The command line is wrong.
  usage = 2,
  /// The result is outside the tolerance.
  checkFailed = 3,
  /// This machine lacks something: GPU, ptxas, memory, driver.
  lacking = 4,
  /// Tegula broke its own rules.
  internal = 70,
};

/// A message and the exit code that it leads to.
class Failure : public llvm::ErrorInfo<Failure> {
public:
  static char ID;
  Failure(ExitCode code, std::string message, bool rendered = false)
      : code(code), message(std::move(message)), rendered(rendered) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

  const ExitCode code;
  const std::string message;
  /// The message is complete diagnostic text ("file:1:2: error: ...") and is
  /// printed as it is.
  const bool rendered;
};

inline llvm::Error fail(ExitCode code, const llvm::Twine &message) {
  return llvm::make_error<Failure>(code, message.str());
}
/// A file, tensor or argument of the user is wrong.
inline llvm::Error userError(const llvm::Twine &message) {
  return fail(ExitCode::user, message);
}
inline llvm::Error usageError(const llvm::Twine &message) {
  return fail(ExitCode::usage, message);
}
inline llvm::Error lackingError(const llvm::Twine &message) {
  return fail(ExitCode::lacking, message);
}

/// Prints "tegula: error: MESSAGE" for each failure in `error` to stderr and
/// returns the exit code of the first; errors that are no Failure are internal.
int reportError(llvm::Error error);

} // namespace tegula::tool
