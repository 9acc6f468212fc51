// Integer expressions in prefix form, such as the extent `(+ B 1)` of a kernel's argument, as code.
#pragma once

#include "mlir/IR/Builders.h"

namespace tegula::tile {

/// Computes `text` in i64. `named` gives the value of a dim or scalar, or null where there is none. Understands numbers, names and
/// `+ - * / % ceildiv min max neg abs`; quotients are floored, and 0 for a divisor of 0. Null, without a message, for anything else.
mlir::Value emitPrefix(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef text, llvm::function_ref<mlir::Value(llvm::StringRef)> named);

} // namespace tegula::tile
