//===- JitCApi.cpp - tegula_compile ---------------------------------------===//
//
// The one C function that needs the compiler. It uses the JIT of the process.
//
//===----------------------------------------------------------------------===//
#include "runtime/CHandles.h"
#include "runtime/Concat.h"
#include "runtime/jit/Jit.h"

using namespace tegula::rt;

/// Reads the options; the texts are copied.
static Result<JitRequest> readOptions(const tegula_compile_options &options) {
  if (!options.source)
    return invalidArgument("`source` is null");
  if ((options.num_defines && !options.defines) ||
      (options.num_schedule && !options.schedule))
    return invalidArgument(
        "a list of options is null, but its length is not 0");
  JitRequest request;
  request.source = options.source;
  if (options.file_name)
    request.fileName = options.file_name;
  if (options.item)
    request.item = options.item;
  for (size_t i = 0; i != options.num_defines; ++i) {
    std::string_view define = options.defines[i] ? options.defines[i] : "";
    size_t equals = define.find('=');
    if (equals == 0 || equals == std::string_view::npos)
      return invalidArgument(
          concat("expected a define NAME=VALUE, but got `", define, "`"));
    request.defines.emplace_back(define.substr(0, equals),
                                 define.substr(equals + 1));
  }
  for (size_t i = 0; i != options.num_schedule; ++i)
    request.schedule.push_back(options.schedule[i] ? options.schedule[i] : "");
  if (options.arch)
    request.arch = options.arch;
  request.device = options.device;
  request.debug = options.debug;
  request.approximateTanh = options.approximate_tanh;
  return request;
}

tegula_status tegula_compile(const tegula_compile_options *options,
                             tegula_kernel **kernel) {
  return recorded([&]() -> Status {
    if (!options || !kernel)
      return invalidArgument(
          "expected pointers that are not null for options and kernel");
    *kernel = nullptr;
    Result<JitRequest> request = readOptions(*options);
    if (!request.ok())
      return request.status();
    auto compiled = Jit::shared().compile(*request);
    if (!compiled.ok())
      return compiled.status();
    *kernel = new tegula_kernel{(*compiled)->kernels};
    return Status();
  });
}
