//===- Tables.cpp - what scores, weights and masks read ------------------===//
//
// Tables of rows, keys and pairs. Those of pairs come by blocks where their
// rows have a pitch of 16 bytes, and else take the direct form; lengths pass
// the ends of tiles and blocks.
//
//===----------------------------------------------------------------------===//
#include "Case.h"

using namespace tegula;
using namespace tegula::exec;
using tool::RunTarget;

namespace {
struct Table {
  std::string name, clauses;
  int pairBytes = 0; ///< of an element in a table that comes by blocks
};
} // namespace

static std::vector<Table> tableList() {
  const std::string causal = " mask i + (N - M) >= j";
  return {
      {"rows", "param r: f32[H,M] score s + exp2(r[h,i]) * 3.0"},
      {"row-in-mask", "param r: i32[M] mask j < 40 + abs(r[i]) % 50"},
      {"keys", "param t: f32[H,N] score s * t[h,j]"},
      {"pairs", "param p: f32[M,N] score s + p[i,j]", 4},
      {"pairs-of-heads", "param p: T[H,M,N] score s + p[h,i,j]" + causal, 2},
      {"pairs-of-all", "param p: T[B,H,M,N] score s + p[b,h,i,j]", 2},
      {"pairs-of-key-heads", "param p: T[B,G,M,N] score s * p[b,g,i,j]", 2},
      {"pairs-and-others",
       "param p: T[B,M,N], z: f32[H], r: f32[M], t: f32[N] "
       "score s + p[b,i,j] * z[h] * r[i] + t[j]" +
           causal,
       2},
      {"pairs-of-bytes", "param p: i8[H,M,N] score s + p[h,i,j] * 0.25", 1},
      {"pairs-of-integers", "param p: i32[M,N] score s + p[i,j] * 0.25", 4},
      {"weights", "param p: f32[H,M,N] weight p[h,i,j]" + causal, 4},
      {"twice", "param p: T[H,M,N] score s + p[h,i,j] weight p[h,i,j]", 2},
      {"mask", "param p: bool[B,M,N] mask p[b,i,j] || j == 0"},
      {"mask-and-causal", "param p: bool[M,N] mask p[i,j]" + causal},
      {"window", "param p: T[M,N] score s + p[i,j] mask abs(i - j) < 50", 2},
  };
}

std::vector<Case> tegula::exec::tableCases(RunTarget target) {
  std::vector<Case> cases;
  for (const Table &table : tableList())
    for (const char *dim : {"64", "128"})
      for (auto [m, n] : {std::pair{70, 80}, {300, 336}, {1, 208}, {150, 77}}) {
        Case c;
        c.name = "tables/" + table.name + "/d" + dim + "/m" +
                 std::to_string(m) + "n" + std::to_string(n);
        c.source =
            "attention table" + signature + "} attention item = table with { " +
            table.clauses + " }\n";
        c.item = "item";
        c.defines = {{"D", dim}, {"E", dim}, {"T", "bf16"}};
        c.setup.sizes = {{"B", 2}, {"H", 4}, {"G", 2}, {"M", m}, {"N", n}};
        c.setup.seed = 5;
        c.referenceKey = c.name;
        if (target == RunTarget::cuda)
          c.form = n * table.pairBytes % 16 ? "direct" : "pipelined";
        c.smoke = std::string(dim) == "64";
        cases.push_back(std::move(c));
      }
  return cases;
}
