//===- FunctionMessagesTest.cpp - messages for functions and groups -------===//
//
// The `fn`s, and what else stands outside an item, begin in line 4.
//
//===----------------------------------------------------------------------===//
#include "Messages.h"

using namespace tegula::lang;

namespace {

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
      {"score s", "fn lse(x) = x",
       "t.tg:4:4: error: `lse` is a function of the language; choose another "
       "name\n"},
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
