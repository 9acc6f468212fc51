// The stages as an enum, made of Stages.def.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace tegula {

enum class Stage {
#define TEGULA_STAGE(enumerator, name, extension, summary) enumerator,
#include "passes/Stages.def"
};

llvm::StringRef stageName(Stage stage);
/// The extension of a dump file of the stage, without a dot.
llvm::StringRef stageExtension(Stage stage);
std::optional<Stage> stageByName(llvm::StringRef name);
/// "source, attention, tile, ...": for messages.
std::string stageNames();

} // namespace tegula
