// What makes a tile program one that fragments, rings and warpgroup matrix ops can run.
#pragma once

#include "dialect/tile/TileDialect.h"
#include "passes/attention/ChooseSchedule.h"

namespace tegula {

/// The tile sizes of a program of attention form: `rows` query rows against blocks of `keys` keys.
struct AttentionProgram {
  int64_t rows, keys;
  AttentionShape shape;
};

/// Finds the form by the program's data flow, not by its origin: one loop over blocks with a matrix op whose right operand is loaded transposed (the scores) and
/// one that accumulates (the output), every other tile a function of their rows. Otherwise reports, on the place that does not fit, through `reason`.
std::optional<AttentionProgram> matchAttentionProgram(tile::KernelOp kernel, std::pair<mlir::Location, std::string> &reason);

/// The scale of a problem, where it is the same finite number above 0 for all rows: then it can be folded into the softmax.
std::optional<double> foldableScale(tile::AttentionOp op);

/// Whether tegula-fix-reference takes the attention loop of a tile program, or of the one that a problem is decomposed to.
bool canFixReference(tile::KernelOp kernel);
bool canFixReference(tile::AttentionOp op);

} // namespace tegula
