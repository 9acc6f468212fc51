//===- Concat.h - builds a message from its parts ---------------*- C++ -*-===//
//
// `concat("expected rank ", 4, ", but got ", rank)`: text, characters and
// numbers in, one string out. All messages of the runtime are made with it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>

namespace tegula::rt {

namespace detail {
inline void append(std::string &out, std::string_view text) { out += text; }
inline void append(std::string &out, char c) { out += c; }
inline void append(std::string &out, bool value) {
  out += value ? "true" : "false";
}
template <std::integral T> void append(std::string &out, T value) {
  out += std::to_string(value);
}
template <std::floating_point T> void append(std::string &out, T value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", static_cast<double>(value));
  out += buffer;
}
} // namespace detail

/// Joins the parts. Integers are written in decimal, floats as `%g`.
template <typename... Parts> std::string concat(const Parts &...parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

} // namespace tegula::rt
