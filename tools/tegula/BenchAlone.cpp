//===- BenchAlone.cpp - our kernels timed without peers -------------------===//
//
// The protocol is that of bench/protocol.py with one participant: rounds of
// blocks of launches after an idle gap, a block's first third dropped, medians.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/BenchAlone.h"
#include "tools/tegula/Execute.h"
#include "tools/tegula/Failure.h"
#include "tools/tegula/Npy.h"
#include "tools/tegula/Report.h"
#include "tools/tegula/Setup.h"

#include "codegen/Compiler.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <thread>

using namespace tegula;
using namespace tegula::tool;
namespace json = llvm::json;

static constexpr double blockMilliseconds = 40;
static constexpr std::chrono::milliseconds gap(100);

static double medianOf(std::vector<double> values) {
  llvm::sort(values);
  size_t half = values.size() / 2;
  return values.size() % 2 ? values[half]
                           : (values[half - 1] + values[half]) / 2;
}

/// A file that `--arg NAME=@file` can name, gone with this object.
namespace {
struct TableFile {
  llvm::SmallString<128> path;
  llvm::FileRemover remover;
};
} // namespace

/// Writes the cell's tables, in the types that the item declares.
static llvm::Error writeTables(const BenchCell &cell, const lang::Item &item,
                               Pairs &arguments,
                               std::vector<std::unique_ptr<TableFile>> &files) {
  for (const auto &[name, values] : cell.tables) {
    const lang::Tensor &declaration = item.tensors[item.findTensor(name)];
    auto tensor = Tensor::create(elementTypeOf(declaration.elem),
                                 {static_cast<int64_t>(values.size())});
    if (!tensor)
      return tensor.takeError();
    for (const auto &[offset, value] : llvm::enumerate(values))
      if (lang::isFloat(declaration.elem))
        tensor->setReal(offset, value);
      else
        tensor->setInteger(offset, static_cast<int64_t>(value));
    auto file = std::make_unique<TableFile>();
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile(name, "npy", file->path))
      return lackingError("no temporary file: " + error.message());
    file->remover.setFile(file->path);
    if (llvm::Error error = writeNpy(file->path, *tensor))
      return error;
    arguments.emplace_back(name, "@" + file->path.str().str());
    files.push_back(std::move(file));
  }
  return llvm::Error::success();
}

/// What is wrong with the outputs; empty where they are right.
static std::string wrongOutput(const Problem &problem) {
  if (problem.item->program)
    return "";
  Reference reference = computeReference(problem, /*workLimit=*/4e9);
  for (unsigned number = 0; number < problem.item->outputs.size(); ++number) {
    OutputCheck check = checkOutput(reference, problem, number);
    if (!check.ok)
      return check.firstWrong;
  }
  return "";
}

static llvm::Expected<double> timeRounds(Executable &executable,
                                         Problem &problem, int rounds) {
  auto first = executable.run(problem, 3);
  if (!first)
    return first.takeError();
  int launches = static_cast<int>(std::clamp(
      blockMilliseconds / std::max(medianOf(first->milliseconds), 1e-3), 6.0,
      400.0));
  std::vector<double> medians;
  for (int round = 0; round < rounds; ++round) {
    std::this_thread::sleep_for(gap);
    auto block = executable.run(problem, launches);
    if (!block)
      return block.takeError();
    const std::vector<double> &times = block->milliseconds;
    medians.push_back(medianOf({times.begin() + launches / 3, times.end()}));
  }
  return medianOf(medians);
}

static llvm::Error timeCell(const BenchOptions &options, const BenchCell &cell,
                            BenchRecorder &recorder) {
  CompileRequest request;
  for (const auto &[name, value] : cell.defines)
    request.defines.push_back({name, value});
  auto text = readText(cell.file);
  if (!text)
    return text.takeError();
  request.text = *text;
  request.name = displayName(cell.file);
  request.item = cell.item;
  request.schedule = options.schedule;
  auto program = Program::create(std::move(*text), request.name, cell.item,
                                 request.defines);
  if (!program)
    return program.takeError();
  SetupRequest setup{cell.sizes};
  setup.arguments = cell.arguments;
  std::vector<std::unique_ptr<TableFile>> files;
  if (llvm::Error error =
          writeTables(cell, (*program)->item(), setup.arguments, files))
    return error;
  auto problem = setUp(**program, setup);
  if (!problem)
    return problem.takeError();
  Compiler compiler;
  auto executable = compileForCuda(compiler, request);
  if (!executable)
    return executable.takeError();
  llvm::errs() << (*executable)->diagnostics;
  auto execution = (*executable)->run(*problem, 1);
  if (!execution)
    return execution.takeError();
  if (!recorder.isDescribed())
    recorder.describe(json::Object{
        {"machine", execution->device},
        {"tensor_pipe", "null: no SM clock was measured beside the launches"},
        {"peers", json::Object()}});

  json::Object row{{"kernel", cell.item},    {"pass", "forward"},
                   {"dtype", cell.dtype},    {"d", cell.d},
                   {"mask", cell.mask},      {"s", cell.s},
                   {"tflops", nullptr},      {"tensor_pipe", nullptr},
                   {"peers", json::Object()}};
  auto schedule = json::parse(execution->schedule);
  row["schedule"] = schedule ? std::move(*schedule) : json::Value(nullptr);
  if (!schedule)
    llvm::consumeError(schedule.takeError());
  if (std::string wrong = wrongOutput(*problem); !wrong.empty()) {
    row["wrong"] = wrong;
    return recorder.add(std::move(row));
  }
  auto median = timeRounds(**executable, *problem, options.rounds);
  if (!median)
    return median.takeError();
  row["ms"] = *median;
  if (!problem->item->program)
    row["tflops"] = countFlops(*problem) / *median * 1e-9;
  return recorder.add(std::move(row));
}

llvm::Error tegula::tool::timeAlone(const BenchOptions &options,
                                    const BenchGrid &grid,
                                    BenchRecorder &recorder) {
  llvm::Error errors = llvm::Error::success();
  for (const BenchCell &cell : grid.cells)
    errors =
        llvm::joinErrors(std::move(errors), timeCell(options, cell, recorder));
  return errors;
}
