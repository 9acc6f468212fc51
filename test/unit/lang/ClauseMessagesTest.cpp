//===- ClauseMessagesTest.cpp - messages for clauses ----------------------===//
//
// Names, types and operators of params, scales, scores and masks.
//
//===----------------------------------------------------------------------===//
#include "Messages.h"

using namespace tegula::lang;

namespace {

TEST(Diagnostics, Clauses) {
  const Case cases[] = {
      {"mask ~(i >= j)", "t.tg:2:8: error: `~` inverts the bits of integers, "
                         "but got bool; write `!`\n"},
      {"score i - j",
       "t.tg:2:9: error: expected f32, but got i32; write `f32(i) - j`\n"},
      {"score 1",
       "t.tg:2:9: error: expected f32, but got i32 (value 1); write `1.0`\n"},
      {"scale 1 / 8", "t.tg:2:9: error: expected f32, but got i32 (value 0); "
                      "write `1.0 / 8`\n"},
      {"scale i",
       "t.tg:2:9: error: expected f32, but got i32; write `f32(i)`\n"},
      {"mask s > 1.0", "t.tg:2:8: error: `s` is not known in a mask; write "
                       "`score s > 1.0 ? s : -inf`\n"},
      {"mask i", "t.tg:2:8: error: expected bool, but got i32; compare it, as "
                 "in `i != 0`\n"},
      {"mask s", "t.tg:2:8: error: `s` is not known in a mask; write `score s "
                 "? s : -inf`\n"},
      {"mask 1.0", "t.tg:2:8: error: expected bool, but got f32; what is added "
                   "to the scores is a `score`\n"},
      {"score i >= j", "t.tg:2:9: error: expected f32, but got bool; what "
                       "hides keys is a `mask`\n"},
      {"mask i && j > 1",
       "t.tg:2:8: error: `&&` takes bools, but got i32; write a comparison\n"},
      {"mask -(i > j) == 0", "t.tg:2:9: error: `-` takes numbers, but got "
                             "bool; write `i32(...)` to count it as 0 or 1\n"},
      {"score s + (i > j)", "t.tg:2:13: error: `+` takes numbers, but got "
                            "bool; write `i32(...)` to count it as 0 or 1\n"},
      {"mask i % 2.0 == 0",
       "t.tg:2:12: error: `%` takes integers, but got f32\n"},
      {"mask i / 0 == 1", "t.tg:2:8: error: division of an integer by zero\n"},
      {"mask ceildiv(i, 0) == 1",
       "t.tg:2:8: error: division of an integer by zero\n"},
      {"mask (i > j) ^ (j > 3)",
       "t.tg:2:8: error: `^` takes integers, but got bool; write `!=`\n"},
      {"mask ~1.0 == 0", "t.tg:2:9: error: `~` takes integers, but got f32\n"},
      {"mask i << 1.5 == 0",
       "t.tg:2:13: error: `<<` takes integers, but got f32\n"},
      {"score i > j ? s : i > 3",
       "t.tg:2:9: error: the two sides of `?:` are f32 and bool\n"},
      {"score min(s)", "t.tg:2:9: error: `min` takes 2 arguments, but got 1\n"},
      {"score pow(s, s, s)",
       "t.tg:2:9: error: `pow` takes 2 arguments, but got 3\n"},
      {"score foo(s)",
       "t.tg:2:9: error: unknown function `foo`; known: min max abs clamp "
       "ceildiv exp exp2 log log2 tanh sqrt rsqrt pow random\n"},
      {"score tahn(s)",
       "t.tg:2:9: error: unknown function `tahn`; did you mean `tanh`?\n"},
      {"score where(i > j, s, 0.0)", "t.tg:2:9: error: `where` is for tiles of "
                                     "a `kernel`; write `c ? a : b`\n"},
      {"score slop * s", "t.tg:2:9: error: unknown name `slop`\n"},
      {"param slope: f32[H] score s + slop[h]",
       "t.tg:2:33: error: unknown tensor `slop`; did you mean `slope`?\n"},
      {"param slope: f32[H] score s + slope",
       "t.tg:2:33: error: `slope` is a tensor; read an element of it, as in "
       "`slope[...]`\n"
       "t.tg:2:9: note: declared here\n"},
      {"param slope: f32[H] score s + slope(h)",
       "t.tg:2:33: error: `slope` is no function; write `slope[...]`\n"
       "t.tg:2:9: note: declared here\n"},
      {"param slope: f32[H] score s + slope[h,1]",
       "t.tg:2:33: error: `slope` has 1 dim, but got 2 indices\n"
       "t.tg:2:9: note: declared here\n"},
      {"param slope: f32[H] score s + slope[1.0]",
       "t.tg:2:39: error: an index is an integer, but got f32\n"},
      {"param slope: f32[H] score s + slope[b]",
       "t.tg:2:33: error: `slope[b]` reads batch indices (0..B) but `slope` "
       "has extent H\n"
       "t.tg:2:9: note: declared here; declare `slope: f32[B]`, or add "
       "`require H == B`\n"},
      {"param W: i32 mask j < W[0]",
       "t.tg:2:25: error: `W` is no tensor, and takes no index\n"
       "t.tg:2:9: note: declared here\n"},
      {"param W: i32 mask j < W(0)", "t.tg:2:25: error: `W` is no function\n"
                                     "t.tg:2:9: note: declared here\n"},
      {"mask exp > 1",
       "t.tg:2:8: error: `exp` is a function; write `exp(x)`\n"},
      {"mask f32 > 1", "t.tg:2:8: error: `f32` is a type, and has no value; "
                       "write `f32(x)` for a cast\n"},
      {"mask T > 1",
       "t.tg:2:8: error: `T` is an element type, and has no value\n"
       "t.tg:1:119: note: declared here\n"},
      {"mask bool(i)",
       "t.tg:2:8: error: a number is no bool; write `i != 0`\n"},
      {"mask f64(i) > 1.0", "t.tg:2:8: error: floats of this item are f32, "
                            "because q is not f64; write `f32(...)`\n"},
      {"mask e4m3(i) > 1.0",
       "t.tg:2:8: error: a cast to e4m3 is not supported yet\n"},
      {"mask q[b,h,i,0] > 0",
       "t.tg:2:8: error: `q` cannot be read in a mask; it sees indices, "
       "scalars and captured tensors\n"},
      {"let x = k[b,g,j,0] mask x > 1.0",
       "t.tg:2:11: error: `k` cannot be read in a `let`; it sees indices, "
       "scalars and captured tensors\n"},
      {"mask o[b,h,i,0] > 0",
       "t.tg:2:8: error: `o` cannot be read in a mask; it sees indices, "
       "scalars and captured tensors\n"},
      {"score s + lse", "t.tg:2:13: error: `lse` cannot be read in a score; it "
                        "sees s, indices, scalars and captured tensors\n"},
      {"require i > 0", "t.tg:2:11: error: a `require` sees dims, statics and "
                        "scalars, but `i` differs from element to element\n"},
      {"require M", "t.tg:2:11: error: expected bool, but got i32; a `require` "
                    "is a condition\n"},
      {"require 1 == 2", "t.tg:2:11: error: `require 1 == 2` does not hold\n"},
      {"require D == 128",
       "t.tg:2:11: error: `require D == 128` does not hold: D = 64\n"},
      {"require exp(M) > 1.0",
       "t.tg:2:11: error: a `require` is checked on the host, by arithmetic, "
       "comparisons, logic, min, max and abs only\n"},
      {"let x = 3 require x == M", "t.tg:2:21: error: expected dims, statics "
                                   "and scalars only, but `x` is a `let`\n"
                                   "t.tg:2:7: note: declared here\n"},
      {"param t: i32[N] require t[0] == 1",
       "t.tg:2:27: error: expected dims, statics and scalars only, but `t` is "
       "a tensor, whose elements the host does not see\n"},
      {"let x = j scale 1.0 * x",
       "t.tg:2:25: error: `scale` may not depend on the key position `j`, "
       "which `x` does; use `score`\n"
       "t.tg:2:7: note: declared here\n"},
      {"scale s",
       "t.tg:2:9: error: `s` is not known in `scale`; use `score`\n"},
      {"scale j", "t.tg:2:9: error: `scale` may not depend on the key position "
                  "`j`; use `score`\n"},
      {"let a = b2 let b2 = a mask a > 1",
       "t.tg:2:23: error: `a` is defined by itself\n"
       "t.tg:2:7: note: declared here\n"},
      {"let s = 3", "t.tg:2:7: error: `s` is the score in an attention item; "
                    "choose another name\n"},
      {"let M = 3", "t.tg:2:7: error: `M` is the number of queries in an "
                    "attention item; choose another name\n"},
      {"param B: i32", "t.tg:2:9: error: `B` is the batch size in an attention "
                       "item; choose another name\n"},
      {"param f32: i32", "t.tg:2:9: error: `f32` is a word of the language; "
                         "choose another name\n"},
      {"param x: foo",
       "t.tg:2:12: error: unknown element type `foo`; known: bool i8 u8 i16 "
       "i32 i64 f16 bf16 f32 f64, or a name that `static foo = bf16` binds\n"},
      {"param x: bf1",
       "t.tg:2:12: error: unknown element type `bf1`; did you mean `bf16`?\n"},
      {"param x: D", "t.tg:2:12: error: expected an element type, but static "
                     "`D` is an integer\n"
                     "t.tg:1:103: note: declared here\n"},
      {"param x: e4m3[N]",
       "t.tg:2:12: error: element type e4m3 is not supported yet\n"},
      {"param x: f16", "t.tg:2:12: error: a scalar is bool, i32, i64, f32 or "
                       "f64, but `x` is f16\n"},
      {"param x: i32[]",
       "t.tg:2:9: error: `x` has no extent; write `x: i32` for a scalar\n"},
      {"param x: i32 sorted",
       "t.tg:2:9: error: `sorted` is for tensors, but `x` is a scalar\n"},
      {"param x: bool[N] sorted",
       "t.tg:2:9: error: `sorted` is for numbers, but `x` holds bools\n"},
      {"param x: inout i32[N]",
       "t.tg:2:9: error: `inout` belongs to a `kernel` item; an attention item "
       "only reads `x`\n"},
      {"param x: i32[1,1,1,1,1,1,1,1,1]",
       "t.tg:2:9: error: `x` has 9 dims; a tensor has at most 8\n"},
      {"param x: i32[1.5]",
       "t.tg:2:16: error: expected an integer extent, but got f32\n"},
      {"param x: i32[-1]",
       "t.tg:2:16: error: an extent is from 0 to 536870912, but this is -1\n"},
      {"param x: i32[2*P]",
       "t.tg:2:18: error: nothing gives dim `P` its length; give a tensor an "
       "axis `P`, or declare `param P: i32`\n"},
      {"param x: i32[exp(1)]",
       "t.tg:2:16: error: expected an integer extent, but got f32\n"},
      {"param x: i32[i]", "t.tg:2:16: error: an extent sees dims, statics and "
                          "scalars, but `i` differs from element to element\n"},
      {"param x: i32[N] in 0..1.5", "t.tg:2:25: error: a range is of integers "
                                    "over dims and scalars, but this is f32\n"},
      {"param x: i32[N]", "t.tg:2:9: warning: parameter `x` is never read\n"},
      {"static x", "t.tg:2:10: error: static `x` has no value; give one with "
                   "-D x=VALUE, or a default as in `static x = 128`\n"},
      {"static x = y",
       "t.tg:2:14: error: expected a constant, but `y` is no static\n"},
      {"static x = x", "t.tg:2:10: error: static `x` is defined by itself\n"},
      {"static x = i", "t.tg:2:14: error: expected a constant, but `i` differs "
                       "from element to element\n"},
      {"static x = 1 static x = 2", "t.tg:2:23: error: `x` is declared twice\n"
                                    "t.tg:2:10: note: first here\n"},
      {"static b = 1", "t.tg:2:10: error: `b` is the batch index in an "
                       "attention item; choose another name\n"},
      {"reduce entmax(s)", "t.tg:2:10: error: unknown reduction `entmax`; "
                           "known: softmax, sum, mean\n"
                           "t.tg:2:10: note: the order of keys may not matter "
                           "to a reduction; an ordered one is a `kernel`\n"},
      {"grad q", "t.tg:2:3: error: `grad` is not supported yet\n"},
      {"extent N = 3", "t.tg:2:3: error: `extent` is not supported yet\n"},
      {"branch r in 2", "t.tg:2:3: error: `branch` is not supported yet\n"},
      {"let k[b,g,j,d] = 3",
       "t.tg:2:3: error: `let k[...]` is not supported yet\n"},
      {"score foo(x = 3)",
       "t.tg:2:9: error: unknown function `foo`; known: min max abs "
       "clamp ceildiv exp exp2 log log2 tanh sqrt rsqrt pow random\n"},
      {"score [1, 2]",
       "t.tg:2:9: error: `[1, 2]` belongs to a `kernel` item\n"},
      {"score q[b, :]", "t.tg:2:14: error: a slice belongs to a `kernel` item; "
                        "an attention item reads one element\n"},
      {"score s +", "t.tg:3:1: error: expected an expression, but found `}`\n"},
      {"score (s", "t.tg:3:1: error: expected `)`, but found `}`\n"
                   "t.tg:2:9: note: to close this `(`\n"},
      {"score s)", "t.tg:2:10: error: expected a clause, but found `)`\n"},
      {"score \"x\"",
       "t.tg:2:9: error: expected an expression, but found `\"x\"`\n"},
      {"score s ? s", "t.tg:3:1: error: expected `:` of `?`, but found `}`\n"},
      {"param W i32", "t.tg:2:11: error: expected `:` and a type, as in `x: "
                      "f32[H]`, but found `i32`\n"},
      {"param W:",
       "t.tg:3:1: error: expected an element type, but found `}`\n"},
      {"static",
       "t.tg:3:1: error: expected the name of a static, but found `}`\n"},
      {"let x", "t.tg:3:1: error: expected `=` and the value, but found `}`\n"},
      {"let = 3", "t.tg:2:7: error: expected a name, but found `=`\n"},
      {"scale", "t.tg:3:1: error: expected an expression, but found `}`\n"},
      {"score if", "t.tg:2:9: error: there is no `if` in an expression; write "
                   "`c ? a : b`\n"},
      {"score 0x", "t.tg:2:9: error: `0x` is no number\n"},
      {"score 1.0.0", "t.tg:2:12: error: expected a clause, but found `.0`\n"},
      {"mask i >= j, i >= 2", "t.tg:2:14: error: expected a clause, but found "
                              "`,`; write `&&` to join conditions\n"},
      {"mask i <> j",
       "t.tg:2:11: error: expected an expression, but found `>`\n"},
      {"mask not i > j",
       "t.tg:2:8: error: there is no `not`; write `!`\n"
       "t.tg:2:12: error: `!` takes bools, but got i32; write a comparison\n"},
      {"score +s", "t.tg:2:9: error: there is no unary `+`\n"},
      {"score é", "t.tg:2:9: error: `é` is not in the language\n"},
      {"param m: T[B,H,M,N] score s + m[b,h,j,i]",
       "t.tg:2:33: error: `m[b, h, j, i]` reads key positions (0..N) but axis "
       "2 of `m` has extent M\n"
       "t.tg:2:9: note: declared here; declare `m: T[B,H,N,M]`, or add "
       "`require M == N`\n"},
      {"score s * (1 / 8)",
       "t.tg:2:13: warning: the integer quotient `1 / 8` is floored before it "
       "becomes a float; for a fraction write `1.0 / 8`\n"},
      {"score s * (i / 2)",
       "t.tg:2:13: warning: the integer quotient `i / 2` is floored before it "
       "becomes a float; for a fraction write `f32(i) / 2`\n"},
      {"score exp((i + 1) / 2)",
       "t.tg:2:13: warning: the integer quotient `(i + 1) / 2` is floored "
       "before it becomes a float; for a fraction write `f32((i + 1) / 2)`\n"},
      {"score s + mask i >= j",
       "t.tg:2:18: error: expected a clause, but found `i`\n"
       "t.tg:2:13: note: `mask` is read as a name here, because `+` has no "
       "right operand\n"},
      {"let x = 3 + mask i >= x",
       "t.tg:2:20: error: expected a clause, but found `i`\n"
       "t.tg:2:15: note: `mask` is read as a name here, because `+` has no "
       "right operand\n"},
      {"score i * 3",
       "t.tg:2:9: error: expected f32, but got i32; write `f32(i) * 3`\n"},
      {"score lse * s", "t.tg:2:9: error: `lse` cannot be read in a score; it "
                        "sees s, indices, scalars and captured tensors\n"},
      {"score q[b, h :+ 8, i, 0]",
       "t.tg:2:16: error: a slice belongs to a `kernel` item; an attention "
       "item reads one element\n"},
      {"score s + 8 * 2 ** 3",
       "t.tg:2:19: error: there is no `**`; write `pow(x, y)`\n"},
      {"mask i >= j or j > 2",
       "t.tg:2:15: error: there is no `or`; write `||`\n"},
      {"score if i > j { s }", "t.tg:2:9: error: there is no `if` in an "
                               "expression; write `c ? a : b`\n"},
      {"score 9223372036854775808 * s",
       "t.tg:2:9: error: `9223372036854775808` does not fit in i64, whose "
       "largest value is 9223372036854775807\n"},
      {"mask i & 1.5 == 0",
       "t.tg:2:12: error: `&` takes integers, but got f32\n"},
      {"param x: i32[P & 3], y: i32[P] score s + x[0] + y[0]",
       "t.tg:2:16: error: an extent is computed on the host, by arithmetic, "
       "comparisons, min, max and abs only\n"},
      {"param x: i32[N] in 0..i mask x[j] > 0",
       "t.tg:2:25: error: a `require` sees dims, statics and scalars, but `i` "
       "differs from element to element\n"},
      {"param i: i32, W: i32, W: i32",
       "t.tg:2:9: error: `i` is the query position in an attention item; "
       "choose another name\n"
       "t.tg:2:25: error: `W` is declared twice\n"
       "t.tg:2:17: note: first here\n"},
      {"param D2: i32, x: T[B,H,M,D2] score s + x[b,h,j,0]",
       "t.tg:2:43: error: `x[b, h, j, 0]` reads key positions (0..N) but axis "
       "2 of `x` has extent M\n"
       "t.tg:2:18: note: declared here; declare `x: T[B,H,N,D2]`, or add "
       "`require M == N`\n"},
      {"let N2 = N mask j < N2[0]",
       "t.tg:2:23: error: `N2` is no tensor, and takes no index\n"
       "t.tg:2:7: note: declared here\n"},
      {"param P: f32[N] score s + P[j] param P: f32[H]",
       "t.tg:2:40: error: `P` is declared twice\n"
       "t.tg:2:9: note: first here\n"},
      {"param X: i32[NX], NX: i32[H] mask X[j] > NX[h]",
       "t.tg:2:16: error: expected dims, statics and scalars only, but `NX` is "
       "a tensor, whose elements the host does not see\n"},
      {"mask i >= j)", "t.tg:2:14: error: expected a clause, but found `)`\n"},
      {"grid (m in 3)", "t.tg:2:3: error: expected a clause, but found `grid`; "
                        "`grid` belongs to a `kernel` item\n"},
      {"mask \"text",
       "t.tg:2:8: error: expected `\"` at the end of this text\n"
       "t.tg:2:8: error: expected an expression, but found `\"text`\n"},
      {"mask i == j == h",
       "t.tg:2:8: error: comparisons do not chain; write `i == j && j == h`\n"},
      {"mask !(i) || true",
       "t.tg:2:9: error: `!` takes bools, but got i32; write a comparison\n"},
      {"score s * true", "t.tg:2:13: error: `*` takes numbers, but got bool; "
                         "write `i32(...)` to count it as 0 or 1\n"},
      {"static H = 5, G = 2",
       "t.tg:1:20: error: `H` is 5, which is no multiple of `G` = 2; each key "
       "head serves as many query heads\n"
       "t.tg:1:35: note: key heads\n"},
      {"static G = 0",
       "t.tg:1:35: error: `G` is 0, but an item has at least one key head\n"},
      {"static H = 4, G = 0",
       "t.tg:1:20: error: `H` is 4, which is no multiple of `G` = 0; each key "
       "head serves as many query heads\n"
       "t.tg:1:35: note: key heads\n"},
  };
  expectMessages(cases);
}

TEST(Diagnostics, ExpressionsOfElements) {
  const Case cases[] = {
      {"mask any(t in 3.0: t == j)",
       "t.tg:2:17: error: expected an integer extent, but got f32\n"},
      {"mask any(t in i: t == j)",
       "t.tg:2:17: error: the extent of `any` is of dims, statics and scalars, "
       "but this changes from element to element\n"},
      {"mask any(t in 3: t)", "t.tg:2:20: error: `any` takes bools, but got "
                              "i32; write a comparison\n"},
      {"score sum(t in 3: t == j)",
       "t.tg:2:21: error: `sum` takes numbers, but got bool; write `i32(...)` "
       "to count it as 0 or 1\n"},
      {"mask any(j in 3: j == i)",
       "t.tg:2:12: error: `j` is the key position in an attention item; choose "
       "another name\n"},
      {"param W: i32 mask any(W in 3: W == j)",
       "t.tg:2:25: error: `W` is declared twice\n"
       "t.tg:2:9: note: first here\n"},
      {"mask any(t in 3: any(t in 3: t == j))",
       "t.tg:2:24: error: `t` is declared twice\n"
       "t.tg:2:12: note: first here\n"},
      {"mask any(t in 3: t == j) && t > 1",
       "t.tg:2:31: error: unknown name `t`; did you mean `T`?\n"},
      {"mask anny(t in 3: t == j)",
       "t.tg:2:8: error: `anny` does not reduce over `t in ...`; known: sum, "
       "min, max, any, all; did you mean `any`?\n"},
      {"require any(t in 3: t == M)",
       "t.tg:2:11: error: a `require` is checked on the host, by arithmetic, "
       "comparisons, logic, min, max and abs only\n"},
      {"score s * random(1, 2, 3)",
       "t.tg:2:13: error: `random` takes 5 arguments, but got 3\n"},
      {"score s * random(1, 2, 3, 4, 5.0)",
       "t.tg:2:32: error: `random` takes integers, but got f32\n"},
      {"score exp(x = s)", "t.tg:2:9: error: `exp` takes its arguments in "
                           "order, without names\n"},
      {"score s - sum(s)", "t.tg:2:13: error: `sum` is for tiles of a "
                           "`kernel`; over a bounded index write `sum(t in K: "
                           "...)`\n"},
      {"score cumsum(s, axis = 0)",
       "t.tg:2:9: error: `cumsum` is for tiles of a `kernel`; an attention "
       "item sees one (query, key, head)\n"},
      {"score s + s[h - 1, i, j]",
       "t.tg:2:13: error: a score sees one (query, key, head); what sees "
       "several needs a `kernel`\n"},
  };
  expectMessages(cases);
}

} // namespace
