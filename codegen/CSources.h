// A C header and a C source with the kernels of an item inside: for programs that use it without the compiler.
//
// In: manifest and code of the preferred kernel and, where it has conditions, of the direct one, and of the packed one, if there is one. Out: NAME.h with a typed argument struct and
// four functions, and NAME.c that embeds the code and calls `tegula_kernel_load_codes` and `tegula_launch_values` of the runtime.
#pragma once

#include "runtime/Status.h"
#include <span>
#include <string>

namespace tegula {

struct KernelCode {
  std::string manifest, cubin, ptx;
};

struct CSources {
  std::string name; ///< of the item
  std::string header, source;
};

/// Writes the sources of the item of `codes`. Errors: `invalidArgument` where a name of the item cannot stand in C or C++, or where a manifest
/// is wrong.
rt::Result<CSources> writeCSources(std::span<const KernelCode> codes);

} // namespace tegula
