//===- RandomTests.cpp - random programs against the references -----------===//
//
//   tegula-random-tests [--kind attention|kernel|mask|all] [--seed K]
//                       [--count N] [--first N] [--only N] [--progress]
//
// Makes programs from a seed, compiles each for the CPU, runs it on a few
// problems and compares every output; of masks it counts the blocks that the
// program visits, beside brute force over all elements. A program that is
// refused, that crashes, hangs or differs is printed with what makes it again,
// as small as it gets in some hundred attempts. Ends with 0 if every program
// passed.
//
//===----------------------------------------------------------------------===//
#include "KernelEvaluator.h"
#include "RandomProgram.h"

#include "codegen/Compiler.h"
#include "tools/tegula/Execute.h"
#include "tools/tegula/Fill.h"
#include "tools/tegula/Reference.h"
#include "tools/tegula/Tiles.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <thread>

using namespace tegula;
using namespace tegula::generated;
using namespace tegula::tool;

namespace cl = llvm::cl;
using Clock = std::chrono::steady_clock;

namespace {
enum class Kind { attention, kernel, mask, all };
}

static cl::OptionCategory category("Options");
static cl::opt<Kind>
    kind("kind", cl::desc("Items to make"), cl::init(Kind::all),
         cl::values(clEnumValN(Kind::attention, "attention", ""),
                    clEnumValN(Kind::kernel, "kernel", ""),
                    clEnumValN(Kind::mask, "mask", ""),
                    clEnumValN(Kind::all, "all", "")),
         cl::cat(category));
static cl::opt<unsigned> seed("seed", cl::desc("Seed of the run"), cl::init(1),
                              cl::cat(category));
static cl::opt<int> count("count", cl::desc("Programs"), cl::init(1000),
                          cl::cat(category));
static cl::opt<int> first("first", cl::desc("Number of the first program"),
                          cl::init(0), cl::cat(category));
static cl::opt<int> only("only", cl::desc("Run program N alone, and print it"),
                         cl::init(-1), cl::cat(category));
static cl::opt<int> seconds("seconds", cl::desc("Processor time for a program"),
                            cl::init(60), cl::cat(category));
static cl::opt<bool> progress("progress", cl::desc("Say how far the run is"),
                              cl::cat(category));
static cl::opt<bool> keepSize("keep-size",
                              cl::desc("Print what fails as it was made"),
                              cl::cat(category));

//===----------------------------------------------------------------------===//
// Programs as text
//===----------------------------------------------------------------------===//

/// The command line that runs a problem.
static std::string commandOf(const RandomProgram &program,
                             const SetupRequest &request) {
  std::string text =
      "tegula run FILE --target cpu --item " + program.item + " --size ";
  for (auto [n, size] : llvm::enumerate(request.sizes))
    text += (n ? "," : "") + size.first + "=" + std::to_string(size.second);
  for (const auto &[name, value] : request.arguments)
    text += " --arg " + name + "=" + value;
  if (request.layout == Layout::bshd)
    text += " --layout bshd";
  if (!program.schedule.empty())
    text += " --schedule " + llvm::join(program.schedule, ",");
  return text + " --seed " + std::to_string(request.seed);
}

namespace {
/// The program that runs now, for when it does not come back.
class Current {
public:
  static void set(const std::string &what) {
    description() = what;
    started() = now();
  }
  static void print() {
    llvm::errs() << description() << '\n';
    llvm::errs().flush();
  }
  /// Ends the process when a program takes too long, and speaks when it
  /// crashes.
  static void watch() {
    llvm::sys::PrintStackTraceOnErrorSignal("");
    llvm::sys::AddSignalHandler(
        [](void *) {
          llvm::errs() << "CRASH of ";
          print();
        },
        nullptr);
    std::thread([] {
      while (true) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        if (now() - started() > int64_t(seconds) * 1000) {
          llvm::errs() << "TIME LIMIT of " << int(seconds) << " s: ";
          print();
          std::_Exit(1);
        }
      }
    }).detach();
  }

private:
  /// Of the processor, in ms: a busy machine is no fault of the program.
  static int64_t now() {
    return static_cast<int64_t>(std::clock()) / (CLOCKS_PER_SEC / 1000);
  }
  static std::string &description() {
    static auto *text = new std::string;
    return *text;
  }
  static std::atomic<int64_t> &started() {
    static std::atomic<int64_t> time{now()};
    return time;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Comparison with the references
//===----------------------------------------------------------------------===//

/// Outputs of an item that computes in f64, to 1e-10 of the row's largest
/// element; an output of another type may round once more.
static std::string compareDouble(const Problem &problem,
                                 const Reference &reference, unsigned number) {
  const lang::Output &output = problem.item->outputs[number];
  const Tensor &tensor = problem.tensors[output.tensor];
  double rounding = tensor.type() == ElementType::f32 ? 0x1p-23 : 0;
  for (const ReferenceRow &row : reference.rows) {
    const std::vector<double> &expected = row.outputs[number];
    double largest = 1;
    for (double value : expected)
      if (std::isfinite(value))
        largest = std::max(largest, std::fabs(value));
    for (int64_t e = 0; e < static_cast<int64_t>(expected.size()); ++e) {
      int64_t index[] = {row.at.b, row.at.h, row.at.i, e};
      auto at = llvm::ArrayRef(index).take_front(tensor.shape().size());
      double value = tensor.real(tensor.offsetOf(at));
      double limit = rt::isFloat(tensor.type())
                         ? 1e-10 * largest + rounding * std::fabs(expected[e])
                         : 0;
      bool same = value == expected[e] ||
                  (std::isnan(value) && std::isnan(expected[e])) ||
                  std::fabs(value - expected[e]) <= limit;
      if (same)
        continue;
      std::string text;
      llvm::raw_string_ostream(text)
          << problem.item->tensors[output.tensor].name << shapeText(at)
          << llvm::format(" is %.17g, expected %.17g", value, expected[e]);
      return text;
    }
  }
  return "";
}

static std::string compareAttention(const Problem &problem) {
  Reference reference = computeReference(problem);
  for (unsigned n = 0; n < problem.item->outputs.size(); ++n) {
    if (problem.item->accumulator == lang::ElemType::F64) {
      if (std::string text = compareDouble(problem, reference, n);
          !text.empty())
        return text;
      continue;
    }
    OutputCheck check = checkOutput(reference, problem, n);
    if (check.worst > 1) // so few elements have no typical L2 error
      return check.firstWrong;
  }
  return "";
}

namespace {
/// What a kernel has to write: its program interpreted before it runs.
class KernelCheck {
public:
  KernelCheck(const lang::ast::File &file, const std::string &item,
              const Problem &before)
      : evaluator(file, item, before) {
    evaluator.run();
  }

  std::string compare(const Problem &after) const;

  /// Elements that were compared, and those that hang on rounded decisions.
  static inline int64_t compared = 0, unknown = 0;

private:
  KernelEvaluator evaluator;
};
} // namespace

std::string KernelCheck::compare(const Problem &after) const {
  for (auto [number, tensor] : llvm::enumerate(after.tensors)) {
    const lang::Tensor &declared = after.item->tensors[number];
    bool isReal = lang::isFloat(declared.elem);
    std::string wrong;
    tensor.forEach([&](int64_t linear, int64_t offset) {
      const Number &expected = evaluator.elements(number)[linear];
      ++compared;
      unknown += evaluator.isUndecided() || !expected.isKnown();
      if (evaluator.isUndecided() || !expected.isKnown() || !wrong.empty())
        return;
      double value = isReal ? tensor.real(offset) : 0;
      bool same = isReal
                      ? value == expected.real ||
                            (std::isnan(value) && std::isnan(expected.real)) ||
                            std::fabs(value - expected.real) <= expected.error
                      : tensor.integer(offset) == expected.integer;
      if (same)
        return;
      llvm::raw_string_ostream text(wrong);
      text << declared.name << ": element " << linear << " of shape "
           << shapeText(tensor.shape()) << " is ";
      if (isReal)
        text << llvm::format("%.17g, expected %.17g within %.3g", value,
                             expected.real, expected.error);
      else
        text << tensor.integer(offset) << ", expected " << expected.integer;
    });
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

namespace {
/// What became of a program; `what` is empty where all is well, and the first
/// words of `text` say which way it went wrong.
struct Verdict {
  std::string way, text;
  explicit operator bool() const { return way.empty(); }
};

class Runner {
public:
  Verdict run(const RandomProgram &program);
  /// The blocks that it visits.
  Verdict runMask(const RandomProgram &program);

  /// Over all problems: blocks without a visible pair, and without a hidden
  /// one, and how many of them were proved to be.
  TileCounts exact, proved;

private:
  /// Sets up what a run of a program needs; nothing where it is refused.
  std::unique_ptr<Program> start(const RandomProgram &program,
                                 CompileRequest &request, Verdict &verdict);
  Verdict runProblem(const Program &source, const lang::ast::File &file,
                     const RandomProgram &program, SetupRequest request,
                     Executable &executable);
  /// Types and attributes of a context are never freed.
  std::unique_ptr<Compiler> compiler;
  unsigned compiled = 0;
};
} // namespace

/// Drops arguments that the item does not take, because nothing reads them.
static SetupRequest fitting(SetupRequest request, const lang::Item &item) {
  llvm::erase_if(request.arguments, [&](const auto &argument) {
    return llvm::none_of(item.signature, [&](const lang::Argument &known) {
      return !known.isTensor &&
             item.scalars[known.number].name == argument.first;
    });
  });
  llvm::erase_if(request.sizes, [&](const auto &size) {
    return item.findDim(size.first) < 0;
  });
  return request;
}

Verdict Runner::runProblem(const Program &source, const lang::ast::File &file,
                           const RandomProgram &program, SetupRequest request,
                           Executable &executable) {
  request = fitting(std::move(request), source.item());
  std::string command = commandOf(program, request);
  auto problem = setUp(source, request);
  if (!problem)
    return {"setup", command + "\n" + llvm::toString(problem.takeError())};
  std::optional<KernelCheck> kernel;
  if (source.item().program)
    kernel.emplace(file, program.item, *problem);
  if (auto done = executable.run(*problem, 1); !done)
    return {"run", command + "\n" + llvm::toString(done.takeError())};
  for (auto [number, tensor] : llvm::enumerate(problem->tensors))
    if (!tensor.guardsIntact())
      return {"guards", command + "\nmemory beside `" +
                            problem->item->tensors[number].name +
                            "` was written"};
  std::string text =
      kernel ? kernel->compare(*problem) : compareAttention(*problem);
  if (!text.empty())
    return {"mismatch", command + "\n" + text};
  return {};
}

std::unique_ptr<Program> Runner::start(const RandomProgram &program,
                                       CompileRequest &request,
                                       Verdict &verdict) {
  if (compiled++ % 100 == 0)
    compiler = std::make_unique<Compiler>();
  auto source = Program::create(program.text, "random.tg", program.item, {});
  if (!source) {
    verdict = {"refused", llvm::toString(source.takeError())};
    return nullptr;
  }
  request.text = program.text;
  request.name = "random.tg";
  request.item = program.item;
  request.schedule = program.schedule;
  request.optimize = compiled % 16 == 0; // most of the time would go there
  return std::move(*source);
}

Verdict Runner::run(const RandomProgram &program) {
  CompileRequest request;
  Verdict refused;
  auto source = start(program, request, refused);
  if (!source)
    return refused;
  auto executable = compileForCpu(*compiler, request);
  if (!executable)
    return {"compile", llvm::toString(executable.takeError())};
  llvm::SourceMgr sources;
  lang::Diagnostics diagnostics(sources);
  lang::ast::File file =
      lang::parseText(program.text, "random.tg", diagnostics);
  for (const SetupRequest &each : program.problems)
    if (Verdict verdict =
            runProblem(*source, file, program, each, **executable);
        !verdict)
      return verdict;
  return {};
}

Verdict Runner::runMask(const RandomProgram &program) {
  CompileRequest request;
  Verdict refused;
  auto source = start(program, request, refused);
  if (!source)
    return refused;
  request.target = "cpu";
  request.optimize = false;
  CompileResult result;
  std::optional<VisitsProgram> visits =
      compiler->compileVisits(request, result);
  if (!visits)
    return {"compile", result.diagnostics};
  for (const SetupRequest &each : program.problems) {
    SetupRequest setup = fitting(each, source->item());
    std::string command = commandOf(program, setup);
    auto problem = setUp(*source, setup);
    if (!problem)
      return {"setup", command + "\n" + llvm::toString(problem.takeError())};
    auto counted = countProved(
        *visits, *problem, llvm::divideCeil(problem->dim("N"), visits->keys),
        /*withMap=*/true);
    if (!counted)
      return {"run", command + "\n" + llvm::toString(counted.takeError())};
    TileMap needed = *countExact(*problem, visits->rows, visits->keys,
                                 headsPerTile(*problem, counted->grid, visits->rows));
    if (std::string wrong = firstUnsound(*counted->map, needed); !wrong.empty())
      return {"unsound", command + "\n" + wrong};
    TileCounts all = needed.counts();
    exact.dead += all.dead;
    exact.full += all.full;
    proved.dead += counted->counts.dead;
    proved.full += counted->counts.full;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static RandomProgram makeProgram(Kind kind, Choices &choices) {
  return kind == Kind::kernel ? kernelProgram(choices)
         : kind == Kind::mask ? maskProgram(choices)
                              : attentionProgram(choices);
}

static const char *nameOf(Kind kind) {
  return kind == Kind::kernel ? "kernel"
         : kind == Kind::mask ? "mask"
                              : "attention";
}

/// Runs program `number` and prints it if it fails.
static bool runNumber(Runner &runner, int number) {
  Kind own = kind != Kind::all ? Kind(kind)
             : number % 2      ? Kind::kernel
                               : Kind::attention;
  std::string origin =
      llvm::formatv("program {0} of seed {1}: tegula-random-tests --seed {1} "
                    "--only {0} --kind {2}\n",
                    number, unsigned(seed), nameOf(own));
  Choices choices(randomBits(seed, number));
  RandomProgram program = makeProgram(own, choices);
  auto attempt = [&](const RandomProgram &program) {
    Current::set(origin + program.text);
    return own == Kind::mask ? runner.runMask(program) : runner.run(program);
  };
  if (only >= 0)
    llvm::outs() << program.text << commandOf(program, program.problems[0])
                 << '\n';
  Verdict verdict = attempt(program);
  if (verdict)
    return true;
  if (!keepSize) {
    Choices::Record record =
        shrink(choices.record(), 300, [&](const Choices::Record &smaller) {
          Choices replay(smaller);
          return attempt(makeProgram(own, replay)).way == verdict.way;
        });
    Choices replay(record);
    program = makeProgram(own, replay);
    verdict = attempt(program);
  }
  llvm::outs() << "FAIL " << verdict.way << ", " << origin << program.text
               << llvm::StringRef(verdict.text).rtrim() << "\n\n";
  llvm::outs().flush();
  return false;
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Random programs against the references\n");
  Current::watch();
  Runner runner;
  int begin = only >= 0 ? only : first;
  int end = only >= 0 ? only + 1 : first + count;
  int failed = 0;
  auto start = Clock::now();
  auto passed = [&] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  for (int number = begin; number < end; ++number) {
    failed += !runNumber(runner, number);
    int done = number + 1 - begin;
    if (progress && done % 100 == 0)
      llvm::errs() << done << " of " << end - begin << ", " << failed
                   << " failed" << llvm::format(", %.0f s\n", passed());
  }
  llvm::outs() << end - begin - failed << " of " << end - begin
               << " random programs passed"
               << llvm::format(" in %.1f s\n", passed());
  if (runner.exact.dead)
    llvm::outs() << llvm::format(
        "%.1f%% of the dead blocks are skipped, %.1f%% of the full ones are "
        "not tested\n",
        100.0 * runner.proved.dead / runner.exact.dead,
        100.0 * runner.proved.full / runner.exact.full);
  if (KernelCheck::compared)
    llvm::outs() << llvm::format(
        "%.2f%% of the elements of kernels hang on rounding\n",
        100.0 * KernelCheck::unknown / KernelCheck::compared);
  return failed ? 1 : 0;
}
