//===- Device.cpp - device records, contexts, streams, events, buffers ----===//
//
// Device records are made once and never freed. Every owner below makes its
// own context current for each call, so that it can be used and destroyed from
// any thread.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device.h"
#include "runtime/Concat.h"

#include <charconv>
#include <map>
#include <mutex>

namespace tegula::rt {

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

static Result<std::unique_ptr<Device>> makeDevice(const Driver &driver,
                                                  int ordinal) {
  auto device = std::make_unique<Device>();
  device->ordinal = ordinal;
  TEGULA_RETURN_IF_FAILED(
      TEGULA_CU(driver, deviceGet, &device->handle, ordinal));
  char name[256] = "";
  TEGULA_RETURN_IF_FAILED(
      TEGULA_CU(driver, deviceGetName, name, sizeof name, device->handle));
  device->name = name;

  int shared = 0, l2 = 0, pageable = 0;
  const std::pair<int, int *> attributes[] = {
      {cu::deviceMultiprocessorCount, &device->multiprocessors},
      {cu::deviceComputeCapabilityMajor, &device->major},
      {cu::deviceComputeCapabilityMinor, &device->minor},
      {cu::deviceMaxSharedMemoryPerBlockOptin, &shared},
      {cu::deviceL2CacheSize, &l2},
      {cu::devicePageableMemoryAccess, &pageable}};
  for (auto [attribute, value] : attributes)
    TEGULA_RETURN_IF_FAILED(TEGULA_CU(driver, deviceGetAttribute, value,
                                      attribute, device->handle));
  device->sharedBytesOptin = shared;
  device->l2Bytes = l2;
  device->pageableAccess = pageable != 0;
  TEGULA_RETURN_IF_FAILED(TEGULA_CU(driver, devicePrimaryCtxRetain,
                                    &device->context, device->handle));
  return device;
}

Result<int> Device::count() {
  Result<const Driver *> driver = Driver::get();
  if (!driver.ok())
    return driver.status();
  int count = 0;
  TEGULA_RETURN_IF_FAILED(TEGULA_CU(**driver, deviceGetCount, &count));
  return count;
}

Result<const Device *> Device::get(int ordinal) {
  return guarded([&]() -> Result<const Device *> {
    // Never destroyed: kernels may outlive other static objects.
    static auto &devices = *new std::map<int, std::unique_ptr<Device>>;
    static auto &mutex = *new std::mutex;

    Result<int> count = Device::count();
    if (!count.ok())
      return count.status();
    if (*count == 0)
      return unavailable("no CUDA device: the driver reports none");
    if (ordinal < 0 || ordinal >= *count)
      return invalidArgument(concat("there is no CUDA device ", ordinal,
                                    "; expected 0 to ", *count - 1));
    std::lock_guard lock(mutex);
    if (auto found = devices.find(ordinal); found != devices.end())
      return found->second.get();
    Result<std::unique_ptr<Device>> made = makeDevice(**Driver::get(), ordinal);
    if (!made.ok())
      return made.status();
    return (devices[ordinal] = std::move(*made)).get();
  });
}

std::string Device::architecture() const { return concat("sm_", major, minor); }

Status Device::supports(std::string_view target, bool isPtx) const {
  std::string_view digits = target;
  int number = 0;
  bool valid = digits.starts_with("sm_");
  digits.remove_prefix(valid ? 3 : 0);
  auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  std::string_view suffix(end, digits.data() + digits.size() - end);
  valid = valid && error == std::errc() &&
          (suffix.empty() || suffix == "a" || suffix == "f");
  if (!valid)
    return invalidArgument(
        concat("expected a target such as `sm_90a`, but got `", target, "`"));

  int wantMajor = number / 10, wantMinor = number % 10;
  bool same = wantMajor == major && wantMinor == minor;
  bool sameMajor = wantMajor == major && wantMinor <= minor;
  bool runs = suffix == "a"             ? same
              : suffix == "f" || !isPtx ? sameMajor
                                        : number <= major * 10 + minor;
  if (runs)
    return Status();
  return unavailable(concat("the code is for ", target, ", but device ",
                            ordinal, " (", name, ") is ", architecture()));
}

//===----------------------------------------------------------------------===//
// ContextScope, captures
//===----------------------------------------------------------------------===//

ContextScope::ContextScope(const Driver &driver, cu::Context context)
    : driver(driver) {
  cu::Context current = nullptr;
  if (driver.api.ctxGetCurrent(&current) == cu::success && current == context)
    return;
  result = TEGULA_CU(driver, ctxPushCurrent, context);
  pushed = result.ok();
}

ContextScope::~ContextScope() {
  cu::Context popped = nullptr;
  if (pushed)
    (void)driver.api.ctxPopCurrent(&popped);
}

RelaxedCapture::RelaxedCapture(const Driver &driver) : driver(driver) {
  (void)driver.api.threadExchangeStreamCaptureMode(&mode);
}

RelaxedCapture::~RelaxedCapture() {
  (void)driver.api.threadExchangeStreamCaptureMode(&mode);
}

Result<bool> isCapturing(const Driver &driver, void *stream) {
  // Null and 1 are the legacy stream, 2 the per-thread one; asking about the
  // legacy stream is an error while another stream is captured.
  if (reinterpret_cast<uintptr_t>(stream) <= 1)
    return false;
  int capture = cu::captureStatusNone;
  TEGULA_RETURN_IF_FAILED(
      TEGULA_CU(driver, streamIsCapturing, stream, &capture));
  return capture != cu::captureStatusNone;
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

bool isMachineCode(std::string_view image) {
  return image.starts_with("\x7f"
                           "ELF") ||
         image.starts_with("\x50\xed\x55\xba");
}

Result<Module> Module::load(const Driver &driver, cu::Context context,
                            std::string_view image) {
  ContextScope scope(driver, context);
  TEGULA_RETURN_IF_FAILED(scope.status());

  // PTX has to end with a zero; machine code is self-describing.
  std::string text;
  const void *data = image.data();
  if (!isMachineCode(image)) {
    text = image;
    data = text.c_str();
  }

  char log[8192] = "";
  int options[] = {cu::jitErrorLogBuffer, cu::jitErrorLogBufferSizeBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  cu::Module handle = nullptr;
  Status status =
      TEGULA_CU(driver, moduleLoadDataEx, &handle, data, 2, options, values);
  if (!status.ok()) {
    log[sizeof log - 1] = 0;
    return *log ? status.with(concat("\n", log)) : status;
  }
  return Module(driver, context, handle);
}

Module::Module(Module &&other) noexcept
    : driver(other.driver), context(other.context), handle(other.handle) {
  other.handle = nullptr;
}

Module::~Module() {
  if (!handle)
    return;
  // Fails harmlessly when the context or the driver is already gone.
  ContextScope scope(*driver, context);
  if (scope.status().ok())
    (void)driver->api.moduleUnload(handle);
}

Result<cu::Function> Module::function(const char *symbol) const {
  ContextScope scope(*driver, context);
  TEGULA_RETURN_IF_FAILED(scope.status());
  cu::Function function = nullptr;
  Status status =
      TEGULA_CU(*driver, moduleGetFunction, &function, handle, symbol);
  if (!status.ok())
    return status.with(concat(", looking for `", symbol, "`"));
  return function;
}

//===----------------------------------------------------------------------===//
// Stream, Event, Buffer
//===----------------------------------------------------------------------===//

/// The driver of a device that exists.
static const Driver &driverOf(const Device &) { return **Driver::get(); }

Result<Stream> Stream::create(const Device &device) {
  const Driver &driver = driverOf(device);
  ContextScope scope(driver, device.context);
  TEGULA_RETURN_IF_FAILED(scope.status());
  cu::Stream stream = nullptr;
  TEGULA_RETURN_IF_FAILED(
      TEGULA_CU(driver, streamCreate, &stream, cu::streamNonBlocking));
  return Stream(device, stream);
}

Stream::Stream(Stream &&other) noexcept
    : device(other.device), stream(other.stream) {
  other.stream = nullptr;
}

Stream::~Stream() {
  if (!stream)
    return;
  ContextScope scope(driverOf(*device), device->context);
  (void)driverOf(*device).api.streamDestroy(stream);
}

Status Stream::synchronize() const {
  const Driver &driver = driverOf(*device);
  ContextScope scope(driver, device->context);
  TEGULA_RETURN_IF_FAILED(scope.status());
  return TEGULA_CU(driver, streamSynchronize, stream);
}

Result<Event> Event::create(const Device &device) {
  const Driver &driver = driverOf(device);
  ContextScope scope(driver, device.context);
  TEGULA_RETURN_IF_FAILED(scope.status());
  cu::Event event = nullptr;
  TEGULA_RETURN_IF_FAILED(
      TEGULA_CU(driver, eventCreate, &event, cu::eventDefault));
  return Event(device, event);
}

Event::Event(Event &&other) noexcept
    : device(other.device), event(other.event) {
  other.event = nullptr;
}

Event::~Event() {
  if (!event)
    return;
  ContextScope scope(driverOf(*device), device->context);
  (void)driverOf(*device).api.eventDestroy(event);
}

Status Event::record(const Stream &stream) const {
  const Driver &driver = driverOf(*device);
  ContextScope scope(driver, device->context);
  TEGULA_RETURN_IF_FAILED(scope.status());
  return TEGULA_CU(driver, eventRecord, event, stream.handle());
}

Status Event::synchronize() const {
  const Driver &driver = driverOf(*device);
  ContextScope scope(driver, device->context);
  TEGULA_RETURN_IF_FAILED(scope.status());
  return TEGULA_CU(driver, eventSynchronize, event);
}

Result<float> Event::since(const Event &start) const {
  const Driver &driver = driverOf(*device);
  ContextScope scope(driver, device->context);
  TEGULA_RETURN_IF_FAILED(scope.status());
  float milliseconds = 0;
  TEGULA_RETURN_IF_FAILED(
      TEGULA_CU(driver, eventElapsedTime, &milliseconds, start.event, event));
  return milliseconds;
}

Result<Buffer> Buffer::allocate(const Device &device, size_t bytes) {
  if (bytes == 0)
    return Buffer(device, 0, 0);
  const Driver &driver = driverOf(device);
  ContextScope scope(driver, device.context);
  TEGULA_RETURN_IF_FAILED(scope.status());
  cu::DevicePtr pointer = 0;
  if (Status status = TEGULA_CU(driver, memAlloc, &pointer, bytes);
      !status.ok()) {
    size_t free = 0, total = 0;
    (void)driver.api.memGetInfo(&free, &total);
    return status.with(concat("; asked for ", bytes, " bytes, ", free, " of ",
                              total, " are free on device ", device.ordinal));
  }
  return Buffer(device, pointer, bytes);
}

Buffer::Buffer(Buffer &&other) noexcept
    : device(other.device), pointer(other.pointer), bytes(other.bytes) {
  other.pointer = 0;
}

Buffer::~Buffer() {
  if (!pointer)
    return;
  ContextScope scope(driverOf(*device), device->context);
  (void)driverOf(*device).api.memFree(pointer);
}

Status Buffer::upload(const void *from, size_t count, const Stream &stream) {
  if (count > bytes)
    return invalidArgument(concat("an upload of ", count,
                                  " bytes does not fit a buffer of ", bytes));
  if (count == 0)
    return Status();
  const Driver &driver = driverOf(*device);
  ContextScope scope(driver, device->context);
  TEGULA_RETURN_IF_FAILED(scope.status());
  TEGULA_RETURN_IF_FAILED(TEGULA_CU(driver, memcpyHtoDAsync, pointer, from,
                                    count, stream.handle()));
  return stream.synchronize();
}

Status Buffer::download(void *to, size_t count, const Stream &stream) const {
  if (count > bytes)
    return invalidArgument(
        concat("a download of ", count, " bytes exceeds a buffer of ", bytes));
  if (count == 0)
    return Status();
  const Driver &driver = driverOf(*device);
  ContextScope scope(driver, device->context);
  TEGULA_RETURN_IF_FAILED(scope.status());
  TEGULA_RETURN_IF_FAILED(
      TEGULA_CU(driver, memcpyDtoHAsync, to, pointer, count, stream.handle()));
  return stream.synchronize();
}

Status Buffer::fill(unsigned char byte, const Stream &stream) {
  if (bytes == 0)
    return Status();
  const Driver &driver = driverOf(*device);
  ContextScope scope(driver, device->context);
  TEGULA_RETURN_IF_FAILED(scope.status());
  TEGULA_RETURN_IF_FAILED(
      TEGULA_CU(driver, memsetD8Async, pointer, byte, bytes, stream.handle()));
  return stream.synchronize();
}

} // namespace tegula::rt
