//===- FileMessagesTest.cpp - messages for files and signatures -----------===//
//
// The form of a message, what an item declares, and what `-D` sets.
//
//===----------------------------------------------------------------------===//
#include "Messages.h"

using namespace tegula::lang;

namespace {

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
  Analysis tabs(itemWith("\tmask\ti\x01 > 1"));
  EXPECT_NE(tabs.messages().find("  \tmask\ti? > 1\n  \t    \t ^\n"),
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
       "t.tg:1:54: error: head dim `E` of `v` must be static; add `static E = "
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

} // namespace
