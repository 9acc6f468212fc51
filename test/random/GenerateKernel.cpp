//===- GenerateKernel.cpp - random tile programs and problems -------------===//
//
// The functions, the frame, and the lengths that a program runs on.
//
//===----------------------------------------------------------------------===//
#include "KernelGenerator.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace tegula;
using namespace tegula::generated;

void KernelGenerator::addFns() {
  fnText = "fn joined(a, b) = a + b\nfn both(a, b) = a & b\n"
           "fn product(a, b) = a * b\nfn larger(a, b) = max(a, b)\n";
  for (unsigned count = choices.below(3); count; --count) {
    Fn fn{fresh("fn"), "", choices.pick({'i', 'f'}), 1e3};
    Scope inner;
    std::string params;
    for (unsigned n = 0, arity = 1 + choices.below(3); n < arity; ++n) {
      char family = n == 0 ? fn.kind : choices.pick({'i', 'f'});
      std::string name(1, "abc"[n]);
      fn.params += family;
      if (family == 'i')
        inner.integers.push_back(name);
      else
        inner.reals.push_back({name, 4});
      params += (n ? ", " : "") + name;
    }
    if (inner.integers.empty())
      inner.integers = {"i32(a > 0.5)"};
    Expressions inside(choices, inner);
    // It has the shape of its first argument.
    fnText += "fn " + fn.name + "(" + params + ") = a + " +
              (fn.kind == 'i' ? inside.integer(2) : inside.realWithin(2, 100)) +
              "\n";
    fns.push_back(fn);
  }
}

static int64_t blocks(int64_t length, const std::string &block) {
  return (length + std::stoi(block) - 1) / std::stoi(block);
}

tool::SetupRequest KernelGenerator::problem() {
  tool::SetupRequest request;
  int64_t r = choices.pick({5, 4, 1, 8, 9, 0});
  int64_t c = choices.pick({5, 4, 1, 8, 9, 17, 0});
  if (wholeColumns)
    c = std::min<int64_t>(c, std::stoi(columnLength));
  request.sizes = {{"R", r},
                   {"C", c},
                   {"K", choices.pick({3, 4, 1, 9, 0})},
                   {"P", choices.pick({7, 1, 20})},
                   {"Q", choices.pick({2, 1, 5})},
                   {"X", blocks(c, columnLength)},
                   {"Y", tileRows ? blocks(r, rowLength) : r}};
  request.arguments = arguments;
  request.seed = choices.below(1000);
  return request;
}

RandomProgram KernelGenerator::make() {
  RandomProgram program;
  rowLength = choices.pick({"4", "2", "8"});
  columnLength = choices.pick({"4", "8", "16"});
  std::string inner = choices.pick({"4", "8"});
  addFns();
  signature = {"lengths: bool[R,C,K,P]"};
  scalars = {"R", "C", "w"};
  arguments = {{"w", choices.pick({"3", "-2", "0", "11"})}};
  axes['R'] = {"y*BR", "BR", "min(y*BR + 1, R - 1)"};
  axes['C'] = {"x*BC", "BC", "min(x*BC + 1, C - 1)"};
  axes['K'] = {"0", "BK", "0"};
  std::string grid;
  switch (choices.below(4)) {
  case 0: // one row of blocks
    tileRows = false;
    coordinates = "x";
    axes['R'].inside = "0";
    grid = "grid (x in ceildiv(C, BC))";
    break;
  case 1: // whole rows
    tileRows = false;
    wholeColumns = true;
    coordinates = "y";
    axes['R'].inside = "y";
    axes['C'] = {"0", "BC", "0"};
    grid = "require C <= BC   grid (y in R)";
    break;
  case 2: // blocks of both
    coordinates = choices.pick({"xy", "yx"});
    grid = coordinates == "xy"
               ? "grid (x in ceildiv(C, BC), y in ceildiv(R, BR))"
               : "grid (y in ceildiv(R, BR), x in ceildiv(C, BC))";
    break;
  case 3: // blocks of rows, with loops over columns
    coordinates = "y";
    axes['C'] = {"0", "BC", "0"};
    grid = "grid (y in ceildiv(R, BR))";
    break;
  }
  for (char coordinate : coordinates)
    scalars.push_back(std::string(1, coordinate));
  unsigned count = 1 + choices.below(3);
  bool loopsOverColumns = coordinates == "y" && tileRows;
  if (loopsOverColumns)
    addLoop('C');
  addStatements(static_cast<int>(count));
  addStore(anyKind());

  program.item = "random";
  program.text = fnText + "kernel random(" + llvm::join(signature, ", ") +
                 ", w: i32) -> (" + llvm::join(outputs, ", ") +
                 ") {\n  static BR = " + rowLength + ", BC = " + columnLength +
                 ", BK = " + inner + "\n  " + grid + "\n" + body + "}\n";
  for (int n = 0; n < 3; ++n)
    program.problems.push_back(problem());
  return program;
}

RandomProgram tegula::generated::kernelProgram(Choices &choices) {
  return KernelGenerator(choices).make();
}
