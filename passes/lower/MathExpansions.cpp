//===- MathExpansions.cpp - Math functions of f32 by GPU instructions -----===//
//
// Range reductions around ex2.approx, lg2.approx, rcp.approx and rsqrt.approx.
// Polynomials are least-squares fits at Chebyshev nodes, weighted by relative
// error of the function. Code runs with denormals flushed to zero.
//
//===----------------------------------------------------------------------===//
#include "passes/lower/MathExpansions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include <limits>

using namespace mlir;

namespace tegula {

namespace {

using FloatCompare = arith::CmpFPredicate;

/// Writes f32 arithmetic on one scalar or vector type, with the integers of the
/// same width for bit patterns.
class Writer {
public:
  Writer(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), type(type) {
    intType = builder.getI32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      intType = vector.clone(builder.getI32Type());
  }

  Value constant(float value) {
    return splat(type, builder.getF32FloatAttr(value));
  }
  Value integer(int32_t value) {
    return splat(intType, builder.getI32IntegerAttr(value));
  }
  Value infinity() { return constant(std::numeric_limits<float>::infinity()); }
  Value nan() { return constant(std::numeric_limits<float>::quiet_NaN()); }

  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value mul(Value a, float b) { return mul(a, constant(b)); }
  Value fma(Value a, Value b, Value c) {
    return math::FmaOp::create(builder, loc, a, b, c);
  }
  Value fma(Value a, float b, Value c) { return fma(a, constant(b), c); }
  Value neg(Value a) { return arith::NegFOp::create(builder, loc, a); }
  Value abs(Value a) { return math::AbsFOp::create(builder, loc, a); }
  Value floor(Value a) { return math::FloorOp::create(builder, loc, a); }
  Value copySign(Value size, Value sign) {
    return math::CopySignOp::create(builder, loc, size, sign);
  }
  Value exp2(Value a) { return math::Exp2Op::create(builder, loc, a); }
  /// `a` between the bounds; a NaN becomes `low`.
  Value clamp(Value a, float low, float high) {
    Value above = arith::MaxNumFOp::create(builder, loc, a, constant(low));
    return arith::MinNumFOp::create(builder, loc, above, constant(high));
  }
  /// The same, but a NaN stays.
  Value clampNumber(Value a, float low, float high) {
    Value above = arith::MaximumFOp::create(builder, loc, a, constant(low));
    return arith::MinimumFOp::create(builder, loc, above, constant(high));
  }
  Value compare(FloatCompare predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value compare(FloatCompare predicate, Value a, float b) {
    return compare(predicate, a, constant(b));
  }
  Value both(Value a, Value b) {
    return arith::AndIOp::create(builder, loc, a, b);
  }
  Value either(Value a, Value b) {
    return arith::OrIOp::create(builder, loc, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }

  Value bits(Value a) {
    return arith::BitcastOp::create(builder, loc, intType, a);
  }
  Value fromBits(Value a) {
    return arith::BitcastOp::create(builder, loc, type, a);
  }
  Value shiftLeft(Value a, int32_t amount) {
    return arith::ShLIOp::create(builder, loc, a, integer(amount));
  }
  Value addInt(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value subInt(Value a, Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  Value andInt(Value a, int32_t mask) {
    return arith::AndIOp::create(builder, loc, a, integer(mask));
  }
  Value toFloat(Value a) {
    return arith::SIToFPOp::create(builder, loc, type, a);
  }

  /// Coefficients of x^0 first.
  Value polynomial(Value x, ArrayRef<float> coefficients) {
    Value result = constant(coefficients.back());
    for (float coefficient : llvm::reverse(coefficients.drop_back()))
      result = fma(result, x, constant(coefficient));
    return result;
  }

  Value log2Approx(Value a) {
    return instruction("llvm.nvvm.lg2.approx.ftz.f", a);
  }
  Value reciprocalApprox(Value a) {
    return instruction("llvm.nvvm.rcp.approx.ftz.f", a);
  }
  Value rsqrtApprox(Value a) {
    return instruction("llvm.nvvm.rsqrt.approx.ftz.f", a);
  }
  Value divideFull(Value a, Value b) {
    return instruction("llvm.nvvm.div.full.ftz", a, b);
  }
  /// It has no intrinsic.
  Value tanhApprox(Value a) {
    return elementwise(
        [&](ValueRange elements) -> Value {
          return LLVM::InlineAsmOp::create(
                     builder, loc, builder.getF32Type(), elements,
                     "tanh.approx.f32 $0, $1;", "=f,f",
                     /*has_side_effects=*/false, /*is_align_stack=*/false,
                     LLVM::tailcallkind::TailCallKind::None,
                     LLVM::AsmDialectAttr(), ArrayAttr())
              .getResult(0);
        },
        a);
  }

private:
  Value splat(Type splatType, TypedAttr value) {
    if (auto shaped = dyn_cast<ShapedType>(splatType))
      return arith::ConstantOp::create(
          builder, loc, SplatElementsAttr::get(shaped, Attribute(value)));
    return arith::ConstantOp::create(builder, loc, value);
  }

  /// An instruction of one element; on vectors element by element.
  template <typename... Values>
  Value instruction(StringRef name, Values... operands) {
    return elementwise(
        [&](ValueRange elements) -> Value {
          return LLVM::CallIntrinsicOp::create(
                     builder, loc, builder.getF32Type(),
                     builder.getStringAttr(name), elements)
              .getResult(0);
        },
        operands...);
  }

  template <typename... Values>
  Value elementwise(llvm::function_ref<Value(ValueRange)> one,
                    Values... operands) {
    auto vector = dyn_cast<VectorType>(type);
    if (!vector)
      return one({operands...});
    SmallVector<vector::ToElementsOp> parts{
        vector::ToElementsOp::create(builder, loc, operands)...};
    SmallVector<Value> elements;
    for (int64_t i = 0; i < vector.getNumElements(); ++i)
      elements.push_back(one(
          llvm::map_to_vector(parts, [&](vector::ToElementsOp part) -> Value {
            return part.getResult(i);
          })));
    return vector::FromElementsOp::create(builder, loc, vector, elements);
  }

  OpBuilder &builder;
  Location loc;
  Type type, intType;
};

} // namespace

static constexpr float log2e = 1.44269502f, log2eLow = 1.92596303e-8f;
static constexpr float ln2 = 0.693147182f, ln2Low = -1.90465421e-9f;
/// 1.5 * 2^23 + 127: adding it rounds to an integer k and leaves k + 127 in the
/// low bits.
static constexpr float roundingBias = 12583039.0f;

/// 2^k times 2^`fraction`, for `rounded` = roundingBias + k with k in
/// -126..127.
static Value scaleByPower(Writer &w, Value rounded, Value fraction) {
  Value power = w.fromBits(w.shiftLeft(w.bits(rounded), 23));
  return w.mul(w.exp2(fraction), power);
}

Value expandExp(OpBuilder &builder, Location loc, Value x) {
  Writer w(builder, loc, x.getType());
  // 2^t for t = x log2(e), rounded, times e^rest for the small rest
  // x - t ln 2. Beyond the bounds 2^t is 0 or infinite, and the rest positive.
  Value bounded = w.clampNumber(x, -104.0f, 88.7228394f);
  Value t = w.mul(bounded, log2e);
  Value rest = w.fma(t, -ln2Low, w.fma(t, -ln2, bounded));
  Value power = w.exp2(t);
  return w.fma(power, rest, power);
}

Value expandExp2(OpBuilder &builder, Location loc, Value x) {
  Writer w(builder, loc, x.getType());
  // p(0) = 1, so that 2^-127 has no bit: an exponent of 0 and no fraction.
  static constexpr float p[] = {1.0f, 0.69312419f, 0.24024099f, 0.055906428f,
                                0.0095828542f};
  /// Adding it rounds to an integer k and leaves k in the low bits.
  constexpr float rounding = 12582912.0f;
  Value bounded = w.clampNumber(x, -127.0f, 126.0f);
  Value rounded = w.add(bounded, w.constant(rounding));
  Value whole = w.sub(rounded, w.constant(rounding));
  Value power = w.polynomial(w.sub(bounded, whole), p);
  Value exponent = w.shiftLeft(w.bits(rounded), 23);
  return w.fromBits(w.addInt(w.bits(power), exponent));
}

/// log(1 + f) for |f| <= 1/3.
static Value logNearOne(Writer &w, Value f) {
  static constexpr float p[] = {0.3333320617675781f,  -0.24999889731407166f,
                                0.20010778307914734f, -0.16676318645477295f,
                                0.14000912010669708f, -0.122418113052845f,
                                0.14005275070667267f, -0.1264292597770691f};
  Value r = w.fma(w.polynomial(f, p), f, w.constant(-0.5f));
  return w.fma(r, w.mul(f, f), f);
}

/// log(x) where f = x - 1, times `scale`.
static Value expandLogScaled(Writer &w, Value x, Value f, float scaleNear,
                             float scaleFar) {
  Value near = logNearOne(w, f);
  if (scaleNear != 1.0f)
    near = w.mul(near, scaleNear);
  Value far = w.log2Approx(x);
  if (scaleFar != 1.0f)
    far = w.mul(far, scaleFar);
  return w.select(w.compare(FloatCompare::OLT, w.abs(f), 0.333333f), near, far);
}

Value expandLog(OpBuilder &builder, Location loc, Value x) {
  Writer w(builder, loc, x.getType());
  return expandLogScaled(w, x, w.sub(x, w.constant(1.0f)), 1.0f, ln2);
}

Value expandLog2(OpBuilder &builder, Location loc, Value x) {
  Writer w(builder, loc, x.getType());
  return expandLogScaled(w, x, w.sub(x, w.constant(1.0f)), log2e, 1.0f);
}

Value expandLog10(OpBuilder &builder, Location loc, Value x) {
  Writer w(builder, loc, x.getType());
  return expandLogScaled(w, x, w.sub(x, w.constant(1.0f)), 0.434294492f,
                         0.301029998f);
}

Value expandLog1p(OpBuilder &builder, Location loc, Value x) {
  Writer w(builder, loc, x.getType());
  Value result = expandLogScaled(w, w.add(x, w.constant(1.0f)), x, 1.0f, ln2);
  return w.select(w.compare(FloatCompare::OEQ, x, 0.0f), x, result);
}

Value expandTanh(OpBuilder &builder, Location loc, Value x) {
  Writer w(builder, loc, x.getType());
  Value size = w.abs(x);
  // 1 - 2 / (e^2|x| + 1); the exponential may be infinite, then this is 1.
  Value power = w.exp2(w.mul(size, 2.0f * log2e));
  Value one = w.constant(1.0f);
  Value large = w.fma(w.reciprocalApprox(w.add(power, one)), -2.0f, one);
  static constexpr float p[] = {-0.3333294093608856f, 0.13320642709732056f,
                                -0.05266802757978439f, 0.016432009637355804f};
  Value square = w.mul(x, x);
  Value small = w.fma(w.mul(w.polynomial(square, p), square), x, x);
  return w.copySign(
      w.select(w.compare(FloatCompare::OLT, size, 0.55f), small, large), x);
}

Value expandTanhApproximately(OpBuilder &builder, Location loc, Value x) {
  return Writer(builder, loc, x.getType()).tanhApprox(x);
}

Value expandDivision(OpBuilder &builder, Location loc, Value x, Value y) {
  Writer w(builder, loc, x.getType());
  return w.divideFull(x, y);
}

Value expandRsqrt(OpBuilder &builder, Location loc, Value x) {
  Writer w(builder, loc, x.getType());
  return w.rsqrtApprox(x);
}

namespace {
/// A number as the unevaluated sum of two.
struct TwoPart {
  Value high, low;
};
} // namespace

/// log2(a) for finite a > 0, to about 2^-33: a = 2^e m with m in [sqrt(1/2),
/// sqrt 2), log(m) = 2 atanh((m - 1) / (m + 1)).
static TwoPart twoPartLog2(Writer &w, Value a) {
  Value bits = w.bits(a);
  Value exponent = w.andInt(w.subInt(bits, w.integer(0x3f3504f3)),
                            static_cast<int32_t>(0xff800000));
  Value m = w.fromBits(w.subInt(bits, exponent));
  Value e = w.mul(w.toFloat(exponent), 0x1p-23f);

  Value f = w.sub(m, w.constant(1.0f));
  Value r = w.reciprocalApprox(w.add(m, w.constant(1.0f)));
  Value q = w.mul(f, r);
  // What f - q (2 + f) leaves, exact but for one rounding.
  Value rest = w.fma(w.neg(q), f, w.fma(q, -2.0f, f));
  static constexpr float p[] = {0.6666666269302368f, 0.4000087380409241f,
                                0.28506648540496826f, 0.2410459965467453f};
  Value s = w.mul(q, q);
  Value high = w.add(q, q);
  // 2 atanh(q + d) = 2 q + q s p(s) + 2 d (1 + s), d = rest * r.
  Value correction = w.mul(w.mul(rest, r), 2.0f);
  Value low =
      w.fma(w.mul(w.polynomial(s, p), s), q, w.fma(correction, s, correction));

  Value scaled = w.mul(high, log2e);
  Value scaledLow = w.fma(high, log2e, w.neg(scaled));
  scaledLow = w.fma(low, log2e, w.fma(high, log2eLow, scaledLow));
  Value sum = w.add(e, scaled);
  return {sum, w.add(w.add(w.sub(e, sum), scaled), scaledLow)};
}

/// a^y for finite a > 0 and y that is not NaN.
static Value powPositive(Writer &w, Value a, Value y) {
  TwoPart logarithm = twoPartLog2(w, a);
  Value product = w.mul(y, logarithm.high);
  Value low = w.fma(y, logarithm.low, w.fma(y, logarithm.high, w.neg(product)));
  // Far out of range the low part may be no number, and does not matter.
  Value isNear = w.compare(FloatCompare::OLT, w.abs(product), 300.0f);
  low = w.select(isNear, low, w.constant(0.0f));
  Value rounded =
      w.add(w.clamp(product, -126.0f, 127.0f), w.constant(roundingBias));
  Value k = w.sub(rounded, w.constant(roundingBias));
  Value fraction = w.add(w.sub(w.clamp(product, -300.0f, 300.0f), k), low);
  return scaleByPower(w, rounded, fraction);
}

Value expandPow(OpBuilder &builder, Location loc, Value x, Value y) {
  Writer w(builder, loc, x.getType());
  Value a = w.abs(x), one = w.constant(1.0f), zero = w.constant(0.0f);
  Value result = powPositive(w, a, y);

  // |x| of 0 or infinity: 0 or infinity, by the sign of y.
  Value yNegative = w.compare(FloatCompare::OLT, y, 0.0f);
  Value isZero = w.compare(FloatCompare::OLT, a, 0x1p-126f);
  Value ofZero = w.select(yNegative, w.infinity(), zero);
  result = w.select(isZero, ofZero, result);
  Value isInfinite = w.compare(FloatCompare::OEQ, a, w.infinity());
  Value ofInfinity = w.select(yNegative, zero, w.infinity());
  result = w.select(isInfinite, ofInfinity, result);

  // A negative x (with -0) needs an integer y, whose parity is the sign of the
  // result.
  Value half = w.mul(y, 0.5f);
  Value isInteger = w.compare(FloatCompare::OEQ, w.floor(y), y);
  Value isOdd =
      w.both(isInteger, w.compare(FloatCompare::ONE, w.floor(half), half));
  result = w.select(isOdd, w.copySign(result, x), result);
  Value isBelow = w.compare(FloatCompare::OLT, x, 0.0f);
  Value isFinite = w.compare(FloatCompare::OGT, x, w.neg(w.infinity()));
  Value isNegative = w.both(isBelow, isFinite);
  Value isFraction = w.compare(FloatCompare::UNE, w.floor(y), y);
  result = w.select(w.both(isNegative, isFraction), w.nan(), result);

  // |x| = 1 with an infinite y is 1; NaN spreads, but for x = 1 and y = 0.
  Value yInfinite = w.compare(FloatCompare::OEQ, w.abs(y), w.infinity());
  result = w.select(w.both(w.compare(FloatCompare::OEQ, a, 1.0f), yInfinite),
                    one, result);
  Value isNan = w.compare(FloatCompare::UNO, x, y);
  result = w.select(isNan, w.nan(), result);
  Value xIsOne = w.compare(FloatCompare::OEQ, x, 1.0f);
  Value yIsZero = w.compare(FloatCompare::OEQ, y, 0.0f);
  return w.select(w.either(xIsOne, yIsZero), one, result);
}

} // namespace tegula
