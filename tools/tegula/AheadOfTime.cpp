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

namespace {
/// A kernel, and what the names of its files have behind the item's.
struct NamedCode {
  KernelCode code;
  const char *suffix;
};
} // namespace

/// Compiles the kernels of the item: the preferred one, the direct one that
/// stands in for it, the packed one, and the one that checks their claims.
static llvm::Expected<std::vector<NamedCode>>
compileKernels(CompileRequest request, bool debug, bool time,
               std::vector<StageTime> &times) {
  request.stopAfter = Stage::Cubin;
  request.countVisits = debug;
  Compiler compiler;
  std::vector<NamedCode> codes;
  std::string printed;
  auto add = [&](const CompileRequest &wanted, const char *suffix) {
    CompileResult result = compiler.compile(wanted);
    if (result) {
      if (result.diagnostics != printed)
        llvm::errs() << result.diagnostics;
      printed = result.diagnostics;
      if (time)
        llvm::errs() << stageTimesText(result);
      codes.push_back({{result.manifest, result.cubin, result.ptx}, suffix});
    }
    return result;
  };
  CompileResult preferred = add(request, "");
  if (!preferred)
    return compileError(preferred);
  times = preferred.times;
  for (auto [other, suffix] :
       {std::pair(fallbackRequest(request, preferred), ".direct"),
        std::pair(packedRequest(request, preferred), ".packed")})
    if (other)
      if (CompileResult result = add(*other, suffix); !result)
        return compileError(result);
  if (!debug)
    return codes;
  CompileResult claims = compiler.compile(*claimsRequest(request));
  if (!claims)
    return compileError(claims);
  codes.push_back({{claims.manifest, claims.cubin, claims.ptx}, ".claims"});
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
  std::vector<KernelCode> plain;
  for (const NamedCode &each : *codes)
    plain.push_back(each.code);
  rt::Result<CSources> sources = writeCSources(plain);
  if (!sources.ok())
    return userError(file + ": " + sources.status().message());
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return userError(folder + ": cannot be made a folder: " + error.message());
  FileSet files(folder);
  for (const auto &[code, suffix] : *codes) {
    std::string stem = sources->name + suffix;
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
