//===- ElementType.h - element and scalar types at run time -----*- C++ -*-===//
//
// The types that a tensor or a scalar argument can have, with their names in a
// manifest, their sizes in memory and their codes in a tensor map. One list
// serves all of it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tegula::rt {

/// X(name, bytes in memory, CUtensorMapDataType). The order fixes the values of
/// `tegula_type` in tegula.h.
#define TEGULA_ELEMENT_TYPES(X)                                                \
  X(boolean, "bool", 1, 0)                                                     \
  X(i8, "i8", 1, 0)                                                            \
  X(u8, "u8", 1, 0)                                                            \
  X(i16, "i16", 2, 1)                                                          \
  X(i32, "i32", 4, 3)                                                          \
  X(i64, "i64", 8, 5)                                                          \
  X(f16, "f16", 2, 6)                                                          \
  X(bf16, "bf16", 2, 9)                                                        \
  X(f32, "f32", 4, 7)                                                          \
  X(f64, "f64", 8, 8)

enum class ElementType : uint8_t {
#define X(id, name, bytes, mapType) id,
  TEGULA_ELEMENT_TYPES(X)
#undef X
};

/// The name in a manifest and in `.tg` text: "bf16".
constexpr std::string_view elementTypeName(ElementType type) {
  constexpr std::string_view names[] = {
#define X(id, name, bytes, mapType) name,
      TEGULA_ELEMENT_TYPES(X)
#undef X
  };
  return names[static_cast<int>(type)];
}

/// Bytes that one element takes in memory.
constexpr int64_t elementSize(ElementType type) {
  constexpr int64_t sizes[] = {
#define X(id, name, bytes, mapType) bytes,
      TEGULA_ELEMENT_TYPES(X)
#undef X
  };
  return sizes[static_cast<int>(type)];
}

/// The `CUtensorMapDataType` that moves such elements unchanged.
constexpr int tensorMapDataType(ElementType type) {
  constexpr int codes[] = {
#define X(id, name, bytes, mapType) mapType,
      TEGULA_ELEMENT_TYPES(X)
#undef X
  };
  return codes[static_cast<int>(type)];
}

constexpr bool isFloat(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16 ||
         type == ElementType::f32 || type == ElementType::f64;
}

/// Reads a type's name; "i1" is accepted for "bool".
constexpr std::optional<ElementType> parseElementType(std::string_view text) {
  if (text == "i1")
    return ElementType::boolean;
#define X(id, name, bytes, mapType)                                            \
  if (text == name)                                                            \
    return ElementType::id;
  TEGULA_ELEMENT_TYPES(X)
#undef X
  return std::nullopt;
}

} // namespace tegula::rt
