//===- Case.h - one end-to-end case -----------------------------*- C++ -*-===//
//
// A program, its numbers and a schedule. The runner compiles it, runs it twice
// (outputs prefilled with NaN, then with zeros), compares the two bit by bit
// and with the float64 reference, and looks at the guard zones.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Setup.h"

#include <functional>

namespace tegula::exec {

struct Case {
  std::string name;
  std::string source, item;
  tool::Pairs defines = {};
  tool::SetupRequest setup = {};
  /// FIELD=VALUE of the schedule.
  std::vector<std::string> schedule = {};
  /// Cases of one key have the same answer; empty: no other case has it.
  std::string referenceKey = {};
  /// Changes the inputs after they were filled.
  std::function<void(tool::Problem &)> edit = nullptr;
  /// Looks at the outputs, after the comparison with the reference; says what
  /// is wrong, or "".
  std::function<std::string(const tool::Problem &)> expect = nullptr;
  /// The form that a launch on the GPU takes; empty: not looked at.
  std::string form = {};
  /// Part of the default run; the rest needs --full.
  bool smoke = false;
};

/// The grid: types x shapes x variants x layouts x schedules.
std::vector<Case> gridCases(tool::RunTarget target);

/// Single problems with an answer known beforehand, after real failures of
/// other systems.
std::vector<Case> probeCases(tool::RunTarget target);

/// Minimal inputs of faults that users of other systems reported.
std::vector<Case> reportedCases();

/// Head dims, strides and addresses.
std::vector<Case> shapeCases(tool::RunTarget target);

/// A program for each thing that the language can say.
std::vector<Case> languageCases(tool::RunTarget target);

/// The number of a tensor called `name`, which exists.
inline tool::Tensor &tensorOf(tool::Problem &problem, llvm::StringRef name) {
  return problem.tensors[problem.item->findTensor(name)];
}
inline const tool::Tensor &tensorOf(const tool::Problem &problem,
                                    llvm::StringRef name) {
  return problem.tensors[problem.item->findTensor(name)];
}

/// Tables of rows, keys and pairs.
std::vector<Case> tableCases(tool::RunTarget target);

/// The signature that all programs of the table share.
inline const std::string signature =
    "(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: T[B,H,M,E], lse: "
    "L[B,H,M]) { static D, E, T, L = f32 ";

} // namespace tegula::exec
