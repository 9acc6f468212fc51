//===- Workspace.cpp - slots for launches ---------------------------------===//
//
// Streams are told apart by the driver's id, since a handle may be used again.
// A table is never changed in place but for adding, so that a search needs no
// lock: an entry's slot is stored after its stream.
//
//===----------------------------------------------------------------------===//
#include "runtime/Workspace.h"
#include "runtime/Concat.h"

#include <algorithm>

namespace tegula::rt {

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

/// Where the stream is, or would be added. Ids count up, so they are their own
/// hash.
size_t Workspace::Table::indexOf(unsigned long long stream) const {
  size_t mask = entries.size() - 1, index = stream & mask;
  while (entries[index].slot.load(std::memory_order_acquire) &&
         entries[index].stream != stream)
    index = (index + 1) & mask;
  return index;
}

cu::DevicePtr Workspace::Table::find(unsigned long long stream) const {
  return entries[indexOf(stream)].slot.load(std::memory_order_acquire);
}

void Workspace::Table::add(unsigned long long stream, cu::DevicePtr slot) {
  Entry &entry = entries[indexOf(stream)];
  entry.stream = stream;
  entry.slot.store(slot, std::memory_order_release);
}

void Workspace::Table::addAll(const Table &other) {
  for (const Entry &entry : other.entries)
    if (cu::DevicePtr slot = entry.slot.load(std::memory_order_relaxed))
      add(entry.stream, slot);
}

//===----------------------------------------------------------------------===//
// Slabs
//===----------------------------------------------------------------------===//

/// Zeroes memory and waits for that, on a stream of its own: a capture would
/// not survive work on the default stream.
static Status zero(const Driver &driver, cu::DevicePtr memory, size_t bytes) {
  cu::Stream own = nullptr;
  TEGULA_RETURN_IF_FAILED(
      TEGULA_CU(driver, streamCreate, &own, cu::streamNonBlocking));
  Status status = TEGULA_CU(driver, memsetD8Async, memory, 0, bytes, own);
  if (status.ok())
    status = TEGULA_CU(driver, streamSynchronize, own);
  (void)driver.api.streamDestroy(own);
  return status;
}

/// Doubles the number of slots. Called with the lock, or before anyone else
/// can.
Status Workspace::grow() {
  RelaxedCapture relaxed(driver);
  size_t more = std::max(numSlots, firstSlots);
  auto larger = std::make_unique<Table>(2 * (numSlots + more));
  if (!tables.empty())
    larger->addAll(*tables.back());
  tables.reserve(tables.size() + 1);
  slabs.reserve(slabs.size() + 1);

  cu::DevicePtr slab = 0;
  TEGULA_RETURN_IF_FAILED(TEGULA_CU(driver, memAlloc, &slab, more * slotBytes));
  if (Status status = zero(driver, slab, more * slotBytes); !status.ok()) {
    (void)driver.api.memFree(slab);
    return status;
  }
  slabs.push_back(slab);
  numSlots += more;
  nextSlot = slab;
  endOfSlab = slab + more * slotBytes;
  tables.push_back(std::move(larger));
  current.store(tables.back().get(), std::memory_order_release);
  return Status();
}

Result<std::unique_ptr<Workspace>> Workspace::create(const Driver &driver,
                                                     cu::Context context) {
  std::unique_ptr<Workspace> workspace(new Workspace(driver, context));
  if (Status status = workspace->grow(); !status.ok())
    return status.with(", allocating the kernel's workspace");
  return workspace;
}

Workspace::~Workspace() {
  // Fails harmlessly when the context or the driver is already gone.
  ContextScope scope(driver, context);
  if (!scope.status().ok())
    return;
  RelaxedCapture relaxed(driver);
  for (cu::DevicePtr slab : slabs)
    (void)driver.api.memFree(slab);
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// A slot that nobody has. Called with the lock.
Result<cu::DevicePtr> Workspace::takeSlot() {
  if (nextSlot == endOfSlab)
    if (Status status = grow(); !status.ok())
      return status.with(concat(", allocating more workspace: all ", numSlots,
                                " slots are taken by streams and captured "
                                "launches"));
  return std::exchange(nextSlot, nextSlot + slotBytes);
}

Result<cu::DevicePtr> Workspace::slotFor(void *stream) {
  Result<bool> capturing = isCapturing(driver, stream);
  if (!capturing.ok())
    return capturing.status();
  if (*capturing) {
    std::lock_guard lock(taking);
    return takeSlot();
  }
  unsigned long long id = 0;
  TEGULA_RETURN_IF_FAILED(TEGULA_CU(driver, streamGetId, stream, &id));
  if (cu::DevicePtr slot = current.load(std::memory_order_acquire)->find(id))
    return slot;
  std::lock_guard lock(taking);
  if (cu::DevicePtr slot = tables.back()->find(id))
    return slot;
  Result<cu::DevicePtr> slot = takeSlot();
  if (slot.ok())
    tables.back()->add(id, *slot);
  return slot;
}

/// Copies from the stream's slot, once the stream is done; nothing where it has
/// none.
Status Workspace::read(void *stream, const char *what, size_t offset, void *to,
                       size_t bytes) const {
  Result<bool> capturing = isCapturing(driver, stream);
  if (!capturing.ok())
    return capturing.status();
  if (*capturing)
    return unavailable(concat("the ", what,
                              " of a stream cannot be read while it is being "
                              "captured"));
  unsigned long long id = 0;
  TEGULA_RETURN_IF_FAILED(TEGULA_CU(driver, streamGetId, stream, &id));
  if (cu::DevicePtr slot = current.load(std::memory_order_acquire)->find(id))
    TEGULA_RETURN_IF_FAILED(
        TEGULA_CU(driver, memcpyDtoHAsync, to, slot + offset, bytes, stream));
  return TEGULA_CU(driver, streamSynchronize, stream);
}

Result<uint32_t> Workspace::redoneRows(void *stream) const {
  uint32_t rows = 0;
  TEGULA_RETURN_IF_FAILED(read(stream, "redone rows", 8, &rows, sizeof rows));
  return rows;
}

Result<BlockVisits> Workspace::visits(void *stream) const {
  uint64_t counts[2] = {};
  TEGULA_RETURN_IF_FAILED(
      read(stream, "visited blocks", 16, counts, sizeof counts));
  return BlockVisits{counts[0], counts[1]};
}

} // namespace tegula::rt
