// Names of the stages, from Stages.def.
#include "passes/Stages.h"

using namespace tegula;

namespace {
struct StageText {
  llvm::StringRef name, extension;
};
constexpr StageText stages[] = {
#define TEGULA_STAGE(enumerator, name, extension, summary) {name, extension},
#include "passes/Stages.def"
};
} // namespace

llvm::StringRef tegula::stageName(Stage stage) { return stages[static_cast<int>(stage)].name; }
llvm::StringRef tegula::stageExtension(Stage stage) { return stages[static_cast<int>(stage)].extension; }

std::optional<Stage> tegula::stageByName(llvm::StringRef name) {
  for (int i = 0; i < static_cast<int>(std::size(stages)); ++i)
    if (stages[i].name == name)
      return static_cast<Stage>(i);
  return std::nullopt;
}

std::string tegula::stageNames() {
  std::string names;
  for (const StageText &stage : stages)
    names += (names.empty() ? "" : ", ") + stage.name.str();
  return names;
}
