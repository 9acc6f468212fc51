//===- Types.h - element types of the language ------------------*- C++ -*-===//
//
// The element types that a tensor, a scalar or a cast can name. Expressions
// compute in a few of them only: bool, i32, i64, f32 (f64 where q is f64); the
// others widen when they are read.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_TYPES_H
#define TEGULA_LANG_TYPES_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tegula::lang {

enum class ElemType {
  Error, ///< the type of an expression that a diagnostic was given for
  Bool,
  I8,
  U8,
  I16,
  I32,
  I64,
  F16,
  BF16,
  F32,
  F64,
  E4M3,
  E5M2
};

/// The name as it is written in source text, `bf16` for BF16.
llvm::StringRef elemTypeName(ElemType type);

/// The type that `name` spells, if any.
std::optional<ElemType> elemTypeFromName(llvm::StringRef name);

/// All names for a message: `bool i8 u8 ...`.
llvm::StringRef elemTypeList();

bool isInteger(ElemType type); ///< i8 u8 i16 i32 i64
bool isFloat(ElemType type);   ///< f16 bf16 f32 f64 e4m3 e5m2

/// Width of an integer type in bits.
unsigned integerBits(ElemType type);

} // namespace tegula::lang

#endif
