// Values of any width from another lane of the warp.
#pragma once

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace tegula {

/// The value of lane `lane` (`idx`), or of the one whose number differs in those bits (`bfly`); an integer or float of up to 64 bits. All lanes take part.
mlir::Value shuffle(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Value lane, mlir::NVVM::ShflKind kind);

} // namespace tegula
