//===- Program.cpp - a source file and its resolved item ------------------===//
//
// Reads, parses and analyses; the logit offset is said in the language itself.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Program.h"
#include "tools/tegula/Failure.h"

#include "codegen/Compiler.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace tegula;
using namespace tegula::tool;

llvm::Expected<std::unique_ptr<Program>>
Program::create(std::string text, std::string name, llvm::StringRef item,
                llvm::ArrayRef<lang::Define> defines) {
  std::unique_ptr<Program> program(
      new Program(std::move(text), std::move(name)));
  program->file =
      lang::parseText(program->source, program->fileName, program->diagnostics);
  if (!program->diagnostics.hasErrors())
    program->resolved =
        lang::analyze(program->file, item, defines, program->diagnostics);
  if (!program->resolved || program->diagnostics.hasErrors())
    return llvm::make_error<Failure>(ExitCode::user, program->diagnostics.str(),
                                     /*rendered=*/true);
  return program;
}

std::string Program::place(llvm::SMRange range) const {
  return range.isValid() ? diagnostics.place(range.Start) : "";
}

std::string Program::withLogitOffset(double offset,
                                     std::string &itemName) const {
  const std::string &base = resolved->name;
  itemName = base + "_logit_offset";
  while (llvm::is_contained(lang::itemNames(file), itemName))
    itemName += "_";
  std::string literal;
  llvm::raw_string_ostream(literal) << llvm::format("%.17g", offset);
  if (literal.find_first_of(".e") == std::string::npos)
    literal += ".0";
  return source + "\nattention " + itemName + " = " + base +
         " with { score s + (" + literal + ") }\n";
}

llvm::Expected<std::string> tegula::tool::readText(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return userError(path + ": cannot be read: " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

std::string tegula::tool::displayName(llvm::StringRef path) {
  return path == "-" ? "<stdin>" : path.str();
}

llvm::Expected<std::unique_ptr<Program>>
tegula::tool::openProgram(const CommonOptions &options) {
  auto text = readText(options.file);
  if (!text)
    return text.takeError();
  std::vector<lang::Define> defines;
  for (const auto &[name, value] : options.defines)
    defines.push_back({name, value});
  return Program::create(std::move(*text), displayName(options.file),
                         options.item, defines);
}

CompileRequest tegula::tool::requestOf(const CommonOptions &options,
                                       std::string text, std::string item) {
  CompileRequest request;
  request.text = std::move(text);
  request.name = displayName(options.file);
  request.item = std::move(item);
  for (const auto &[name, value] : options.defines)
    request.defines.push_back({name, value});
  request.schedule = options.schedule;
  request.remarks = options.remarks;
  request.approximateTanh = options.approximateTanh;
  if (options.arch)
    request.target = *options.arch;
  return request;
}
