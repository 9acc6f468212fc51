// What manifests of every target say: what the user of a kernel passes to it, read off the attributes of its arguments, and its schedule.
#pragma once

#include "dialect/tile/TileDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tegula::tile {

/// "bf16", "i32", "bool" for i1: element types as sources and manifests write them.
std::string elementTypeName(mlir::Type type);

/// The fields `name`, `tensors`, `scalars`, `dims`, `signature` and `requires` of docs/manifest.md. Fails at the kernel where an argument has
/// no name, or a tensor no role or not one extent an axis.
mlir::FailureOr<mlir::SmallVector<mlir::NamedAttribute>> describeSignature(mlir::FunctionOpInterface kernel);

/// The bytes of an argument that is scratch memory, as a prefix expression.
std::string describeScratch(mlir::FunctionOpInterface kernel, unsigned argument);

/// The fields of a schedule that its form reads, by name.
mlir::DictionaryAttr describeSchedule(ScheduleAttr schedule);

} // namespace tegula::tile
