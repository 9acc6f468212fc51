//===- Program.h - a source file and its resolved item ----------*- C++ -*-===//
//
// The front end's view of what `tegula run` executes. It is kept while the
// problem is set up and checked: the reference interprets its tree, and
// messages about arguments point into its text.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lang/Lang.h"
#include "tools/tegula/Options.h"
#include "llvm/Support/Error.h"

namespace tegula {
struct CompileRequest;
} // namespace tegula

namespace tegula::tool {

class Program {
public:
  /// Parses and analyses `text`; an empty `item` means the only one. Errors:
  /// the rendered diagnostics, exit code 1.
  static llvm::Expected<std::unique_ptr<Program>>
  create(std::string text, std::string name, llvm::StringRef item,
         llvm::ArrayRef<lang::Define> defines);

  const lang::Item &item() const { return *resolved; }
  const std::string &text() const { return source; }
  const std::string &name() const { return fileName; }
  /// "file:line:column" of a range, or "".
  std::string place(llvm::SMRange range) const;

  /// The program with an item derived from this one which adds `offset` to
  /// every score; `itemName` gets its name.
  std::string withLogitOffset(double offset, std::string &itemName) const;

private:
  Program(std::string text, std::string name)
      : source(std::move(text)), fileName(std::move(name)),
        diagnostics(sources) {}

  const std::string source, fileName;
  llvm::SourceMgr sources;
  lang::Diagnostics diagnostics;
  lang::ast::File file;
  std::unique_ptr<lang::Item> resolved;
};

/// The contents of the file at `path` ("-": standard input). Errors: exit
/// code 1.
llvm::Expected<std::string> readText(llvm::StringRef path);
/// The name of the file at `path` in diagnostics.
std::string displayName(llvm::StringRef path);

/// The program that a command line names. Errors: as of `readText` and
/// `Program::create`.
llvm::Expected<std::unique_ptr<Program>>
openProgram(const CommonOptions &options);
/// What the options that all commands have say of a compilation of `text`, the
/// contents of their file.
CompileRequest requestOf(const CommonOptions &options, std::string text,
                         std::string item);

} // namespace tegula::tool
