//===- Problems.h - small problems for tests --------------------*- C++ -*-===//
//
// A source text and sizes become a Problem whose tensors a test then edits.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Expect.h"
#include "tools/tegula/Setup.h"

namespace tegula::tool {

/// A program with its problem.
struct Case {
  std::unique_ptr<Program> program;
  Problem problem;

  Tensor &tensor(llvm::StringRef name) {
    return problem.tensors[program->item().findTensor(name)];
  }
};

inline const char *signature =
    "(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: T[B,H,M,E], lse: "
    "f32[B,H,M]) ";

/// An item with the usual signature and `clauses`.
inline std::string itemText(const std::string &clauses,
                            const std::string &type = "f32", int d = 8) {
  std::string depth = std::to_string(d);
  return std::string("attention t") + signature + "{ static D = " + depth +
         ", E = " + depth + ", T = " + type + " " + clauses + " }\n";
}

inline Case makeCase(const std::string &text, const SetupRequest &request,
                     llvm::StringRef item = "") {
  Case result;
  result.program = valueOf(Program::create(text, "t.tg", item, {}));
  result.problem = valueOf(setUp(*result.program, request));
  return result;
}

/// The refusal of a request: "CODE: MESSAGE".
inline std::string refusal(const std::string &text,
                           const SetupRequest &request) {
  auto program = valueOf(Program::create(text, "t.tg", "", {}));
  return textOf(setUp(*program, request));
}

inline std::vector<std::pair<std::string, int64_t>>
sizes(int64_t b, int64_t h, int64_t g, int64_t m, int64_t n) {
  return {{"B", b}, {"H", h}, {"G", g}, {"M", m}, {"N", n}};
}

} // namespace tegula::tool
