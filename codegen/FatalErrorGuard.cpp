//===- FatalErrorGuard.cpp - LLVM's fatal errors as results ---------------===//
//
// LLVM's handler for fatal errors may not return. Ours throws where the thread
// is inside a guard: LLVM is built without exceptions but with unwind tables,
// so its frames are left without running destructors. Elsewhere it returns, and
// LLVM ends the process as ever.
//
//===----------------------------------------------------------------------===//
#include "codegen/FatalErrorGuard.h"
#include "llvm/Support/ErrorHandling.h"
#include <mutex>

namespace tegula {

namespace {
struct FatalError {
  std::string message;
};
} // namespace

static thread_local unsigned guardDepth = 0;

static void throwInsideGuard(void *, const char *reason, bool) {
  if (guardDepth > 0)
    throw FatalError{reason};
}

bool runGuarded(llvm::function_ref<void()> work, std::string &message) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::remove_fatal_error_handler();
    llvm::install_fatal_error_handler(throwInsideGuard);
  });
  struct Depth {
    Depth() { ++guardDepth; }
    ~Depth() { --guardDepth; }
  } depth;
  try {
    work();
    return true;
  } catch (const FatalError &error) {
    message = error.message;
    return false;
  }
}

} // namespace tegula
