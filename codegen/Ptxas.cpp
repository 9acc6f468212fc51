//===- Ptxas.cpp - PTX to machine code by the CUDA toolkit ----------------===//
//
// Finds ptxas, runs it on temporary files and reads its report.
//
//===----------------------------------------------------------------------===//
#include "codegen/Ptxas.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace tegula {

std::string findPtxas() {
  if (auto named = llvm::sys::Process::GetEnv("TEGULA_PTXAS"))
    return llvm::sys::fs::can_execute(*named) ? *named : std::string();
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  llvm::SmallVector<std::string> roots;
  for (llvm::StringRef variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto root = llvm::sys::Process::GetEnv(variable))
      roots.push_back(*root);
  roots.push_back("/usr/local/cuda");
  for (const std::string &root : roots) {
    llvm::SmallString<128> path(root);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return std::string(path);
  }
  return {};
}

/// `key` precedes or follows the number that is wanted: the first group of
/// `pattern`. Keeps the largest over all matches.
static void readLargest(llvm::StringRef line, const char *pattern,
                        unsigned &value) {
  llvm::SmallVector<llvm::StringRef, 2> groups;
  unsigned number = 0;
  if (llvm::Regex(pattern).match(line, &groups) &&
      !groups[1].getAsInteger(10, number))
    value = std::max(value, number);
}

/// The notes that say or mean that wgmma is serialised. C7517 and C7519 tell of
/// inserted fences or waits only.
static bool serialises(unsigned number, llvm::StringRef text) {
  static constexpr unsigned numbers[] = {7507, 7511, 7512, 7513, 7514, 7520};
  if (llvm::is_contained(numbers, number))
    return true;
  return number != 7517 && number != 7519 && text.contains("wgmma") &&
         text.contains("serialized");
}

PtxasFacts parsePtxasLog(llvm::StringRef log) {
  PtxasFacts facts;
  llvm::Regex note("\\(C([0-9]+)\\) *(.*)");
  for (llvm::StringRef line : llvm::split(log, '\n')) {
    readLargest(line, "Used ([0-9]+) registers", facts.registers);
    readLargest(line, "used ([0-9]+) barriers", facts.barriers);
    readLargest(line, "([0-9]+) bytes stack frame", facts.stackBytes);
    readLargest(line, "([0-9]+) bytes spill stores", facts.spillStores);
    readLargest(line, "([0-9]+) bytes spill loads", facts.spillLoads);
    readLargest(line, "([0-9]+) bytes smem", facts.sharedBytes);
    llvm::SmallVector<llvm::StringRef, 3> groups;
    unsigned number = 0;
    if (note.match(line, &groups) && !groups[1].getAsInteger(10, number)) {
      llvm::StringRef text = groups[2].trim();
      facts.notes.push_back({number, text.str(), serialises(number, text)});
    }
  }
  return facts;
}

namespace {
/// A temporary file that is removed at the end, unless kept.
class TemporaryFile {
public:
  explicit TemporaryFile(llvm::StringRef suffix) {
    error = llvm::sys::fs::createTemporaryFile("tegula", suffix, path);
    if (!error)
      remover.setFile(path);
  }
  void keep() { remover.releaseFile(); }
  llvm::StringRef name() const { return path; }
  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }
  std::error_code error;

private:
  llvm::SmallString<128> path;
  llvm::FileRemover remover;
};
} // namespace

static std::error_code writeText(llvm::StringRef path, llvm::StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return error;
  stream << text;
  stream.close();
  return stream.error();
}

PtxasResult assemblePtx(llvm::StringRef ptx, const PtxasOptions &options) {
  PtxasResult result;
  std::string program = findPtxas();
  if (program.empty()) {
    auto named = llvm::sys::Process::GetEnv("TEGULA_PTXAS");
    result.message = named ? "ptxas was not found: TEGULA_PTXAS names '" +
                                 *named + "', which is not a program"
                           : "ptxas was not found; install the CUDA toolkit, "
                             "or set TEGULA_PTXAS to its path";
    return result;
  }
  result.status = PtxasStatus::Failed;
  TemporaryFile input("ptx"), output("cubin"), log("log");
  std::error_code error = input.error    ? input.error
                          : output.error ? output.error
                                         : log.error;
  if (!error)
    error = writeText(input.name(), ptx);
  if (error) {
    result.message =
        "temporary files for ptxas could not be written: " + error.message();
    return result;
  }

  std::string arch = "-arch=" + options.target->name.str();
  llvm::SmallVector<llvm::StringRef> arguments = {program, arch, "-v"};
  if (options.lineInfo)
    arguments.push_back("-lineinfo");
  arguments.append({input.name(), "-o", output.name()});
  result.command = llvm::join(arguments, " ");
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), log.name(),
                                                log.name()};
  std::string problem;
  int status =
      llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects,
                                options.secondsLimit, 0, &problem);
  result.log = log.read();
  if (status != 0) {
    input.keep();
    result.message = problem.empty()
                         ? "ptxas ended with status " + std::to_string(status)
                         : "ptxas did not run to its end: " + problem;
    return result;
  }
  result.facts = parsePtxasLog(result.log);
  result.cubin = output.read();
  result.status = PtxasStatus::Ok;
  return result;
}

} // namespace tegula
