//===- Types.cpp - element types of the language --------------------------===//
//
// One table of names; everything else is a lookup in it.
//
//===----------------------------------------------------------------------===//
#include "lang/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tegula::lang;

llvm::StringRef tegula::lang::elemTypeName(ElemType type) {
  static constexpr llvm::StringLiteral names[] = {
      "<error>", "bool", "i8",  "u8",  "i16",  "i32", "i64",
      "f16",     "bf16", "f32", "f64", "e4m3", "e5m2"};
  return names[static_cast<int>(type)];
}

std::optional<ElemType> tegula::lang::elemTypeFromName(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<ElemType>>(name)
      .Case("bool", ElemType::Bool)
      .Case("i8", ElemType::I8)
      .Case("u8", ElemType::U8)
      .Case("i16", ElemType::I16)
      .Case("i32", ElemType::I32)
      .Case("i64", ElemType::I64)
      .Case("f16", ElemType::F16)
      .Case("bf16", ElemType::BF16)
      .Case("f32", ElemType::F32)
      .Case("f64", ElemType::F64)
      .Case("e4m3", ElemType::E4M3)
      .Case("e5m2", ElemType::E5M2)
      .Default(std::nullopt);
}

llvm::StringRef tegula::lang::elemTypeList() {
  return "bool i8 u8 i16 i32 i64 f16 bf16 f32 f64";
}

bool tegula::lang::isInteger(ElemType type) {
  return type >= ElemType::I8 && type <= ElemType::I64;
}

bool tegula::lang::isFloat(ElemType type) { return type >= ElemType::F16; }

unsigned tegula::lang::integerBits(ElemType type) {
  switch (type) {
  case ElemType::I8:
  case ElemType::U8:
    return 8;
  case ElemType::I16:
    return 16;
  case ElemType::I32:
    return 32;
  default:
    return 64;
  }
}
