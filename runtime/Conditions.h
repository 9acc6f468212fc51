//===- Conditions.h - whether a kernel can take these operands --*- C++ -*-===//
//
// A kernel that copies by TMA needs more of its operands than the program does:
// aligned addresses, strides in multiples of 16 bytes, no empty
// axis. These rules follow from the tensor maps of its manifest, and the
// manifest may list more. Where one fails, the direct kernel is used.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Arguments.h"

namespace tegula::rt {

/// Whether a kernel can run, and if not, why: "the address of `q` is not a
/// multiple of 16".
struct Verdict {
  bool holds = true;
  std::string reason;
};

/// Checks the conditions of `manifest`, and the rules of its tensor maps, for
/// arguments that `bindArguments` accepted. No heap memory when they hold.
Verdict checkConditions(const Manifest &manifest, const Arguments &arguments,
                        const Binding &binding);

} // namespace tegula::rt
