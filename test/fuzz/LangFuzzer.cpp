//===- LangFuzzer.cpp - any text ends in a module or in a message ---------===//
//
// libFuzzer entry: analyses every item of the text. What is accepted has to
// become a module that verifies, what is refused has to say why.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitTile.h"
#include "lang/Lang.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include <cstdlib>

using namespace tegula::lang;

static void check(bool holds, const char *what) {
  if (holds)
    return;
  llvm::errs() << what << '\n';
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::SourceMgr sources;
  Diagnostics parsing(sources);
  ast::File file = parseText(text, "fuzz.tg", parsing);
  std::string printed = parsing.str();
  check(parsing.hasErrors() == !printed.empty(), "errors without messages");
  std::vector<std::string> names = itemNames(file);
  if (names.size() > 8)
    names.resize(8);
  names.push_back("");
  for (const std::string &name : names) {
    Diagnostics diagnostics(sources);
    std::unique_ptr<Item> item = analyze(file, name, {}, diagnostics);
    printed = diagnostics.str();
    // A broken declaration keeps its consequences silent.
    check(item || !printed.empty() || parsing.hasErrors(),
          "refused without a message");
    if (!item || parsing.hasErrors())
      continue;
    mlir::OwningOpRef<mlir::ModuleOp> module =
        emitTile(*item, sources, context);
    check(mlir::succeeded(mlir::verify(*module)), "module does not verify");
  }
  return 0;
}
