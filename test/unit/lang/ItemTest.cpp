//===- ItemTest.cpp - what Sema makes of an item --------------------------===//
//
// The chain of `with`, statics and `-D`, dims and the signature, typing and
// constant folding.
//
//===----------------------------------------------------------------------===//
#include "Analyze.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace tegula::lang;

namespace {

std::string signature(const Item &item) {
  std::string names;
  for (const Argument &argument : item.signature)
    names += (argument.isTensor ? item.tensors[argument.number].name
                                : item.scalars[argument.number].name) +
             " ";
  return names;
}

TEST(Item, ChainAddsUpAndReplaces) {
  Analysis a(
      itemWith("param c: f32 scale 0.5 score s + c mask i >= j") +
          "attention b = a with { scale 0.25 static D = 128 param W: i32 "
          "mask i - j < W score s * 2.0 }",
      "b");
  ASSERT_TRUE(a.item) << a.messages();
  EXPECT_EQ(a.item->name, "b");
  EXPECT_EQ(a.item->scores.size(), 2u);
  EXPECT_EQ(a.item->masks.size(), 2u);
  EXPECT_EQ(a.item->scale->real, 0.25);
  EXPECT_EQ(a.item->headDim(), 128);
  EXPECT_EQ(a.item->valueDim(), 64);
  EXPECT_EQ(signature(*a.item), "q k v c W o lse ");
}

TEST(Item, DimsInOrderOfFirstAppearance) {
  Analysis a(itemWith("param t: i32[Z,ND+1,H], u: f32[D,W], W: i32 "
                      "score s + t[b,0,h] + u[0,1]"));
  ASSERT_TRUE(a.item) << a.messages();
  std::string dims;
  for (const Dim &dim : a.item->dims)
    dims +=
        dim.name + (dim.value ? "=" + std::to_string(*dim.value) : "") + " ";
  // W is a scalar parameter.
  EXPECT_EQ(dims, "B H M D=64 G N E=64 Z ND ");
  const Tensor &u = a.item->tensors[a.item->findTensor("u")];
  EXPECT_EQ(prefixText(*a.item, *u.extents[1].length), "W");
  EXPECT_EQ(u.extents[1].dim, -1);
}

TEST(Item, Defines) {
  std::string text = itemWith(
      "static R = 0.5, F = true, K mask F ? i >= K : true score s * R");
  Analysis a(
      text, "",
      {{"D", "128"}, {"T", "f16"}, {"R", "2"}, {"F", "false"}, {"K", "-3"}});
  ASSERT_TRUE(a.item) << a.messages();
  EXPECT_EQ(a.item->headDim(), 128);
  EXPECT_EQ(a.item->tensors[0].elem, ElemType::F16);
  EXPECT_TRUE(a.item->masks.front()->isConstant());
  EXPECT_EQ(a.item->scores.front()->args[1]->real, 2.0);
}

TEST(Item, StaticsMayBuildOnStatics) {
  Analysis a(itemWith("static E = D * 2", "static D = 64, T = U, U = f16"), "",
             {{"D", "32"}});
  ASSERT_TRUE(a.item) << a.messages();
  EXPECT_EQ(a.item->valueDim(), 64);
  EXPECT_EQ(a.item->tensors[0].elem, ElemType::F16);
}

/// The value of a constant integer or bool expression.
int64_t integer(llvm::StringRef expr) {
  Analysis a(itemWith("param t: i32[1] score s * t[" + expr.str() + "]"));
  EXPECT_TRUE(a.item) << a.messages();
  if (!a.item)
    return -999;
  const Expr *index = a.item->scores[0]->args[1]->args[0]->args[0];
  EXPECT_TRUE(index->isConstant()) << expr.str();
  return index->integer;
}

double real(llvm::StringRef expr) {
  Analysis a(itemWith("scale 1.0 * (" + expr.str() + ")"));
  EXPECT_TRUE(a.item) << a.messages();
  return a.item ? a.item->scale->real : -999;
}

TEST(Item, FoldsIntegers) {
  EXPECT_EQ(integer("-7 / 2"), -4);
  EXPECT_EQ(integer("7 / -2"), -4);
  EXPECT_EQ(integer("-7 % 2"), 1);
  EXPECT_EQ(integer("7 % -2"), -1);
  EXPECT_EQ(integer("-8 / 2"), -4);
  EXPECT_EQ(integer("ceildiv(7, 2)"), 4);
  EXPECT_EQ(integer("ceildiv(-7, 2)"), -3);
  EXPECT_EQ(integer("1 << 63 >> 63"), -1);
  EXPECT_EQ(integer("1 << 64"), 0);
  EXPECT_EQ(integer("1 << -1"), 0);
  EXPECT_EQ(integer("-5 >> 100"), -1);
  EXPECT_EQ(integer("9223372036854775807 + 1 < 0 ? 1 : 0"), 1);
  EXPECT_EQ(integer("(-9223372036854775807 - 1) / -1 < 0 ? 1 : 0"), 1);
  EXPECT_EQ(integer("(-9223372036854775807 - 1) % -1"), 0);
  EXPECT_EQ(integer("ceildiv(-9223372036854775807 - 1, 2) < 0 ? 1 : 0"), 1);
  EXPECT_EQ(integer("6 & 3 | 8 ^ 1"), 11);
  EXPECT_EQ(integer("~5"), -6);
  EXPECT_EQ(integer("abs(-3) + min(1, 2) + max(1, 2) + clamp(9, 0, 4)"), 10);
  EXPECT_EQ(integer("i8(200) + u8(-1)"), -56 + 255);
  EXPECT_EQ(integer("i32(2.9) + i32(-2.9)"), 0);
  EXPECT_EQ(integer("i32(1e30)"), 2147483647);
  EXPECT_EQ(integer("i64(1e30) == 9223372036854775807 ? 1 : 0"), 1);
  EXPECT_EQ(integer("i32(inf - inf)"), 0);
  EXPECT_EQ(integer("u8(-4.0) + u8(300.0)"), 255);
  EXPECT_EQ(integer("i32(2 > 1)"), 1);
  EXPECT_EQ(integer("D == 64 && !(D < 3) ? 5 : 6"), 5);
}

TEST(Item, FoldsFloats) {
  EXPECT_EQ(real("1 + 0.5"), 1.5);
  EXPECT_EQ(real("1.0 / sqrt(D)"), 0.125);
  EXPECT_EQ(real("f16(0.1)"), 0.0999755859375);
  EXPECT_EQ(real("T(0.1)"), 0.10009765625);
  EXPECT_EQ(real("pow(2, 10) + exp2(3) + log2(8) + rsqrt(4)"), 1035.5);
  EXPECT_EQ(real("exp(0) + log(1.0) + tanh(0.0) + abs(-2.5)"), 3.5);
  EXPECT_EQ(real("clamp(-inf, 0.0, 1.0)"), 0.0);
  EXPECT_TRUE(std::isnan(real("max(inf - inf, 1.0)")));
  EXPECT_TRUE(std::isnan(real("min(1.0, inf - inf)")));
  EXPECT_EQ(real("inf - inf == inf - inf ? 1.0 : 2.0"), 2.0);
}

TEST(Item, Types) {
  Analysis a(
      itemWith("param n: i32, m: i64, x: f64, t: i8[N] score (t[j] + n) * "
               "m + x + s"));
  ASSERT_TRUE(a.item) << a.messages();
  const Expr *sum = a.item->scores[0]->args[0]; // (...) * m + x
  EXPECT_EQ(sum->type, ElemType::F32);
  EXPECT_EQ(sum->args[0]->op, Op::Convert);
  EXPECT_EQ(sum->args[0]->args[0]->type, ElemType::I64);
  EXPECT_EQ(sum->args[0]->args[0]->args[0]->type, ElemType::I32);
  EXPECT_EQ(sum->args[1]->type, ElemType::F32);
}

TEST(Item, DependsOn) {
  Analysis a(itemWith("let u = i + h mask u > 2"));
  ASSERT_TRUE(a.item) << a.messages();
  const Expr &mask = *a.item->masks[0];
  EXPECT_TRUE(mask.dependsOn(IndexVar::I));
  EXPECT_TRUE(mask.dependsOn(IndexVar::H));
  EXPECT_FALSE(mask.dependsOn(IndexVar::J));
}

TEST(Item, OperandsAreReadsOfTheirTensors) {
  Analysis a(itemWith(""));
  ASSERT_TRUE(a.item) << a.messages();
  const Expr &k = *a.item->k.element;
  EXPECT_EQ(k.kind, Expr::Lookup);
  EXPECT_EQ(k.number, a.item->k.tensor);
  EXPECT_EQ(k.args[1]->index, IndexVar::G);
  EXPECT_EQ(k.args[3]->index, IndexVar::D);
}

TEST(Item, PrefixText) {
  Analysis a(itemWith("param W: i32, p: f32 require min(M, N) - 1 >= -W % 3 && "
                      "p * N < 0.5 && !(M / 2 == ceildiv(N, 2)) "
                      "mask W > j score s * p"));
  ASSERT_TRUE(a.item) << a.messages();
  EXPECT_EQ(prefixText(*a.item, *a.item->requirements.back().value),
            "(&& (&& (>= (- (min M N) 1) (% (neg W) 3)) (< (* p (+ 0.0 N)) "
            "0.5)) (! (== (/ M 2) (ceildiv N 2))))");
}

TEST(Item, InputsThatAreNotReadLeaveTheSignature) {
  std::string base =
      "attention a(q: T[B,H,M,D], c: f32, k: T[B,G,N,D], t: f32[H], v: "
      "T[B,G,N,E], u: f32[P]) -> (o: T[B,H,M,E]) {\n"
      "  static D = 64, E = 64, T = bf16 scale c * t[h] * u[0] }\n"
      "attention b = a with { scale 0.5 }\n";
  Analysis a(base, "a"), b(base, "b");
  ASSERT_TRUE(a.item) << a.messages();
  ASSERT_TRUE(b.item) << b.messages();
  EXPECT_EQ(signature(*a.item), "q c k t v u o ");
  // Only u says what P is.
  EXPECT_EQ(signature(*b.item), "q k v u o ");
}

// So do parameters, outputs that `outputs` does not name, and what only a
// `let` reads that nobody uses.
TEST(Item, WhatIsNotReadLeavesTheSignature) {
  std::string base =
      itemWith("param sink: f32[H], t: f32[N], p: f32 let unused = t[j] "
               "reduce softmax(extra = sink[h]) emit x: f32[B,H,M] = p") +
      "attention b = a with { reduce softmax() emit x = lse }\n"
      "attention c = a with { outputs x, o }\n"
      "attention d = c with { outputs lse weight unused }\n"
      "attention e = a with { param u: f32[N] }\n";
  auto of = [&](llvm::StringRef name) {
    Analysis a(base, name);
    return a.item ? signature(*a.item) : a.messages();
  };
  EXPECT_EQ(of("a"), "q k v sink p o lse x ");
  EXPECT_EQ(of("b"), "q k v o lse x ");
  EXPECT_EQ(of("c"), "q k v sink p o x ");
  EXPECT_EQ(of("d"), "q k v sink t lse ");
  EXPECT_EQ(of("e"), "q k v sink p o lse x ");
}

TEST(Item, GroupsStandBetweenTheBaseAndTheItemsOwnClauses) {
  std::string text = itemWith("param c: f32 scale c score s + c") +
                     "clauses x { param x: f32 scale 0.5 score s * x }\n"
                     "clauses y { param y: f32 scale 0.25 score s - y }\n"
                     "attention b = a with y, x { param z: f32 score s / z }\n"
                     "attention d = b with { scale 1.0 }\n";
  Analysis b(text, "b"), d(text, "d");
  ASSERT_TRUE(b.item && d.item) << b.messages() << d.messages();
  EXPECT_EQ(signature(*b.item), "q k v c y x z o lse ");
  EXPECT_EQ(b.item->scale->real, 0.5);
  EXPECT_EQ(d.item->scale->real, 1.0);
  ASSERT_EQ(b.item->scores.size(), 4u);
  EXPECT_EQ(b.item->scores[1]->op, Op::Sub);
  EXPECT_EQ(b.item->scores[2]->op, Op::Mul);
  EXPECT_EQ(b.item->scores[3]->op, Op::Div);
}

TEST(Item, ReductionAndOutputs) {
  Analysis a(itemWith("outputs o, x reduce mean(exp(s)) weight 2.0 weight s "
                      "emit x: i32[B,H,M] = i32(rowsum) weight 3.0"));
  EXPECT_FALSE(a.item);
  Analysis b(itemWith("outputs o, x reduce mean(exp(s)) weight 2.0 weight 3.0 "
                      "emit x: i32[B,H,M] = i32(rowsum)"));
  ASSERT_TRUE(b.item) << b.messages();
  EXPECT_EQ(b.item->reduction, Reduction::Mean);
  EXPECT_EQ(b.item->pairWeight->op, Op::Exp);
  EXPECT_EQ(b.item->weights.size(), 2u);
  ASSERT_EQ(b.item->outputs.size(), 2u);
  EXPECT_EQ(b.item->outputs[0].element->row, RowValue::O);
  EXPECT_EQ(b.item->outputs[1].element->op, Op::Convert);
}

TEST(Item, CallsShareTheirArguments) {
  Analysis a(itemWith("static K = 6 score f(s + 1.0, h) * g(K)") +
                 "fn f(x, s) { let y = x * x return y + y + s }\n"
                 "fn g(K) = 1.0 * (K / 2)\n",
             "a");
  ASSERT_TRUE(a.item) << a.messages();
  // x and y; s and K need none.
  ASSERT_EQ(a.item->lets.size(), 2u);
  EXPECT_EQ(a.item->lets[0].name, "x");
  EXPECT_EQ(a.item->lets[1].name, "y");
  EXPECT_EQ(a.item->scores[0]->args[1]->real, 3.0);
}

TEST(Item, CallsOnTheHost) {
  Analysis a(
      itemWith("static R = half(9) param t: i32[twice(N)], W: i32 "
               "require small(W, M) mask t[j] > R") +
          "fn half(x) = x / 2 fn twice(x) = x + x fn small(x, y) = x < y "
          "&& half(x) >= 0\n",
      "a");
  ASSERT_TRUE(a.item) << a.messages();
  EXPECT_EQ(prefixText(*a.item, *a.item->tensors[3].extents[0].length),
            "(+ N N)");
  EXPECT_EQ(prefixText(*a.item, *a.item->requirements.back().value),
            "(&& (< W M) (>= (/ W 2) 0))");
  EXPECT_EQ(a.item->masks[0]->args[1]->integer, 4);
}

TEST(Item, ScheduleFields) {
  Analysis a(itemWith("static B0 = 16 schedule { form = direct, block_m = 4 * "
                      "B0, ping_pong = 1 > 2 }") +
                 "attention b = a with { schedule { block_m = 32 } }\n",
             "b");
  ASSERT_TRUE(a.item) << a.messages();
  std::string fields;
  for (const ScheduleField &field : a.item->schedule)
    fields += field.name + "=" + field.value + " ";
  EXPECT_EQ(fields, "form=direct ping_pong=false block_m=32 ");
}

TEST(Item, KeyHeadsDivideQueryHeads) {
  Analysis open(itemWith(""));
  ASSERT_TRUE(open.item) << open.messages();
  ASSERT_EQ(open.item->requirements.size(), 1u);
  const Requirement &r = open.item->requirements[0];
  EXPECT_EQ(r.text, "H % G == 0");
  EXPECT_EQ(prefixText(*open.item, *r.value),
            "(|| (== H 0) (&& (> G 0) (== (% H G) 0)))");
  Analysis one(itemWith("static G = 1"));
  ASSERT_TRUE(one.item) << one.messages();
  EXPECT_TRUE(one.item->requirements.empty());
  Analysis both(itemWith("static G = 4, H = 12"));
  EXPECT_TRUE(both.item) << both.messages();
}

TEST(Item, FixesApply) {
  Analysis a(itemWith("mask i >= j and j > 2 score tahn(s)"));
  ASSERT_EQ(a.diagnostics.all().size(), 2u) << a.messages();
  EXPECT_EQ(a.diagnostics.all()[0].fixes[0].text, "&&");
  EXPECT_EQ(a.diagnostics.all()[1].fixes[0].text, "tanh");
}

} // namespace
