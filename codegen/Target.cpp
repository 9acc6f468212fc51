//===- Target.cpp - Target records ----------------------------------------===//
//
// The table of GPU architectures. Numbers are those of the CUDA programming
// guide (compute capabilities) and of the PTX ISA.
//
//===----------------------------------------------------------------------===//
#include "codegen/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

namespace tegula {

static constexpr MatrixShape hopperShapes[] = {
    {MatrixUnit::WarpMma, 16, 8, 16, 0, 16},        {MatrixUnit::WarpMma, 16, 8, 8, 0, 32},        {MatrixUnit::WarpMma, 16, 8, 32, 0, 8},
    {MatrixUnit::WarpgroupMma, 64, 256, 16, 8, 16}, {MatrixUnit::WarpgroupMma, 64, 256, 8, 8, 32}, {MatrixUnit::WarpgroupMma, 64, 256, 32, 8, 8},
};

static const Target targets[] = {
    {.name = "sm_90a",
     .computeCapability = 90,
     .ptxVersion = 80,
     .multiprocessors = 132,
     .sharedPerBlock = 232448,
     .sharedPerSm = 233472,
     .registersPerSm = 65536,
     .registersPerThread = 255,
     .registerGranule = 8,
     .threadsPerBlock = 1024,
     .threadsPerSm = 2048,
     .namedBarriers = 16,
     .hasTma = true,
     .hasWarpgroupMma = true,
     .hasSetMaxRegisters = true,
     .matrixShapes = hopperShapes,
     .device = "H200",
     .halfFlops = 989.4e12,
     .singleFlops = 66.9e12,
     .memoryBandwidth = 4.8e12},
};

llvm::ArrayRef<llvm::StringRef> targetNames() {
  static const auto names = [] {
    llvm::SmallVector<llvm::StringRef> result;
    for (const Target &target : targets)
      result.push_back(target.name);
    return result;
  }();
  return names;
}

const Target *lookupTarget(llvm::StringRef name, std::string &message) {
  for (const Target &target : targets)
    if (target.name == name)
      return &target;
  message = "expected a known architecture (" + llvm::join(targetNames(), ", ") + "), but got '" + name.str() + "'";
  return nullptr;
}

const Target &defaultTarget() { return targets[0]; }

namespace {
struct VersionRule {
  llvm::StringLiteral text;
  unsigned version;
};
} // namespace

// Only what is newer than PTX 8.0, the oldest version that any target starts
// from.
static constexpr VersionRule versionRules[] = {
    {".multimem", 81},
    {"multimem.", 81},
    {".cta_group", 86},
    {"st.bulk", 86},
    {"mbarrier.complete_tx", 80},
    {"clusterlaunchcontrol", 86},
    {"tensormap.replace", 83},
    {"fence.proxy.tensormap", 83},
    {"tensormap.cp_fenceproxy", 83},
};

unsigned ptxVersionNeeded(llvm::StringRef asmText) {
  unsigned version = 0;
  for (const VersionRule &rule : versionRules)
    if (asmText.contains(rule.text))
      version = std::max(version, rule.version);
  // A bulk copy from global memory may name its destination `.shared::cta`
  // since 8.6; before, only `.shared::cluster`.
  for (llvm::StringRef line : llvm::split(asmText, ';'))
    if (line.contains("cp.async.bulk") && line.contains(".shared::cta.global"))
      version = std::max(version, 86u);
  return version;
}

} // namespace tegula
