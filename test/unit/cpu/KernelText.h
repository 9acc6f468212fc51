// Pieces of a kernel's text, and a call of it by the names of its tensors.
#pragma once

#include "codegen/CpuKernel.h"
#include "test/unit/cpu/HostTensor.h"
#include <algorithm>

namespace tegula::test {

/// Runs `kernel` on the tensors given by name.
inline rt::Status call(const CpuKernel &kernel, std::initializer_list<std::pair<const char *, HostTensor *>> tensors) {
  rt::Arguments arguments = kernel.arguments();
  for (auto [name, tensor] : tensors)
    if (rt::Status status = arguments.set(name, tensor->view()); !status.ok())
      return status;
  return kernel.run(arguments);
}

/// Memory of run-time extents and strides, for example `memref<?x?xf32, strided<[?, ?]>>`.
inline std::string memory(const std::string &type, int rank) {
  std::string extents, strides;
  for (int axis = 0; axis != rank; ++axis) {
    extents += "?x";
    strides += axis ? ", ?" : "?";
  }
  return "memref<" + extents + type + ", strided<[" + strides + "]>>";
}

/// An argument of a kernel: a tensor; `dims` is the list of `tile.dims`.
inline std::string argument(const std::string &name, const std::string &type, const std::string &dims, const std::string &role) {
  int rank = 1 + static_cast<int>(std::count(dims.begin(), dims.end(), ','));
  return "%" + name + ": " + memory(type, rank) + " {tile.name = \"" + name + "\", tile.dims = [" + dims + "], tile.role = \"" + role + "\"}";
}

inline std::string dim(const std::string &name) { return "%" + name + ": i64 {tile.dim = \"" + name + "\"}"; }

} // namespace tegula::test
