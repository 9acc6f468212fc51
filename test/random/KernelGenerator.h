//===- KernelGenerator.h - random tile programs -----------------*- C++ -*-===//
//
// A program computes on tiles over the axes R, C and K of its tensors. How an
// axis is cut is the frame: by the grid, by a loop, or one slice that holds all
// of it. The kind of a value names its axes ("RC", "C", "" for a scalar); each
// value is made from loads, smaller kinds, and reductions of larger ones.
// Private to the sources Generate*.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Expressions.h"
#include "RandomProgram.h"

#include <map>

namespace tegula::generated {

class KernelGenerator {
public:
  explicit KernelGenerator(Choices &choices) : choices(choices) {}
  RandomProgram make();

private:
  /// Where the lanes of an axis are now.
  struct Axis {
    std::string first, length; ///< of the slice
    std::string inside;        ///< an index of one element
    bool changes = false;      ///< with a loop
  };
  /// A name that stands for a value.
  struct Value {
    std::string name, kind;
    char family; ///< 'i', 'f' or 'b'
    double size = 0;
    /// Whether it may end where a loop's slice ends.
    bool mayEnd = false;
  };

  // GenerateKernel.cpp
  void addFns();
  tool::SetupRequest problem();

  // GenerateStatements.cpp
  std::string output(char family, const std::string &kind);
  void addLet(const std::string &kind);
  void addStore(const std::string &kind);
  void addAtomic();
  void addBranch();
  void addLoop(char axis);
  void addStatements(int count);

  // GenerateOperators.cpp: values, by family and kind. None is a constant.
  std::string integer(const std::string &kind, int depth);
  std::string boolean(const std::string &kind, int depth);
  Real real(const std::string &kind, int depth);
  std::string realWithin(const std::string &kind, int depth, double limit);
  std::string positive(const std::string &kind, int depth);
  std::string anyOf(char family, const std::string &kind, int depth);
  std::string integerOrLiteral(const std::string &kind, int depth);
  std::string divisor(const std::string &kind, int depth);

  // GenerateOperands.cpp
  std::string integerLiteral();
  std::string realLiteral();
  std::string literal(char family);
  std::string slice(char axis) const;
  std::string shape(const std::string &kind) const;
  std::string input(char family, const std::string &axes);
  std::string load(char family, const std::string &kind);
  std::string counted(const std::string &kind);
  std::string leaf(char family, const std::string &kind, double &size);
  std::string gathered(char family, const std::string &kind, int depth);
  std::string spread(char family, const std::string &kind, int depth);
  std::string reduced(char family, const std::string &kind, int depth);
  std::string product(char family, int depth);
  std::string called(char family, const std::string &kind, int depth);

  void line(const std::string &text) {
    body += std::string(2 * nesting, ' ') + text + "\n";
  }
  std::string fresh(const char *prefix) {
    return prefix + std::to_string(names++);
  }
  std::string anyKind() {
    return tileRows ? choices.pick({"RC", "C", "R", ""})
                    : choices.pick({"C", "C", "C", ""});
  }

  Choices &choices;
  std::map<char, Axis> axes;
  bool tileRows = true, wholeColumns = false;
  std::string coordinates; ///< of the grid, "yx"
  std::vector<std::string> signature, outputs, scalars;
  std::map<std::string, std::vector<std::string>> inputs;
  std::vector<Value> values;
  std::vector<Fn> fns;
  std::string fnText, body;
  tool::Pairs arguments;
  std::string rowLength, columnLength;
  /// Every load of a slice that changes is filled, as a variable asks for.
  bool filled = false;
  unsigned names = 0, nesting = 1;
};

} // namespace tegula::generated
