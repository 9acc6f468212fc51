//===- OneMessageTest.cpp - a mistake has one message
//----------------------===//
//
// What would follow from a refused name, from bytes that are no token or from a
// value that ends early is not said as well.
//
//===----------------------------------------------------------------------===//
#include "Messages.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tegula::lang;

namespace {

TEST(OneMessage, NamesThatAreTaken) {
  const Case cases[] = {
      {"param lse: i32 mask i < lse", "t.tg:2:9: error: `lse` is declared "
                                      "twice\nt.tg:1:77: note: first here\n"},
      {"param lse: f32[H] score s + lse[h]",
       "t.tg:2:9: error: `lse` is declared twice\nt.tg:1:77: note: first "
       "here\n"},
      {"let lse = 3 mask i < lse", "t.tg:2:7: error: `lse` is declared "
                                   "twice\nt.tg:1:77: note: first here\n"},
      {"param o: i32 mask i < o",
       "t.tg:2:9: error: `o` is declared twice\nt.tg:1:62: note: first here\n"},
      {"static o = 3 mask i < o", "t.tg:2:10: error: `o` is declared "
                                  "twice\nt.tg:1:62: note: first here\n"},
      {"static q = 3 mask i < q", "t.tg:2:10: error: `q` is declared "
                                  "twice\nt.tg:1:13: note: first here\n"},
      {"let k = 3 mask i < k",
       "t.tg:2:7: error: `k` is declared twice\nt.tg:1:28: note: first here\n"},
      {"let s = 3 mask i < s", "t.tg:2:7: error: `s` is the score in an "
                               "attention item; choose another name\n"},
      {"static T = 3 mask i < T", "t.tg:2:10: error: `T` is declared "
                                  "twice\nt.tg:1:119: note: first here\n"},
      {"emit i: f32[B,H,M] = 1.0",
       "t.tg:2:8: error: `i` is the query position in an attention item; "
       "choose another name\n"},
      {"emit T: f32[B,H,M] = 1.0", "t.tg:2:8: error: `T` is declared "
                                   "twice\nt.tg:1:119: note: first here\n"},
      {"emit rowmax: f32[B,H,M] = 1.0",
       "t.tg:2:8: error: `rowmax` is the largest score of a row in an "
       "attention item; choose another name\n"},
      {"emit o2: f32[B,H,M] = 1.0 outputs o2, o2",
       "t.tg:2:41: error: `o2` is named twice\nt.tg:2:37: note: first here\n"},
      {"param W: i32, W: f32[H] score s + W[h]",
       "t.tg:2:17: error: `W` is declared twice\nt.tg:2:9: note: first here\n"},
      {"param x: f32[] score s + x[0]",
       "t.tg:2:9: error: `x` has no extent; write `x: f32` for a scalar\n"},
      {"param M: i32[H] outputs M",
       "t.tg:2:9: error: `M` is the number of queries in an attention item; "
       "choose another name\n"},
  };
  expectMessages(cases);
}

TEST(OneMessage, Values) {
  const Case cases[] = {
      {"mask i = j", "t.tg:2:10: error: expected a clause, but found `=`; "
                     "write `==` to compare\n"},
      {"mask i => j", "t.tg:2:10: error: expected a clause, but found `=`; "
                      "write `==` to compare\n"},
      {"mask i.x > 3", "t.tg:2:9: error: `.` is not in the language\n"},
      {"score s + $x", "t.tg:2:13: error: `$` is not in the language\n"},
      {"score s + 'x'",
       "t.tg:2:13: error: `'` is not in the language; write `\"`\n"},
      {"mask i ≥ j",
       "t.tg:2:10: error: `≥` is not in the language; write `>=`\n"},
      {"mask i ≠ j",
       "t.tg:2:10: error: `≠` is not in the language; write `!=`\n"},
      {"score s – 1.0",
       "t.tg:2:11: error: `–` is not in the language; write `-`\n"},
      {"score s × 2.0",
       "t.tg:2:11: error: `×` is not in the language; write `*`\n"},
      {"mask i > j // comment", "t.tg:2:14: error: there is no `//`; `/` on "
                                "integers is already floored\n"},
      {"param x: f32[N,M] score s + x[i,j]",
       "t.tg:2:31: error: `x[i, j]` reads query positions (0..M) but axis 0 of "
       "`x` has extent N\nt.tg:2:9: note: declared here; declare `x: "
       "f32[M,N]`, or add `require N == M`\n"},
      {"mask i[0] > j",
       "t.tg:2:8: error: `i` is no tensor, and takes no index\n"},
      {"score s + 1e400",
       "t.tg:2:13: error: `1e400` does not fit in f64; write `inf`\n"},
      {"score s + 1e40", "t.tg:2:13: error: this number does not fit in f32, "
                         "in which the item computes; write `inf`\n"},
      {"param t: i32[H] in 3..1 mask t[h] > j",
       "t.tg:2:22: error: no value is in 3..1, whose upper end is left out\n"},
      {"outputs o, o",
       "t.tg:2:14: error: `o` is named twice\nt.tg:2:11: note: first here\n"},
      {"mask any(t in 1000000000000: t == j)",
       "t.tg:2:17: error: the extent of `any` is at most 536870912, but this "
       "is 1000000000000\n"},
      {"static W = 1 + N mask j < W",
       "t.tg:2:18: error: expected a constant, but `N` is no static\n"},
      {"let lt = i >= j   score s + lt",
       "t.tg:2:31: error: `+` takes numbers, but got bool; write `i32(...)` to "
       "count it as 0 or 1\n"},
  };
  expectMessages(cases);
}

/// The only message of a text.
std::string only(llvm::StringRef text) {
  Analysis a(text);
  EXPECT_EQ(a.diagnostics.errorCount(), 1u) << a.messages();
  return headlines(a.diagnostics);
}

/// `text` so often.
std::string times(int count, llvm::StringRef text) {
  std::string all;
  while (count--)
    all += text;
  return all;
}

TEST(OneMessage, Files) {
  EXPECT_EQ(only(llvm::StringRef("\xff\xfe"
                                 "a\0t\0t\0",
                                 8)),
            "t.tg:1:1: error: this file is UTF-16; save it as UTF-8\n");
  EXPECT_EQ(only("import \"nowhere.tg\nfn f(x) = x"),
            "t.tg:1:8: error: expected `\"` at the end of this text\n");
  EXPECT_EQ(only("fn f(x) { let x = 3 return x }\n" + itemWith("score f(s)")),
            "t.tg:1:15: error: `x` is declared twice\n"
            "t.tg:1:6: note: first here\n");
  EXPECT_EQ(only(itemWith("let k[b,g,j,d = 3")),
            "t.tg:3:1: error: expected a bracket that closes `[`, but found "
            "`}`\nt.tg:2:8: note: opened here\n");
}

TEST(OneMessage, Declarations) {
  const Case cases[] = {
      {"param x: f32[P] let P = 3 score s + x[P]",
       "t.tg:2:23: error: `P` is a dim of this item\n"
       "t.tg:2:16: note: first here\n"},
      {"static W = sum(t in 3: t) mask i > W",
       "t.tg:2:14: error: expected a constant, but this is not known when the "
       "item is compiled\n"},
  };
  expectMessages(cases);
  EXPECT_EQ(only("attention a(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> "
                 "(o: T[B,H,M,E], x: f32[B,H,M]) { static D = 64, E = 64, T = "
                 "bf16 }"),
            "t.tg:1:77: error: nothing gives output `x` its elements; add "
            "`emit x = ...`\n");
  EXPECT_EQ(only("kernel k(N: i32) -> (y: u8[N]) { grid (n in N) atomic y[n] "
                 "+= 1 }"),
            "t.tg:1:55: error: `atomic` adds to i32, i64 and floats, but `y` "
            "holds u8\n"
            "t.tg:1:22: note: declared here\n");
}

TEST(OneMessage, Depth) {
  auto kernel = [](llvm::StringRef body) {
    return ("kernel k(x: f32) { grid (r in 3) " + body + " }").str();
  };
  EXPECT_NE(only(itemWith("mask " + times(5000, "!") + "(i > j)"))
                .find("this expression is nested more than 200 deep"),
            std::string::npos);
  EXPECT_NE(only(itemWith("score s" + times(5000, " + s")))
                .find("this expression is more than 500 operators deep; name "
                      "parts of it with `let`"),
            std::string::npos);
  EXPECT_NE(only(itemWith("score " + times(300, "(") + "s" + times(300, ")")))
                .find("this expression is nested more than 200 deep; name "
                      "parts of it with `let`"),
            std::string::npos);
  EXPECT_NE(only(kernel(times(3000, "if x > 1.0 { ") + times(3000, "}")))
                .find("these blocks are nested more than 199 deep"),
            std::string::npos);
  auto nested = [](int count, const char *value) {
    std::string fns = "fn g0(x) = x";
    for (int n = 1; n <= count; ++n)
      fns += llvm::formatv((" fn g{1}(x) = " + std::string(value)).c_str(),
                           n - 1, n);
    return fns;
  };
  EXPECT_NE(only(kernel("let a = g130(x)") + nested(130, "g{0}(x)"))
                .find("calls are nested more than 100 deep"),
            std::string::npos);
  EXPECT_NE(only(kernel("let a = g40(x)") + nested(40, "g{0}(x) + g{0}(x)"))
                .find("this program is too large, its functions inlined"),
            std::string::npos);
  EXPECT_NE(only(kernel("if x > 1.0 { }" + times(5000, " else if x > 2.0 { }")))
                .find("this chain of `else if` is too long"),
            std::string::npos);
}

} // namespace
