//===- Device.h - devices, contexts and what lives in them ------*- C++ -*-===//
//
// The properties of a GPU, the scope that makes a context current, and small
// owners of a stream, an event, a device buffer and a module. Launching a
// kernel needs none of the owners: they serve tools and tests. All owners
// belong to the device's primary context, the one that the CUDA runtime uses.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Driver.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tegula::rt {

/// A GPU and its primary context, which stays retained until the process ends.
struct Device {
  int ordinal;
  cu::Device handle;
  cu::Context context;
  std::string name;
  int multiprocessors;
  int major, minor;
  /// Most shared memory that one CTA may ask for, in bytes.
  int64_t sharedBytesOptin;
  int64_t l2Bytes;
  /// Whether kernels may read memory that the driver did not allocate.
  bool pageableAccess;

  /// The GPU number `ordinal`; the record lives as long as the process.
  static Result<const Device *> get(int ordinal);
  /// How many GPUs there are.
  static Result<int> count();

  /// "sm_90".
  std::string architecture() const;
  /// Whether code for `target` ("sm_90a", "sm_80", ...) runs here; `isPtx`
  /// allows later architectures. Errors: `unavailable`, with both names.
  Status supports(std::string_view target, bool isPtx) const;
};

/// Makes a context current for its lifetime, and restores what was current.
class ContextScope {
public:
  ContextScope(const Driver &driver, cu::Context context);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;
  const Status &status() const { return result; }

private:
  const Driver &driver;
  Status result;
  bool pushed = false;
};

/// While it lives, this thread may allocate, load and wait although a stream is
/// being captured, here or in global mode elsewhere, and the capture stays
/// valid.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const Driver &driver);
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  const Driver &driver;
  int mode = cu::captureModeRelaxed;
};

/// Whether `stream` (a CUstream) is being captured in a graph; the legacy
/// default stream never is.
Result<bool> isCapturing(const Driver &driver, void *stream);

/// A loaded module in the context that was current when it was loaded.
class Module {
public:
  /// Loads a cubin, a fat binary or PTX text into `context`. For PTX that does
  /// not assemble the message ends with the driver's log.
  static Result<Module> load(const Driver &driver, cu::Context context,
                             std::string_view image);
  Module(Module &&other) noexcept;
  Module &operator=(Module &&) = delete;
  ~Module();

  Result<cu::Function> function(const char *symbol) const;

private:
  Module(const Driver &driver, cu::Context context, cu::Module handle)
      : driver(&driver), context(context), handle(handle) {}
  const Driver *driver;
  cu::Context context;
  cu::Module handle;
};

/// Whether `image` is machine code (an ELF or a fat binary); else it is PTX.
bool isMachineCode(std::string_view image);

/// A stream that does not synchronise with the default stream.
class Stream {
public:
  static Result<Stream> create(const Device &device);
  Stream(Stream &&other) noexcept;
  Stream &operator=(Stream &&) = delete;
  ~Stream();

  /// The CUstream.
  cu::Stream handle() const { return stream; }
  /// Waits for everything enqueued so far; reports faults of kernels, too.
  Status synchronize() const;

private:
  Stream(const Device &device, cu::Stream stream)
      : device(&device), stream(stream) {}
  const Device *device;
  cu::Stream stream;
};

/// A point in a stream, for timing.
class Event {
public:
  static Result<Event> create(const Device &device);
  Event(Event &&other) noexcept;
  Event &operator=(Event &&) = delete;
  ~Event();

  Status record(const Stream &stream) const;
  Status synchronize() const;
  /// Milliseconds from `start` to this event; both have to have happened.
  Result<float> since(const Event &start) const;

private:
  Event(const Device &device, cu::Event event)
      : device(&device), event(event) {}
  const Device *device;
  cu::Event event;
};

/// Device memory.
class Buffer {
public:
  /// `bytes` may be 0: then `data()` is null.
  static Result<Buffer> allocate(const Device &device, size_t bytes);
  Buffer(Buffer &&other) noexcept;
  Buffer &operator=(Buffer &&) = delete;
  ~Buffer();

  void *data() const { return reinterpret_cast<void *>(pointer); }
  size_t size() const { return bytes; }
  /// The three below enqueue on `stream` and wait for the copy to be done.
  Status upload(const void *from, size_t bytes, const Stream &stream);
  Status download(void *to, size_t bytes, const Stream &stream) const;
  Status fill(unsigned char byte, const Stream &stream);

private:
  Buffer(const Device &device, cu::DevicePtr pointer, size_t bytes)
      : device(&device), pointer(pointer), bytes(bytes) {}
  const Device *device;
  cu::DevicePtr pointer;
  size_t bytes;
};

} // namespace tegula::rt
