//===- OncePerKey.h - a cache that makes each value once --------*- C++ -*-===//
//
// Threads that ask for a key while it is being made wait for it; those that ask
// for other keys do not. A failure is not kept: one of the waiting threads
// tries again.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Status.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

namespace tegula::rt {

template <typename T> class OncePerKey {
public:
  /// The value of `key`, which `make` gives as a Result<shared_ptr<T>> if it is
  /// not there yet.
  template <typename Make>
  Result<std::shared_ptr<T>> get(const std::string &key, Make make) {
    std::shared_ptr<Entry> entry;
    {
      std::lock_guard lock(mutex);
      std::shared_ptr<Entry> &found = entries[key];
      if (!found)
        found = std::make_shared<Entry>();
      entry = found;
    }
    std::lock_guard lock(entry->mutex);
    if (entry->value) {
      ++hitCount;
      return entry->value;
    }
    Result<std::shared_ptr<T>> made = make();
    if (made.ok())
      entry->value = *made;
    return made;
  }

  void clear() {
    std::lock_guard lock(mutex);
    entries.clear();
  }
  int64_t hits() const { return hitCount; }

private:
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<T> value;
  };
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Entry>> entries;
  std::atomic<int64_t> hitCount = 0;
};

} // namespace tegula::rt
