//===- AheadOfTime.cpp - an item as files for a C program -----------------===//
//
// Everything is compiled before anything is written, and written under other
// names before anything is renamed: a folder never holds half of a kernel.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/AheadOfTime.h"
#include "tools/tegula/Execute.h"
#include "tools/tegula/Failure.h"

#include "codegen/CSources.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tegula;
using namespace tegula::tool;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// Files that appear together.
class FileSet {
public:
  explicit FileSet(StringRef folder) : folder(folder) {}
  ~FileSet() {
    for (Entry &entry : entries)
      llvm::consumeError(entry.file.discard());
  }

  llvm::Error add(const Twine &name, StringRef contents) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    auto file = llvm::sys::fs::TempFile::create(path + ".%%%%%%.part");
    if (!file)
      return cannotWrite(path, file.takeError());
    entries.push_back({path.str().str(), std::move(*file)});
    llvm::raw_fd_ostream os(entries.back().file.FD, /*shouldClose=*/false);
    os << contents;
    os.flush();
    std::error_code error = os.error();
    os.clear_error();
    return error ? cannotWrite(path, llvm::errorCodeToError(error))
                 : llvm::Error::success();
  }

  llvm::Error publish() {
    for (Entry &entry : entries)
      if (llvm::Error error = entry.file.keep(entry.path))
        return cannotWrite(entry.path, std::move(error));
    return llvm::Error::success();
  }

private:
  static llvm::Error cannotWrite(StringRef path, llvm::Error error) {
    return userError(
        path + ": cannot be written: " + llvm::toString(std::move(error)));
  }

  struct Entry {
    std::string path;
    llvm::sys::fs::TempFile file;
  };
  std::string folder;
  std::vector<Entry> entries;
};
} // namespace

/// Compiles the kernels of the item: the preferred one, the direct one that
/// stands in for it, and the one that checks their claims.
static llvm::Expected<std::vector<KernelCode>>
compileKernels(CompileRequest request, bool debug, bool time,
               std::vector<StageTime> &times) {
  request.stopAfter = Stage::Cubin;
  request.countVisits = debug;
  Compiler compiler;
  std::vector<KernelCode> codes;
  std::string printed;
  for (std::optional<CompileRequest> next = request; next;) {
    CompileResult result = compiler.compile(*next);
    if (!result)
      return compileError(result);
    if (result.diagnostics != printed)
      llvm::errs() << result.diagnostics;
    printed = result.diagnostics;
    if (time)
      llvm::errs() << stageTimesText(result);
    if (codes.empty())
      times = result.times;
    codes.push_back({result.manifest, result.cubin, result.ptx});
    next = codes.size() == 1 ? fallbackRequest(*next, result) : std::nullopt;
  }
  if (!debug)
    return codes;
  CompileResult claims = compiler.compile(*claimsRequest(request));
  if (!claims)
    return compileError(claims);
  codes.push_back({claims.manifest, claims.cubin, claims.ptx});
  return codes;
}

llvm::Expected<std::vector<StageTime>>
tegula::tool::writeAheadOfTime(CompileRequest request, StringRef folder,
                               bool time, bool debug) {
  std::string file = request.name;
  std::vector<StageTime> times;
  auto codes = compileKernels(std::move(request), debug, time, times);
  if (!codes)
    return codes.takeError();
  rt::Result<CSources> sources = writeCSources(*codes);
  if (!sources.ok())
    return userError(file + ": " + sources.status().message());
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return userError(folder + ": cannot be made a folder: " + error.message());
  FileSet files(folder);
  for (const auto &[number, code] : llvm::enumerate(*codes)) {
    bool isClaims = debug && number + 1 == codes->size();
    std::string stem = sources->name + (isClaims ? ".claims"
                                        : number ? ".direct"
                                                 : "");
    for (auto [extension, contents] : {std::pair(".cubin", &code.cubin),
                                       {".ptx", &code.ptx},
                                       {".json", &code.manifest}})
      if (llvm::Error error = files.add(stem + extension, *contents))
        return std::move(error);
  }
  if (llvm::Error error = files.add(sources->name + ".h", sources->header))
    return std::move(error);
  if (llvm::Error error = files.add(sources->name + ".c", sources->source))
    return std::move(error);
  if (llvm::Error error = files.publish())
    return std::move(error);
  return times;
}
