// tegula-opt: runs Tegula's and MLIR's passes on a file, one by one or as the pipelines between stages.
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/cpu/CpuPasses.h"
#include "passes/lower/LegalizeMath.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace mlir {
void registerAllDialects(DialectRegistry &registry); // from the shared library; including the headers costs 9 s more
void registerAllExtensions(DialectRegistry &registry);
void registerAllPasses();
} // namespace mlir

using namespace mlir;

template <typename BuilderT> static void pipeline(const char *name, const char *summary, BuilderT build) {
  static llvm::SmallVector<std::unique_ptr<PassPipelineRegistration<>>> kept;
  kept.push_back(std::make_unique<PassPipelineRegistration<>>(name, summary, build));
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<tegula::tile::TileDialect, tegula::warp::WarpDialect>();
  tegula::registerCpuDialects(registry);
  registerAllPasses();
  tegula::registerTegulaPasses();
  tegula::registerTegulaCpuPasses();
  tegula::registerTegulaMathPasses();
  pipeline("tegula-to-tile", "attention to tile", [](OpPassManager &pm) { tegula::buildTilePipeline(pm, {}); });
  pipeline("tegula-to-cpu-tile", "attention to tile, for the CPU", [](OpPassManager &pm) { tegula::buildTilePipeline(pm, {"cpu", {}}); });
  pipeline("tegula-to-visits", "attention to a program that counts blocks of keys", [](OpPassManager &pm) { tegula::buildVisitsPipeline(pm, {}); });
  pipeline("tegula-to-warp", "tile to warp", [](OpPassManager &pm) { tegula::buildWarpPipeline(pm, {}); });
  pipeline("tegula-to-nvvm", "warp to nvvm", [](OpPassManager &pm) { tegula::buildNvvmPipeline(pm, {}); });
  pipeline("tegula-to-cpu", "tile to cpu", [](OpPassManager &pm) { tegula::buildCpuPipeline(pm); });
  return asMainReturnCode(MlirOptMain(argc, argv, "Tegula's optimiser driver\n", registry));
}
