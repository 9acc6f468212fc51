#include "test/unit/cpu/CompileTile.h"

#include "dialect/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/cpu/CpuPasses.h"
#include <gtest/gtest.h>

using namespace mlir;

std::unique_ptr<tegula::CpuKernel> tegula::test::compileTile(const std::string &text) {
  // One context for all: a compiled kernel does not refer to it.
  static MLIRContext *context = [] {
    auto *result = new MLIRContext(MLIRContext::Threading::DISABLED);
    result->loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
    return result;
  }();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
  if (!module) {
    ADD_FAILURE() << "the program does not parse:\n" << text;
    return nullptr;
  }
  PassManager pm(context);
  pm.addNestedPass<tile::KernelOp>(createExpandSoftmaxPass());
  buildCpuPipeline(pm);
  if (failed(pm.run(*module))) {
    ADD_FAILURE() << "the pipeline failed on:\n" << text;
    return nullptr;
  }
  rt::Result<std::unique_ptr<CpuKernel>> kernel = CpuKernel::create(*module);
  if (!kernel.ok()) {
    ADD_FAILURE() << kernel.status().message();
    return nullptr;
  }
  return std::move(*kernel);
}
