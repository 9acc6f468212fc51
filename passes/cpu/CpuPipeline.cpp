// The story of a kernel on the CPU: from a tile program to the llvm dialect.
#include "passes/cpu/CpuPasses.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void tegula::registerCpuDialects(DialectRegistry &registry) {
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
}

void tegula::buildCpuPipeline(OpPassManager &pm) {
  // Tiles become linalg on tensors, one loop nest for each tree of elementwise code.
  pm.addPass(createCpuLowerTilesPass());
  pm.addNestedPass<func::FuncOp>(createCpuFuseElementwisePass());

  // Tensors become buffers, one allocation each. (Merging equal fills before would turn fills into copies.)
  pm.addNestedPass<func::FuncOp>(createCpuCarryInPlacePass());
  bufferization::OneShotBufferizePassOptions buffers;
  buffers.unknownTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap; // what a branch yields is an allocation
  pm.addPass(bufferization::createOneShotBufferizePass(buffers));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(createCpuHoistBuffersPass());

  // Loops over elements, in types that the machine has.
  function.addPass(createConvertLinalgToLoopsPass());
  function.addPass(createCpuLegalizeFloatsPass());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = expand.includeF8E8M0 = expand.includeF4E2M1 = true;
  function.addPass(arith::createArithExpandOpsPass(expand));

  // Math as LLVM's intrinsics, and what has none as calls of the C library.
  function.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());

  // The llvm dialect.
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}
