//===- IrFuzzer.cpp - any text is read as IR or refused -------------------===//
//
// libFuzzer entry: reads the text as modules of the tile and warp dialects, as
// `--start-from` does, and verifies. What is accepted has to print as text that
// reads back to the same.
//
//===----------------------------------------------------------------------===//
#include "dialect/tile/TileDialect.h"
#include "dialect/warp/WarpDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <cstdlib>

using namespace mlir;

static std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << *op;
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Types and attributes are never freed, so a context serves a while only.
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 1000 == 0) {
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    context->loadDialect<tegula::tile::TileDialect, tegula::warp::WarpDialect,
                         arith::ArithDialect, math::MathDialect,
                         memref::MemRefDialect, scf::SCFDialect,
                         tensor::TensorDialect>();
    context->getDiagEngine().registerHandler([](Diagnostic &) {});
  }
  // A string, since MLIR's lexer stops at the zero behind a text.
  std::string text(reinterpret_cast<const char *>(data), size);
  ParserConfig config(context.get());
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, config, "fuzz.mlir");
  if (!module)
    return 0;
  std::string printed = print(*module);
  OwningOpRef<ModuleOp> again =
      parseSourceString<ModuleOp>(printed, config, "printed.mlir");
  if (again && print(*again) == printed)
    return 0;
  llvm::errs() << "does not read back:\n" << printed << '\n';
  std::abort();
}
