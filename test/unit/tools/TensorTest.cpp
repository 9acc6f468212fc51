//===- TensorTest.cpp - host tensors --------------------------------------===//
//
// Rounding of 16-bit floats against float hardware and by cases; layouts; guard
// zones.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Tensor.h"
#include "Expect.h"
#include "tools/tegula/FloatBits.h"

#include <cmath>
#include <limits>

using namespace tegula;
using namespace tegula::tool;

TEST(FloatBits, EveryPatternSurvivesARoundTrip) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    if (std::isnan(doubleFromF16(half)))
      EXPECT_TRUE(
          std::isnan(doubleFromF16(f16FromDouble(doubleFromF16(half)))));
    else
      EXPECT_EQ(f16FromDouble(doubleFromF16(half)), half);
    if (std::isnan(doubleFromBf16(half)))
      EXPECT_TRUE(
          std::isnan(doubleFromBf16(bf16FromDouble(doubleFromBf16(half)))));
    else
      EXPECT_EQ(bf16FromDouble(doubleFromBf16(half)), half);
  }
}

TEST(FloatBits, MatchesTheCompilersHalf) {
  for (unsigned n = 0; n < 400000; ++n) {
    float value =
        std::ldexp(static_cast<float>(n * 2654435761u % 100003) - 50001.f,
                   static_cast<int>(n % 60) - 44);
    EXPECT_EQ(doubleFromF16(f16FromDouble(value)),
              static_cast<double>(static_cast<_Float16>(value)))
        << value;
  }
}

TEST(FloatBits, RoundsToNearestEven) {
  EXPECT_EQ(bf16FromDouble(1.0 + 0x1p-8), 0x3F80);           // tie, to even
  EXPECT_EQ(bf16FromDouble(1.0 + 3 * 0x1p-8), 0x3F82);       // tie, to even
  EXPECT_EQ(bf16FromDouble(1.0 + 0x1p-8 + 0x1p-40), 0x3F81); // above the tie
  EXPECT_EQ(f16FromDouble(65519.99), 0x7BFF);
  EXPECT_EQ(f16FromDouble(65520), 0x7C00); // rounds to infinity
  EXPECT_EQ(f16FromDouble(0x1p-25), 0);    // tie between 0 and the smallest
  EXPECT_EQ(f16FromDouble(0x1.8p-25), 1);
  EXPECT_EQ(f16FromDouble(-0x1p-24), 0x8001);
  EXPECT_EQ(bf16FromDouble(std::numeric_limits<double>::max()), 0x7F80);
  EXPECT_EQ(bf16FromDouble(-0.0), 0x8000);
}

TEST(Tensor, LayoutChangesStridesOnly) {
  Tensor a = valueOf(Tensor::create(ElementType::f32, {2, 3, 4, 5},
                                    axisOrder(Layout::bhsd, 4)));
  Tensor b = valueOf(Tensor::create(ElementType::f32, {2, 3, 4, 5},
                                    axisOrder(Layout::bshd, 4)));
  EXPECT_EQ(a.strides(), (llvm::ArrayRef<int64_t>{60, 20, 5, 1}));
  EXPECT_EQ(b.strides(), (llvm::ArrayRef<int64_t>{60, 5, 15, 1}));
  for (Tensor *tensor : {&a, &b})
    tensor->forEach([&](int64_t linear, int64_t offset) {
      EXPECT_EQ(offset, tensor->offsetOfLinear(linear));
      tensor->setReal(offset, static_cast<double>(linear));
    });
  EXPECT_EQ(a.reals(), b.reals());
  EXPECT_EQ(a.denseBytes(), b.denseBytes());
  EXPECT_EQ(b.real(b.offsetOf({1, 2, 3, 4})), 119);
}

TEST(Tensor, SeesWritesOutside) {
  Tensor tensor = valueOf(Tensor::create(ElementType::f16, {3}));
  tensor.poison();
  EXPECT_TRUE(tensor.guardsIntact());
  EXPECT_TRUE(std::isnan(tensor.real(2)));
  tensor.setReal(3, 0);
  EXPECT_FALSE(tensor.guardsIntact());
}

TEST(Tensor, AnyStrides) {
  Tensor tensor =
      valueOf(Tensor::createStrided(ElementType::f32, {2, 3}, {-7, 2}, 1));
  auto values = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f};
  llvm::ArrayRef<float> list(values.begin(), values.size());
  tensor.assignDense({reinterpret_cast<const std::byte *>(list.data()), 24});
  EXPECT_EQ(tensor.reals(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(tensor.real(tensor.offsetOf({1, 2})), 6);
  EXPECT_EQ(tensor.offsetOf({1, 2}), -3);
  EXPECT_EQ(tensor.size(), 6);
  EXPECT_TRUE(tensor.guardsIntact());
  EXPECT_EQ(tensor.dataOffset() % 64, 4);
}

TEST(Tensor, EmptyAndTooLarge) {
  Tensor tensor = valueOf(Tensor::create(ElementType::f32, {2, 0, 5}));
  EXPECT_EQ(tensor.size(), 0);
  EXPECT_TRUE(tensor.reals().empty());
  EXPECT_EQ(textOf(Tensor::create(ElementType::f64,
                                  {int64_t(1) << 29, int64_t(1) << 29})),
            "4: a tensor of shape [536870912, 536870912] and type f64 does not "
            "fit into memory");
}
