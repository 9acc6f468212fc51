//===- CMemory.cpp - memory and streams of a GPU in the C interface -------===//
//
// Thin wrappers over Buffer and Stream, for programs without a CUDA toolkit.
//
//===----------------------------------------------------------------------===//
#include "runtime/CHandles.h"

using namespace tegula::rt;

/// Makes a handle of what `make(device)` gives.
template <typename Handle, typename Make>
static tegula_status create(int ordinal, Handle **handle, Make make) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(checkNotNull({handle}, "what is created"));
    *handle = nullptr;
    Result<const Device *> device = Device::get(ordinal);
    if (!device.ok())
      return device.status();
    auto made = make(**device);
    if (!made.ok())
      return made.status();
    *handle = new Handle{std::move(*made)};
    return Status();
  });
}

tegula_status tegula_stream_create(int device, tegula_stream **stream) {
  return create(device, stream,
                [](const Device &on) { return Stream::create(on); });
}

void tegula_stream_destroy(tegula_stream *stream) { delete stream; }

void *tegula_stream_handle(const tegula_stream *stream) {
  return stream ? stream->stream.handle() : nullptr;
}

tegula_status tegula_stream_synchronize(const tegula_stream *stream) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(checkNotNull({stream}, "stream"));
    return stream->stream.synchronize();
  });
}

tegula_status tegula_buffer_create(int device, size_t size,
                                   tegula_buffer **buffer) {
  return create(device, buffer,
                [&](const Device &on) { return Buffer::allocate(on, size); });
}

void tegula_buffer_destroy(tegula_buffer *buffer) { delete buffer; }

void *tegula_buffer_data(const tegula_buffer *buffer) {
  return buffer ? buffer->buffer.data() : nullptr;
}

tegula_status tegula_buffer_write(tegula_buffer *buffer, const void *from,
                                  size_t size, const tegula_stream *stream) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(
        checkNotNull({buffer, from, stream}, "buffer, source and stream"));
    return buffer->buffer.upload(from, size, stream->stream);
  });
}

tegula_status tegula_buffer_read(const tegula_buffer *buffer, void *to,
                                 size_t size, const tegula_stream *stream) {
  return recorded([&]() -> Status {
    TEGULA_RETURN_IF_FAILED(
        checkNotNull({buffer, to, stream}, "buffer, destination and stream"));
    return buffer->buffer.download(to, size, stream->stream);
  });
}
