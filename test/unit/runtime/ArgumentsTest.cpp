//===- ArgumentsTest.cpp - binding and refusing arguments -----------------===//
#include "Causal.h"

#include <gtest/gtest.h>

using namespace tegula::rt;
using namespace tegula::rt::test;

namespace {
class ArgumentsTest : public ::testing::Test {
protected:
  Manifest manifest = *Manifest::parse(pipelinedManifest());
  Arguments arguments{manifest.signature};
  Binding binding;

  /// The message of setting and binding `call`, or "ok".
  std::string bind(const Call &call) {
    Status status = call.set(arguments);
    if (status.ok())
      status = bindArguments(arguments, binding);
    return status.ok() ? "ok" : status.message();
  }
  std::string rebind() {
    Status status = bindArguments(arguments, binding);
    return status.ok() ? "ok" : status.message();
  }
  std::string conditions(const Call &call) {
    EXPECT_EQ(bind(call), "ok");
    return checkConditions(manifest, arguments, binding).reason;
  }
};
} // namespace

TEST_F(ArgumentsTest, DimsComeFromExtents) {
  ASSERT_EQ(bind(Call()), "ok");
  EXPECT_EQ(binding.slots[0].integer, 2);
  EXPECT_EQ(binding.slots[1].integer, 8);
  EXPECT_EQ(binding.slots[2].integer, 300);
  EXPECT_EQ(binding.slots[3].integer, 2);
  EXPECT_EQ(binding.slots[4].integer, 400);
  EXPECT_EQ(binding.slots[5].integer, 64);
  EXPECT_EQ(binding.slots[6].real, 30.0);
}

TEST_F(ArgumentsTest, ShapeMistakes) {
  Call call;
  call.k.sizes[0] = 3;
  EXPECT_EQ(bind(call),
            "`k`: expected extent B = 2 along axis 0, but got 3 ([3, 2, 400, "
            "128] for [B, G, N, 128]): `q` [2, 8, 300, 128] has B = 2");
  call = Call();
  call.v.sizes[3] = 64;
  EXPECT_EQ(bind(call), "`v`: expected extent 128 along axis 3, but got 64 "
                        "([2, 2, 400, 64] for [B, G, N, 128])");
  call = Call();
  call.starts.sizes[0] = 2;
  EXPECT_EQ(bind(call), "`starts`: expected extent B + 1 = 3 along axis 0, but "
                        "got 2 ([2] for [B + 1]): `q` [2, 8, 300, 128] has B "
                        "= 2");
  call = Call();
  call.q.rank = 3;
  EXPECT_EQ(bind(call), "`q`: expected rank 4 ([B, H, M, 128]), but got rank 3 "
                        "([2, 8, 300])");
  call = Call();
  call.q.type = ElementType::f16;
  EXPECT_EQ(bind(call), "`q`: expected bf16, but got f16");
  call = Call();
  call.q.sizes[2] = -1;
  EXPECT_EQ(bind(call), "`q`: extent -1 of axis 2 ([2, 8, -1, 128]) is not "
                        "between 0 and 2^29 (536870912)");
  call = Call(1, 1, 1, (int64_t(1) << 29) + 1, 1);
  EXPECT_EQ(bind(call).rfind("`q`: extent 536870913 of axis 2", 0), 0u);
}

TEST_F(ArgumentsTest, HeadsComeInGroups) {
  EXPECT_EQ(
      bind(Call(2, 8, 3, 300, 400))
          .rfind("H = 8 query heads is not a multiple of G = 3 key heads", 0),
      0u);
  EXPECT_EQ(bind(Call(2, 8, 0, 300, 400)).rfind("H = 8", 0), 0u);
  EXPECT_EQ(bind(Call(2, 0, 0, 300, 400)), "ok");
  EXPECT_EQ(bind(Call(2, 7, 1, 300, 400)), "ok");
}

TEST_F(ArgumentsTest, RequireNamesTheValues) {
  EXPECT_EQ(bind(Call(1, 1, 1, 100, 35)),
            "`require M <= N + W` does not hold: M = 100, N = 35, W = 64 "
            "(docs.tg:2:9)");
}

TEST_F(ArgumentsTest, NamesAndScalars) {
  EXPECT_EQ(arguments.set("w", 3).message(),
            "`causal` has no argument `w`; it takes q, k, v, starts, W, cap, "
            "o, lse");
  EXPECT_EQ(arguments.set("q", 3).message(),
            "`q` is a tensor, but got the scalar 3");
  EXPECT_EQ(arguments.set("W", TensorView()).message(),
            "`W` is a scalar, but got a tensor");
  EXPECT_EQ(arguments.set("W", int64_t(1) << 31).message(),
            "`W`: expected a value of i32, but got 2147483648");
  EXPECT_EQ(arguments.set("W", 0.5).message(),
            "`W`: expected a value of i32, but got 0.5");
  EXPECT_TRUE(arguments.set("cap", 30).ok());
  EXPECT_EQ(rebind(),
            "`q` is not set; `causal` takes q, k, v, starts, W, cap, o, lse");
  EXPECT_EQ(arguments.setNull("o").message(),
            "`o` is not optional, so it cannot be null");
}

TEST_F(ArgumentsTest, Pointers) {
  Call call;
  call.q.data = reinterpret_cast<void *>(0x1001);
  EXPECT_EQ(bind(call),
            "`q`: the address 0x1001 is not a multiple of 2, the size of bf16");
  call = Call();
  call.o.data = nullptr;
  EXPECT_EQ(bind(call), "`o`: the pointer is null, but the shape [2, 8, 300, "
                        "128] is not empty");
  // No memory is fine where there is nothing in it.
  call = Call(2, 8, 2, 300, 300);
  call = Call(0, 8, 2, 300, 300);
  call.q.data = call.o.data = call.k.data = call.v.data = nullptr;
  EXPECT_EQ(bind(call), "ok");
  call = Call();
  call.lse.data = nullptr;
  EXPECT_EQ(bind(call), "ok");
  ASSERT_TRUE(arguments.setNull("lse").ok());
  EXPECT_EQ(rebind(), "ok");
}

TEST_F(ArgumentsTest, OutputsMayNotOverlap) {
  Call call;
  call.o.strides[1] = 0;
  EXPECT_EQ(bind(call), "`o`: elements of an output may not share memory, but "
                        "axis 1 of extent 8 has stride 0, and the axes inside "
                        "it reach 0 elements");
  call = Call();
  call.o.strides[2] = 127;
  EXPECT_NE(bind(call).find("axis 2 of extent 300 has stride 127, and the axes "
                            "inside it reach 127"),
            std::string::npos);
  // [B, S, H, D] in memory is as good as [B, H, S, D].
  call = Call();
  call.o.strides[1] = 128;
  call.o.strides[2] = 8 * 128;
  EXPECT_EQ(bind(call), "ok");
  call.o.strides[2] = -8 * 128;
  EXPECT_EQ(bind(call), "ok");
}

TEST_F(ArgumentsTest, StridesStayInReach) {
  Call call;
  call.q.strides[0] = int64_t(1) << 60;
  EXPECT_NE(bind(call).find("reaches beyond 2^47 bytes"), std::string::npos);
  call.q.strides[0] = INT64_MIN;
  EXPECT_NE(bind(call).find("reaches beyond 2^47 bytes"), std::string::npos);
  // The stride of a single element is never used.
  call = Call(1, 8, 2, 300, 400);
  call.q.strides[0] = INT64_MIN;
  EXPECT_EQ(bind(call), "ok");
}

TEST_F(ArgumentsTest, TmaRules) {
  EXPECT_EQ(conditions(Call()), "");
  Call call;
  call.q.data = static_cast<char *>(call.q.data) + 2;
  EXPECT_EQ(conditions(call),
            "the address of `q` is 2 bytes past a multiple of 16");
  call = Call();
  call.k.strides[2] = 132;
  EXPECT_EQ(conditions(call), "the stride of axis 2 of `k`, 264 bytes, is not "
                              "a multiple of 16");
  call = Call();
  call.v.strides[3] = 2;
  EXPECT_EQ(conditions(call), "axis 3 of `v` has stride 2, not 1");
  call = Call();
  call.v.strides[1] = 0;
  call.v.strides[0] = 0;
  EXPECT_EQ(conditions(call), ""); // broadcast over batch and heads
  call = Call();
  call.q.strides[2] = -128;
  EXPECT_EQ(conditions(call), "the stride of axis 2 of `q`, -256 bytes, is not "
                              "between 0 and 2^40");
  call = Call();
  call.q.strides[0] = int64_t(1) << 39;
  EXPECT_EQ(conditions(call), "the stride of axis 0 of `q`, 1099511627776 "
                              "bytes, is not between 0 and 2^40");
  EXPECT_EQ(conditions(Call(2, 8, 2, 0, 400)), "`q` is empty: [2, 8, 0, 128]");
  call = Call();
  call.o.data = static_cast<char *>(call.o.data) + 2;
  EXPECT_EQ(conditions(call),
            "the address of `o` is 2 bytes past a multiple of 16");
  // A slice of one fused buffer, and odd strides of axes of extent 1.
  call = Call(1, 8, 1, 300, 400);
  call.q.strides[2] = 3 * 8 * 128;
  call.q.strides[1] = 128;
  call.q.strides[0] = 7;
  call.k.strides[1] = 0;
  EXPECT_EQ(conditions(call), "");
}

TEST_F(ArgumentsTest, ExpressionConditionsGiveTheirValues) {
  std::string text = pipelinedManifest();
  std::string from = "\"kind\": \"aligned\", \"tensor\": \"o\"";
  text.replace(text.find(from), from.size(),
               "\"kind\": \"expr\", \"expr\": \"(> N 500)\"");
  manifest = *Manifest::parse(text);
  arguments = Arguments(manifest.signature);
  EXPECT_EQ(conditions(Call()), "o is 16-byte aligned does not hold: N = 400");
}

/// A dim that no bare name gives: B from `B + 1`.
TEST(BindArguments, OffsetGivesADim) {
  Result<Manifest> manifest = Manifest::parse(R"json({
    "version": 1, "name": "f", "symbol": "f", "target": "sm_90a",
    "form": "direct", "tensors": [
      {"name": "p", "type": "i32", "dims": ["(+ B 1)", "(* 2 B)"],
       "role": "in"}],
    "dims": ["B"], "arguments": [], "grid": {"tiles": "B"}, "threads": 32})json");
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  Arguments arguments(manifest->signature);
  Binding binding;
  void *data = reinterpret_cast<void *>(0x1000);
  ASSERT_TRUE(
      arguments.set("p", TensorView::contiguous(data, ElementType::i32, {4, 6}))
          .ok());
  EXPECT_TRUE(bindArguments(arguments, binding).ok());
  EXPECT_EQ(binding.slots[0].integer, 3);
  ASSERT_TRUE(
      arguments.set("p", TensorView::contiguous(data, ElementType::i32, {4, 7}))
          .ok());
  EXPECT_EQ(bindArguments(arguments, binding).message(),
            "`p`: expected extent 2 * B = 6 along axis 1, but got 7 ([4, 7] "
            "for [B + 1, 2 * B])");
  ASSERT_TRUE(
      arguments.set("p", TensorView::contiguous(data, ElementType::i32, {0, 7}))
          .ok());
  EXPECT_EQ(bindArguments(arguments, binding).message(),
            "`p`: extent 0 of axis 0 (B + 1) makes B = -1, which is not "
            "between 0 and 2^29");
}
