//===- Import.cpp - a text and the files that it imports ------------------===//
//
// Depth first, each file once: names are flat, so what an import adds stands
// beside the importing file's own items. A file that is reached again while it
// is being read is a cycle.
//
//===----------------------------------------------------------------------===//
#include "lang/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tegula::lang;
using llvm::StringRef;

namespace {
class Loader {
public:
  explicit Loader(Diagnostics &diagnostics) : diagnostics(diagnostics) {}

  /// Parses the buffer and adds what it imports.
  ast::File load(unsigned bufferId, StringRef fileName);

private:
  struct OpenFile {
    std::string path;    ///< without links
    llvm::SMRange place; ///< of the import; none for the first file
  };

  void import(const ast::Import &import, StringRef importing, ast::File &into);
  void refuseCycle(const ast::Import &import, size_t first);

  Diagnostics &diagnostics;
  std::vector<OpenFile> open;    ///< from the first file to the current one
  std::vector<std::string> done; ///< paths of files that are in
};
} // namespace

static std::string realPath(StringRef path) {
  llvm::SmallString<128> real;
  return llvm::sys::fs::real_path(path, real) ? path.str() : real.str().str();
}

template <typename T>
static void append(std::vector<T> &to, std::vector<T> &from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

ast::File Loader::load(unsigned bufferId, StringRef fileName) {
  if (open.empty())
    open.push_back({realPath(fileName), {}});
  ast::File file = parse(bufferId, diagnostics);
  file.fileName = fileName.str();
  ast::File all;
  for (const ast::Import &each : file.imports)
    import(each, fileName, all);
  for (ast::Declaration &declaration : all.declarations)
    declaration.imported = true;
  append(all.items, file.items);
  append(all.groups, file.groups);
  append(all.fns, file.fns);
  append(all.kernels, file.kernels);
  append(all.declarations, file.declarations);
  all.imports = std::move(file.imports);
  all.fileName = std::move(file.fileName);
  return all;
}

void Loader::import(const ast::Import &import, StringRef importing,
                    ast::File &into) {
  llvm::SmallString<128> path;
  if (llvm::sys::path::is_relative(import.path))
    path = llvm::sys::path::parent_path(importing);
  llvm::sys::path::append(path, import.path);
  std::string real = realPath(path);
  for (size_t n = 0; n < open.size(); ++n)
    if (open[n].path == real)
      return refuseCycle(import, n);
  if (llvm::is_contained(done, real))
    return;
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      std::make_error_code(std::errc::no_such_file_or_directory);
  // Other kinds of files may have no end.
  if (llvm::sys::fs::is_regular_file(path) || !llvm::sys::fs::exists(path))
    buffer = llvm::MemoryBuffer::getFile(path);
  else
    buffer = std::make_error_code(std::errc::not_supported);
  if (!buffer) {
    diagnostics.error(import.range, "`" + path + "` cannot be imported: " +
                                        buffer.getError().message());
    return;
  }
  unsigned id = diagnostics.sourceMgr().AddNewSourceBuffer(std::move(*buffer),
                                                           llvm::SMLoc());
  open.push_back({real, import.range});
  ast::File file = load(id, path);
  open.pop_back();
  done.push_back(std::move(real));
  append(into.items, file.items);
  append(into.groups, file.groups);
  append(into.fns, file.fns);
  append(into.kernels, file.kernels);
  append(into.declarations, file.declarations);
}

/// The file `open[first]` is imported while it is being read.
void Loader::refuseCycle(const ast::Import &import, size_t first) {
  Diagnostic &d = diagnostics.error(
      import.range, "`" + import.path + "` is imported by itself");
  for (size_t n = open.size(); n-- > first + 1;)
    d.note(open[n].place, "through the import here");
}

std::string tegula::lang::importedText(StringRef text, StringRef fileName) {
  std::string all;
  if (!text.contains("import"))
    return all;
  llvm::SourceMgr sources;
  Diagnostics ignored(sources);
  parseText(text, fileName, ignored);
  for (unsigned id = 2; id <= sources.getNumBuffers(); ++id) {
    const llvm::MemoryBuffer &file = *sources.getMemoryBuffer(id);
    for (StringRef part : {file.getBufferIdentifier(), file.getBuffer()})
      all += (llvm::Twine(part.size()) + ":" + part).str();
  }
  return all;
}

ast::File tegula::lang::parseText(StringRef text, StringRef fileName,
                                  Diagnostics &diagnostics) {
  unsigned id = diagnostics.sourceMgr().AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, fileName), llvm::SMLoc());
  return Loader(diagnostics).load(id, fileName);
}
