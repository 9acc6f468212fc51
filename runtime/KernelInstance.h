//===- KernelInstance.h - a kernel in one context ---------------*- C++ -*-===//
//
// Private to Kernel.cpp and Launch.cpp: what a launch needs of the context that
// it runs in.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Kernel.h"
#include "runtime/Workspace.h"

namespace tegula::rt {

struct Kernel::Instance {
  cu::Context context;
  unsigned long long contextId;
  Module module;
  cu::Function function, prepass; // null where there is no pre-pass
  const Device *device;
  std::unique_ptr<Workspace> workspace; // null where the kernel takes none
  Instance *next;
};

} // namespace tegula::rt
