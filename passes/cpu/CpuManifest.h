// What a CPU function says about itself: names, roles, extents and order of its arguments.
#pragma once

#include "dialect/tile/TileDialect.h"

namespace tegula {

/// The name of the function attribute that holds the manifest.
inline constexpr llvm::StringLiteral manifestAttrName = "tegula.manifest";

/// The manifest of `kernel` in the form that runtime/Manifest.h reads, from its argument attributes. Each tensor is passed as one
/// `pointer`: the address of its memref descriptor. Errors are reported at the kernel.
mlir::FailureOr<mlir::DictionaryAttr> makeCpuManifest(tile::KernelOp kernel);

} // namespace tegula
