//===- ScalarInterpreter.cpp - f32 code as a GPU computes it --------------===//
//
// Each operation becomes a closure over slots of 32 bits. Floats are flushed
// when read and when written, as the .ftz forms do.
//
//===----------------------------------------------------------------------===//
#include "ScalarInterpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;

namespace tegula::test {

static float flush(float x) {
  return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
}
static float asFloat(uint32_t bits) {
  return flush(llvm::bit_cast<float>(bits));
}
static uint32_t asBits(float x) { return llvm::bit_cast<uint32_t>(flush(x)); }

static bool compare(arith::CmpFPredicate predicate, float a, float b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
    return a == b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::ONE:
    return !unordered && a != b;
  case arith::CmpFPredicate::UNE:
    return unordered || a != b;
  case arith::CmpFPredicate::UNO:
    return unordered;
  default:
    ADD_FAILURE() << "a comparison that the interpreter does not know";
    return false;
  }
}

/// The hardware's functions: exact, then moved by `approximation` times their
/// error bound (PTX ISA, ex2, lg2, rcp, rsqrt).
static float approximate(StringRef name, float x, float approximation) {
  double shift = 1 + double(approximation) * 0x1p-22;
  if (name == "exp2")
    return float(std::exp2(double(x)) * shift);
  if (name == "llvm.nvvm.rcp.approx.ftz.f")
    return float(1 / double(x) * (1 + double(approximation) * 0x1p-23));
  if (name == "llvm.nvvm.rsqrt.approx.ftz.f")
    return float(1 / std::sqrt(double(x)) *
                 (1 + double(approximation) * 0x1.13p-23));
  if (name == "llvm.nvvm.lg2.approx.ftz.f") {
    double exact = std::log2(double(x));
    return float(x > 0.5f && x < 2.0f ? exact + double(approximation) * 0x1p-22
                                      : exact * shift);
  }
  ADD_FAILURE() << "an instruction that the interpreter does not know: "
                << name.str();
  return 0;
}

ScalarInterpreter::ScalarInterpreter(func::FuncOp function) {
  llvm::DenseMap<Value, unsigned> places;
  auto place = [&](Value value) {
    return places.try_emplace(value, places.size()).first->second;
  };
  Block &body = function.front();
  for (Value argument : body.getArguments())
    place(argument);
  llvm::DenseMap<unsigned, uint32_t> constants;

  for (Operation &operation : body) {
    if (auto end = dyn_cast<func::ReturnOp>(operation)) {
      result = place(end.getOperand(0));
      break;
    }
    SmallVector<unsigned, 3> in;
    for (Value operand : operation.getOperands())
      in.push_back(place(operand));
    unsigned out = place(operation.getResult(0));
    if (auto constant = dyn_cast<arith::ConstantOp>(operation)) {
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
        constants[out] =
            llvm::bit_cast<uint32_t>(number.getValue().convertToFloat());
      else
        constants[out] = cast<IntegerAttr>(constant.getValue()).getInt();
      continue;
    }
    unsigned a = in[0], b = in.size() > 1 ? in[1] : 0,
             c = in.size() > 2 ? in[2] : 0;
    auto floats = [&, out, a, b, c](auto compute) {
      steps.push_back([=](Slots &s, float) {
        s[out] = asBits(compute(asFloat(s[a]), asFloat(s[b]), asFloat(s[c])));
      });
    };
    auto integers = [&, out, a, b](auto compute) {
      steps.push_back([=](Slots &s, float) { s[out] = compute(s[a], s[b]); });
    };
    auto instruction = [&, out, a](std::string name) {
      steps.push_back([=](Slots &s, float error) {
        s[out] = asBits(approximate(name, asFloat(s[a]), error));
      });
    };
    llvm::TypeSwitch<Operation *>(&operation)
        .Case([&](arith::AddFOp) {
          floats([](float x, float y, float) { return x + y; });
        })
        .Case([&](arith::SubFOp) {
          floats([](float x, float y, float) { return x - y; });
        })
        .Case([&](arith::MulFOp) {
          floats([](float x, float y, float) { return x * y; });
        })
        .Case([&](arith::DivFOp) {
          floats([](float x, float y, float) { return x / y; });
        })
        .Case([&](arith::NegFOp) {
          floats([](float x, float, float) { return -x; });
        })
        .Case([&](arith::MaxNumFOp) {
          floats([](float x, float y, float) { return std::fmax(x, y); });
        })
        .Case([&](arith::MinNumFOp) {
          floats([](float x, float y, float) { return std::fmin(x, y); });
        })
        .Case([&](arith::MaximumFOp) {
          floats([](float x, float y, float) {
            return std::isnan(y) ? y : std::isnan(x) ? x : std::fmax(x, y);
          });
        })
        .Case([&](arith::MinimumFOp) {
          floats([](float x, float y, float) {
            return std::isnan(y) ? y : std::isnan(x) ? x : std::fmin(x, y);
          });
        })
        .Case([&](math::FmaOp) {
          floats([](float x, float y, float z) { return std::fma(x, y, z); });
        })
        .Case([&](math::AbsFOp) {
          floats([](float x, float, float) { return std::fabs(x); });
        })
        .Case([&](math::FloorOp) {
          floats([](float x, float, float) { return std::floor(x); });
        })
        .Case([&](math::SqrtOp) {
          floats([](float x, float, float) { return std::sqrt(x); });
        })
        .Case([&](math::CopySignOp) {
          floats([](float x, float y, float) { return std::copysign(x, y); });
        })
        .Case([&](math::Exp2Op) { instruction("exp2"); })
        .Case([&](LLVM::CallIntrinsicOp op) {
          instruction(op.getIntrin().str());
        })
        .Case([&](arith::SIToFPOp) {
          steps.push_back(
              [=](Slots &s, float) { s[out] = asBits(float(int32_t(s[a]))); });
        })
        .Case([&](arith::CmpFOp op) {
          auto predicate = op.getPredicate();
          steps.push_back([=](Slots &s, float) {
            s[out] = compare(predicate, asFloat(s[a]), asFloat(s[b]));
          });
        })
        .Case([&](arith::SelectOp) {
          steps.push_back(
              [=](Slots &s, float) { s[out] = s[a] ? s[b] : s[c]; });
        })
        .Case([&](arith::BitcastOp) {
          integers([](uint32_t x, uint32_t) { return x; });
        })
        .Case([&](arith::ShLIOp) {
          integers([](uint32_t x, uint32_t y) { return x << y; });
        })
        .Case([&](arith::SubIOp) {
          integers([](uint32_t x, uint32_t y) { return x - y; });
        })
        .Case([&](arith::AddIOp) {
          integers([](uint32_t x, uint32_t y) { return x + y; });
        })
        .Case([&](arith::AndIOp) {
          integers([](uint32_t x, uint32_t y) { return x & y; });
        })
        .Case([&](arith::OrIOp) {
          integers([](uint32_t x, uint32_t y) { return x | y; });
        })
        .Default([&](Operation *op) {
          ADD_FAILURE() << "an operation that the interpreter does not know: "
                        << op->getName().getStringRef().str();
        });
  }
  initial.resize(places.size());
  for (auto [slot, value] : constants)
    initial[slot] = value;
  slots = initial;
}

float ScalarInterpreter::operator()(
    std::initializer_list<float> arguments) const {
  unsigned next = 0;
  for (float argument : arguments)
    slots[next++] = llvm::bit_cast<uint32_t>(argument);
  for (const auto &step : steps)
    step(slots, approximation);
  return asFloat(slots[result]);
}

} // namespace tegula::test
