//===- ExecuteCuda.cpp - compiled items on a GPU --------------------------===//
//
// Tensors go to the GPU with their guard zones and come back with them, so that
// a write outside of an output is seen on the host. Launches are timed with
// events.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Execute.h"
#include "tools/tegula/ExecuteShared.h"
#include "tools/tegula/Failure.h"

#include "codegen/Compiler.h"
#include "runtime/Device.h"
#include "runtime/KernelSet.h"

#include <algorithm>

using namespace tegula;
using namespace tegula::tool;

namespace {
class CudaExecutable : public Executable {
public:
  CudaExecutable(Compiler &compiler, CompileRequest request, bool debug)
      : compiler(compiler), request(std::move(request)), debug(debug) {}

  llvm::Error initialise();
  llvm::Expected<Execution> run(Problem &problem, int runs) override;

private:
  llvm::Expected<std::shared_ptr<rt::Kernel>>
  compileKernel(const CompileRequest &kernelRequest, CompileResult &result);
  rt::KernelProvider make(std::optional<CompileRequest> other,
                          std::string which);
  llvm::Expected<double> timeOne(const rt::Arguments &arguments,
                                 const rt::Stream &stream,
                                 rt::LaunchReport &report,
                                 Execution &execution);

  Compiler &compiler;
  const CompileRequest request;
  const bool debug;
  const rt::Device *device = nullptr;
  std::shared_ptr<rt::KernelSet> kernels;
};
} // namespace

/// Turns a Status or Result that failed into the error to return.
#define RETURN_IF_FAILED(expr)                                                 \
  if (rt::Status status = (expr); !status.ok())                                \
  return statusError(status)

llvm::Expected<std::shared_ptr<rt::Kernel>>
CudaExecutable::compileKernel(const CompileRequest &kernelRequest,
                              CompileResult &result) {
  CompileRequest forGpu = kernelRequest;
  bool assemble = !findPtxas().empty();
  forGpu.stopAfter = assemble ? Stage::Cubin : Stage::Ptx;
  result = compiler.compile(forGpu);
  if (!result)
    return compileError(result);
  if (!assemble)
    result.diagnostics +=
        "remark: ptxas was not found; the driver assembles the PTX\n";
  auto kernel =
      rt::Kernel::load(result.manifest, assemble ? result.cubin : result.ptx);
  if (!kernel.ok())
    return statusError(kernel.status());
  return *kernel;
}

rt::KernelProvider CudaExecutable::make(std::optional<CompileRequest> other,
                                        std::string which) {
  if (!other)
    return nullptr;
  return [this, other = std::move(*other),
          which]() -> rt::Result<std::shared_ptr<rt::Kernel>> {
    CompileResult result;
    auto kernel = compileKernel(other, result);
    if (kernel)
      return *kernel;
    std::string text;
    llvm::raw_string_ostream(text) << kernel.takeError();
    return rt::internalError("the " + which + " kernel: " + text);
  };
}

llvm::Error CudaExecutable::initialise() {
  auto found = rt::Device::get(0);
  if (!found.ok())
    return statusError(found.status());
  device = *found;
  CompileResult result;
  auto kernel = compileKernel(request, result);
  if (!kernel)
    return kernel.takeError();
  diagnostics = result.diagnostics;
  stageTimes = stageTimesText(result);
  rt::KernelChoice choice;
  choice.preferred = std::move(*kernel);
  choice.fallbackProvider = make(fallbackRequest(request, result), "direct");
  choice.packedProvider = make(packedRequest(request, result), "packed");
  if (debug) {
    CompileResult ofClaims;
    auto kernel = compileKernel(*claimsRequest(request), ofClaims);
    if (!kernel)
      return kernel.takeError();
    choice.before = std::move(*kernel);
  }
  auto set = rt::KernelSet::create(std::move(choice));
  if (!set.ok())
    return statusError(set.status());
  kernels = *set;
  return llvm::Error::success();
}

llvm::Expected<double> CudaExecutable::timeOne(const rt::Arguments &arguments,
                                               const rt::Stream &stream,
                                               rt::LaunchReport &report,
                                               Execution &execution) {
  auto begin = rt::Event::create(*device), end = rt::Event::create(*device);
  if (!begin.ok() || !end.ok())
    return statusError(begin.ok() ? end.status() : begin.status());
  auto before = kernels->redoneRows(stream.handle());
  RETURN_IF_FAILED(before.status());
  auto visitsBefore = kernels->visits(stream.handle());
  RETURN_IF_FAILED(visitsBefore.status());
  RETURN_IF_FAILED(begin->record(stream));
  RETURN_IF_FAILED(kernels->launch(stream.handle(), arguments, &report));
  RETURN_IF_FAILED(end->record(stream));
  RETURN_IF_FAILED(stream.synchronize());
  auto passed = end->since(*begin);
  if (!passed.ok())
    return statusError(passed.status());
  auto after = kernels->redoneRows(stream.handle());
  RETURN_IF_FAILED(after.status());
  execution.redoneRows = *after - *before;
  auto visits = kernels->visits(stream.handle());
  RETURN_IF_FAILED(visits.status());
  if (kernels->countsVisits())
    execution.visits = {visits->partial - visitsBefore->partial,
                        visits->full - visitsBefore->full};
  return *passed;
}

llvm::Expected<Execution> CudaExecutable::run(Problem &problem, int runs) {
  auto stream = rt::Stream::create(*device);
  if (!stream.ok())
    return statusError(stream.status());
  std::vector<rt::Buffer> buffers;
  for (Tensor &tensor : problem.tensors) {
    auto storage = tensor.wholeStorage();
    auto buffer = rt::Buffer::allocate(*device, storage.size());
    if (!buffer.ok())
      return statusError(buffer.status());
    RETURN_IF_FAILED(buffer->upload(storage.data(), storage.size(), *stream));
    buffers.push_back(std::move(*buffer));
  }
  rt::Arguments arguments = kernels->arguments();
  if (llvm::Error error = setArguments(problem, arguments, [&](unsigned n) {
        return static_cast<std::byte *>(buffers[n].data()) +
               problem.tensors[n].dataOffset();
      }))
    return error;

  // Without a count: one cold launch, then for up to half a second.
  rt::LaunchReport report;
  Execution execution;
  int count = runs;
  auto cold = timeOne(arguments, *stream, report, execution);
  if (!cold)
    return cold.takeError();
  if (runs == 0)
    count =
        static_cast<int>(std::clamp(500 / std::max(*cold, 0.001), 3.0, 20.0));
  if (runs == 0 && isTalking(*problem.item))
    count = 0, execution.milliseconds.push_back(*cold);
  for (int run = 0; run < count; ++run) {
    for (unsigned number : tensorsInPlace(*problem.item)) {
      auto storage = problem.tensors[number].wholeStorage();
      RETURN_IF_FAILED(
          buffers[number].upload(storage.data(), storage.size(), *stream));
    }
    auto time = timeOne(arguments, *stream, report, execution);
    if (!time)
      return time.takeError();
    execution.milliseconds.push_back(*time);
  }
  for (auto [tensor, buffer] : llvm::zip(problem.tensors, buffers)) {
    auto storage = tensor.wholeStorage();
    RETURN_IF_FAILED(buffer.download(storage.data(), storage.size(), *stream));
  }
  execution.device = device->name;
  execution.reason = report.reason;
  execution.schedule = report.kernel->manifest().schedule;
  return execution;
}

llvm::Expected<std::unique_ptr<Executable>>
tegula::tool::compileForCuda(Compiler &compiler, const CompileRequest &request,
                             bool debug) {
  CompileRequest counting = request;
  counting.countVisits = debug;
  auto executable =
      std::make_unique<CudaExecutable>(compiler, std::move(counting), debug);
  if (llvm::Error error = executable->initialise())
    return error;
  return executable;
}
