//===- Status.h - how the runtime reports failure ---------------*- C++ -*-===//
//
// Every call that can fail returns a `Status`, or a `Result<T>` which is either
// a value or a failed status. No exception leaves the runtime and the host
// process is never aborted. A message is lower case, without a full stop, and
// names what was found and what was expected; for a failed driver call it names
// the call, the CUDA error, the kernel and the shapes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cassert>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace tegula::rt {

/// What kind of failure it was. The values are those of `tegula_status` in
/// tegula.h.
enum class StatusCode {
  ok = 0,
  /// The caller's argument, manifest or image is wrong.
  invalidArgument = 1,
  /// Something is absent: the driver, a GPU, an entry point, the right
  /// architecture, or a kernel that would have to be loaded during a capture.
  unavailable = 2,
  /// Device or host memory ran out.
  outOfMemory = 3,
  /// A driver call failed for another reason.
  driverError = 4,
  /// The runtime or the compiler broke its own rules.
  internal = 5,
  /// The program text does not compile; the message holds the diagnostics.
  sourceError = 6,
  /// An assertion of the program did not hold while it ran.
  assertionFailed = 7,
};

/// The name of `code` as printed: "invalid argument", "driver error", ...
const char *statusCodeName(StatusCode code);

/// Success, or a code with a message. An OK status holds no memory.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message, int driverError = 0)
      : detail(std::make_unique<Detail>(
            Detail{code, driverError, std::move(message)})) {}
  Status(const Status &other)
      : detail(other.detail ? std::make_unique<Detail>(*other.detail)
                            : nullptr) {}
  Status(Status &&) = default;
  Status &operator=(Status other) {
    detail = std::move(other.detail);
    return *this;
  }

  bool ok() const { return !detail; }
  StatusCode code() const { return detail ? detail->code : StatusCode::ok; }
  /// The text, empty when ok.
  const std::string &message() const {
    static const std::string empty;
    return detail ? detail->message : empty;
  }
  /// The `CUresult` behind a failed driver call, otherwise 0.
  int driverError() const { return detail ? detail->driverError : 0; }
  /// The same failure with `suffix` added to its message.
  Status with(const std::string &suffix) const {
    return ok() ? Status() : Status(code(), message() + suffix, driverError());
  }

private:
  struct Detail {
    StatusCode code;
    int driverError;
    std::string message;
  };
  std::unique_ptr<Detail> detail;
};

inline Status invalidArgument(std::string message) {
  return Status(StatusCode::invalidArgument, std::move(message));
}
inline Status unavailable(std::string message) {
  return Status(StatusCode::unavailable, std::move(message));
}
/// `internal:` is put in front of the message.
inline Status internalError(std::string message) {
  return Status(StatusCode::internal, "internal: " + std::move(message));
}

/// A value, or the status that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Status status) : failure(std::move(status)) {
    assert(!failure.ok() && "a Result without a value needs a failed status");
  }

  bool ok() const { return value.has_value(); }
  const Status &status() const { return failure; }
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }

private:
  std::optional<T> value;
  Status failure;
};

/// Runs `body` (which returns a Status or a Result) and turns an exception of
/// the standard library into a status: the boundary of the API.
template <typename Body> auto guarded(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return Status(StatusCode::outOfMemory, "out of host memory");
  } catch (const std::exception &error) {
    return internalError(error.what());
  }
}

} // namespace tegula::rt

/// Returns from the enclosing function when `expr` is a failed Status.
#define TEGULA_RETURN_IF_FAILED(expr)                                          \
  do {                                                                         \
    if (::tegula::rt::Status tegulaStatus = (expr); !tegulaStatus.ok())        \
      return tegulaStatus;                                                     \
  } while (false)
