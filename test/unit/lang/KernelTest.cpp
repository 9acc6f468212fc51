//===- KernelTest.cpp - what is said about tile programs ------------------===//
//
// Each refusal of a `kernel` item, with its place; and what is accepted though
// it is near one. Statements begin in column 3 of line 2.
//
//===----------------------------------------------------------------------===//
#include "Analyze.h"
#include "lang/Program.h"
#include "gtest/gtest.h"

using namespace tegula::lang;

namespace {

/// A complete kernel around `statements`.
std::string kernelWith(llvm::StringRef statements) {
  return ("kernel k(x: f32[R,C], q: bf16[M,D], ids: i32[N], w: f32, n: i32, f: "
          "bool[N]) -> (y: f32[R,C], z: i32[N], u: bf16[M,D]) { static D = 64, "
          "BC = 32   grid (r in R, h in N)\n  " +
          statements + "\n}\n" +
          "fn twice(a) = a + a   fn again(a) = again(a)   fn sum2(a, b) = a + "
          "b   fn outer(a) = a + C   fn typed(a: f32) = a   fn reads(a) = "
          "ids[a] "
          "  fn over(a, b) = a > b\n")
      .str();
}

/// The messages without the text that they show.
std::string headlines(const Diagnostics &diagnostics) {
  std::string text;
  for (const Diagnostic &d : diagnostics.all()) {
    text += diagnostics.place(d.range.Start) + ": " +
            (d.severity == Severity::Error ? "error: " : "warning: ") + d.text +
            "\n";
    for (const Diagnostic::Note &note : d.notes)
      text +=
          diagnostics.place(note.range.Start) + ": note: " + note.text + "\n";
  }
  return text;
}

struct Case {
  const char *statements;
  const char *message; ///< its column, and its text without notes
};

void check(llvm::ArrayRef<Case> cases) {
  for (const Case &c : cases) {
    Analysis a(kernelWith(c.statements), "k");
    std::string first;
    for (const Diagnostic &d : a.diagnostics.all())
      if (first.empty() && d.severity == Severity::Error)
        first = a.diagnostics.place(d.range.Start).substr(strlen("t.tg:")) +
                ": " + d.text;
    EXPECT_EQ(first, c.message) << c.statements << "\n" << a.messages();
    EXPECT_EQ(a.diagnostics.errorCount(), 1u) << a.messages();
    EXPECT_FALSE(a.item);
  }
}

TEST(Kernel, Statements) {
  check({
      {"while true { }", "2:3: `while` is not in the language; use `for` with "
                         "`if`"},
      {"return 3", "2:3: `return` is not in the language; use `if`, or choose "
                   "the range of the `for`"},
      {"let a = 1 grid (p in R)", "2:13: `grid` stands before the statements"},
      {"mask r >= h", "2:3: `mask` belongs to an `attention` item"},
      {"y[r, 0] = 1.0", "2:3: expected a statement, but found a place; write "
                        "`store y[...] = ...`"},
      {"sotre y[r, 0] = 1.0", "2:3: expected a statement, but found `sotre`; "
                              "did you mean `store`?"},
      {"store y = 1.0", "2:9: expected a place, as in `x[i, 0 :+ 128]`, but "
                        "found `y`"},
      {"store y[r, 0] += 1.0",
       "2:17: `+=` is for `atomic`; a `store` replaces"},
      {"for i in 3 { }", "2:12: expected `range(first, end, step)`, but found "
                         "`3`"},
      {"for i in range(0, 8, 0) { }",
       "2:24: the step of a `range` is positive, but this is 0"},
      {"for i in range(0.0, 8) { }",
       "2:18: a `range` is an integer scalar, but "
       "this is f32"},
      {"let a = 1   let a = 2", "2:19: `a` is declared twice"},
      {"let C = 1", "2:7: `C` is a dim of this kernel"},
      {"let f32 = 1",
       "2:7: `f32` is a word of the language; choose another name"},
      {"for i in range(4) { let i = 2 }", "2:27: `i` is declared twice"},
      {"a = 1", "2:3: unknown variable `a`; declare it with `var a = ...`"},
      {"let a = 1   a = 2",
       "2:15: `a` does not change; declare it with `var` to assign it"},
      {"y = 2", "2:3: `y` cannot be assigned; write `store y[...] = ...`"},
      {"if iota(8) > 3 { }", "2:6: `if` takes one bool, use `where(c, a, b)`; "
                             "this is bool[8]"},
      {"if r { }", "2:6: `if` takes one bool; this is i64"},
      {"assert(r)", "2:10: `assert` takes one bool; this is i64"},
      {"print(softmax_state(8, 8))",
       "2:9: a softmax state is not printed; print `finish(softmax_state(8, "
       "8))`"},
      {"let a = \"text\"",
       "2:11: expected an expression, but found `\"text\"`"},
  });
}

TEST(Kernel, Variables) {
  check({
      {"var s = full(BC, 0.0)   for c in range(0, C, BC) { s = s + load x[r, c "
       ":+ BC] }",
       "2:58: `s` would take lanes of axis 0 whose bound (`c` against C) "
       "changes with the loop; load with `fill 0.0`"},
      {"var s = 0   s = 1.5", "2:19: `s` is i32, but would take f32; write "
                              "`i32(...)`"},
      {"var s = full(8, 0.0)   s = 1.0",
       "2:30: `s` is f32[8], but would take f32; write `full([8], 1.0)`"},
      {"var s = 0   s = r", "2:19: `s` is i32, but would take i64; write "
                            "`i32(...)`"},
      {"var s = full(BC, 0.0)   if r > 0 { s = load x[r, 0 :+ BC < zzz] }",
       "2:62: unknown name `zzz`"},
      {"var s = full(BC, 0.0)   if r > 0 { let e = ids[r]  s = load x[r, 0 :+ "
       "BC < e] }",
       "2:58: `s` would take lanes of axis 0 whose bound (`0` against `e`) is "
       "known in this branch only; load with `fill 0.0`"},
  });
}

TEST(Kernel, Names) {
  check({
      {"let a = g", "2:11: unknown name `g`"},
      {"let a = ida", "2:11: unknown name `ida`; did you mean `ids`?"},
      {"let a = x", "2:11: `x` is a tensor; read it with `load x[...]`"},
      {"let a = f32", "2:11: `f32` is a type, and has no value; write `f32(x)` "
                      "for a cast"},
      {"let a = xx[r, 0]", "2:11: unknown tensor `xx`; did you mean `x`?"},
      {"let S = iota(8)   let a = S[0]",
       "2:29: `S` is no tensor; a tile is taken as a whole, its elements are "
       "not indexed"},
      {"let a = x(3)", "2:11: `x` is no function; write `load x[...]`"},
      {"let a = iots(3)",
       "2:11: unknown function `iots`; did you mean `iota`?"},
      {"let a = again(1)",
       "4:37: `again` calls itself, and recursion is not in "
       "the language; use `for` with `if`"},
      {"let a = outer(1)", "4:90: unknown name `C`; a `fn` sees its parameters "
                           "only"},
      {"let a = twice(1, 2)", "2:11: `twice` takes 1 argument, but got 2"},
      {"let a = typed(r > 0)",
       "2:17: parameter `a` of `typed` is f32, but got bool"},
      {"let a = random(1)", "2:11: `random` needs its argument `c0`"},
      {"let a = random(1, 2, 3, 4, 0.5)",
       "2:30: `random` takes integers, but got f32"},
      {"let a = rowmax(1)",
       "2:18: `rowmax` takes a softmax state, but got i32 (value 1)"},
  });
  Analysis a("kernel k(q: f32[B,H,M], kk: f32[B,G,N]) -> (y: f32[B]) { grid (h "
             "in H, b in B)\n  store y[b] = kk[b, g, 0] }");
  EXPECT_EQ(
      headlines(a.diagnostics),
      "t.tg:2:22: error: unknown name `g`, write `let g = h / (H / G)`\n");
}

TEST(Kernel, Places) {
  check({
      {"let a = x[r, 0 :+ 8]", "2:11: a slice needs `load x[r, 0 :+ 8]`"},
      {"let a = load x[r]", "2:16: `x` has 2 axes, but got 1 index"},
      {"let a = load x[r, :]",
       "2:21: `:` takes all of an axis whose extent is static, but axis 1 of "
       "`x` is `C`; write `0 :+ n`, or make `C` a static"},
      {"let a = load x[r, 0 :+ C]", "2:26: the length of a slice is a constant "
                                    "integer, but this is i64 that is known at "
                                    "run time"},
      {"let a = load x[r, 0 :+ 0]", "2:21: this slice has no lanes"},
      {"let a = load x[r, 0.5]",
       "2:21: an index is an integer, but this is f32; "
       "write `i32(...)`"},
      {"let a = load x[r, true]",
       "2:21: an index is an integer, but this is bool"},
      {"let a = load x[iota(8), iota(4)]",
       "2:27: index tiles of one place have the same axes, but these are "
       "i64[8] and i64[4]"},
      {"let a = load x[r, 0 :+ 8] where iota(8) > r",
       "2:29: `where` after a load belongs to the load and needs `fill`, the "
       "value of the other lanes"},
      {"let a = load ids[0 :+ 8] fill 0.5",
       "2:33: `ids` holds i32, but `fill` gives f32"},
      {"let a = load x[r, 0 :+ 8] where iota(4) > 1 fill 0.0",
       "2:35: extents 8 and 4 of axis 0 differ"},
      {"let a = load y[r, 0 :+ 8]", "2:11: `y` is an output, and holds nothing "
                                    "to read; declare it `inout`"},
      {"let a = load q[0 :+ 2048, 0 :+ 2048]",
       "2:16: this tile has more than 1048576 elements"},
      {"store x[r, 0] = 1.0", "2:9: `x` is an input; declare it `inout`, or "
                              "list it after `->`"},
      {"store z[h] = 1.5", "2:16: `z` holds i32, but the value is f32; write "
                           "`i32(...)`"},
      {"store y[r, 0 :+ 8] = iota(8)",
       "2:24: `y` holds f32, but the value is i32[8]; write `f32(...)`"},
      {"store y[r, 0 :+ 8] = full(4, 1.0)",
       "2:24: the place takes f32[8], but this is f32[4]"},
      {"store y[r, 0] = full(4, 1.0)",
       "2:19: the place takes f32, but this is f32[4]"},
      {"store u[0 :+ 8, :] = softmax_state(8, 64)",
       "2:24: a softmax state is not stored; store `finish(softmax_state(8, "
       "64))` and `lse(softmax_state(8, 64))`"},
      {"let a = [8, 8]",
       "2:11: a shape is an argument, as in `full([64, 64], 0.0)`"},
      {"let a = any(t in 8: t > 3)",
       "2:11: `any(t in ...)` belongs to an attention item; load a tile and "
       "write `any(tile, axis = n)`"},
  });
}

TEST(Kernel, Operators) {
  check({
      {"let S = load x[0 :+ 8, 0 :+ 8]   let m = sum(S, axis = 1)   let P = S "
       "- "
       "m",
       "2:71: ranks 2 and 1 differ, use `row(m)` or `col(m)`"},
      {"let a = iota(8) + iota(4)", "2:11: extents 8 and 4 of axis 0 differ"},
      {"let a = load x[r, 0 :+ 8] + load x[r, h :+ 8]",
       "2:11: lanes of axis 0 are bounded by `0` against C on one side and by "
       "`h` against C on the other; load with `fill`, or slice both alike"},
      {"let a = (r > 0) + 1", "2:11: `+` takes numbers, but got bool; write "
                              "`i32(...)` to count it as 0 or 1"},
      {"let a = r && true", "2:11: `&&` takes bools, but got i64; write a "
                            "comparison"},
      {"let a = ~(r > 0)", "2:11: `~` inverts the bits of integers, but got "
                           "bool; write `!`"},
      {"let a = w % 2", "2:11: `%` takes integers, but got f32"},
      {"let a = r / 0", "2:11: division of an integer by zero"},
      {"let a = r > 0 ? 1.0 : true",
       "2:11: the two sides of `?:` are f32 and bool"},
      {"let a = softmax_state(8, 8) + 1.0",
       "2:11: `+` takes tiles and scalars, but `softmax_state(8, 8)` is a "
       "softmax state; its output is `finish(softmax_state(8, 8))`"},
      {"let a = bool(r)", "2:11: a number is no bool; write `r != 0`"},
  });
}

TEST(Kernel, BuiltIns) {
  check({
      {"let a = max(iota(8))", "2:11: `max` of a tile needs `axis =`"},
      {"let a = sum(load x[r, 0 :+ 8])",
       "2:11: `sum` of a tile needs `axis =`"},
      {"let a = max(w)",
       "2:11: `max` takes two values, or a tile and `axis =`"},
      {"let a = sum(iota(8), axis = 1)", "2:31: `axis` is from 0 to 0 for "
                                         "i32[8], but this is i32 (value 1)"},
      {"let a = sum(iota(8), axes = 1)",
       "2:24: `sum` has no argument `axes`; did you mean `axis`?"},
      {"let a = any(iota(8), axis = 0)",
       "2:15: `any` takes bools, but got i32[8]; write a comparison"},
      {"let a = iota()", "2:11: `iota` needs its argument `n`"},
      {"let a = iota(C)", "2:16: an extent is a constant integer, but this is "
                          "i64 that is known at run time"},
      {"let a = full([8, 0], 1.0)",
       "2:20: a tile has at least one lane on each axis"},
      {"let a = full(8, iota(8))",
       "2:19: `full` repeats a scalar, but this is i32[8]; use `broadcast`"},
      {"let a = row(full([8, 8], 1.0))",
       "2:15: `row` takes a tile of rank 1, but got f32[8, 8]"},
      {"let a = reshape(iota(8), [3, 3])",
       "2:11: `reshape` keeps the elements, but i32[8] has 8 and the shape 9"},
      {"let a = reshape(load x[r, 0 :+ 8], [2, 4])",
       "2:11: `reshape` mixes axis 0, whose lanes end at a bound (`0` against "
       "C); load with `fill` first"},
      {"let a = broadcast(iota(8), [8, 8])",
       "2:11: `broadcast` stretches axes of extent 1, but this is i32[8]; use "
       "`row` or `col`"},
      {"let V = load q[0 :+ 16, :]   let P = full([8, 16], 1.0)   let a = "
       "dot(P, "
       "V)",
       "2:69: operand types f32 and bf16 differ, write `dot(bf16(P), V)`"},
      {"let Q = load q[0 :+ 16, :]   let a = dot(Q, Q)",
       "2:40: `dot` of bf16[16, 64] and bf16[16, 64]: the inner extents 64 and "
       "16 differ; write `transpose(Q)`"},
      {"let Q = load q[0 :+ 16, :]   let a = dot(Q, transpose(Q), 0.0)",
       "2:61: `dot` takes a tile of rank 2, but got f32"},
      {"let a = reduce(iota(8), max, 0, axis = 0)",
       "2:27: `reduce` takes the name of a `fn f(a, b)`, but got `max`"},
      {"let a = reduce(iota(8), sum2, 0.5, axis = 0)",
       "2:33: `init` is a scalar of the tile's type i32, but this is f32"},
      {"let a = online_softmax(softmax_state(8, 64), full([8, 8], 1.0), load "
       "q[0 :+ 16, :])",
       "2:11: for a state of 8 rows and width 64, S is [8, keys] and V is "
       "[keys, 64], but S is f32[8, 8] and V is bf16[16, 64]"},
      {"let a = online_softmax(iota(8), full([8, 8], 1.0), full([8, 8], 1.0))",
       "2:26: `online_softmax` takes a softmax state, but got i32[8]"},
      {"let a = merge(softmax_state(8, 64), softmax_state(4, 64))",
       "2:11: `merge` takes states of one shape, but got a softmax state[8, "
       "64] and a softmax state[4, 64]"},
      {"let a = finish(1.0)",
       "2:18: `finish` takes a softmax state, but got f32"},
      {"let a = twice(x = 1)", "2:17: the arguments of a `fn` are given in "
                               "order, without names"},
  });
}

TEST(Kernel, Values) {
  check({
      {"store y[r, 0] = reads(3)",
       "4:131: a `fn` reads no tensors; give it the value as an argument"},
      {"let a = load x[iota(4), 0] where 3 fill 0.0",
       "2:36: `where` takes bools, but got i32 (value 3)"},
      {"let a = load x[r, 0] where iota(3) > 1 fill 0.0",
       "2:30: this load is one element, but `where` is bool[3]"},
      {"let a = load x[r, 0 :+ 32] where full([4, 32], true) fill 0.0",
       "2:36: ranks 1 and 2 differ, use `row(x[r, 0 :+ 32])` or `col(x[r, 0 :+ "
       "32])`"},
      {"let a = load x[r, 0 :+ 32] where iota(16) > 1 fill 0.0",
       "2:36: extents 32 and 16 of axis 0 differ"},
      {"store y[r, 0 :+ 32] = full([32], 0.0) where 3",
       "2:47: `where` takes bools, but got i32 (value 3)"},
      {"let a = iota([3, 4])",
       "2:16: `iota` makes one axis; use `row` and `col`"},
      {"let a = full([], 1.0)", "2:16: expected extents, as in `[64, 128]`"},
      {"let a = load q[iota(1), 0] where full([4], true) fill 0.0",
       "2:36: the load is bf16[1], but `where` is bool[4]"},
      {"let a = full([0], 1.0)",
       "2:17: a tile has at least one lane on each axis"},
      {"let a = full([4000000], 1.0)",
       "2:17: an extent is from 1 to 1048576, but this is 4000000"},
      {"let a = full(n, 1.0)", "2:16: an extent is a constant integer, but "
                               "this is i32 that is known at run time"},
      {"assert(iota(3) > 1)", "2:10: `assert` takes one bool, use `all(c, axis "
                              "= n)`; this is bool[3]"},
      {"for i in range() { }", "2:3: `range` takes an end, or first, end and "
                               "step, but got 0 arguments"},
      {"for i in range(1, 2, 3, 4) { }", "2:3: `range` takes an end, or first, "
                                         "end and step, but got 4 arguments"},
      {"let a = dot(full([4, 4], true), full([4, 4], true))",
       "2:11: `dot` takes f16, bf16, f32, f64, i8 or i32, but got bool"},
      {"let a = dot(load x[0 :+ 16, 0 :+ 32], load x[r :+ 32, 0 :+ 16])",
       "2:11: the inner lanes are bounded by `0` against C in one operand and "
       "by `r` against R in the other"},
      {"let a = dot(full([4, 4], 0.0), full([4, 4], 0.0), full([4, 8], 0.0))",
       "2:53: this `dot` gives f32[4, 4], but the accumulator is f32[4, 8]"},
      {"let a = sum(3, axis = 0)",
       "2:11: `sum` reduces a tile, but got i32 (value 3)"},
      {"let a = reduce(iota(4), over, 0, axis = 0)",
       "2:27: `over` of two i32 gives bool, not i32"},
      {"let a = span(0, 0, 3)", "2:19: this span has no lanes"},
      {"let a = transpose(full([2, 3, 4], 0.0), axes = [0, 1])",
       "2:50: `axes` names each of the 3 axes once, as in `[1, 0]`"},
      {"let a = softmax_state([4, 4, 4], 8)",
       "2:11: `softmax_state` takes its rows and the width of V"},
      {"let a = softmax_state(16, [64, 64])",
       "2:11: `softmax_state` takes its rows and the width of V"},
      {"let a = partial(full([4, 8], 0.0), full([8], 0.0))",
       "2:11: `partial` takes one lse a row, but o is f32[4, 8] and lse is "
       "f32[8]"},
      {"let a = partial(full([4, 8], 0), full([4], 0.0))",
       "2:19: expected floats, but got i32[4, 8]"},
      {"var st = softmax_state(16, 64) st = online_softmax(st, full([16, 16], "
       "0), load q[0 :+ 16, :])",
       "2:58: expected f32, but got i32[16, 16]"},
      {"var st = softmax_state(16, 64) st = online_softmax(st, full([16, 16], "
       "0.0), load q[0 :+ 16, :], keep = 3)",
       "2:106: `keep` takes bools, but got i32 (value 3)"},
      {"let a = full([2, 3, 4], 0.0) + full([3, 4], 0.0)",
       "2:11: ranks 3 and 2 differ; use `reshape`"},
      {"let a = row(load x[r, 0 :+ 1]) + full([4, 4], 0.0)",
       "2:11: axis 1 of extent 1 is bounded by `0` against C and cannot "
       "stretch; load it with `fill`, or with an index"},
      {"let a = 1 let a = 2.0 let c = a && true",
       "2:17: `a` is declared twice"},
  });
}

TEST(Kernel, Grid) {
  Analysis a("kernel k(len: i32[B]) -> (y: i32[B]) { grid (b in len[0])\n"
             "  store y[b] = 1 }");
  EXPECT_EQ(headlines(a.diagnostics),
            "t.tg:1:51: error: the grid is computed on the host, from dims, "
            "statics and scalar parameters\n");
  Analysis twice("kernel k(x: i32[B]) -> (y: i32[B]) { grid (b in B) grid (c "
                 "in B) store y[b] = 1 }");
  EXPECT_EQ(headlines(twice.diagnostics),
            "t.tg:1:52: error: `grid` is given twice\n"
            "t.tg:1:38: note: first here\n");
}

TEST(Kernel, SeveralErrorsOfOneRun) {
  Analysis a("kernel k(x: f32[N]) -> (y: f32[N]) {\n  let a = 1 +\n  let b = "
             "xx\n  store y[0] = c\n}\n");
  EXPECT_EQ(headlines(a.diagnostics), "t.tg:3:3: error: expected an "
                                      "expression, but found `let`\n");
  Analysis b("kernel k(x: f32[N]) -> (y: f32[N]) {\n  let a = dd\n  let b = "
             "ee\n  store y[0] = ff + a\n}\n");
  EXPECT_EQ(b.diagnostics.errorCount(), 3u) << b.messages();
}

TEST(Kernel, AnOutputThatNothingStores) {
  Analysis a("kernel k(x: f32[N]) -> (y: f32[N]) { let v = x[0] }");
  EXPECT_TRUE(a.item);
  EXPECT_EQ(headlines(a.diagnostics),
            "t.tg:1:25: warning: output `y` is never stored\n");
}

TEST(Kernel, Accepted) {
  for (const char *statements : {
           "var s = full(BC, 0.0)   for c in range(0, C, BC) { s = s + load "
           "x[r, "
           "c :+ BC] fill 0.0 }",
           // A bound that the loop does not change is carried.
           "var s = full(BC, 0.0)   for c in range(0, R) { s = s + load x[c, 0 "
           ":+ BC] }   store y[r, 0 :+ BC] = s",
           "var m = 0   if r > 2 { m = 1 } else if r > 1 { m = 2 } else { m = "
           "3 "
           "}   store z[m] = m",
           "let a = twice(load q[0 :+ 8, :]) + 1   store u[0 :+ 8, :] = a",
           "for i in range(4) { let t = i }   for i in range(4) { let t = i }",
           "store y[r, 0] = 0   store z[h] = i64(3) << 2",
           "let c = 0 < BC ? 1.0 : 2.0   store y[r, 0] = c",
       }) {
    Analysis a(kernelWith(statements), "k");
    EXPECT_TRUE(a.item) << a.messages();
  }
}

TEST(Kernel, CarriedBoundIsThatOfTheLoop) {
  Analysis a(
      kernelWith("var s = full(BC, 0.0)   for c in range(0, R) { s = s + "
                 "load x[c, 0 :+ BC] }"),
      "k");
  ASSERT_TRUE(a.item) << a.messages();
  const Statement &loop = a.item->program->body.back();
  ASSERT_EQ(loop.kind, Statement::For);
  ASSERT_EQ(loop.carried.size(), 1u);
  EXPECT_TRUE(loop.carried[0].entry->type.bounds[0]);
  EXPECT_TRUE(loop.carried[0].after->type.bounds[0]);
  EXPECT_FALSE(loop.carried[0].init->type.bounds[0]);
}

} // namespace
