//===- Expect.h - llvm::Expected in tests -----------------------*- C++ -*-===//
//
// The value of an Expected, or a failed test; the message of an Error.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Failure.h"
#include "gtest/gtest.h"

#include <cstdlib>

namespace tegula::tool {

template <typename T> T valueOf(llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  ADD_FAILURE() << llvm::toString(value.takeError());
  std::abort();
}

/// "CODE: MESSAGE", or "" for success.
inline std::string textOf(llvm::Error error) {
  std::string text;
  llvm::handleAllErrors(std::move(error), [&](const Failure &failure) {
    text =
        std::to_string(static_cast<int>(failure.code)) + ": " + failure.message;
  });
  return text;
}
template <typename T> std::string textOf(llvm::Expected<T> value) {
  return value ? "" : textOf(value.takeError());
}

} // namespace tegula::tool
