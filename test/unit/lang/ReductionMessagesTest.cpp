//===- ReductionMessagesTest.cpp - messages for reduce and emit -----------===//
//
// What becomes of the scores: reduce, weight, emit, outputs, schedule.
//
//===----------------------------------------------------------------------===//
#include "Messages.h"

using namespace tegula::lang;

namespace {

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
  expectMessages(cases);
}

} // namespace
