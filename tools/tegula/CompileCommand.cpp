//===- CompileCommand.cpp - tegula compile --------------------------------===//
//
// Runs the compiler as far as the last thing that is asked for and writes what
// is asked for: one thing to a file or to standard output, several into a
// folder. A cubin that goes to a folder brings all that a C program needs.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/AheadOfTime.h"
#include "tools/tegula/Commands.h"
#include "tools/tegula/Execute.h"
#include "tools/tegula/Failure.h"
#include "tools/tegula/Program.h"

#include "codegen/Compiler.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace tegula;
using namespace tegula::tool;
using llvm::StringRef;
using llvm::Twine;

/// The last stage that `name` of --emit needs.
static Stage stageOf(StringRef name) {
  return name == "manifest" ? Stage::Ptx : *stageByName(name);
}

static StringRef extensionOf(StringRef name) {
  return name == "manifest" ? "json" : stageExtension(stageOf(name));
}

/// Two stages branch off, so order is not the enum's.
static bool isBefore(Stage stage, Stage other) {
  auto rank = [](Stage s) {
    Stage after = s == Stage::Cpu      ? Stage::Tile
                  : s == Stage::Kernel ? Stage::Attention
                                       : s;
    return static_cast<int>(after) * 2 + (after != s);
  };
  return rank(stage) < rank(other);
}

/// What to write, and how far to go for it.
static llvm::Expected<std::vector<std::string>>
readTargets(const CompileOptions &options) {
  std::vector<std::string> names = options.emit;
  if (names.empty())
    names.push_back(options.stopAfter.empty() ? "ptx" : options.stopAfter);
  std::set<std::string> seen;
  for (const std::string &name : names) {
    if (!seen.insert(name).second)
      return usageError("--emit names '" + name + "' twice");
    Stage stage = stageOf(name);
    if (!options.stopAfter.empty() &&
        isBefore(*stageByName(options.stopAfter), stage))
      return usageError("--emit=" + name +
                        " is after --stop-after=" + options.stopAfter);
    if (!options.startFrom.empty() &&
        isBefore(stage, *stageByName(options.startFrom)))
      return usageError("--emit=" + name +
                        " is before --start-from=" + options.startFrom);
  }
  auto isAfterWarp = [](const std::string &name) {
    return !isBefore(stageOf(name), Stage::Warp) && stageOf(name) != Stage::Cpu;
  };
  if (options.verifyProtocol &&
      (llvm::none_of(names, isAfterWarp) ||
       (!options.startFrom.empty() &&
        isBefore(Stage::Warp, *stageByName(options.startFrom)))))
    return usageError("--verify-protocol needs the stage warp on the way");
  return names;
}

static llvm::Error writeFile(StringRef path, StringRef contents) {
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    os << contents;
    return llvm::Error::success();
  });
  if (!error)
    return llvm::Error::success();
  return userError(path +
                   ": cannot be written: " + llvm::toString(std::move(error)));
}

namespace {
/// Compiles once for each last stage and keeps the results.
class Artefacts {
public:
  explicit Artefacts(CompileRequest request) : request(std::move(request)) {}

  /// The contents of `name`; diagnostics and times are printed once. A manifest
  /// beside a cubin (`withCubin`) tells its registers and spills too.
  llvm::Expected<std::string> get(StringRef name, bool time, bool withCubin) {
    Stage stage =
        name == "manifest" && withCubin ? Stage::Cubin : stageOf(name);
    request.stopAfter = stage;
    // The CPU's tile program has another schedule than the GPU's.
    CompileRequest current = request;
    if (stage == Stage::Cpu)
      current.target = "cpu";
    CompileResult result = compiler.compile(current);
    if (!result)
      return compileError(result);
    if (printed.insert(result.diagnostics).second)
      llvm::errs() << result.diagnostics;
    if (time)
      llvm::errs() << stageTimesText(result);
    return name == "manifest" ? result.manifest : result.text;
  }

private:
  CompileRequest request;
  Compiler compiler;
  std::set<std::string> printed;
};
} // namespace

/// Base name of files in the folder of -o.
static std::string baseName(const CompileOptions &options) {
  if (!options.item.empty())
    return options.item;
  StringRef stem = llvm::sys::path::stem(options.file);
  return stem.empty() || stem == "-" ? "kernel" : stem.str();
}

static llvm::Error writeAll(const CompileOptions &options,
                            llvm::ArrayRef<std::string> names,
                            Artefacts &artefacts) {
  bool single = names.size() == 1;
  StringRef output = options.output.empty() ? StringRef("-") : options.output;
  if (!single && output == "-")
    return usageError("--emit names several things; give a folder with -o");
  if (!single)
    if (std::error_code error = llvm::sys::fs::create_directories(output))
      return userError(output +
                       ": cannot be made a folder: " + error.message());
  for (const std::string &name : names) {
    auto contents =
        artefacts.get(name, options.time, llvm::is_contained(names, "cubin"));
    if (!contents)
      return contents.takeError();
    llvm::SmallString<128> path(output);
    if (!single)
      llvm::sys::path::append(path, baseName(options) + "." +
                                        extensionOf(name).str());
    if (llvm::Error error = writeFile(path, *contents))
      return error;
  }
  return llvm::Error::success();
}

/// Whether -o of a cubin alone names a folder: one that is there, or a path
/// that ends in a slash or has no extension.
static bool isFolder(StringRef path) {
  if (path.empty() || path == "-")
    return false;
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status))
    return llvm::sys::fs::is_directory(status);
  return llvm::sys::path::is_separator(path.back()) ||
         !llvm::sys::path::has_extension(path);
}

llvm::Error tegula::tool::runCompile(const CompileOptions &options) {
  auto names = readTargets(options);
  if (!names)
    return names.takeError();
  if (names->front() == "cubin" && names->size() == 1 &&
      (options.output.empty() || options.output == "-") &&
      llvm::sys::Process::StandardOutIsDisplayed())
    return usageError("a cubin is no text for a terminal; give a file with -o");
  auto text = readText(options.file);
  if (!text)
    return text.takeError();
  CompileRequest request =
      requestOf(options, std::move(*text), options.item);
  if (!options.startFrom.empty())
    request.startFrom = *stageByName(options.startFrom);
  request.dumpDir = options.dumpDir;
  request.verifyProtocol = options.verifyProtocol;
  if (*names == std::vector<std::string>{"cubin"} && isFolder(options.output))
    return writeAheadOfTime(std::move(request), options.output, options.time,
                            options.debug)
        .takeError();
  if (options.debug)
    return usageError(
        "--debug adds a kernel that goes before the item's, which "
        "a C program has to launch; give --emit=cubin and a "
        "folder with -o");
  Artefacts artefacts(std::move(request));
  return writeAll(options, *names, artefacts);
}
