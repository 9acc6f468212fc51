//===- Concat.h - builds a message from its parts ---------------*- C++ -*-===//
//
// `concat("expected rank ", 4, ", but got ", rank)`: text, characters and
// numbers in, one string out. All messages of the runtime are made with it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

namespace tegula::rt {

namespace detail {
template <typename T> void append(std::string &out, const T &part) {
  if constexpr (std::is_same_v<T, char>) {
    out += part;
  } else if constexpr (std::is_same_v<T, bool>) {
    out += part ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    out += std::to_string(part);
  } else if constexpr (std::is_floating_point_v<T>) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%g", static_cast<double>(part));
    out += buffer;
  } else {
    out += std::string_view(part);
  }
}
} // namespace detail

/// Joins the parts. Integers are written in decimal, floats as `%g`.
template <typename... Parts> std::string concat(const Parts &...parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

} // namespace tegula::rt
