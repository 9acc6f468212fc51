//===- Workspace.h - counters of a kernel in device memory ------*- C++ -*-===//
//
// A kernel with a `workspace` argument keeps counters in a slot of zeroed
// memory: 8 bytes that each launch leaves at zero again (the next tile, the
// CTAs that are done), then a 32-bit count of redone rows that only grows, and
// from byte 16 on, where the kernel counts them, two 64-bit ones of the blocks
// of keys that it visited. Two launches that may run at the same time never
// share a slot: what is plainly launched on one stream runs in order and has
// one, and every captured launch has its own. Slots are cut from slabs and
// given back with the kernel.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Device.h"
#include "runtime/Manifest.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace tegula::rt {

/// Blocks of keys that a kernel visited, each once for each tile of queries.
struct BlockVisits {
  uint64_t partial = 0; ///< with the element mask
  uint64_t full = 0;    ///< without
};

/// The slots of one kernel in one context, which has to be current for every
/// call. Any number of threads may call.
class Workspace {
public:
  /// Bytes from slot to slot: no two slots share a cache line.
  static constexpr size_t slotBytes = maxWorkspaceBytes;
  /// Slots of the first slab; each later slab doubles the number.
  static constexpr size_t firstSlots = 64;

  /// Allocates and zeroes the first slab.
  static Result<std::unique_ptr<Workspace>> create(const Driver &driver,
                                                   cu::Context context);
  ~Workspace();
  Workspace(const Workspace &) = delete;
  Workspace &operator=(const Workspace &) = delete;

  /// The slot for a launch on `stream`. A stream that has one is found without
  /// a lock, heap memory or a wait. A stream's first launch and each captured
  /// one take a slot; when all are taken, another slab is allocated and zeroed,
  /// which waits, but not for the caller's streams, and leaves captures valid.
  Result<cu::DevicePtr> slotFor(void *stream);

  /// Waits for `stream`, then reads the count of redone rows of its plain
  /// launches; 0 where it has had none. Errors: `unavailable` for a stream that
  /// is being captured.
  Result<uint32_t> redoneRows(void *stream) const;

  /// As above, of the blocks that were visited: for a kernel that counts them.
  Result<BlockVisits> visits(void *stream) const;

private:
  /// From a stream's id to its slot. Open addressing; at most half full, so a
  /// search ends at an empty entry.
  class Table {
  public:
    explicit Table(size_t size) : entries(size) {}
    /// 0 where the stream has none.
    cu::DevicePtr find(unsigned long long stream) const;
    void add(unsigned long long stream, cu::DevicePtr slot);
    void addAll(const Table &other);

  private:
    struct Entry {
      unsigned long long stream = 0;
      /// Stored last: 0 as long as the entry is empty.
      std::atomic<cu::DevicePtr> slot{0};
    };
    size_t indexOf(unsigned long long stream) const;
    std::vector<Entry> entries; // a power of two of them
  };

  Workspace(const Driver &driver, cu::Context context)
      : driver(driver), context(context) {}
  Status read(void *stream, const char *what, size_t offset, void *to,
              size_t bytes) const;
  Result<cu::DevicePtr> takeSlot();
  Status grow();

  const Driver &driver;
  const cu::Context context;
  /// What searches read; they may still be in an older one, so all are kept.
  std::atomic<const Table *> current{nullptr};
  std::mutex taking; // guards what follows
  std::vector<std::unique_ptr<Table>> tables;
  std::vector<cu::DevicePtr> slabs;
  size_t numSlots = 0;
  cu::DevicePtr nextSlot = 0, endOfSlab = 0;
};

} // namespace tegula::rt
