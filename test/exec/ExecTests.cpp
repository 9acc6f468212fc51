//===- ExecTests.cpp - runs the table of end-to-end cases -----------------===//
//
//   tegula-exec-tests --target cpu|cuda [--full] [--filter TEXT] [--list]
//                     [--seconds N] [--verbose] [--compile-only]
//
// One process for all cases: a kernel is compiled once for all shapes and
// layouts (all kernels first, in parallel), an answer is computed once for all
// schedules. Each case has a time limit; a case beyond it ends the process.
// TEGULA_FULL in the environment is --full. Ends with 0 if every case passed, 4
// if there is no such target.
//
//===----------------------------------------------------------------------===//
#include "Case.h"

#include "codegen/Compiler.h"
#include "tools/tegula/Execute.h"
#include "tools/tegula/Failure.h"
#include "tools/tegula/Reference.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

using namespace tegula;
using namespace tegula::exec;
using namespace tegula::tool;

namespace cl = llvm::cl;
using Clock = std::chrono::steady_clock;

static cl::OptionCategory category("Options");
static cl::opt<std::string> targetName("target", cl::desc("cpu or cuda"),
                                       cl::init("cpu"), cl::cat(category));
static cl::opt<bool> full("full", cl::desc("All cases, not the smoke subset"),
                          cl::cat(category));
static cl::list<std::string>
    filters("filter", cl::CommaSeparated,
            cl::desc("Only cases whose name contains every TEXT"),
            cl::value_desc("TEXT,..."), cl::cat(category));
static cl::opt<bool> list("list", cl::desc("Print the names and end"),
                          cl::cat(category));
static cl::opt<bool>
    compileOnly("compile-only",
                cl::desc("Compile every kernel, run none; needs no GPU"),
                cl::cat(category));
static cl::opt<bool> verbose("verbose", cl::desc("A line for each case"),
                             cl::cat(category));
static cl::opt<int> seconds("seconds", cl::desc("Time limit of a case"),
                            cl::init(120), cl::cat(category));

namespace {
/// Ends the process when a case takes too long: a kernel that hangs cannot be
/// stopped in another way.
class Watchdog {
public:
  Watchdog() {
    std::thread([this] {
      while (true) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        int64_t begin = started;
        if (begin && now() - begin > int64_t(seconds) * 1000) {
          llvm::outs() << "TIME LIMIT of " << int(seconds) << " s: " << *name
                       << '\n';
          llvm::outs().flush();
          std::_Exit(1);
        }
      }
    }).detach();
  }
  void begin(const std::string &caseName) {
    started = 0;
    name = &caseName;
    started = now();
  }
  void end() { started = 0; }

private:
  static int64_t now() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               Clock::now().time_since_epoch())
        .count();
  }
  std::atomic<int64_t> started{0};
  std::atomic<const std::string *> name{nullptr};
};

class Runner {
public:
  explicit Runner(RunTarget target) : target(target) {}

  /// Compiles the kernels of all cases, on several threads for the GPU (ptxas
  /// takes a second for each). With `only`, nothing is loaded, and a kernel
  /// that spills or serialises its matrix ops is wrong, too. Failures are kept
  /// for `run`; the result is how many there are.
  size_t compileAll(llvm::ArrayRef<Case> cases, bool only);

  /// What is wrong with the case, or "".
  std::string run(const Case &c);

private:
  /// A kernel, or why there is none.
  struct Kernel {
    std::unique_ptr<Compiler> compiler = std::make_unique<Compiler>();
    std::unique_ptr<Executable> executable;
    std::string failure;
  };

  llvm::Expected<Program *> programOf(const Case &c);
  std::string compile(const Case &c, const Program &program, bool only,
                      Kernel &kernel);
  std::string compare(const Case &c, const Problem &problem);
  std::string runTwice(const Case &c, Executable &executable,
                       Problem &problem);

  const RunTarget target;
  std::map<std::string, std::unique_ptr<Program>> programs;
  std::map<std::string, Kernel> kernels;
  /// The last answer, and the cases that it is the answer for.
  std::string referenceKey;
  Reference reference;
};
} // namespace

static std::string programKey(const Case &c) {
  std::string key = c.source + '\0' + c.item;
  for (const auto &[name, value] : c.defines)
    key += '\0' + name + '=' + value;
  return key;
}

llvm::Expected<Program *> Runner::programOf(const Case &c) {
  std::unique_ptr<Program> &program = programs[programKey(c)];
  if (!program) {
    std::vector<lang::Define> defines;
    for (const auto &[name, value] : c.defines)
      defines.push_back({name, value});
    auto made = Program::create(c.source, "case.tg", c.item, defines);
    if (!made)
      return made.takeError();
    program = std::move(*made);
  }
  return program.get();
}

static std::string kernelKey(const Case &c) {
  std::string key = programKey(c) + '\0' + std::to_string(c.setup.logitOffset);
  for (const std::string &field : c.schedule)
    key += '\0' + field;
  return key;
}

static CompileRequest requestOf(const Case &c, const Program &program) {
  CompileRequest request;
  request.text = program.text();
  request.name = program.name();
  request.item = c.item;
  for (const auto &[name, value] : c.defines)
    request.defines.push_back({name, value});
  request.schedule = c.schedule;
  if (c.setup.logitOffset != 0)
    request.text = program.withLogitOffset(c.setup.logitOffset, request.item);
  return request;
}

/// Assembles without a GPU and looks at what ptxas says.
static std::string assembleOnly(Compiler &compiler, CompileRequest request) {
  request.stopAfter = findPtxas().empty() ? Stage::Ptx : Stage::Cubin;
  CompileResult result = compiler.compile(request);
  if (!result)
    return result.diagnostics;
  // The compiler tells of spills that cost anything.
  if (llvm::StringRef(result.diagnostics).contains("the kernel spills"))
    return result.diagnostics;
  for (const PtxasNote &note : result.assembler.notes)
    if (note.serialises)
      return "ptxas: " + note.text;
  return "";
}

std::string Runner::compile(const Case &c, const Program &program, bool only,
                            Kernel &kernel) {
  CompileRequest request = requestOf(c, program);
  if (only && target == RunTarget::cuda)
    return assembleOnly(*kernel.compiler, request);
  auto made = target == RunTarget::cpu
                  ? compileForCpu(*kernel.compiler, request)
                  : compileForCuda(*kernel.compiler, request);
  if (!made)
    return llvm::toString(made.takeError());
  kernel.executable = std::move(*made);
  return "";
}

size_t Runner::compileAll(llvm::ArrayRef<Case> cases, bool only) {
  struct Task {
    const Case *c;
    const Program *program;
    Kernel *kernel;
  };
  std::vector<Task> tasks;
  for (const Case &c : cases) {
    auto program = programOf(c);
    if (!program) {
      kernels[kernelKey(c)].failure = llvm::toString(program.takeError());
      continue;
    }
    auto [it, isNew] = kernels.try_emplace(kernelKey(c));
    if (isNew)
      tasks.push_back({&c, *program, &it->second});
  }
  llvm::parallelFor(0, tasks.size(), [&](size_t n) {
    const Task &task = tasks[n];
    task.kernel->failure = compile(*task.c, *task.program, only, *task.kernel);
  });
  size_t failed = 0;
  for (const Task &task : tasks)
    if (!task.kernel->failure.empty()) {
      ++failed;
      if (only)
        llvm::outs() << "FAIL " << task.c->name << ": "
                     << llvm::StringRef(task.kernel->failure).rtrim() << '\n';
    }
  llvm::outs() << tasks.size() - failed << " of " << tasks.size()
               << " kernels compiled\n";
  return failed;
}

/// The bytes of all outputs.
static std::vector<std::byte> outputBytes(const Problem &problem) {
  std::vector<std::byte> all;
  for (auto [number, tensor] : llvm::enumerate(problem.item->tensors))
    if (tensor.role == lang::Role::Output) {
      std::vector<std::byte> bytes = problem.tensors[number].denseBytes();
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
  return all;
}

/// Runs over outputs full of NaN and over zeros: the results are bitwise equal,
/// and nothing beside a tensor is written.
std::string Runner::runTwice(const Case &c, Executable &executable,
                             Problem &problem) {
  auto execution = executable.run(problem, 1);
  if (!execution)
    return llvm::toString(execution.takeError());
  if (target == RunTarget::cuda && !c.form.empty() &&
      !llvm::StringRef(execution->schedule).contains(c.form))
    return "expected the " + c.form + " kernel, but got " +
           execution->schedule + " " + execution->reason;
  std::vector<std::byte> first = outputBytes(problem);
  for (auto [number, tensor] : llvm::enumerate(problem.item->tensors))
    if (tensor.role == lang::Role::Output)
      std::fill_n(problem.tensors[number].data(),
                  problem.tensors[number].sizeInBytes(), std::byte{0});
  execution = executable.run(problem, 1);
  if (!execution)
    return llvm::toString(execution.takeError());
  if (first != outputBytes(problem))
    return "the result depends on what the outputs held before";
  for (auto [number, tensor] : llvm::enumerate(problem.tensors))
    if (!tensor.guardsIntact())
      return "memory beside `" + problem.item->tensors[number].name +
             "` was written";
  return "";
}

std::string Runner::compare(const Case &c, const Problem &problem) {
  if (c.referenceKey.empty() || c.referenceKey != referenceKey) {
    reference = computeReference(problem, 1e10);
    referenceKey = c.referenceKey;
  }
  const lang::Item &item = *problem.item;
  for (unsigned output = 0; output < item.outputs.size(); ++output) {
    OutputCheck check = checkOutput(reference, problem, output);
    if (!check.ok) {
      std::string text;
      llvm::raw_string_ostream(text)
          << check.firstWrong
          << llvm::format(" (worst %.3g times its limit, rel_l2 %.3g of %.3g, "
                          "%lld NaN)",
                          check.worst, check.relL2, check.relL2Limit,
                          static_cast<long long>(check.nan));
      return text;
    }
  }
  return "";
}

std::string Runner::run(const Case &c) {
  auto program = programOf(c);
  if (!program)
    return llvm::toString(program.takeError());
  auto problem = setUp(**program, c.setup);
  if (!problem)
    return llvm::toString(problem.takeError());
  if (c.edit)
    c.edit(*problem);
  Kernel &kernel = kernels[kernelKey(c)];
  if (!kernel.failure.empty())
    return kernel.failure;
  if (std::string text = runTwice(c, *kernel.executable, *problem); !text.empty())
    return text;
  if (std::string text = compare(c, *problem); !text.empty())
    return text;
  return c.expect ? c.expect(*problem) : "";
}

static std::vector<Case> chooseCases(RunTarget target) {
  std::vector<Case> chosen;
  for (auto cases :
       {gridCases(target), probeCases(target), shapeCases(target),
        languageCases(target), reportedCases(), tableCases(target)})
    for (Case &c : cases)
      if ((full || c.smoke) && llvm::all_of(filters, [&](llvm::StringRef text) {
            return llvm::StringRef(c.name).contains(text);
          }))
        chosen.push_back(std::move(c));
  return chosen;
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "The table of end-to-end cases\n");
  if (std::getenv("TEGULA_FULL"))
    full = true;
  if (targetName != "cpu" && targetName != "cuda") {
    llvm::errs() << "expected --target cpu or cuda, but got '" << targetName
                 << "'\n";
    return 2;
  }
  RunTarget target = targetName == "cpu" ? RunTarget::cpu : RunTarget::cuda;
  std::vector<Case> cases = chooseCases(target);
  if (list) {
    for (const Case &c : cases)
      llvm::outs() << c.name << '\n';
    return 0;
  }
  std::string reason;
  if (target == RunTarget::cuda && !compileOnly && !hasGpu(reason)) {
    llvm::errs() << "no GPU: " << reason << '\n';
    return 4;
  }
  if (cases.empty()) {
    llvm::errs() << "no case has this name; see --list\n";
    return 2;
  }

  auto begin = Clock::now();
  Runner runner(target);
  size_t failed = runner.compileAll(cases, compileOnly);
  if (compileOnly)
    return failed ? 1 : 0;
  failed = 0;                    // counted by case below
  auto *watchdog = new Watchdog; // its thread runs until the process ends
  for (const Case &c : cases) {
    watchdog->begin(c.name);
    auto caseBegin = Clock::now();
    std::string text = runner.run(c);
    watchdog->end();
    failed += !text.empty();
    std::chrono::duration<double> passed = Clock::now() - caseBegin;
    if (!text.empty())
      llvm::outs() << "FAIL " << c.name << ": " << llvm::StringRef(text).rtrim()
                   << '\n';
    else if (verbose)
      llvm::outs() << "ok   " << c.name
                   << llvm::format(" %.2f s\n", passed.count());
    llvm::outs().flush();
  }
  std::chrono::duration<double> passed = Clock::now() - begin;
  llvm::outs() << cases.size() - failed << " of " << cases.size()
               << " cases passed on " << targetName
               << llvm::format(" in %.1f s\n", passed.count());
  return failed ? 1 : 0;
}
