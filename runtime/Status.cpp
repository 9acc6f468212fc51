//===- Status.cpp - names of the status codes -----------------------------===//
//
// The only text that is common to all failures: the printed name of each code.
//
//===----------------------------------------------------------------------===//
#include "runtime/Status.h"

namespace tegula::rt {

const char *statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::ok:
    return "ok";
  case StatusCode::invalidArgument:
    return "invalid argument";
  case StatusCode::unavailable:
    return "unavailable";
  case StatusCode::outOfMemory:
    return "out of memory";
  case StatusCode::driverError:
    return "driver error";
  case StatusCode::internal:
    return "internal error";
  case StatusCode::sourceError:
    return "source error";
  case StatusCode::assertionFailed:
    return "assertion failed";
  }
  return "unknown status";
}

} // namespace tegula::rt
