//===- ExprTest.cpp - prefix expressions ----------------------------------===//
#include "runtime/Expr.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tegula::rt;

static const std::vector<std::string> names = {"B", "H", "M", "N", "x"};
static const std::vector<Value> values = {Value(int64_t(2)), Value(int64_t(8)),
                                          Value(int64_t(300)),
                                          Value(int64_t(-7)), Value(0.5)};

static Value eval(const std::string &text) {
  Result<Expr> expr = Expr::parse(text, names);
  EXPECT_TRUE(expr.ok()) << expr.status().message();
  if (!expr.ok())
    return Value(int64_t(-999));
  Result<Value> value = expr->evaluate(values);
  EXPECT_TRUE(value.ok()) << value.status().message();
  return value.ok() ? *value : Value(int64_t(-999));
}

static int64_t integer(const std::string &text) {
  Value value = eval(text);
  EXPECT_TRUE(value.isInteger()) << text;
  return value.integer;
}

static std::string parseError(const std::string &text) {
  Result<Expr> expr = Expr::parse(text, names);
  return expr.ok() ? "parsed" : expr.status().message();
}

TEST(Expr, Integers) {
  EXPECT_EQ(integer("(* (ceildiv M 128) (* H B))"), 48);
  EXPECT_EQ(integer("(+ B H M)"), 310);
  EXPECT_EQ(integer("(- M)"), -300);
  EXPECT_EQ(integer("(neg N)"), 7);
  EXPECT_EQ(integer("(abs N)"), 7);
  EXPECT_EQ(integer("(min B H N)"), -7);
  EXPECT_EQ(integer("-3"), -3);
  EXPECT_EQ(integer("  M "), 300);
}

TEST(Expr, DivisionFloors) {
  EXPECT_EQ(integer("(/ N 2)"), -4);
  EXPECT_EQ(integer("(% N 2)"), 1);
  EXPECT_EQ(integer("(/ 7 -2)"), -4);
  EXPECT_EQ(integer("(% 7 -2)"), -1);
  EXPECT_EQ(integer("(ceildiv N 2)"), -3);
  EXPECT_EQ(integer("(ceildiv 8 2)"), 4);
  EXPECT_EQ(integer("(/ M 0)"), 0);
  EXPECT_EQ(integer("(% M 0)"), 0);
  EXPECT_EQ(integer("(ceildiv M 0)"), 0);
  EXPECT_EQ(integer("(% -9223372036854775808 -1)"), 0);
}

TEST(Expr, Shifts) {
  EXPECT_EQ(integer("(<< 1 H)"), 256);
  EXPECT_EQ(integer("(<< N 2)"), -28);
  EXPECT_EQ(integer("(>> M 3)"), 37);
  EXPECT_EQ(integer("(>> N 100)"), -1);
  for (std::string text : {"(<< 1 63)", "(<< M 55)", "(<< 1 -1)", "(>> 1 -1)",
                           "(<< -9223372036854775808 1)", "(<< 1 x)"}) {
    Result<Expr> expr = Expr::parse(text, names);
    ASSERT_TRUE(expr.ok());
    EXPECT_FALSE(expr->evaluate(values).ok()) << text;
  }
}

/// The shift of heads: 8 of one key head, in tiles of 64 rows.
TEST(Expr, Packing) {
  EXPECT_EQ(integer("(packing 1 H 1 64)"), 3);
  EXPECT_EQ(integer("(packing 64 H 1 64)"), 0); // full tiles as they are
  EXPECT_EQ(integer("(packing 65 H 1 64)"), 3); // 9 tiles, not 16
  EXPECT_EQ(integer("(packing M H 1 64)"), 0);  // 38, not 40
  EXPECT_EQ(integer("(packing 1 H H 64)"), 0);
  EXPECT_EQ(integer("(packing 1 H 0 64)"), 0);
  EXPECT_EQ(integer("(packing 0 H 1 64)"), 0);
  EXPECT_EQ(integer("(packing 1 7 1 64)"), 3);
  EXPECT_EQ(integer("(packing 20 5 1 64)"), 3); // 3 tiles, not 5
  EXPECT_EQ(integer("(packing 1 200 1 64)"), 6);
  for (std::string text : {"(packing 1 H 1 x)", "(packing N H 1 64)"}) {
    Result<Expr> expr = Expr::parse(text, names);
    ASSERT_TRUE(expr.ok());
    EXPECT_FALSE(expr->evaluate(values).ok()) << text;
  }
}

TEST(Expr, LogicIsLazy) {
  EXPECT_EQ(integer("(&& (== M 300) (> H B))"), 1);
  EXPECT_EQ(integer("(|| false (! true))"), 0);
  EXPECT_EQ(integer("(? (< M 10) 1 2)"), 2);
  // The operand that would overflow is not evaluated.
  EXPECT_EQ(integer("(|| true (* 9223372036854775807 2))"), 1);
  EXPECT_EQ(integer("(? true 1 (* 9223372036854775807 2))"), 1);
}

TEST(Expr, Reals) {
  EXPECT_EQ(eval("(* x 4)").real, 2.0);
  EXPECT_EQ(eval("(/ 1 x)").real, 2.0);
  EXPECT_EQ(integer("(> x 0)"), 1);
  EXPECT_EQ(eval("1e-3").real, 1e-3);
  EXPECT_TRUE(std::isinf(eval("inf").real));
  EXPECT_EQ(eval("(% -0.5 2.0)").real, 1.5);
}

TEST(Expr, OverflowIsAnError) {
  for (const char *text :
       {"(* 9223372036854775807 2)", "(+ 9223372036854775807 1)",
        "(neg -9223372036854775808)", "(abs -9223372036854775808)",
        "(/ -9223372036854775808 -1)", "(- -9223372036854775808 1)"}) {
    Result<Expr> expr = Expr::parse(text, names);
    ASSERT_TRUE(expr.ok());
    Result<Value> value = expr->evaluate(values);
    ASSERT_FALSE(value.ok()) << text;
    EXPECT_NE(value.status().message().find("does not fit 64 bits"),
              std::string::npos);
  }
}

TEST(Expr, ParseErrorsNameThePlace) {
  EXPECT_EQ(parseError("(+ M K)"),
            "bad expression `(+ M K)`, column 7: unknown name `K`");
  EXPECT_NE(parseError("(foo M)").find("unknown operator `foo`"),
            std::string::npos);
  EXPECT_NE(parseError("(+ M").find("expected `)`"), std::string::npos);
  EXPECT_NE(parseError("").find("the text ends"), std::string::npos);
  EXPECT_NE(parseError("M N").find("expected the end"), std::string::npos);
  EXPECT_NE(parseError("(/ M)").find("does not take 1 operand"),
            std::string::npos);
  EXPECT_NE(parseError("12x").find("bad number"), std::string::npos);
  EXPECT_NE(parseError(")").find("but got `)`"), std::string::npos);
  EXPECT_NE(parseError(std::string(100000, '(')).find("unknown operator"),
            std::string::npos);
  std::string deep;
  for (int i = 0; i != 100000; ++i)
    deep += "(neg ";
  EXPECT_NE(parseError(deep).find("64 levels"), std::string::npos);
}

TEST(Expr, Offsets) {
  auto offset = [](const char *text) {
    return Expr::parse(text, names)->asOffset();
  };
  EXPECT_EQ(offset("M")->offset, 0);
  EXPECT_EQ(offset("(+ B 1)")->offset, 1);
  EXPECT_EQ(offset("(+ 1 B)")->offset, 1);
  EXPECT_EQ(offset("(- B 3)")->offset, -3);
  EXPECT_FALSE(offset("(- 3 B)"));
  EXPECT_FALSE(offset("(* B 2)"));
  EXPECT_FALSE(offset("(+ B x)"));
}

TEST(Expr, Infix) {
  auto infix = [](const char *text) {
    return Expr::parse(text, names)->infix(names);
  };
  EXPECT_EQ(infix("(+ B 1)"), "B + 1");
  EXPECT_EQ(infix("(* (ceildiv M 128) (* H B))"), "ceildiv(M, 128) * (H * B)");
  EXPECT_EQ(infix("(? (< M N) M (neg N))"), "(M < N) ? M : -N");
}

TEST(Expr, UsedSlotsInOrder) {
  EXPECT_EQ(Expr::parse("(== M (+ N M B))", names)->usedSlots(),
            (std::vector<int>{2, 3, 0}));
}
