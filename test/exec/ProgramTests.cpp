//===- ProgramTests.cpp - runs tile programs on the GPU and the CPU -------===//
//
//   tegula-program-tests [--target cuda|cpu] [--filter TEXT] [--list]
//                        [--compile-only] [--time]
//
// Each program runs for each place of its tensors in memory (dense, padded,
// swapped axes), over outputs full of NaN. Its outputs are compared with plain
// loops where the table has them, else with the CPU target; guard zones and the
// gaps of padded tensors keep their bytes. `--time` prints the
// bandwidth of the timed programs beside that of a copy. Ends with 0 if all is
// well, 4 if there is no GPU.
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "codegen/Compiler.h"
#include "codegen/CpuKernel.h"
#include "codegen/Ptxas.h"
#include "runtime/Kernel.h"
#include "tools/tegula/Execute.h"
#include "tools/tegula/Tensor.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace tegula;
using namespace tegula::exec;
using tool::Tensor;

namespace cl = llvm::cl;

static cl::OptionCategory category("Options");
static cl::opt<std::string> targetName("target", cl::desc("cuda or cpu"),
                                       cl::init("cuda"), cl::cat(category));
static cl::list<std::string>
    filters("filter", cl::CommaSeparated, cl::value_desc("TEXT,..."),
            cl::desc("Only cases whose name contains every TEXT"),
            cl::cat(category));
static cl::opt<bool> list("list", cl::desc("Print the names and end"),
                          cl::cat(category));
static cl::opt<bool>
    compileOnly("compile-only",
                cl::desc("Compile every program, run none; needs no GPU"),
                cl::cat(category));
static cl::opt<bool> timing("time", cl::desc("Time, and check nothing"),
                            cl::cat(category));

namespace {
/// A tensor inside a larger one that holds its gaps.
class Operand {
public:
  Operand(const ProgramTensor &spec, rt::ElementType type, Place place,
          uint64_t seed)
      : shape(spec.shape), place(place) {
    llvm::SmallVector<int64_t> outer(shape.begin(), shape.end());
    llvm::SmallVector<int> order;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      order.push_back(static_cast<int>(axis));
    if (place == Place::padded)
      for (int64_t &extent : outer)
        ++extent;
    if (place == Place::swapped && shape.size() > 1)
      std::swap(order[order.size() - 1], order[order.size() - 2]);
    whole = cantFail(Tensor::create(type, outer, order));
    whole.poison();
    bool isReal = rt::isFloat(type);
    forEach([&](int64_t linear, int64_t offset) {
      double unit = random(seed, linear), range = spec.high - spec.low;
      whole.setReal(offset, spec.low + (isReal ? unit * range
                                               : std::floor(unit * (range + 1))));
    });
  }

  rt::TensorView view(std::byte *data) const {
    rt::TensorView view;
    view.type = whole.type();
    view.rank = static_cast<int>(shape.size());
    view.data = data + offsetOf(0) * rt::elementSize(whole.type());
    for (int axis = 0; axis < view.rank; ++axis) {
      view.sizes[axis] = shape[axis];
      view.strides[axis] = whole.strides()[axis];
    }
    return view;
  }

  Values values() const {
    Values result;
    forEach([&](int64_t, int64_t offset) {
      result.push_back(whole.real(offset));
    });
    return result;
  }

  void poison() {
    bool isReal = rt::isFloat(whole.type());
    forEach([&](int64_t, int64_t offset) {
      whole.setReal(offset, isReal ? NAN : 1);
    });
  }

  /// The storage without the elements: what no program may change.
  std::vector<std::byte> surroundings() const {
    Operand copy = *this;
    copy.forEach([&](int64_t, int64_t offset) { copy.whole.setReal(offset, 0); });
    auto storage = copy.whole.wholeStorage();
    return {storage.begin(), storage.end()};
  }

  Tensor whole;

private:
  static double random(uint64_t seed, uint64_t index) {
    uint64_t x = (seed * 0x9E3779B97F4A7C15 + index + 1) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 29)) * 0x94D049BB133111EB;
    return static_cast<double>((x ^ (x >> 32)) >> 11) * 0x1p-53;
  }

  int64_t offsetOf(int64_t linear) const {
    int64_t offset = 0;
    for (size_t axis = shape.size(); axis-- > 0;) {
      offset += linear % shape[axis] * whole.strides()[axis];
      linear /= shape[axis];
    }
    return offset + (place == Place::padded ? 1 : 0);
  }

  void forEach(llvm::function_ref<void(int64_t, int64_t)> visit) const {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    for (int64_t linear = 0; linear < count; ++linear)
      visit(linear, offsetOf(linear));
  }

  std::vector<int64_t> shape;
  Place place;
};
} // namespace

static CompileRequest requestOf(const ProgramCase &c) {
  CompileRequest request;
  request.text = c.text;
  request.name = c.name + ".mlir";
  request.startFrom = Stage::Tile;
  return request;
}

/// Machine code, or PTX where there is no ptxas; "" or what is wrong.
static std::string compileForGpu(const ProgramCase &c, CompileResult &result) {
  Compiler compiler;
  CompileRequest request = requestOf(c);
  request.stopAfter = findPtxas().empty() ? Stage::Ptx : Stage::Cubin;
  result = compiler.compile(request);
  if (!result)
    return result.diagnostics;
  if (result.assembler.spillStores)
    return "the kernel spills " + std::to_string(result.assembler.spillStores) +
           " bytes";
  return "";
}

static bool isPoisoned(const ProgramCase &c, const std::string &name) {
  return llvm::is_contained(c.outputs, name) &&
         !llvm::is_contained(c.updated, name);
}

static std::vector<Operand> makeOperands(const ProgramCase &c,
                                         const rt::Signature &signature,
                                         Place place) {
  std::vector<Operand> operands;
  for (const ProgramTensor &tensor : c.tensors) {
    int number = signature.findTensor(tensor.name);
    if (number < 0)
      llvm::report_fatal_error("no such tensor in the program");
    operands.emplace_back(tensor, signature.tensors[number].type, place,
                          operands.size() + 1);
    if (isPoisoned(c, tensor.name))
      operands.back().poison();
  }
  return operands;
}

static rt::Status setArguments(const ProgramCase &c, std::vector<Operand> &operands,
                       llvm::function_ref<std::byte *(size_t)> dataOf,
                       rt::Arguments &arguments) {
  for (auto [number, operand] : llvm::enumerate(operands))
    if (rt::Status status = arguments.set(c.tensors[number].name,
                                          operand.view(dataOf(number)));
        !status.ok())
      return status;
  for (const auto &[name, value] : c.scalars) {
    int number = arguments.signature().findScalar(name);
    bool isReal =
        number >= 0 && rt::isFloat(arguments.signature().scalars[number].type);
    rt::Status status = isReal
                            ? arguments.set(name, value)
                            : arguments.set(name, static_cast<int64_t>(value));
    if (!status.ok())
      return status;
  }
  return rt::Status();
}

namespace {
/// A program on the GPU, with its operands in device memory.
class GpuRun {
public:
  std::string start(const ProgramCase &c, Place place) {
    CompileResult code;
    if (std::string text = compileForGpu(c, code); !text.empty())
      return text;
    auto loaded = rt::Kernel::load(code.manifest,
                                   code.cubin.empty() ? code.ptx : code.cubin);
    if (!loaded.ok())
      return loaded.status().message();
    kernel = *loaded;
    auto made = rt::Stream::create(**rt::Device::get(0));
    if (!made.ok())
      return made.status().message();
    stream.emplace(std::move(*made));
    operands = makeOperands(c, *kernel->manifest().signature, place);
    for (Operand &operand : operands) {
      auto storage = operand.whole.wholeStorage();
      auto buffer = rt::Buffer::allocate(**rt::Device::get(0), storage.size());
      if (!buffer.ok())
        return buffer.status().message();
      if (auto status = buffer->upload(storage.data(), storage.size(), *stream);
          !status.ok())
        return status.message();
      buffers.push_back(std::move(*buffer));
    }
    arguments.emplace(kernel->arguments());
    rt::Status status = setArguments(
        c, operands,
        [&](size_t n) {
          return static_cast<std::byte *>(buffers[n].data()) +
                 operands[n].whole.dataOffset();
        },
        *arguments);
    return status.ok() ? "" : status.message();
  }

  std::string launch() {
    rt::Status status = kernel->launch(stream->handle(), *arguments);
    return status.ok() ? "" : status.message();
  }

  std::string fetch() {
    if (rt::Status status = stream->synchronize(); !status.ok())
      return status.message();
    for (auto [operand, buffer] : llvm::zip(operands, buffers)) {
      auto storage = operand.whole.wholeStorage();
      if (auto status = buffer.download(storage.data(), storage.size(), *stream);
          !status.ok())
        return status.message();
    }
    return "";
  }

  std::shared_ptr<rt::Kernel> kernel;
  std::optional<rt::Stream> stream;
  std::vector<Operand> operands;
  std::vector<rt::Buffer> buffers;
  std::optional<rt::Arguments> arguments;
};
} // namespace

static std::string runOnCpu(const ProgramCase &c, Place place,
                            std::vector<Operand> &operands) {
  Compiler compiler;
  CompileRequest request = requestOf(c);
  request.target = "cpu";
  request.stopAfter = Stage::Cpu;
  CompileResult result;
  std::unique_ptr<CpuKernel> kernel = compiler.compileForCpu(request, result);
  if (!kernel)
    return "on the CPU: " + result.diagnostics;
  operands = makeOperands(c, kernel->signature(), place);
  rt::Arguments arguments = kernel->arguments();
  rt::Status status =
      setArguments(c, operands, [&](size_t n) { return operands[n].whole.data(); },
           arguments);
  if (status.ok())
    status = kernel->run(arguments);
  return status.ok() ? "" : "on the CPU: " + status.message();
}

static std::string compare(const ProgramCase &c, const std::string &name,
                           const Values &found, const Values &expected) {
  double largest = 0;
  for (double value : expected)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  double limit = c.tolerance * std::max(largest, 1e-30);
  for (size_t i = 0; i < expected.size(); ++i) {
    bool same = std::isnan(expected[i])
                    ? std::isnan(found[i])
                    : found[i] == expected[i] ||
                          std::fabs(found[i] - expected[i]) <= limit;
    if (!same) {
      std::string text;
      llvm::raw_string_ostream(text)
          << name << ": element " << i << " of " << expected.size() << " is "
          << llvm::format("%.8g, expected %.8g", found[i], expected[i]);
      return text;
    }
  }
  return "";
}

/// Compares what a target made with the answer, or with what the CPU made.
static std::string check(const ProgramCase &c, Place place,
                         std::vector<Operand> &before,
                         std::vector<Operand> &after) {
  std::vector<Values> inputs;
  for (Operand &operand : before)
    inputs.push_back(operand.values());
  std::vector<Operand> onCpu;
  if (!c.answer)
    if (std::string text = runOnCpu(c, place, onCpu); !text.empty())
      return text;
  for (auto [number, tensor] : llvm::enumerate(c.tensors)) {
    bool isOutput = llvm::is_contained(c.outputs, tensor.name);
    if (before[number].surroundings() != after[number].surroundings())
      return "memory beside `" + tensor.name + "` was written";
    Values expected = !isOutput  ? inputs[number]
                      : c.answer ? c.answer(tensor.name, inputs)
                                 : onCpu[number].values();
    std::string text =
        compare(c, tensor.name, after[number].values(), expected);
    if (!text.empty())
      return text;
  }
  return "";
}

static std::string runCase(const ProgramCase &c, Place place) {
  if (targetName == "cpu") {
    std::vector<Operand> after;
    if (!c.answer || !c.onCpu)
      return "";
    if (std::string text = runOnCpu(c, place, after); !text.empty())
      return text;
    std::vector<Operand> before;
    for (auto [number, tensor] : llvm::enumerate(c.tensors))
      before.emplace_back(tensor, after[number].whole.type(), place, number + 1);
    for (auto [number, tensor] : llvm::enumerate(c.tensors))
      if (isPoisoned(c, tensor.name))
        before[number].poison();
    return check(c, place, before, after);
  }
  GpuRun run;
  std::string text = run.start(c, place);
  std::vector<Operand> before = run.operands;
  if (text.empty())
    text = run.launch();
  if (text.empty())
    text = run.fetch();
  return text.empty() ? check(c, place, before, run.operands) : text;
}

/// Prints the median time of 20 launches and the bandwidth of all tensors once.
static std::string timeCase(const ProgramCase &c) {
  GpuRun run;
  if (std::string text = run.start(c, Place::dense); !text.empty())
    return text;
  const rt::Device &device = **rt::Device::get(0);
  auto begin = rt::Event::create(device), end = rt::Event::create(device);
  if (!begin.ok() || !end.ok())
    return "no events";
  std::vector<double> times;
  for (int i = 0; i < 25; ++i) {
    bool ok = begin->record(*run.stream).ok();
    if (std::string text = run.launch(); !text.empty())
      return text;
    ok = ok && end->record(*run.stream).ok() && run.stream->synchronize().ok();
    auto passed = end->since(*begin);
    if (!ok || !passed.ok())
      return "a launch failed";
    if (i >= 5)
      times.push_back(*passed);
  }
  std::sort(times.begin(), times.end());
  double bytes = 0, median = times[times.size() / 2];
  for (Operand &operand : run.operands)
    bytes += operand.whole.sizeInBytes();
  auto resources = run.kernel->resources();
  llvm::outs() << llvm::format("%-24s %8.4f ms %8.1f GB/s  %d registers, %d threads\n",
                               c.name.c_str(), median, bytes / median * 1e-6,
                               resources.ok() ? resources->registers : 0,
                               run.kernel->manifest().threads);
  return "";
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Tile programs on the GPU and the CPU\n");
  std::vector<ProgramCase> cases;
  for (ProgramCase &c : timing ? timedPrograms() : programCases())
    if (llvm::all_of(filters, [&](llvm::StringRef text) {
          return llvm::StringRef(c.name).contains(text);
        }))
      cases.push_back(std::move(c));
  std::string reason;
  if (targetName == "cuda" && !compileOnly && !list && !tool::hasGpu(reason)) {
    llvm::errs() << "no GPU: " << reason << '\n';
    return 4;
  }
  size_t failed = 0, done = 0;
  auto note = [&](const ProgramCase &c, llvm::StringRef where,
                  llvm::StringRef text) {
    ++done;
    if (text.empty())
      return;
    ++failed;
    llvm::outs() << "FAIL " << c.name << where << ": " << text.rtrim() << '\n';
    llvm::outs().flush();
  };
  for (const ProgramCase &c : cases) {
    CompileResult code;
    if (list)
      llvm::outs() << c.name << '\n';
    else if (compileOnly)
      note(c, "", compileForGpu(c, code));
    else if (timing)
      note(c, "", timeCase(c));
    else
      for (auto [place, name] : {std::pair(Place::dense, " dense"),
                                 {Place::padded, " padded"},
                                 {Place::swapped, " swapped"}})
        note(c, name, runCase(c, place));
  }
  if (!list)
    llvm::outs() << done - failed << " of " << done << " program cases passed\n";
  return failed ? 1 : 0;
}
