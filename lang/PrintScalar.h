//===- PrintScalar.h - index code as a person writes it ---------*- C++ -*-===//
//
// Integers and conditions of the stage `attention` and of masks, in the names
// of the source: what `tegula explain` says of a mask. Sums are collected and
// guards of divisions left out, so the text means the same as the code but does
// not have its shape.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_PRINTSCALAR_H
#define TEGULA_LANG_PRINTSCALAR_H

#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace tegula::lang {

class ScalarPrinter {
public:
  /// What to call values; the rest is written out, and "..." stands for what
  /// has no words here.
  explicit ScalarPrinter(llvm::DenseMap<mlir::Value, std::string> names)
      : names(std::move(names)) {}

  std::string text(mlir::Value value) const { return print(value).text; }

  /// "j <= i + N - M" for the keys below `end`, and the like for those from
  /// `begin` on.
  std::string below(llvm::StringRef key, mlir::Value end) const;
  std::string from(llvm::StringRef key, mlir::Value begin) const;

private:
  /// `level` is that of the outermost operator, 0 for an atom.
  struct Text {
    std::string text;
    unsigned level = 0;
    std::string within(unsigned most) const {
      return level <= most ? text : "(" + text + ")";
    }
  };
  struct Sum;

  Text print(mlir::Value value) const;
  Text printOperation(mlir::Operation *op) const;
  std::string printLoop(mlir::Operation *op) const;
  Text binary(mlir::Value x, llvm::StringRef sign, mlir::Value y,
              unsigned level) const;
  std::string call(llvm::StringRef callee, mlir::ValueRange operands) const;
  void collect(mlir::Value value, int64_t factor, Sum &sum) const;
  std::string compared(llvm::StringRef key, mlir::Value bound,
                       bool isEnd) const;
  static Text print(const Sum &sum);

  llvm::DenseMap<mlir::Value, std::string> names;
};

} // namespace tegula::lang

#endif
