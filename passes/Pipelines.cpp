// The story of a kernel from the whole problem to one thread's view.
#include "passes/Pipelines.h"
#include "passes/Passes.h"
#include "passes/lower/LegalizeMath.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tegula;

static void verifyStage(OpPassManager &pm, const char *stage) { pm.addPass(createVerifyStagePass(VerifyStagePassOptions{stage})); }

/// As far as a tile program that a person would write: one written by hand is raised to that form, a tile.attention is lowered to it.
static void addProgramPasses(OpPassManager &kernel, const PipelineOptions &options, bool pack) {
  ChooseSchedulePassOptions choice;
  choice.target = options.target;
  choice.overrides.assign(options.schedule.begin(), options.schedule.end());
  kernel.addPass(createRaiseMasksPass());
  kernel.addPass(createFoldScalePass());
  kernel.addPass(createZeroUnseenPass());
  kernel.addPass(createChooseSchedulePass(choice));
  kernel.addPass(createDecomposePass({pack}));
  kernel.addPass(createApplyRequiresPass());
  kernel.addPass(createCSEPass());
}

void tegula::buildKernelPipeline(OpPassManager &pm, const PipelineOptions &options) {
  verifyStage(pm, "attention");
  addProgramPasses(pm.nest<tile::KernelOp>(), options, /*pack=*/false); // a text has no such rows
}

/// The tile program with loops over the blocks that its masks leave. With `hasPrepass`, another program may go before it.
static void addBoundedPasses(OpPassManager &pm, const PipelineOptions &options, bool hasPrepass) {
  verifyStage(pm, "attention");
  OpPassManager &kernel = pm.nest<tile::KernelOp>();
  addProgramPasses(kernel, options, /*pack=*/true);
  kernel.addPass(createExpandRandomPass());
  kernel.addPass(createHoistUniformPass());
  // One form of the same scalar code, wherever it comes from.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createFixReferencePass());
  if (hasPrepass)
    pm.addPass(createPrecomputeClassesPass()), pm.addPass(createPrecomputeLimitsPass());
  pm.addNestedPass<tile::KernelOp>(createBoundMasksPass());
}

void tegula::buildTilePipeline(OpPassManager &pm, const PipelineOptions &options) {
  addBoundedPasses(pm, options, /*hasPrepass=*/options.target != "cpu");
  if (options.countVisits && options.target != "cpu")
    pm.addPass(createMarkVisitsPass());
  OpPassManager &blocks = pm.nest<tile::KernelOp>();
  if (options.target != "cpu")
    blocks.addPass(createStageTablesPass(StageTablesPassOptions{options.target}));
  blocks.addPass(createHoistRowsPass());
  blocks.addPass(createRotateLoopPass());
  blocks.addPass(createInlineClassesPass());
  blocks.addPass(createExpandSoftmaxPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  verifyStage(pm, "tile");
}

void tegula::buildVisitsPipeline(OpPassManager &pm, const PipelineOptions &options) {
  addBoundedPasses(pm, options, /*hasPrepass=*/true);
  pm.addNestedPass<tile::KernelOp>(createInlineClassesPass());
  pm.addPass(createCountVisitsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void tegula::buildClaimsPipeline(OpPassManager &pm) {
  verifyStage(pm, "attention");
  pm.addNestedPass<tile::KernelOp>(createCheckClaimsPass());
  pm.addNestedPass<tile::KernelOp>(createExpandRandomPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  verifyStage(pm, "tile");
}

void tegula::buildWarpPipeline(OpPassManager &pm, const PipelineOptions &options) {
  ChooseThreadsPassOptions choice;
  choice.overrides.assign(options.schedule.begin(), options.schedule.end());
  pm.addNestedPass<tile::KernelOp>(createChooseThreadsPass(choice));
  pm.addNestedPass<tile::KernelOp>(createHoistLoadsPass());
  pm.addNestedPass<tile::KernelOp>(createAssignBlockedPass());
  pm.addNestedPass<tile::KernelOp>(createNarrowTilesPass());
  pm.addPass(createSingleRolePass());
  pm.addNestedPass<tile::KernelOp>(createAssignLayoutsPass());
  pm.addNestedPass<tile::KernelOp>(createDeferSumsPass());
  pm.addPass(createPartitionRolesPass(PartitionRolesPassOptions{options.target}));
  pm.addNestedPass<warp::KernelOp>(createPingPongPass());
  pm.addNestedPass<warp::KernelOp>(createSplitBlocksPass());
  pm.addPass(createCSEPass());
  verifyStage(pm, "warp");
}

void tegula::buildNvvmPipeline(OpPassManager &pm, const PipelineOptions &options) {
  OpPassManager &kernel = pm.nest<warp::KernelOp>();
  kernel.addPass(createInsertWaitsPass());
  kernel.addPass(createAllocateSharedPass(AllocateSharedPassOptions{options.target}));
  pm.addPass(createLowerWarpPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<LLVM::LLVMFuncOp>(createShareExponentialsPass());
  pm.addPass(createLegalizeMathPass({options.approximateTanh}));
  pm.addPass(createSCFToControlFlowPass());
  ConvertToLLVMPassOptions conversion;
  conversion.allowPatternRollback = false; // a failure ends the compilation: nothing to roll back for
  pm.addPass(createConvertToLLVMPass(conversion));
  pm.addPass(createReconcileUnrealizedCastsPass());
  verifyStage(pm, "nvvm");
}

void tegula::registerLoweringInterfaces(DialectRegistry &registry) {
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertNVVMToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
}
