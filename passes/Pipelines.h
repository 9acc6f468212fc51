// The pipelines between stages, in order; reads as a table of contents.
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include <string>
#include <vector>

namespace tegula {

/// What shapes the code beside the program: the same struct is the API, the pipeline option and the tool flag.
struct PipelineOptions {
  std::string target = "sm_90a";       ///< a GPU target's name, or "cpu"
  std::vector<std::string> schedule;   ///< FIELD=VALUE overrides
  bool approximateTanh = false;        ///< on a GPU: tanh by its instruction
  bool countVisits = false;            ///< on a GPU: the kernel counts its visits of blocks; see tegula-mark-visits
};

/// attention -> tile: choose the schedule, write the tile program, recognise and rotate its loop, expand the softmax.
void buildTilePipeline(mlir::OpPassManager &pm, const PipelineOptions &options);
/// attention -> a tile program that says which blocks of keys the one of `buildTilePipeline` visits, for the CPU; see tegula-count-visits.
void buildVisitsPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);
/// attention -> the tile program that checks what the source claims of its arguments; see tegula-check-claims.
void buildClaimsPipeline(mlir::OpPassManager &pm);
/// attention -> kernel: as far as the tile program that a person would write; what the stage `kernel` prints.
void buildKernelPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);
/// tile -> warp: fragments, roles, rings, turns.
void buildWarpPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);
/// warp -> nvvm: wait counts, shared memory, one thread's view, math that the back end selects, llvm.
void buildNvvmPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Registers what the nvvm pipeline's conversion to llvm needs of the upstream dialects.
void registerLoweringInterfaces(mlir::DialectRegistry &registry);

} // namespace tegula
