// Integer expressions in prefix form, such as the extent `(+ B 1)` of a kernel's argument, as code.
#pragma once

#include "dialect/tile/TileDialect.h"
#include "mlir/IR/Builders.h"

namespace tegula::tile {

/// Computes `text` in i64. `named` gives the value of a dim or scalar, or null where there is none. Understands numbers, names and
/// `+ - * / % ceildiv min max neg abs`; quotients are floored, and 0 for a divisor of 0. Null, without a message, for anything else.
mlir::Value emitPrefix(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef text, llvm::function_ref<mlir::Value(llvm::StringRef)> named);

/// The same, of the dims and integer scalars of a kernel.
mlir::Value emitPrefix(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef text, KernelOp kernel);

/// The inverse, which knows `<<`, `>>` and `packing` too, as a launch does: an integer that is computed of constants and of what `named` has a name for; empty for any other.
std::string printPrefix(mlir::Value value, llvm::function_ref<std::string(mlir::BlockArgument)> named);

/// The same, of the dims and integer scalars of a kernel.
std::string printPrefix(mlir::Value value);

/// The parts of a condition or number in prefix form: `(> G 0)` is the word `>` with two arguments.
struct PrefixTerm {
  llvm::StringRef text, word;
  std::vector<PrefixTerm> args;

  /// Takes a term off the front of `rest`.
  static PrefixTerm parse(llvm::StringRef &rest);
  bool is(llvm::StringRef sign) const { return args.size() == 2 && word == sign; }
  std::optional<int64_t> number() const;
};

} // namespace tegula::tile
