//===- Jit.cpp - compiler and runtime together ----------------------------===//
//
// Code (manifest and image) is kept by what shapes it; loaded kernels by that
// and the GPU. A compiler serves one thread at a time, so there is a pool of
// them; one that had an internal error is thrown away.
//
//===----------------------------------------------------------------------===//
#include "runtime/jit/Jit.h"

#include "codegen/Compiler.h"
#include "codegen/Target.h"
#include "lang/Parser.h"
#include "runtime/Concat.h"
#include "runtime/jit/OncePerKey.h"

namespace tegula::rt {

HostKernel::~HostKernel() = default;

namespace {

/// A kernel's code before it is loaded.
struct Code {
  std::string manifest, image, diagnostics;
  /// The schedule of the direct kernel, where this one has conditions, and of
  /// the packed one, where that is better for some launches.
  std::optional<std::vector<std::string>> fallback, packed;
};

/// The CPU kernel of the compiler behind the JIT's interface.
class CompiledHostKernel final : public HostKernel {
public:
  CompiledHostKernel(std::unique_ptr<CpuKernel> kernel,
                     std::unique_ptr<CpuKernel> before)
      : kernel(std::move(kernel)), before(std::move(before)) {}
  const Signature &signature() const override { return kernel->signature(); }
  Status run(const Arguments &arguments) const override {
    return guarded([&] {
      Status status = before ? before->run(arguments) : Status();
      return status.ok() ? kernel->run(arguments) : status;
    });
  }

private:
  Arguments makeArguments() const override { return kernel->arguments(); }
  std::unique_ptr<CpuKernel> kernel, before;
};

/// Compilers that no thread uses at the moment.
class CompilerPool {
public:
  /// Runs `body(compiler)`, which says whether the compiler may be used again.
  template <typename Body> void use(Body body) {
    std::unique_ptr<Compiler> compiler;
    {
      std::lock_guard lock(mutex);
      if (!idle.empty()) {
        compiler = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (!compiler)
      compiler = std::make_unique<Compiler>();
    if (!body(*compiler))
      return;
    std::lock_guard lock(mutex);
    if (idle.size() < 8)
      idle.push_back(std::move(compiler));
  }

private:
  std::mutex mutex;
  std::vector<std::unique_ptr<Compiler>> idle;
};

} // namespace

struct Jit::Impl {
  CompilerPool compilers;
  OncePerKey<Code> codes;
  OncePerKey<JitKernel> kernels;
  OncePerKey<HostKernel> hostKernels;
  std::atomic<int64_t> compiles = 0;

  Result<std::shared_ptr<Code>> compileCode(const JitRequest &request,
                                            bool claims);
  /// The code of the item, or of the program that checks its claims.
  Result<std::shared_ptr<Code>> code(const JitRequest &request,
                                     bool claims = false);
  Result<std::unique_ptr<CpuKernel>> compileForHost(CompileRequest wanted);
};

/// Everything that shapes the code, each part with its length, so that no two
/// requests share a key.
static std::string keyOf(const JitRequest &request) {
  std::string key;
  auto add = [&](std::string_view part) {
    key += concat(part.size(), ":", part);
  };
  for (const std::string *part :
       {&request.source, &request.fileName, &request.item, &request.arch})
    add(*part);
  add(concat(request.defines.size()));
  for (const auto &[name, value] : request.defines) {
    add(name);
    add(value);
  }
  for (const std::string &field : request.schedule)
    add(field);
  add(request.approximateTanh ? "approximate tanh" : "");
  add(request.debug ? "debug" : "");
  add(lang::importedText(request.source, request.fileName));
  // Which assembler makes the image.
  add(findPtxas());
  return key;
}

/// What is loaded, beside its code: where.
static std::string loadedKey(const JitRequest &request) {
  return concat(keyOf(request), "@", request.device);
}

static CompileRequest compilerRequest(const JitRequest &request) {
  CompileRequest out;
  out.text = request.source;
  out.name = request.fileName;
  out.item = request.item;
  for (const auto &[name, value] : request.defines)
    out.defines.push_back({name, value});
  out.schedule = request.schedule;
  out.approximateTanh = request.approximateTanh;
  out.countVisits = request.debug;
  return out;
}

static std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

static Status statusOf(const CompileResult &result) {
  std::string text = trimmed(result.diagnostics);
  switch (result.status) {
  case CompileStatus::Ok:
    return Status();
  case CompileStatus::UserError:
    return Status(StatusCode::sourceError, std::move(text));
  case CompileStatus::Usage:
    return invalidArgument(std::move(text));
  case CompileStatus::Lacks:
    return unavailable(std::move(text));
  case CompileStatus::Internal:
    break;
  }
  return Status(StatusCode::internal, std::move(text));
}

Result<std::shared_ptr<Code>> Jit::Impl::compileCode(const JitRequest &request,
                                                     bool claims) {
  CompileRequest wanted = compilerRequest(request);
  if (claims)
    wanted = *claimsRequest(wanted);
  wanted.target = request.arch;
  bool assemble = !findPtxas().empty();
  wanted.stopAfter = assemble ? Stage::Cubin : Stage::Ptx;
  ++compiles;
  CompileResult result;
  compilers.use([&](Compiler &compiler) {
    result = compiler.compile(wanted);
    return result.status != CompileStatus::Internal;
  });
  if (!result)
    return statusOf(result);
  auto code = std::make_shared<Code>();
  if (std::optional<CompileRequest> fallback = fallbackRequest(wanted, result))
    code->fallback = std::move(fallback->schedule);
  if (std::optional<CompileRequest> packed = packedRequest(wanted, result))
    code->packed = std::move(packed->schedule);
  code->manifest = std::move(result.manifest);
  code->image = assemble ? std::move(result.cubin) : std::move(result.ptx);
  code->diagnostics = std::move(result.diagnostics);
  if (!assemble)
    code->diagnostics +=
        "remark: ptxas was not found; the driver assembles the PTX\n";
  return code;
}

Result<std::shared_ptr<Code>> Jit::Impl::code(const JitRequest &request,
                                              bool claims) {
  return codes.get(concat(keyOf(request), claims ? "claims" : ""),
                   [&] { return compileCode(request, claims); });
}

Result<std::unique_ptr<CpuKernel>>
Jit::Impl::compileForHost(CompileRequest wanted) {
  wanted.target = "cpu";
  wanted.stopAfter = Stage::Cpu;
  ++compiles;
  CompileResult result;
  std::unique_ptr<CpuKernel> kernel;
  compilers.use([&](Compiler &compiler) {
    kernel = compiler.compileForCpu(wanted, result);
    return result.status != CompileStatus::Internal;
  });
  if (!kernel)
    return statusOf(result);
  return kernel;
}

/// "sm_90a" for a GPU of compute capability 9.0: the record with the features
/// of that architecture alone if there is one.
static std::string targetOf(const Device &device) {
  std::string name = device.architecture(), ignored;
  return lookupTarget(name + "a", ignored) ? name + "a" : name;
}

Jit::Jit() : impl(std::make_shared<Impl>()) {}
// Loaded sets hold the caches, to compile their direct kernels; this lets go.
Jit::~Jit() { clear(); }

Jit &Jit::shared() {
  static Jit &jit = *new Jit;
  return jit;
}

Result<std::shared_ptr<const JitKernel>> Jit::compile(const JitRequest &asked) {
  using Answer = Result<std::shared_ptr<const JitKernel>>;
  return guarded([&]() -> Answer {
    Result<const Device *> device = Device::get(asked.device);
    if (!device.ok())
      return device.status();
    JitRequest request = asked;
    if (request.arch.empty())
      request.arch = targetOf(**device);

    auto load = [device = request.device](const Code &code) {
      return Kernel::load(code.manifest, code.image, device);
    };
    auto make = [&]() -> Result<std::shared_ptr<JitKernel>> {
      Result<std::shared_ptr<Code>> code = impl->code(request);
      if (!code.ok())
        return code.status();
      auto kernel = load(**code);
      if (!kernel.ok())
        return kernel.status();
      auto under = [&](const std::optional<std::vector<std::string>> &schedule,
                       const char *which) {
        if (!schedule)
          return KernelProvider();
        return KernelProvider([impl = impl, load, request, which,
                               key = keyOf(request), schedule = *schedule]()
                                  -> Result<std::shared_ptr<Kernel>> {
          // The kernels of a set mean the same.
          if (keyOf(request) != key)
            return unavailable(concat(
                "the ", which, " kernel of `", request.fileName,
                "` cannot be compiled: what it imports, or the assembler, has "
                "changed since its first kernel was; compile it again"));
          JitRequest other = request;
          other.schedule = schedule;
          Result<std::shared_ptr<Code>> code = impl->code(other);
          if (!code.ok())
            return code.status();
          return load(**code);
        });
      };
      KernelChoice kernels;
      kernels.preferred = std::move(*kernel);
      kernels.fallbackProvider = under((*code)->fallback, "direct");
      kernels.packedProvider = under((*code)->packed, "packed");
      if (request.debug) {
        Result<std::shared_ptr<Code>> claims = impl->code(request, true);
        if (!claims.ok())
          return claims.status();
        auto loaded = load(**claims);
        if (!loaded.ok())
          return loaded.status();
        kernels.before = std::move(*loaded);
      }
      auto set = KernelSet::create(std::move(kernels));
      if (!set.ok())
        return set.status();
      return std::make_shared<JitKernel>(
          JitKernel{std::move(*set), (*code)->diagnostics});
    };
    auto kernel = impl->kernels.get(loadedKey(request), make);
    return kernel.ok() ? Answer(*kernel) : Answer(kernel.status());
  });
}

Result<std::shared_ptr<const HostKernel>>
Jit::compileForHost(const JitRequest &asked) {
  using Answer = Result<std::shared_ptr<const HostKernel>>;
  return guarded([&]() -> Answer {
    JitRequest request = asked;
    request.arch = "cpu";
    auto make = [&]() -> Result<std::shared_ptr<HostKernel>> {
      CompileRequest wanted = compilerRequest(request);
      auto kernel = impl->compileForHost(wanted);
      if (!kernel.ok())
        return kernel.status();
      std::unique_ptr<CpuKernel> before;
      if (request.debug) {
        auto claims = impl->compileForHost(*claimsRequest(wanted));
        if (!claims.ok())
          return claims.status();
        before = std::move(*claims);
      }
      return std::shared_ptr<HostKernel>(std::make_shared<CompiledHostKernel>(
          std::move(*kernel), std::move(before)));
    };
    auto kernel = impl->hostKernels.get(loadedKey(request), make);
    return kernel.ok() ? Answer(*kernel) : Answer(kernel.status());
  });
}

JitStatistics Jit::statistics() const {
  return {impl->compiles, impl->kernels.hits() + impl->hostKernels.hits()};
}

void Jit::clear() {
  impl->codes.clear();
  impl->kernels.clear();
  impl->hostKernels.clear();
}

} // namespace tegula::rt
