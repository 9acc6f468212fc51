//===- RandomProgram.h - a generated program and its problems ---*- C++ -*-===//
//
// What a generator makes: text of the language that the compiler has to accept,
// and arguments that it has to run on.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Choices.h"
#include "tools/tegula/Setup.h"

namespace tegula::generated {

struct RandomProgram {
  std::string text, item;
  std::vector<std::string> schedule; ///< FIELD=VALUE
  /// Each is run by the one compiled kernel.
  std::vector<tool::SetupRequest> problems;
};

/// An `attention` item over everything that its clauses can say.
RandomProgram attentionProgram(Choices &choices);

/// An `attention` item that says what is seen, in every way that there is, and
/// nothing else.
RandomProgram maskProgram(Choices &choices);

/// A `kernel` item: loops over ragged tiles, elementwise code, reductions.
RandomProgram kernelProgram(Choices &choices);

} // namespace tegula::generated
