//===- ParserTest.cpp - precedence, printing, recovery, limits ------------===//
//
// The tree that a text becomes, seen through its printed form; what is still
// understood after an error; and that no text hangs or overflows the stack.
//
//===----------------------------------------------------------------------===//
#include "Analyze.h"
#include "gtest/gtest.h"

using namespace tegula::lang;

namespace {

/// The mask of an item as printed text.
std::string printed(llvm::StringRef expr) {
  llvm::SourceMgr sources;
  Diagnostics diagnostics(sources);
  ast::File file =
      parseText(("attention a = b with { mask " + expr + " }").str(), "t.tg",
                diagnostics);
  if (diagnostics.hasErrors())
    return diagnostics.str();
  return toText(*file.items.front().clauses.front().value);
}

TEST(Parser, Precedence) {
  // Written with the brackets that the table of the language implies.
  const std::pair<const char *, const char *> same[] = {
      {"a + b * c", "a + (b * c)"},
      {"a - b - c", "(a - b) - c"},
      {"-i / 2", "(-i) / 2"},
      {"a << b + c", "a << (b + c)"},
      {"a & b << c", "a & (b << c)"},
      {"a ^ b & c", "a ^ (b & c)"},
      {"a | b ^ c", "a | (b ^ c)"},
      {"a & 1 == 0", "(a & 1) == 0"},
      {"a == b && c < d", "(a == b) && (c < d)"},
      {"a && b || c && d", "(a && b) || (c && d)"},
      {"a || b ? c : d ? e : f", "(a || b) ? c : (d ? e : f)"},
      {"!a && b", "(!a) && b"},
      {"-x[i] + f(y)", "(-(x[i])) + (f(y))"}};
  for (auto [plain, bracketed] : same)
    EXPECT_EQ(printed(plain), printed(bracketed)) << plain;
}

TEST(Parser, PrintsTheFewestBrackets) {
  for (const char *text :
       {"a + b * c", "(a + b) * c", "a - (b - c)", "a - b - c", "-(a + b)",
        "(a ? b : c) ? d : e", "a ? b : c ? d : e", "a << (b << c)",
        "x[i, j + 1] == min(a, b)", "(a < b) == c", "!(a && b)", "1.5 + 2",
        "0.1", "1e+30", "inf", "true"})
    EXPECT_EQ(printed(text), text);
}

TEST(Parser, Tokens) {
  EXPECT_EQ(printed("0x10 + 1. + .5 + 1e3"), "16 + 1.0 + 0.5 + 1e+03");
  EXPECT_EQ(printed("a#comment )\n + b"), "a + b");
}

TEST(Parser, Calls) {
  for (const char *text :
       {"f(x, axis = 0)", "any(t in KS: sel[b, t] == j / BS) && i > j"})
    EXPECT_EQ(printed(text), text);
}

TEST(Parser, Functions) {
  llvm::SourceMgr sources;
  Diagnostics diagnostics(sources);
  ast::File file = parseText("fn f(x, y: f32, z: i32[4,N]) = x * y\n"
                             "fn g() { let a = 1; let b = a + 1 return b }",
                             "t.tg", diagnostics);
  ASSERT_FALSE(diagnostics.hasErrors()) << diagnostics.str();
  const ast::Fn *f = file.findFn("f"), *g = file.findFn("g");
  ASSERT_TRUE(f && g);
  ASSERT_EQ(f->params.size(), 3u);
  EXPECT_EQ(f->params[0].elem.text, "");
  EXPECT_EQ(f->params[1].elem.text, "f32");
  EXPECT_EQ(f->params[2].extents.size(), 2u);
  EXPECT_EQ(toText(*f->result), "x * y");
  ASSERT_EQ(g->lets.size(), 2u);
  EXPECT_EQ(g->lets[1].name.text, "b");
  EXPECT_EQ(toText(*g->lets[1].value), "a + 1");
}

TEST(Parser, ClauseWordsAreContextual) {
  Analysis a(itemWith("param mask: f32[H], score: i32, sorted: f32[H] sorted "
                      "score s + mask[h] * score + sorted[h] mask score > j"));
  EXPECT_TRUE(a.item) << a.messages();
}

TEST(Parser, SeparatorsAndNewlinesNeverMatter) {
  Analysis a(itemWith(";mask i >=\n\n j;;let\nx\n=\n3;mask j > x;"));
  EXPECT_TRUE(a.item) << a.messages();
}

// Every mistake of its own clause is found in one run.
TEST(Parser, RecoversAtTheNextClauseAndItem) {
  Analysis a("attention a(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> "
             "(o: T[B,H,M,E]) {\n"
             "  static D = 64, E = 64, T = bf16\n"
             "  mask (i >= j\n"
             "  mask i *\n"
             "  score s\n"
             "  score s + unknown\n"
             "}\n"
             "attention b = a wiht { mask i > j }\n"
             "atention c = a with { mask i > j }\n"
             "attention d = a with { mask i > }\n",
             "a");
  EXPECT_FALSE(a.item);
  std::string text = a.messages();
  for (const char *place : {"t.tg:4:3: error: expected `)`",
                            "t.tg:5:9: error: expected a clause, but found `s`",
                            "t.tg:6:13: error: unknown name `unknown`",
                            "t.tg:8:17: error: expected `with`",
                            "t.tg:9:1: error: expected an item",
                            "t.tg:10:33: error: expected an expression"})
    EXPECT_NE(text.find(place), std::string::npos) << place << "\n" << text;
}

// What did not parse may have declared a name.
TEST(Parser, NoUnknownNameAfterABrokenDeclaration) {
  Analysis a(itemWith("param W: i32[, c: f32 mask i - j < W score s * c"));
  EXPECT_EQ(a.diagnostics.errorCount(), 1u) << a.messages();
}

TEST(Parser, LimitsDepth) {
  auto refused = [](std::string text) {
    Analysis a(itemWith(text));
    EXPECT_FALSE(a.item);
    EXPECT_LE(a.diagnostics.errorCount(), 2u) << a.messages();
    return a.messages();
  };
  std::string deep(100000, '(');
  EXPECT_NE(refused("mask " + deep).find("nested more than 200 deep"),
            std::string::npos);
  EXPECT_NE(refused("mask " + std::string(100000, '!') + "true")
                .find("nested more than 200 deep"),
            std::string::npos);
  std::string chain = "i", choice = "s", brackets = "1";
  for (int i = 0; i < 20000; ++i) {
    chain += "+i";
    choice = "i>j?s:" + choice;
    brackets = "f[" + brackets;
  }
  EXPECT_NE(refused("mask " + chain + " > 0").find("more than 500 operators"),
            std::string::npos);
  EXPECT_NE(refused("score " + choice).find("nested more than 200 deep"),
            std::string::npos);
  EXPECT_NE(refused("score " + brackets).find("nested more than 200 deep"),
            std::string::npos);
}

// Each `let` doubles the one before: a tree of 2^64 nodes, but 64 operators.
TEST(Parser, LetsShareTheirValues) {
  std::string lets = "let x0 = i ";
  for (int i = 1; i <= 64; ++i)
    lets += "let x" + std::to_string(i) + " = x" + std::to_string(i - 1) +
            " + x" + std::to_string(i - 1) + " ";
  Analysis a(itemWith(lets + "mask x64 > j"));
  EXPECT_TRUE(a.item) << a.messages();
}

TEST(Parser, LimitsDepthThroughLets) {
  for (bool forward : {false, true}) {
    std::string lets;
    for (int n = 1; n < 5000; ++n) {
      int i = forward ? n : 5000 - n;
      lets += "let x" + std::to_string(i) + " = x" + std::to_string(i - 1) +
              " + 1 ";
    }
    Analysis a(itemWith("let x0 = i " + lets + "mask x4999 > j"));
    EXPECT_FALSE(a.item);
    EXPECT_NE(
        a.messages().find("more than 1000 operators deep, its `let`s included"),
        std::string::npos);
  }
}

TEST(Parser, LimitsTheNumberOfMessages) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "mask + ";
  Analysis a(itemWith(text));
  EXPECT_LT(a.messages().size(), 20000u);
  EXPECT_NE(a.messages().find("more errors are not shown"), std::string::npos);
}

TEST(Parser, AnyBytes) {
  for (llvm::StringRef text :
       {llvm::StringRef(""), llvm::StringRef("\0\0", 2),
        llvm::StringRef("\xff\xfe{"), llvm::StringRef("attention"),
        llvm::StringRef("attention a ("),
        llvm::StringRef("attention a = a with {}"),
        llvm::StringRef("\"unclosed"), llvm::StringRef("kernel k("),
        llvm::StringRef("fn f(x) = "), llvm::StringRef("}}}}{{{{"),
        llvm::StringRef("# only a comment")}) {
    Analysis a(text);
    EXPECT_FALSE(a.item);
    EXPECT_NE(a.messages(), "");
  }
}

// An item made by a program: the same tree without a text.
TEST(Parser, TreesWithoutText) {
  llvm::SourceMgr sources;
  Diagnostics diagnostics(sources);
  ast::File file = parseText(itemWith(""), "t.tg", diagnostics);
  ast::Clause clause;
  clause.kind = ast::Clause::Mask;
  std::vector<ast::ExprPtr> sides;
  sides.push_back(ast::name("i"));
  sides.push_back(ast::name("nothing"));
  clause.value = ast::op(Op::Ge, std::move(sides));
  file.items.front().clauses.push_back(std::move(clause));
  EXPECT_FALSE(analyze(file, "", {}, diagnostics));
  EXPECT_EQ(diagnostics.str(), "error: unknown name `nothing`\n");
}

} // namespace
