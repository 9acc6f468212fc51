//===- BenchCommand.cpp - tegula bench ------------------------------------===//
//
// Our kernels are compiled into files. One Python process, bench/beside.py,
// loads them through the C interface beside the peers and sends back a line of
// JSON for each row. Where there is no such process, ours are timed here.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/AheadOfTime.h"
#include "tools/tegula/BenchAlone.h"
#include "tools/tegula/Commands.h"
#include "tools/tegula/Execute.h"
#include "tools/tegula/Failure.h"
#include "tools/tegula/Program.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace tegula;
using namespace tegula::tool;
using llvm::StringRef;
using llvm::Twine;
namespace json = llvm::json;
namespace fs = llvm::sys::fs;

/// The folder that holds `bin`, `lib` and `bench`.
static std::string rootFolder() {
  static int inThisProgram;
  std::string tool = fs::getMainExecutable("tegula", &inThisProgram);
  return llvm::sys::path::parent_path(llvm::sys::path::parent_path(tool)).str();
}

//===----------------------------------------------------------------------===//
// What there is to time
//===----------------------------------------------------------------------===//

static void printGrid(const BenchGrid &grid, llvm::raw_ostream &os) {
  os << grid.name << ": " << grid.cells.size() << " cells\n";
  for (const BenchCell &cell : grid.cells) {
    os << llvm::formatv("  {0,-14} {1,4} {2,-5}", cell.item,
                        cell.d ? "D=" + std::to_string(cell.d) : "",
                        cell.dtype);
    for (const auto &[dim, length] : cell.sizes)
      os << ' ' << dim << '=' << length;
    for (const auto &[name, value] : cell.arguments)
      os << ' ' << name << '=' << value;
    for (const auto &[name, values] : cell.tables)
      os << ' ' << name << '[' << values.size() << ']';
    os << '\n';
  }
}

static void printGrids(const BenchOptions &options,
                       llvm::ArrayRef<BenchGrid> grids) {
  for (const BenchGrid &grid : grids)
    printGrid(grid, llvm::outs());
  if (!options.files.empty())
    return;
  llvm::outs() << "peers: "
               << (options.peers.empty() ? "all that are present"
                                         : llvm::join(options.peers, ", "));
  for (const auto &[name, path] : options.peerPaths)
    llvm::outs() << ", " << name << " in " << path;
  llvm::outs() << '\n';
}

static llvm::Expected<std::vector<BenchGrid>>
makeGrids(const BenchOptions &options, StringRef root) {
  std::vector<BenchGrid> grids;
  if (!options.files.empty()) {
    auto grid = makeFileGrid(options);
    if (!grid)
      return grid.takeError();
    grids.push_back(std::move(*grid));
    return grids;
  }
  size_t cells = 0;
  for (const std::string &name : options.grids) {
    grids.push_back(makeGrid(name, root.str() + "/bench/kernels.tg", options));
    cells += grids.back().cells.size();
  }
  if (cells == 0)
    return usageError("--seqs, --dims and --masks leave nothing of " +
                      llvm::join(options.grids, ", "));
  llvm::erase_if(grids, [](const BenchGrid &g) { return g.cells.empty(); });
  return grids;
}

//===----------------------------------------------------------------------===//
// Beside the peers
//===----------------------------------------------------------------------===//

namespace {
/// A folder that is gone with this object.
struct WorkFolder {
  ~WorkFolder() {
    if (!path.empty())
      fs::remove_directories(path);
  }
  llvm::SmallString<128> path;
};

/// Compiles each kernel of the cells once, into a folder of its own.
class Kernels {
public:
  Kernels(const BenchOptions &options, StringRef folder)
      : options(options), folder(folder) {}
  ~Kernels() { llvm::consumeError(std::move(errors)); }

  struct Compiled {
    /// The path of the kernel's files without extensions.
    std::string code;
    /// What the preferred kernel cost: from source to PTX, and of ptxas.
    double ptxMilliseconds = 0, ptxasMilliseconds = 0;
  };

  /// The cell's kernel; nothing for one that does not compile.
  std::optional<Compiled> find(const BenchCell &cell);
  /// What went wrong.
  llvm::Error takeErrors() { return std::move(errors); }

private:
  llvm::Expected<Compiled> compile(const BenchCell &cell,
                                   const std::string &name);

  const BenchOptions &options;
  const std::string folder;
  std::map<std::string, std::optional<Compiled>> compiled;
  llvm::Error errors = llvm::Error::success();
};
} // namespace

std::optional<Kernels::Compiled> Kernels::find(const BenchCell &cell) {
  std::string name = cell.item;
  for (const auto &[define, value] : cell.defines)
    name += "-" + define + value;
  auto [entry, isNew] = compiled.try_emplace(name);
  if (!isNew)
    return entry->second;
  llvm::errs() << "compiling " << name << '\n';
  if (auto kernel = compile(cell, name))
    entry->second = *kernel;
  else
    errors = llvm::joinErrors(std::move(errors), kernel.takeError());
  return entry->second;
}

llvm::Expected<Kernels::Compiled> Kernels::compile(const BenchCell &cell,
                                                   const std::string &name) {
  auto text = readText(cell.file);
  if (!text)
    return text.takeError();
  CompileRequest request;
  request.text = std::move(*text);
  request.name = cell.file;
  request.item = cell.item;
  request.schedule = options.schedule;
  for (const auto &[define, value] : cell.defines)
    request.defines.push_back({define, value});
  std::string place = folder + "/" + name;
  auto times = writeAheadOfTime(std::move(request), place, /*time=*/false);
  if (!times)
    return times.takeError();
  Compiled kernel{place + "/" + cell.item};
  for (const StageTime &time : *times)
    (time.stage == Stage::Cubin ? kernel.ptxasMilliseconds
                                : kernel.ptxMilliseconds) += time.milliseconds;
  return kernel;
}

static json::Value planOf(const BenchOptions &options,
                          llvm::ArrayRef<BenchGrid> grids, StringRef root,
                          Kernels &kernels) {
  json::Array cells;
  for (const BenchGrid &grid : grids)
    for (const BenchCell &cell : grid.cells) {
      std::optional<Kernels::Compiled> kernel = kernels.find(cell);
      if (!kernel)
        continue;
      json::Object sizes, parameters;
      for (const auto &[dim, length] : cell.sizes)
        sizes[dim] = length;
      for (const auto &[name, value] : cell.arguments)
        parameters[name] = llvm::cantFail(json::parse(value));
      for (const auto &[name, values] : cell.tables)
        parameters[name] = json::Array(values);
      cells.push_back(json::Object{
          {"grid", grid.name},
          {"kernel", cell.item},
          {"mask", cell.mask},
          {"dtype", cell.dtype},
          {"d", cell.d},
          {"s", cell.s},
          {"sizes", std::move(sizes)},
          {"parameters", std::move(parameters)},
          {"code", kernel->code},
          {"compile_ms", json::Object{{"ptx", kernel->ptxMilliseconds},
                                      {"ptxas", kernel->ptxasMilliseconds}}}});
    }
  json::Object paths;
  for (const auto &[name, path] : options.peerPaths)
    paths[name] = path;
  return json::Object{{"library", (root + "/lib/libtegula-runtime.so").str()},
                      {"rounds", options.rounds},
                      {"peers", json::Array(options.peers)},
                      {"paths", std::move(paths)},
                      {"cells", std::move(cells)}};
}

/// For a shell.
static std::string quoted(StringRef text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

/// Starts `command` and hands over each line of its output, which is one JSON
/// object. Gives its exit code.
static llvm::Expected<int>
forEachLine(const std::string &command,
            llvm::function_ref<llvm::Error(json::Object &)> visit) {
  FILE *pipe = popen(command.c_str(), "r");
  if (!pipe)
    return lackingError("no process can be started for " + command);
  llvm::Error error = llvm::Error::success();
  char *line = nullptr;
  size_t capacity = 0;
  for (ssize_t size; !error && (size = getline(&line, &capacity, pipe)) > 0;) {
    auto value = json::parse(StringRef(line, size));
    if (!value)
      error = fail(ExitCode::internal,
                   "bench/beside.py: " + llvm::toString(value.takeError()));
    else if (json::Object *object = value->getAsObject())
      error = visit(*object);
  }
  free(line);
  int status = pclose(pipe);
  if (error)
    return std::move(error);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

namespace {
/// What the Python process says, as it comes.
class Listener {
public:
  Listener(std::vector<BenchRecorder> &recorders,
           llvm::ArrayRef<BenchGrid> grids)
      : recorders(recorders), grids(grids) {}

  llvm::Error hear(json::Object &line);

  /// Why nothing can be timed there.
  std::string unavailable;
  size_t rows = 0;

private:
  std::vector<BenchRecorder> &recorders;
  llvm::ArrayRef<BenchGrid> grids;
  json::Object facts;
};
} // namespace

llvm::Error Listener::hear(json::Object &line) {
  if (std::optional<StringRef> reason = line.getString("unavailable"))
    unavailable = reason->str();
  if (std::optional<StringRef> text = line.getString("remark"))
    llvm::errs() << "remark: " << *text << '\n';
  if (json::Object *object = line.getObject("facts"))
    facts = std::move(*object);
  json::Object *row = line.getObject("row");
  if (!row)
    return llvm::Error::success();
  std::string name = line.getString("grid").value_or("").str();
  for (auto [recorder, grid] : llvm::zip(recorders, grids)) {
    if (grid.name != name)
      continue;
    if (!recorder.isDescribed())
      recorder.describe(facts);
    ++rows;
    return recorder.add(std::move(*row));
  }
  return fail(ExitCode::internal, "bench/beside.py: a row of no grid");
}

/// False where Python says that it cannot, and nothing was timed.
static llvm::Expected<bool> timeBeside(const BenchOptions &options,
                                       StringRef python,
                                       llvm::ArrayRef<BenchGrid> grids,
                                       StringRef root,
                                       std::vector<BenchRecorder> &recorders) {
  WorkFolder work;
  if (std::error_code error =
          fs::createUniqueDirectory("tegula-bench", work.path))
    return lackingError("no temporary folder: " + error.message());
  Kernels kernels(options, work.path);
  std::string plan = work.path.str().str() + "/plan.json";
  json::Value planned = planOf(options, grids, root, kernels);
  size_t cells = planned.getAsObject()->getArray("cells")->size();
  if (cells == 0)
    return kernels.takeErrors();
  if (llvm::Error error =
          writeText(plan, llvm::formatv("{0}\n", planned).str()))
    return std::move(error);
  Listener listener(recorders, grids);
  auto code = forEachLine(
      quoted(python) + " " + quoted(root.str() + "/bench/beside.py") + " " +
          quoted(plan),
      [&](json::Object &line) { return listener.hear(line); });
  if (!code)
    return code.takeError();
  if (!listener.unavailable.empty()) {
    llvm::errs() << "remark: " << listener.unavailable << '\n';
    return false;
  }
  if (*code || listener.rows != cells)
    return llvm::joinErrors(
        kernels.takeErrors(),
        fail(ExitCode::internal, "bench/beside.py ended with exit code " +
                                     Twine(*code) + " after " +
                                     Twine(listener.rows) + " of " +
                                     Twine(cells) + " cells"));
  if (llvm::Error errors = kernels.takeErrors())
    return std::move(errors);
  return true;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static llvm::Error redraw(const BenchOptions &options) {
  auto results = readResults(options.from);
  if (!results)
    return results.takeError();
  printTable(*results, llvm::outs());
  return options.plot.empty() ? llvm::Error::success()
                              : writeText(options.plot, drawPlot(*results));
}

static llvm::Error timeGrids(const BenchOptions &options,
                             llvm::ArrayRef<BenchGrid> grids, StringRef root,
                             std::vector<BenchRecorder> &recorders) {
  if (options.files.empty() && options.python != "none") {
    auto python = llvm::sys::findProgramByName(options.python);
    if (python && fs::can_execute(*python)) {
      auto done = timeBeside(options, *python, grids, root, recorders);
      if (!done)
        return done.takeError();
      if (*done)
        return llvm::Error::success();
    } else {
      llvm::errs() << "remark: " << options.python << " was not found\n";
    }
    llvm::errs() << "remark: ours are timed alone, without peers\n";
  }
  llvm::Error errors = llvm::Error::success();
  for (auto [grid, recorder] : llvm::zip(grids, recorders))
    errors =
        llvm::joinErrors(std::move(errors), timeAlone(options, grid, recorder));
  return errors;
}

llvm::Error tegula::tool::runBench(const BenchOptions &options) {
  if (!options.from.empty())
    return redraw(options);
  std::string root = rootFolder();
  if (!fs::exists(root + "/bench/kernels.tg"))
    return lackingError("bench/kernels.tg was not found in " + root +
                        ", beside the tool's folder");
  auto grids = makeGrids(options, root);
  if (!grids)
    return grids.takeError();
  if (options.list) {
    printGrids(options, *grids);
    return llvm::Error::success();
  }
  std::string reason;
  if (!hasGpu(reason))
    return lackingError("bench needs a GPU: " + reason);
  std::vector<BenchRecorder> recorders;
  for (const BenchGrid &grid : *grids)
    recorders.emplace_back(options, grid.name, root);
  if (llvm::Error error = timeGrids(options, *grids, root, recorders))
    return error;
  if (llvm::any_of(recorders, [](const auto &r) { return r.hasWrong(); }))
    return fail(ExitCode::checkFailed,
                "an output is wrong; what is wrong is not timed");
  return llvm::Error::success();
}
