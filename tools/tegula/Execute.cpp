//===- Execute.cpp - compiled items, run on this machine ------------------===//
//
// What CPU and GPU share: from a compilation's status to an error, and from a
// problem to the runtime's arguments.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Execute.h"
#include "tools/tegula/ExecuteShared.h"
#include "tools/tegula/Failure.h"

#include "codegen/Compiler.h"
#include "lang/Program.h"
#include "runtime/Device.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>

using namespace tegula;
using namespace tegula::tool;

llvm::Error tegula::tool::compileError(const CompileResult &result) {
  auto code = static_cast<ExitCode>(static_cast<int>(result.status));
  std::string text = result.diagnostics;
  if (llvm::StringRef(text).trim().empty())
    text = "error: internal: the compiler failed without a message";
  return llvm::make_error<Failure>(code, text, /*rendered=*/true);
}

llvm::Error tegula::tool::statusError(const rt::Status &status) {
  switch (status.code()) {
  case rt::StatusCode::ok:
    return llvm::Error::success();
  case rt::StatusCode::invalidArgument:
  case rt::StatusCode::sourceError:
    return userError(status.message());
  case rt::StatusCode::unavailable:
  case rt::StatusCode::outOfMemory:
    return lackingError(status.message());
  case rt::StatusCode::assertionFailed:
    // The CPU target's text has its own place; a driver's is of the call.
    return llvm::make_error<Failure>(ExitCode::checkFailed, status.message(),
                                     /*rendered=*/!status.driverError());
  case rt::StatusCode::driverError:
  case rt::StatusCode::internal:
    return fail(ExitCode::internal, status.message());
  }
  llvm_unreachable("every status has an exit code");
}

std::string tegula::tool::stageTimesText(const CompileResult &result) {
  std::string text;
  double sum = 0;
  for (const StageTime &time : result.times) {
    text += llvm::formatv("{0,-10} {1,9:f2} ms\n", stageName(time.stage),
                          time.milliseconds)
                .str();
    sum += time.milliseconds;
  }
  return text + llvm::formatv("{0,-10} {1,9:f2} ms\n", "total", sum).str();
}

bool tegula::tool::hasGpu(std::string &reason) {
  rt::Result<const rt::Device *> device = rt::Device::get(0);
  if (!device.ok())
    reason = device.status().message();
  return device.ok();
}

llvm::Error
tegula::tool::setArguments(Problem &problem, rt::Arguments &arguments,
                           llvm::function_ref<void *(unsigned)> dataOf) {
  const lang::Item &item = *problem.item;
  for (const lang::Argument &argument : item.signature) {
    if (!argument.isTensor) {
      const lang::Scalar &scalar = item.scalars[argument.number];
      const ScalarValue &value = problem.scalars[argument.number];
      rt::Status status = lang::isFloat(scalar.type)
                              ? arguments.set(scalar.name, value.real)
                              : arguments.set(scalar.name, value.integer);
      if (!status.ok())
        return statusError(status);
      continue;
    }
    const Tensor &tensor = problem.tensors[argument.number];
    rt::TensorView view;
    view.data = dataOf(argument.number);
    view.type = tensor.type();
    view.rank = static_cast<int>(tensor.shape().size());
    if (view.rank > rt::maxRank)
      return userError("`" + item.tensors[argument.number].name + "` has " +
                       llvm::Twine(view.rank) + " axes; at most " +
                       llvm::Twine(rt::maxRank) + " are supported");
    for (int axis = 0; axis < view.rank; ++axis) {
      view.sizes[axis] = tensor.shape()[axis];
      view.strides[axis] = tensor.strides()[axis];
    }
    rt::Status status = arguments.set(item.tensors[argument.number].name, view);
    if (!status.ok())
      return statusError(status);
  }
  return llvm::Error::success();
}

std::vector<unsigned> tegula::tool::tensorsInPlace(const lang::Item &item) {
  std::vector<unsigned> tensors;
  for (const lang::Argument &argument : item.signature)
    if (argument.isTensor &&
        item.tensors[argument.number].role == lang::Role::InOut)
      tensors.push_back(argument.number);
  return tensors;
}

static bool prints(const std::vector<lang::Statement> &statements) {
  return llvm::any_of(statements, [](const lang::Statement &statement) {
    return statement.kind == lang::Statement::Print || prints(statement.body) ||
           prints(statement.otherwise);
  });
}

bool tegula::tool::isTalking(const lang::Item &item) {
  return item.program && prints(item.program->body);
}

namespace {
class CpuExecutable : public Executable {
public:
  CpuExecutable(std::unique_ptr<CpuKernel> kernel,
                std::unique_ptr<CpuKernel> claims)
      : kernel(std::move(kernel)), claims(std::move(claims)) {}

  llvm::Expected<Execution> run(Problem &problem, int runs) override {
    rt::Arguments arguments = kernel->arguments();
    if (llvm::Error error =
            setArguments(problem, arguments, [&](unsigned number) -> void * {
              return problem.tensors[number].data();
            }))
      return error;
    if (claims)
      if (rt::Status status = claims->run(arguments); !status.ok())
        return statusError(status);
    Execution execution{"host CPU", kernel->schedule(), "", {}, 0};
    std::vector<std::pair<unsigned, Tensor>> initial;
    for (unsigned number : tensorsInPlace(*problem.item))
      initial.emplace_back(number, problem.tensors[number]);
    // Without a count: again while it is cheap, as the first run is cold.
    double spent = 0;
    if (runs == 0 && isTalking(*problem.item))
      runs = 1;
    for (int run = 0; runs ? run < runs : run == 0 || (run < 5 && spent < 200);
         ++run) {
      for (auto &[number, tensor] : initial)
        llvm::copy(tensor.wholeStorage(),
                   problem.tensors[number].wholeStorage().begin());
      auto begin = std::chrono::steady_clock::now();
      if (rt::Status status = kernel->run(arguments); !status.ok())
        return statusError(status);
      std::chrono::duration<double, std::milli> passed =
          std::chrono::steady_clock::now() - begin;
      execution.milliseconds.push_back(passed.count());
      spent += passed.count();
    }
    return execution;
  }

private:
  std::unique_ptr<CpuKernel> kernel, claims;
};
} // namespace

llvm::Expected<std::unique_ptr<Executable>>
tegula::tool::compileForCpu(Compiler &compiler, const CompileRequest &request,
                            bool debug) {
  CompileRequest forCpu = request;
  forCpu.target = "cpu";
  forCpu.stopAfter = Stage::Cpu;
  CompileResult result;
  std::unique_ptr<CpuKernel> claims,
      kernel = compiler.compileForCpu(forCpu, result);
  if (!kernel)
    return compileError(result);
  if (debug) {
    CompileResult ofClaims;
    claims = compiler.compileForCpu(*claimsRequest(forCpu), ofClaims);
    if (!claims)
      return compileError(ofClaims);
  }
  auto executable =
      std::make_unique<CpuExecutable>(std::move(kernel), std::move(claims));
  executable->diagnostics = result.diagnostics;
  executable->stageTimes = stageTimesText(result);
  return executable;
}
