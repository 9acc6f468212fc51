//===- CHandles.h - what is behind the C handles ----------------*- C++ -*-===//
//
// Private to CApi.cpp and to the JIT's C entry point: the structures that the
// handles of tegula.h point to, and how a status becomes a code and a text.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/KernelSet.h"
#include "runtime/tegula.h"

struct tegula_kernel {
  std::shared_ptr<tegula::rt::KernelSet> set;
};

struct tegula_args {
  tegula::rt::Arguments arguments;
};

struct tegula_stream {
  tegula::rt::Stream stream;
};

struct tegula_buffer {
  tegula::rt::Buffer buffer;
};

namespace tegula::rt {

/// The code of `status`; its message becomes this thread's last error.
tegula_status recordStatus(const Status &status) noexcept;

/// Refuses a null pointer; `names` says what the pointers are.
Status checkNotNull(std::initializer_list<const void *> pointers,
                    const char *names);

/// Runs `body`, which gives a Status, and records it. Catches everything.
template <typename Body> tegula_status recorded(Body body) noexcept {
  return recordStatus(guarded([&]() -> Status { return body(); }));
}

} // namespace tegula::rt
