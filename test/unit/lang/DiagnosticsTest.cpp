//===- DiagnosticsTest.cpp - every message of the front end ---------------===//
//
// Tables of a text and the lines that it is answered with; the excerpt below
// each line is checked once, in Format. Mistakes of one clause stand in line 2
// of an item that is otherwise complete.
//
//===----------------------------------------------------------------------===//
#include "Analyze.h"
#include "gtest/gtest.h"

using namespace tegula::lang;

namespace {

/// The messages without the lines that quote the text.
std::string headlines(const Diagnostics &diagnostics) {
  std::string all = diagnostics.str(), out;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(all).split(lines, '\n', -1, false);
  for (llvm::StringRef line : lines)
    if (line.starts_with("t.tg:") || line.starts_with("error: ") ||
        line.starts_with("note: "))
      out += line.str() + "\n";
  return out;
}

struct Case {
  const char *text, *messages;
};

// The form that DESIGN shows.
TEST(Diagnostics, Format) {
  Analysis a("attention docs(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> "
             "(o: T[B,H,M,E]) { static D = 128, E = 128, T = bf16\n"
             "  param doc: i32[M]\n"
             "  mask doc[i] == doc[j] && i >= j\n"
             "}\n");
  EXPECT_FALSE(a.item);
  EXPECT_EQ(a.messages(),
            "t.tg:3:18: error: `doc[j]` reads key positions (0..N) but `doc` "
            "has extent M\n"
            "  mask doc[i] == doc[j] && i >= j\n"
            "                 ^~~~~~\n"
            "t.tg:2:9: note: declared here; declare `doc: i32[N]`, or add "
            "`require M == N`\n");
}

TEST(Diagnostics, FormatOfOddLines) {
  // Tabs stay, control characters and long lines do not.
  Analysis tabs(itemWith("\tmask\tx\x01 > 1"));
  EXPECT_NE(tabs.messages().find("  \tmask\tx? > 1\n  \t    \t^\n"),
            std::string::npos)
      << tabs.messages();
  Analysis wide(itemWith("mask " + std::string(1000, ' ') + "x > " +
                         std::string(1000, '1')));
  EXPECT_LT(wide.messages().size(), 1500u);
  Analysis utf8(itemWith("mask \xC3\xA9 > x"));
  EXPECT_NE(utf8.messages().find("       ^\n"), std::string::npos)
      << utf8.messages();
  Analysis end("attention");
  EXPECT_EQ(end.messages(), "t.tg:1:10: error: expected a name for this item, "
                            "but found the end of the file\n"
                            "attention\n"
                            "         ^\n");
}

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
      {"score é", "t.tg:2:9: error: `é` is not in the language\n"
                  "t.tg:3:1: error: expected an expression, but found `}`\n"},
      {"param m: T[B,H,M,N] score s + m[b,h,j,i]",
       "t.tg:2:33: error: `m[b, h, j, i]` reads key positions (0..N) but axis "
       "2 of `m` has extent M\n"
       "t.tg:2:9: note: declared here; declare `m: T[B,H,N,N]`, or add "
       "`require M == N`\n"
       "t.tg:2:33: error: `m[b, h, j, i]` reads query positions (0..M) but "
       "axis 3 of `m` has extent N\n"
       "t.tg:2:9: note: declared here; declare `m: T[B,H,M,M]`, or add "
       "`require N == M`\n"},
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
  for (const Case &c : cases) {
    Analysis a(itemWith(c.text));
    EXPECT_EQ(headlines(a.diagnostics), c.messages) << c.text;
    EXPECT_EQ(a.item != nullptr, !a.diagnostics.hasErrors());
  }
}

// What becomes of the scores: reduce, weight, emit, outputs, schedule.
TEST(Diagnostics, ReduceAndOutputs) {
  const Case cases[] = {
      {"reduce softmax(s)", "t.tg:2:18: error: `reduce softmax` takes `extra = "
                            "...` alone; what changes the scores is a "
                            "`score`\n"},
      {"reduce softmax(extra = 0)",
       "t.tg:2:26: error: expected f32, but got i32 (value 0); write `0.0`\n"},
      {"reduce softmax(extra = s)",
       "t.tg:2:26: error: `s` is not known in `extra`, which is of a row, not "
       "of a key\n"},
      {"param x: f32[N] reduce softmax(extra = x[j])",
       "t.tg:2:44: error: `extra` may not depend on the key position `j`\n"},
      {"let y = j reduce softmax(extra = 1.0 * y)",
       "t.tg:2:42: error: `extra` may not depend on the key position `j`, "
       "which `y` does\n"
       "t.tg:2:7: note: declared here\n"},
      {"reduce softmax(extra = 0.0) reduce softmax()",
       "t.tg:2:31: error: `reduce` is given twice\n"
       "t.tg:2:3: note: first here\n"},
      {"outputs o reduce sum()", "t.tg:2:20: error: `reduce sum` takes one "
                                 "argument, the weight of a key, as in `reduce "
                                 "sum(exp(s))`\n"},
      {"outputs o reduce mean(w = s)",
       "t.tg:2:20: error: `reduce mean` takes one argument, the weight of a "
       "key, as in `reduce mean(exp(s))`\n"},
      {"outputs o reduce sum(i > j)",
       "t.tg:2:24: error: expected f32, but got bool; what hides keys is a "
       "`mask`\n"},
      {"reduce sum(exp(s))", "t.tg:1:77: error: `reduce sum` defines no `lse`; "
                             "add `outputs o`\n"},
      {"outputs o reduce sum(s) weight s",
       "t.tg:2:13: remark: `reduce sum(s)` is linear attention in its "
       "quadratic form: right, but its time grows with M * N\n"
       "t.tg:2:34: error: `s` is not known in `weight` under `reduce sum`; "
       "write it in the `reduce`\n"},
      {"outputs o reduce mean(s)",
       "t.tg:2:13: remark: `reduce mean(s)` is linear attention in its "
       "quadratic form: right, but its time grows with M * N\n"},
      {"weight 2", "t.tg:2:10: error: expected f32, but got i32 (value 2); "
                   "write `2.0`\n"},
      {"weight k[b,g,j,0]", "t.tg:2:10: error: `k` cannot be read in `weight`; "
                            "it sees s, indices, scalars and captured "
                            "tensors\n"},
      {"outputs p", "t.tg:2:11: error: no output `p`; known: o, lse\n"},
      {"outputs o, lsee",
       "t.tg:2:14: error: no output `lsee`; did you mean `lse`?\n"},
      {"emit x = rowmax",
       "t.tg:2:8: error: no output `x`; give its type to add "
       "it, as in `emit x: f32[B,H,M] = ...`\n"},
      {"emit x: f32[B,H] = rowmax",
       "t.tg:2:8: error: `x` has 2 dims, but expected 3: `x: f32[B,H,M]`\n"},
      {"emit x: f32[B,M,H] = rowmax",
       "t.tg:2:17: error: expected `H` as axis 1 of `x`, but got `M`; write "
       "`x: f32[B,H,M]`\n"
       "t.tg:2:17: note: this is the logical order; strides at launch give the "
       "layout\n"},
      {"emit x: f64[B,H,M] = rowmax",
       "t.tg:2:8: error: `x` holds f64, but floats of this item are f32, "
       "because q is not f64\n"},
      {"emit o = o emit o = 2.0 * o",
       "t.tg:2:14: error: `emit o` is given twice\n"
       "t.tg:2:3: note: first here\n"},
      {"emit o: f32[B,H,M,E] = o",
       "t.tg:2:8: error: output `o` has another type already\n"
       "t.tg:1:62: note: declared here\n"},
      {"emit lse = o", "t.tg:2:14: error: `o` is known in an output with "
                       "extents [B,H,M,E] only\n"},
      {"emit lse = lse * e", "t.tg:2:20: error: `e` is known in an output with "
                             "extents [B,H,M,E] only\n"},
      {"emit o = s", "t.tg:2:12: error: `s` is not known in an output, which "
                     "is of a row, not of a key\n"},
      {"emit o = o * f32(j)",
       "t.tg:2:20: error: an output may not depend on the key position `j`\n"},
      {"emit o = o * v[b,g,0,e]",
       "t.tg:2:16: error: `v` cannot be read in an output; it sees o, lse, "
       "rowmax, rowsum, indices, scalars and captured tensors\n"},
      {"emit lse = h", "t.tg:2:14: error: expected f32, but got i32; write "
                       "`f32(h)`\n"
                       "t.tg:1:77: note: `lse` is declared here\n"},
      {"emit n: i32[B,H,M] = rowsum",
       "t.tg:2:24: error: expected i32, but got f32; write `i32(rowsum)`\n"
       "t.tg:2:8: note: `n` is declared here\n"},
      {"emit n: bool[B,H,M] = 1", "t.tg:2:25: error: expected bool, but got "
                                  "i32 (value 1)\n"
                                  "t.tg:2:8: note: `n` is declared here\n"},
      {"emit x: f32 = rowmax", "t.tg:2:8: error: output `x` needs extents, as "
                               "in `o: T[B,H,M,E]`\n"},
      {"param e: f32 emit o = o * e",
       "t.tg:2:9: error: `e` is the position in the head dim of v in an "
       "attention item; choose another name\n"},
      {"outputs o reduce sum(exp(s)) emit o = o * rowmax",
       "t.tg:2:45: error: `reduce sum` defines no `rowmax`\n"},
      {"schedule { block_m = 64, form = direct }", ""},
      {"schedule { block_m = M }",
       "t.tg:2:24: error: expected an integer, a bool or a word that is known "
       "when the item is compiled\n"},
      {"schedule block_m = 64",
       "t.tg:2:12: error: expected `{` and fields, as in `schedule { block_m = "
       "64 }`, but found `block_m`\n"},
      {"emit o[i] = o",
       "t.tg:2:3: error: `emit o[...]` is not supported yet\n"},
  };
  for (const Case &c : cases) {
    Analysis a(itemWith(c.text));
    EXPECT_EQ(headlines(a.diagnostics), c.messages) << c.text;
    EXPECT_EQ(a.item != nullptr, !a.diagnostics.hasErrors()) << c.text;
  }
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
  for (const Case &c : cases) {
    Analysis a(itemWith(c.text));
    EXPECT_EQ(headlines(a.diagnostics), c.messages) << c.text;
    EXPECT_EQ(a.item != nullptr, !a.diagnostics.hasErrors()) << c.text;
  }
}

// The `fn`s begin in line 4.
TEST(Diagnostics, Functions) {
  struct FnCase {
    const char *clauses, *fns, *messages;
  };
  const FnCase cases[] = {
      {"score f(s)", "fn f(x) = x + y",
       "t.tg:4:15: error: unknown name `y`; a `fn` sees its parameters and "
       "`let`s only\n"
       "t.tg:2:9: note: in this call of `f`\n"},
      {"score f(s)", "fn f(x) = g(x) fn g(x) = x && true",
       "t.tg:4:26: error: `&&` takes bools, but got f32; write a comparison\n"
       "t.tg:4:11: note: in this call of `g`\n"
       "t.tg:2:9: note: in this call of `f`\n"},
      {"score f(s) score f(s) + 1.0", "fn f(x) = x + M",
       "t.tg:4:15: error: unknown name `M`; a `fn` sees its parameters and "
       "`let`s only\n"
       "t.tg:2:9: note: in this call of `f`\n"},
      {"param c: f32[H] score f(s, h)", "fn f(x, h) = x * c[h]",
       "t.tg:4:18: error: unknown tensor `c`; a `fn` sees its parameters and "
       "`let`s only\n"
       "t.tg:2:25: note: in this call of `f`\n"},
      {"score f(s)", "fn f(x) = f(x)",
       "t.tg:4:11: error: `f` calls itself, but recursion is not in the "
       "language\n"
       "t.tg:4:4: note: `f` is defined here\n"
       "t.tg:2:9: note: in this call of `f`\n"},
      {"score f(s, s)", "fn f(x) = x",
       "t.tg:2:9: error: `f` takes 1 argument, but got 2\n"
       "t.tg:4:4: note: `f` is defined here\n"},
      {"score f(x = s)", "fn f(x) = x",
       "t.tg:2:9: error: `f` takes its arguments in order, without names\n"
       "t.tg:4:4: note: `f` is defined here\n"},
      {"score neer(s)", "fn near(x) = x",
       "t.tg:2:9: error: unknown function `neer`; did you mean `near`?\n"},
      {"score f(s)", "fn f(x: i32) = x",
       "t.tg:2:11: error: parameter `x` of `f` is i32, but got f32\n"
       "t.tg:4:6: note: declared here\n"},
      {"score f(s)", "fn f(x: f32[4]) = x",
       "t.tg:2:11: error: parameter `x` of `f` is a tile, which only a "
       "`kernel` has\n"
       "t.tg:4:6: note: declared here\n"},
      {"score f(s)", "fn f(x: real) = x",
       "t.tg:4:9: error: unknown element type `real`; known: bool i8 u8 i16 "
       "i32 i64 f16 bf16 f32 f64\n"},
      {"score s", "fn f(x, x) = x fn g(y) { let y = y return y }",
       "t.tg:4:9: error: `x` is declared twice\n"
       "t.tg:4:6: note: first here\n"
       "t.tg:4:30: error: `y` is declared twice\n"
       "t.tg:4:21: note: first here\n"},
      {"score s", "fn exp(x) = x fn where(x) = x",
       "t.tg:4:4: error: `exp` is a function of the language; choose another "
       "name\n"
       "t.tg:4:18: error: `where` is a function of the language; choose "
       "another name\n"},
      {"score s", "fn a(x) = x",
       "t.tg:4:4: error: `a` is defined twice\n"
       "t.tg:1:11: note: first here\n"},
      {"score f(i)", "fn f(x) = x[0]",
       "t.tg:4:11: error: `x` is no tensor, and takes no index\n"
       "t.tg:2:9: note: in this call of `f`\n"},
      {"score f(i)", "fn f(x) = x *",
       "t.tg:4:14: error: expected an expression, but found the end of the "
       "file\n"},
      {"score f(s, s)", "fn f(x) { let y = x * return y }",
       "t.tg:4:30: error: expected `let`, or `return` and the value, but found "
       "`y`\n"},
      {"score f(s, s)", "fn f(x, y) { let i = x / y return z }",
       "t.tg:4:35: error: unknown name `z`; a `fn` sees its parameters and "
       "`let`s only\n"
       "t.tg:2:9: note: in this call of `f`\n"},
  };
  for (const FnCase &c : cases) {
    Analysis a(itemWith(c.clauses) + c.fns, "a");
    EXPECT_EQ(headlines(a.diagnostics), c.messages)
        << c.clauses << " " << c.fns;
    EXPECT_EQ(a.item != nullptr, !a.diagnostics.hasErrors()) << c.fns;
  }
}

// Each function calls the one before twice.
TEST(Diagnostics, CallsAreLimited) {
  std::string fns = "fn call0(x) = x\n";
  for (int n = 1; n < 40; ++n) {
    std::string before = "call" + std::to_string(n - 1) + "(x)";
    fns += "fn call" + std::to_string(n) + "(x) = " + before + " + " + before +
           "\n";
  }
  Analysis a(itemWith("score call39(s)") + fns, "a");
  EXPECT_FALSE(a.item);
  EXPECT_NE(
      a.messages().find("this item makes more than 10000 calls of functions"),
      std::string::npos)
      << a.messages();
}

TEST(Diagnostics, Groups) {
  std::string base = itemWith("");
  auto messages = [&](llvm::StringRef rest) {
    Analysis a(base + rest.str(), "b");
    EXPECT_FALSE(a.item);
    return headlines(a.diagnostics);
  };
  EXPECT_EQ(messages("attention b = a with windw\n"
                     "clauses window { param W: i32 mask i - j < W }"),
            "t.tg:4:22: error: unknown group of clauses `windw`; did you mean "
            "`window`?\n");
  EXPECT_EQ(messages("attention b = a with f\nfn f(x) = x"),
            "t.tg:4:22: error: expected a `clauses` group, but `f` is a `fn`\n"
            "t.tg:5:4: note: defined here\n");
  EXPECT_EQ(messages("attention b = a with w, w\nclauses w { mask i > j }"),
            "t.tg:4:25: error: the clauses of `w` are taken twice\n");
  EXPECT_EQ(messages("attention b = a with w { param W: f32 }\n"
                     "clauses w { param W: i32 mask i - j < W }"),
            "t.tg:4:32: error: `W` is declared twice\n"
            "t.tg:5:19: note: first here\n");
}

TEST(Diagnostics, Files) {
  // The item to analyse is `a`, or the only one.
  const Case cases[] = {
      {"attention a(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) { static D = "
       "64, E = 64, T = bf16 }",
       "t.tg:1:11: error: `a` has no output `o`; declare `o: T[B,H,M,E]` after "
       "`->`\n"},
      {"attention a(q: T[B,H,M,D], k: T[B,G,N,D]) -> (o: T[B,H,M,E]) { static "
       "D = 64, E = 64, T = bf16 }",
       "t.tg:1:11: error: `a` has no input `v`; declare `v: T[B,G,N,E]`\n"},
      {"attention a(q: T[B,H,M,D], k: T[B,H,N,D], v: T[B,G,N,E]) -> (o: "
       "T[B,H,M,E]) { static D = 64, E = 64, T = bf16 }",
       "t.tg:1:35: error: expected `G` as axis 1 of `k`, but got `H`; write "
       "`k: T[B,G,N,D]`\n"
       "t.tg:1:35: note: for as many key heads as query heads add `require G "
       "== H`\n"},
      {"attention a(q: T[B,M,H,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: "
       "T[B,H,M,E]) { static D = 64, E = 64, T = bf16 }",
       "t.tg:1:20: error: expected `H` as axis 1 of `q`, but got `M`; write "
       "`q: T[B,H,M,D]`\n"
       "t.tg:1:20: note: this is the logical order; strides at launch give the "
       "layout\n"},
      {"attention a(q: T[H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: "
       "T[B,H,M,E]) { static D = 64, E = 64, T = bf16 }",
       "t.tg:1:13: error: `q` has 3 dims, but expected 4: `q: T[B,H,M,D]`\n"},
      {"attention a(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: "
       "T[B,H,M,E]) { static T = bf16 }",
       "t.tg:1:24: error: head dim `D` of `q` must be static; add `static D = "
       "128`\n"
       "t.tg:1:39: error: head dim `D` of `k` must be static; add `static D = "
       "128`\n"
       "t.tg:1:54: error: head dim `E` of `v` must be static; add `static E = "
       "128`\n"
       "t.tg:1:73: error: head dim `E` of `o` must be static; add `static E = "
       "128`\n"},
      {"attention a(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: "
       "T[B,H,M,E]) { static D = 100, E = 512, T = bf16 }",
       "t.tg:1:24: error: head dim `D` of `q` is 100; a head dim is a multiple "
       "of 8 from 8 to 256, the nearest is 104\n"
       "t.tg:1:54: error: head dim `E` of `v` is 512; a head dim is a multiple "
       "of 8 from 8 to 256, the nearest is 256\n"},
      {"attention a(q: T[B,H,M,D], k: T[B,G,N,64], v: T[B,G,N,E]) -> (o: "
       "T[B,H,M,32]) { static D = 128, E = 64, T = bf16 }",
       "t.tg:1:39: error: head dim of `k` is 64, but that of `q` is 128\n"
       "t.tg:1:13: note: declared here\n"
       "t.tg:1:74: error: head dim of `o` is 32, but that of `v` is 64\n"
       "t.tg:1:44: note: declared here\n"},
      {"attention a(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: "
       "T[B,H,M,E]) { static D = 64, E = 64, T = i32 }",
       "t.tg:1:13: error: `q` holds i32, but expected f16, bf16, f32 or f64\n"},
      {"attention a(q: T[B,H,M,D], k: f16[B,G,N,D], v: T[B,G,N,E]) -> (o: "
       "f32[B,H,M,E], lse: f64[B,H,M]) { static D = 64, E = 64, T = bf16 }",
       "t.tg:1:28: error: `k` holds f16, but `q` holds bf16; q, k, v and o "
       "have one type\n"
       "t.tg:1:13: note: declared here\n"
       "t.tg:1:64: error: `o` holds f32, but `q` holds bf16; q, k, v and o "
       "have one type\n"
       "t.tg:1:13: note: declared here\n"
       "t.tg:1:81: error: `lse` holds f64, but expected f32\n"},
      {"attention a(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: "
       "T[B,H,M,E], lse: f32[B,H], x: f32[B]) { static D = 64, E = 64, T = "
       "bf16 }",
       "t.tg:1:77: error: `lse` has 2 dims, but expected 3: `lse: f32[B,H,M]`\n"
       "t.tg:1:92: error: `x` has 1 dims, but expected 3: `x: f32[B,H,M]`\n"},
      {"attention a(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: T) { "
       "static D = 64, E = 64, T = bf16 }",
       "t.tg:1:62: error: output `o` needs extents, as in `o: T[B,H,M,E]`\n"},
      {"attention a(q: U[B,H,M,D], k: U[B,G,N,D], v: U[B,G,N,E]) -> (o: "
       "U[B,H,M,E]) { static D = 64, E = 64, T = bf16 }",
       "t.tg:1:16: error: unknown element type `U`; known: bool i8 u8 i16 i32 "
       "i64 f16 bf16 f32 f64, or a name that `static U = bf16` binds\n"},
      {"attention a = b with { mask i >= j }",
       "t.tg:1:15: error: unknown item `b`\n"},
      {"attention a = b with { mask i >= j }\n"
       "attention b = a with { mask i >= j }",
       "t.tg:1:15: error: `a` derives from itself\n"},
      {"attention a = f with { mask i >= j }\n"
       "fn f(x) = x + 1",
       "t.tg:1:15: error: expected an attention item, but `f` is a `fn`\n"
       "t.tg:2:4: note: defined here\n"},
      {"attention a = aa with paged\n"
       "attention aa = aaa with paged\n"
       "attention aaa(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: "
       "T[B,H,M,E]) { static D = 64, E = 64, T = bf16 }\n"
       "clauses paged { static PS = 16 }",
       "t.tg:1:23: error: the clauses of `paged` are taken twice\n"},
      {"attention a = b",
       "t.tg:1:15: error: unknown item `b`\n"
       "t.tg:1:16: error: expected `with`, but found the end of the file\n"},
      {"attention a = 3", "t.tg:1:15: error: expected the name of the item to "
                          "derive from, but found `3`\n"},
      {"attention", "t.tg:1:10: error: expected a name for this item, but "
                    "found the end of the file\n"},
      {"attention a", "t.tg:1:12: error: expected `(` and the tensors, or `= "
                      "BASE with`, but found the end of the file\n"},
      {"attention a()", "t.tg:1:14: error: expected `{` and the item's "
                        "clauses, but found the end of the file\n"},
      {"attention a(q T)", "t.tg:1:15: error: expected `:` and a type, as in "
                           "`x: f32[H]`, but found `T`\n"
                           "t.tg:1:17: error: expected `{` and the item's "
                           "clauses, but found the end of the file\n"},
      {"attention a(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) - (o: "
       "T[B,H,M,E]) { mask i >= j }",
       "t.tg:1:58: error: expected `{` and the item's clauses, but found "
       "`-`\n"},
      {"attention a(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> { mask i "
       ">= j }",
       "t.tg:1:61: error: expected `(` and the outputs, but found `{`\n"},
      {"attention a(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: "
       "T[B,H,M,E]) { mask i >= j\n"
       "attention c(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: "
       "T[B,H,M,E]) { mask i >= j",
       "t.tg:2:1: error: expected a clause or `}`, but found `attention`\n"
       "t.tg:1:77: note: to close this `{`\n"
       "t.tg:2:90: error: expected a clause or `}`, but found the end of the "
       "file\n"
       "t.tg:2:77: note: to close this `{`\n"},
      {"attention a = b with { mask i >= j }\n"
       "kernel a(x: f32[N]) { grid (i in N) }",
       "error: `t.tg` has 2 items; name one of them: a, a\n"
       "t.tg:2:8: error: `a` is defined twice\n"
       "t.tg:1:11: note: first here\n"},
      {"fn f(x) = x", "error: `t.tg` has no `attention` or `kernel` item\n"},
      {"import \"nowhere/other.tg\"",
       "t.tg:1:8: error: `nowhere/other.tg` cannot be imported: No such file "
       "or directory\n"},
      {"import other", "t.tg:1:8: error: expected a file name in quotes, as in "
                       "`import \"lib.tg\"`, but found `other`\n"},
      {"fn 3", "t.tg:1:4: error: expected a name for this fn, but found `3`\n"},
      {"fn f = 3", "t.tg:1:6: error: expected `(` and the parameters, but "
                   "found `=`\n"},
      {"fn f(x) 3", "t.tg:1:9: error: expected `=` and the value, or `{`, but "
                    "found `3`\n"},
      {"fn f(x) { x }", "t.tg:1:11: error: expected `let`, or `return` and the "
                        "value, but found `x`\n"},
      {"fn f(x) { let y = x return y 3 }",
       "t.tg:1:30: error: expected `}`, but found `3`\n"
       "t.tg:1:9: note: to close this `{`\n"},
      {"clauses c = 3", "t.tg:1:11: error: expected `{` and the clauses, but "
                        "found `=`\n"},
      {"reducer r { }",
       "t.tg:1:1: error: `reducer` is reserved for later work\n"},
      {"attenton a = b with { }",
       "t.tg:1:1: error: expected an item such as `attention`, but found "
       "`attenton`; did you mean `attention`?\n"},
      {"kernel k(x: f32[N]",
       "t.tg:1:19: error: expected `)`, but found the end "
       "of the file\n"
       "t.tg:1:9: note: to close this `(`\n"},
      {"kernel k(x: f32[N]) {",
       "t.tg:1:22: error: expected a statement or `}`, "
       "but found the end of the file\n"
       "t.tg:1:21: note: to close this `{`\n"},
      {"kernel k(x: f32[N]) = 3", "t.tg:1:21: error: expected `{` and the tile "
                                  "program, but found `=`\n"},
      {"kernel 3",
       "t.tg:1:8: error: expected a name for this kernel, but found `3`\n"},
      {"3", "t.tg:1:1: error: expected an item such as `attention`, but found "
            "`3`\n"},
      {"attention a = b with 3", "t.tg:1:15: error: unknown item `b`\n"
                                 "t.tg:1:22: error: expected `{`, or the name "
                                 "of a `clauses` group, but found `3`\n"},
  };
  for (const Case &c : cases) {
    bool several = llvm::StringRef(c.text).count("attention ") > 1;
    Analysis a(c.text, several ? "a" : "");
    EXPECT_EQ(headlines(a.diagnostics), c.messages) << c.text;
    EXPECT_FALSE(a.item);
  }
}

TEST(Diagnostics, ItemNames) {
  std::string two = itemWith("") + "attention b = a with { mask i >= j }\n";
  EXPECT_EQ(headlines(Analysis(two).diagnostics),
            "error: `t.tg` has 2 items; name one of them: a, b\n");
  EXPECT_EQ(headlines(Analysis(two, "c").diagnostics),
            "error: `t.tg` has no item `c`; items: a, b\n");
  EXPECT_EQ(headlines(Analysis("# nothing\n", "c").diagnostics),
            "error: `t.tg` has no item `c`\n");
}

TEST(Diagnostics, Defines) {
  auto defined = [](std::vector<Define> defines) {
    return headlines(
        Analysis(itemWith("static R = 0.5, F = true, K = 3, U scale R"), "",
                 defines)
            .diagnostics);
  };
  const char *noU = "t.tg:2:36: error: static `U` has no value; give one with "
                    "-D U=VALUE, or a default as in `static U = 128`\n";
  EXPECT_EQ(defined({}), noU);
  EXPECT_EQ(defined({{"U", "2"}}), "");
  EXPECT_EQ(defined({{"U", "f32"}, {"K", "-1"}, {"R", "3"}}), "");
  EXPECT_EQ(defined({{"U", "1"}, {"X", "1"}}),
            "error: -D X=1: `a` has no static `X`; statics: D, E, T, R, F, K, "
            "U\n");
  EXPECT_EQ(defined({{"U", "1"}, {"d", "1"}}),
            "error: -D d=1: `a` has no static `d`; did you mean `D`?; statics: "
            "D, E, T, R, F, K, U\n");
  EXPECT_EQ(defined({{"U", "1"}, {"K", "1.5"}}),
            "error: -D K=1.5: expected an integer, but got `1.5`\n"
            "t.tg:2:29: note: declared here\n");
  EXPECT_EQ(defined({{"U", "1"}, {"F", "1"}}),
            "error: -D F=1: expected true or false, but got `1`\n"
            "t.tg:2:19: note: declared here\n");
  EXPECT_EQ(defined({{"U", "1"}, {"R", "x"}}),
            "error: -D R=x: expected a number, but got `x`\n"
            "t.tg:2:10: note: declared here\n");
  EXPECT_EQ(defined({{"U", "1"}, {"T", "f61"}}),
            "error: -D T=f61: expected an element type (bool i8 u8 i16 i32 i64 "
            "f16 bf16 f32 f64), but got `f61`\n"
            "t.tg:1:119: note: declared here\n");
  EXPECT_EQ(defined({{"U", "x"}}),
            "error: -D U=x: expected an integer, a number, true, false or an "
            "element type, but got `x`\n"
            "t.tg:2:36: note: declared here\n");
  EXPECT_EQ(defined({{"U", "1"}, {"D", "64"}, {"D", "32"}}),
            "error: -D D=32: `D` is already set to 64\n");
  EXPECT_EQ(defined({{"U", "1"}, {"D", "60"}}),
            "t.tg:1:24: error: head dim `D` of `q` is 60; a head dim is a "
            "multiple of 8 from 8 to 256, the nearest is 64\n");
}

// A group, or a clause of later work, is refused only in the item that uses it.
TEST(Diagnostics, LaterWorkElsewhereIsNoError) {
  Analysis a(itemWith("mask i >= j") +
                 "fn f(x, y) = x + y\n"
                 "fn g(x) { let z = x return z }\n"
                 "clauses c { static PS = 16 param len: i32[B] }\n"
                 "attention b = a with c\n"
                 "attention d = a with { emit x[b]: f32[B] = 1.0 outputs o }\n"
                 "kernel k(x: f32[N]) -> (y: f32[N]) { store y[0 :+ 3] = 1 }\n",
             "a");
  EXPECT_TRUE(a.item) << a.messages();
}

} // namespace
