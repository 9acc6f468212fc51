// What the user of a kernel passes to it: the first half of its manifest, read off the attributes of the kernel's arguments.
//
// In: a `tile.kernel` or `warp.kernel`. Out: the fields that all kernels of an item share, on every target.
#pragma once

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tegula::tile {

/// "bf16", "i32", "bool" for i1: element types as sources and manifests write them.
std::string elementTypeName(mlir::Type type);

/// The fields `name`, `tensors`, `scalars`, `dims`, `signature` and `requires` of docs/manifest.md. Fails at the kernel where an argument has
/// no name, or a tensor no role or not one extent an axis.
mlir::FailureOr<mlir::SmallVector<mlir::NamedAttribute>> describeSignature(mlir::FunctionOpInterface kernel);

} // namespace tegula::tile
