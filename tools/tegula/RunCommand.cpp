//===- RunCommand.cpp - tegula run ----------------------------------------===//
//
// Analyse, set up the numbers, compile, execute, compare, report, write files.
// Mistakes in arguments are found before anything is compiled.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Commands.h"
#include "tools/tegula/Execute.h"
#include "tools/tegula/Failure.h"
#include "tools/tegula/Npy.h"
#include "tools/tegula/Report.h"
#include "tools/tegula/Setup.h"

#include "codegen/Compiler.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace tegula;
using namespace tegula::tool;

/// Whether the item writes a tensor.
static bool isWritten(const lang::Item &item, unsigned tensor) {
  return item.tensors[tensor].role != lang::Role::Input &&
         llvm::any_of(item.signature, [&](const lang::Argument &argument) {
           return argument.isTensor && argument.number == tensor;
         });
}

/// `--out` names outputs of the item.
static llvm::Error checkOutputNames(const lang::Item &item,
                                    const Pairs &outputs) {
  for (const auto &[name, path] : outputs) {
    int tensor = item.findTensor(name);
    if (tensor < 0 || !isWritten(item, tensor))
      return usageError("--out " + name + ": `" + item.name +
                        "` has no such output");
  }
  return llvm::Error::success();
}

/// What only attention items know.
static llvm::Error checkKernelOptions(const RunOptions &options,
                                      const lang::Item &item) {
  if (!item.program)
    return llvm::Error::success();
  std::string isKernel = ": `" + item.name + "` is a kernel";
  if (options.check)
    return usageError("--check" + isKernel +
                      ", and no dense reference is known of one; compare what "
                      "--out writes");
  if (options.logitOffset != 0)
    return usageError("--logit-offset" + isKernel + ", which has no scores");
  if (options.layout != Layout::bhsd)
    return usageError("--layout bshd" + isKernel +
                      ", whose axes mean nothing to the tool");
  return llvm::Error::success();
}

/// Where to run: what the user says, else the GPU where there is one and the
/// item runs on it.
static llvm::Expected<RunTarget> chooseTarget(const RunOptions &options,
                                              const lang::Item &item) {
  bool isDouble = item.accumulator == lang::ElemType::F64;
  std::string reason;
  if (options.target == RunTarget::cpu)
    return RunTarget::cpu;
  if (options.target == RunTarget::cuda) {
    if (!hasGpu(reason))
      return lackingError("--target cuda needs a GPU: " + reason);
    return RunTarget::cuda;
  }
  if (!isDouble && hasGpu(reason))
    return RunTarget::cuda;
  if (options.arch)
    return lackingError(
        isDouble ? "--arch names a GPU architecture, but `" + item.name +
                       "` computes in f64, which runs on the CPU only"
                 : "--arch names a GPU architecture, but there is no GPU: " +
                       reason);
  return RunTarget::cpu;
}

static llvm::Expected<CompileRequest> makeRequest(const RunOptions &options,
                                                  const Program &program) {
  CompileRequest request =
      requestOf(options, program.text(), program.item().name);
  if (options.logitOffset != 0)
    request.text = program.withLogitOffset(options.logitOffset, request.item);
  if (const auto &[stage, path] = options.replace; !stage.empty()) {
    auto text = readText(path);
    if (!text)
      return text.takeError();
    request.text = std::move(*text);
    request.name = displayName(path);
    request.startFrom = *stageByName(stage);
  }
  return request;
}

static void describe(const Problem &problem, Layout layout, RunReport &report) {
  for (auto [dim, value] : llvm::zip(problem.item->dims, problem.dims)) {
    report.sizes.emplace_back(dim.name, value);
    report.problemText += dim.name + "=" + std::to_string(value) + " ";
  }
  for (const lang::Argument &argument : problem.item->signature)
    if (argument.isTensor)
      report.bytes += problem.tensors[argument.number].sizeInBytes();
  if (problem.item->program)
    return;
  const Tensor &q = problem.tensors[problem.item->q.tensor];
  report.problemText += elementTypeName(q.type());
  report.problemText += layout == Layout::bhsd ? " bhsd" : " bshd";
  report.flops = countFlops(problem);
}

static void inspectOutputs(const Problem &problem, bool check,
                           RunReport &report) {
  const lang::Item &item = *problem.item;
  Reference reference;
  if (check) {
    reference = computeReference(problem);
    report.checkedRows = static_cast<int64_t>(reference.rows.size());
    report.totalRows = reference.totalRows;
  }
  for (const lang::Argument &argument : item.signature) {
    if (!argument.isTensor)
      continue;
    auto number = static_cast<int>(argument.number);
    const Tensor &tensor = problem.tensors[number];
    if (!tensor.guardsIntact()) {
      report.overrun.push_back(item.tensors[number].name);
      report.ok = false;
    }
    if (item.tensors[number].role == lang::Role::Input)
      continue;
    OutputReport output;
    output.name = item.tensors[number].name;
    for (int64_t offset = 0; offset < tensor.size(); ++offset)
      output.nan += std::isnan(tensor.real(offset));
    auto declared = llvm::find_if(item.outputs, [&](const lang::Output &o) {
      return o.tensor == argument.number;
    });
    if (check) {
      output.check = checkOutput(reference, problem,
                                 unsigned(declared - item.outputs.begin()));
      report.ok &= output.check->ok;
    }
    report.outputs.push_back(std::move(output));
  }
}

static llvm::Error writeOutputs(const Problem &problem, const Pairs &outputs) {
  for (const auto &[name, path] : outputs)
    if (llvm::Error error =
            writeNpy(path, problem.tensors[problem.item->findTensor(name)]))
      return error;
  return llvm::Error::success();
}

llvm::Error tegula::tool::runRun(const RunOptions &options) {
  auto program = openProgram(options);
  if (!program)
    return program.takeError();
  const lang::Item &item = (*program)->item();
  if (llvm::Error error = checkOutputNames(item, options.outputs))
    return error;
  if (llvm::Error error = checkKernelOptions(options, item))
    return error;
  auto problem =
      setUp(**program, {options.sizes, options.layout, options.arguments,
                        options.seed, options.logitOffset});
  if (!problem)
    return problem.takeError();
  auto target = chooseTarget(options, item);
  if (!target)
    return target.takeError();
  auto request = makeRequest(options, **program);
  if (!request)
    return request.takeError();

  Compiler compiler;
  auto executable = *target == RunTarget::cpu
                        ? compileForCpu(compiler, *request, options.debug)
                        : compileForCuda(compiler, *request, options.debug);
  if (!executable)
    return executable.takeError();
  llvm::errs() << (*executable)->diagnostics;
  if (options.time)
    llvm::errs() << (*executable)->stageTimes;
  auto execution = (*executable)->run(*problem, options.runs);
  if (!execution)
    return execution.takeError();

  RunReport report;
  report.item = item.name;
  report.target = *target == RunTarget::cpu ? "cpu" : "cuda";
  report.execution = std::move(*execution);
  describe(*problem, options.layout, report);
  inspectOutputs(*problem, options.check, report);
  (options.json ? printJson : printText)(report, llvm::outs());
  if (llvm::Error error = writeOutputs(*problem, options.outputs))
    return error;
  if (report.ok)
    return llvm::Error::success();
  return fail(ExitCode::checkFailed,
              report.overrun.empty()
                  ? "the check failed: a result is outside of the tolerance"
                  : "memory beside a tensor was written");
}
