#include "codegen/SplitVectors.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Pass.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace llvm;

/// The function after the pass, as text without blank lines.
static std::string split(const std::string &text) {
  LLVMContext context;
  SMDiagnostic error;
  std::unique_ptr<Module> module = parseAssemblyString(text, error, context);
  if (!module)
    return error.getMessage().str();
  legacy::PassManager passes;
  passes.add(tegula::createSplitVectorsPass());
  passes.run(*module);
  std::string result;
  raw_string_ostream os(result);
  if (!verifyModule(*module, &os))
    module->functions().begin()->print(os);
  return result;
}

TEST(SplitVectors, FragmentInALoop) {
  EXPECT_EQ(split(R"(
define <2 x float> @f(<2 x float> %x, i1 %more) {
entry:
  br label %loop
loop:
  %sum = phi <2 x float> [ splat (float 1.0), %entry ], [ %next, %loop ]
  %product = fmul contract <2 x float> %sum, %x
  %next = call nnan <2 x float> @llvm.fma.v2f32(<2 x float> %product, <2 x float> <float 2.0, float 3.0>, <2 x float> %sum)
  br i1 %more, label %loop, label %done
done:
  ret <2 x float> %next
}
declare <2 x float> @llvm.fma.v2f32(<2 x float>, <2 x float>, <2 x float>)
)"),
            R"(define <2 x float> @f(<2 x float> %x, i1 %more) {
entry:
  %0 = extractelement <2 x float> %x, i64 0
  %1 = extractelement <2 x float> %x, i64 1
  br label %loop

loop:                                             ; preds = %loop, %entry
  %2 = phi float [ 1.000000e+00, %entry ], [ %6, %loop ]
  %3 = phi float [ 1.000000e+00, %entry ], [ %7, %loop ]
  %4 = fmul contract float %2, %0
  %5 = fmul contract float %3, %1
  %6 = call nnan float @llvm.fma.f32(float %4, float 2.000000e+00, float %2)
  %7 = call nnan float @llvm.fma.f32(float %5, float 3.000000e+00, float %3)
  br i1 %more, label %loop, label %done

done:                                             ; preds = %loop
  %8 = insertelement <2 x float> poison, float %6, i64 0
  %9 = insertelement <2 x float> %8, float %7, i64 1
  ret <2 x float> %9
}
)");
}

TEST(SplitVectors, TwoElementsOf16BitsShareARegister) {
  EXPECT_EQ(split(R"(
define i32 @f(float %a, float %b, float %c) {
  %v0 = insertelement <3 x float> poison, float %a, i64 0
  %v1 = insertelement <3 x float> %v0, float %b, i64 1
  %v2 = insertelement <3 x float> %v1, float %c, i64 2
  %packed = fptrunc <3 x float> %v2 to <3 x bfloat>
  %same = freeze <3 x bfloat> %packed
  %pair = shufflevector <3 x bfloat> %same, <3 x bfloat> poison, <2 x i32> <i32 0, i32 1>
  %bits = bitcast <2 x bfloat> %pair to i32
  ret i32 %bits
}
)"),
            R"(define i32 @f(float %a, float %b, float %c) {
  %1 = insertelement <2 x float> poison, float %a, i64 0
  %2 = insertelement <2 x float> %1, float %b, i64 1
  %3 = fptrunc <2 x float> %2 to <2 x bfloat>
  %4 = fptrunc float %c to bfloat
  %5 = freeze <2 x bfloat> %3
  %6 = freeze bfloat %4
  %bits = bitcast <2 x bfloat> %5 to i32
  ret i32 %bits
}
)");
}

TEST(SplitVectors, MemoryKeepsItsVectors) {
  EXPECT_EQ(split(R"(
define void @f(ptr %p) {
  %v = load <2 x i32>, ptr %p
  %w = add <2 x i32> %v, <i32 1, i32 2>
  store <2 x i32> %w, ptr %p
  store <2 x i32> %v, ptr %p
  ret void
}
)"),
            R"(define void @f(ptr %p) {
  %v = load <2 x i32>, ptr %p, align 8
  %1 = extractelement <2 x i32> %v, i64 0
  %2 = extractelement <2 x i32> %v, i64 1
  %3 = add i32 %1, 1
  %4 = add i32 %2, 2
  %5 = insertelement <2 x i32> poison, i32 %3, i64 0
  %6 = insertelement <2 x i32> %5, i32 %4, i64 1
  store <2 x i32> %6, ptr %p, align 8
  store <2 x i32> %v, ptr %p, align 8
  ret void
}
)");
}

namespace {
/// Programs of random operations on vectors of 5 or 8 elements; each value is stored.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random(seed), size(seed % 2 ? 5 : 8) {}

  std::string text() {
    body = "define void @f(ptr %in, ptr %out) {\n  %index = load i32, ptr %in\n  %flag = trunc i32 %index to i1\n";
    for (const char *element : {"i8", "i16", "i32", "float"}) {
      std::string address = define("getelementptr i8, ptr %in, i64 " + std::to_string(64 * ++sources));
      add(element, define("load " + vector(element) + ", ptr " + address + ", align 1"));
    }
    add("i1", define("icmp slt " + vector("i32") + " " + values["i32"][0] + ", zeroinitializer"));
    for (int i = 0; i < 60; ++i)
      step();
    return body + "  ret void\n}\n";
  }

private:
  unsigned below(unsigned bound) { return random() % bound; }
  std::string element() { return std::vector<std::string>{"i8", "i16", "i32", "float", "i1"}[below(5)]; }
  std::string vector(const std::string &element) { return "<" + std::to_string(size) + " x " + element + ">"; }
  std::string define(const std::string &operation) {
    std::string name = "%v" + std::to_string(numbered++);
    body += "  " + name + " = " + operation + "\n";
    return name;
  }
  void add(const std::string &element, const std::string &value) {
    values[element].push_back(value);
    body += "  store " + vector(element) + " " + value + ", ptr " + define("getelementptr i8, ptr %out, i64 " + std::to_string(64 * stored++)) +
            ", align 1\n";
  }
  /// With its type.
  std::string any(const std::string &element) { return vector(element) + " " + values[element][below(values[element].size())]; }

  void step() {
    std::string to = element(), index = std::to_string(below(size));
    bool isInteger = to != "float";
    std::string value = values[to][below(values[to].size())];
    switch (below(7)) {
    case 0:
      return add(to, define(std::string(isInteger ? below(2) ? "sub " : "xor " : below(2) ? "fsub " : "fmul ") + any(to) + ", " + value));
    case 1:
      return add("i1", define(std::string(isInteger ? "icmp ult " : "fcmp olt ") + any(to) + ", " + value));
    case 2:
      return add(to, define("select " + (below(2) ? any("i1") : "i1 %flag") + ", " + any(to) + ", " + any(to)));
    case 3: {
      std::string mask;
      for (unsigned i = 0; i < size; ++i)
        mask += (i ? ", i32 " : "i32 ") + std::to_string(below(2 * size));
      return add(to, define("shufflevector " + any(to) + ", " + any(to) + ", <" + std::to_string(size) + " x i32> <" + mask + ">"));
    }
    case 4: {
      std::string scalar = define("extractelement " + any(to) + ", i64 " + index);
      std::string at = below(3) ? index : define("urem i32 %index, " + std::to_string(size));
      return add(to, define("insertelement " + any(to) + ", " + to + " " + scalar + ", i32 " + at));
    }
    case 5:
      return isInteger ? add("float", define("sitofp " + any(to) + " to " + vector("float")))
                       : add("i32", define("bitcast " + any(to) + " to " + vector("i32")));
    default:
      return add("i16", below(2) ? define("trunc " + any("i32") + " to " + vector("i16")) : define("sext " + any("i8") + " to " + vector("i16")));
    }
  }

  std::mt19937 random;
  unsigned size, sources = 0, stored = 0, numbered = 0;
  std::string body;
  std::map<std::string, std::vector<std::string>> values;
};
} // namespace

TEST(SplitVectors, RandomProgramsComputeTheSame) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::string text = RandomProgram(seed).text(), outputs[2];
    for (bool isSplit : {false, true}) {
      auto context = std::make_unique<LLVMContext>();
      SMDiagnostic error;
      std::unique_ptr<Module> module = parseAssemblyString(text, error, *context);
      ASSERT_TRUE(module) << error.getMessage().str() << text;
      if (isSplit) {
        legacy::PassManager passes;
        passes.add(tegula::createSplitVectorsPass());
        passes.run(*module);
        ASSERT_FALSE(verifyModule(*module, &errs()));
      }
      auto jit = cantFail(orc::LLJITBuilder().create());
      cantFail(jit->addIRModule(orc::ThreadSafeModule(std::move(module), std::move(context))));
      auto *function = cantFail(jit->lookup("f")).toPtr<void (*)(const char *, char *)>();
      std::string input(64 * 5, 0);
      std::mt19937 random(seed);
      for (char &byte : input)
        byte = static_cast<char>(random());
      outputs[isSplit].resize(64 * 80);
      function(input.data(), outputs[isSplit].data());
    }
    EXPECT_EQ(outputs[0], outputs[1]) << "seed " << seed;
  }
}

TEST(SplitVectors, UsersThatNothingReaches) {
  EXPECT_EQ(split(R"(
define i32 @f(<2 x i32> %x) {
  %y = add <2 x i32> %x, splat (i32 1)
  %first = extractelement <2 x i32> %y, i64 0
  ret i32 %first
unreached:
  %sum = add <2 x i32> %y, %x
  %last = extractelement <2 x i32> %sum, i64 1
  ret i32 %last
}
)"),
            R"(define i32 @f(<2 x i32> %x) {
  %1 = extractelement <2 x i32> %x, i64 0
  %2 = extractelement <2 x i32> %x, i64 1
  %3 = add i32 %1, 1
  %4 = add i32 %2, 1
  ret i32 %3

unreached:                                        ; No predecessors!
  %sum = add <2 x i32> poison, %x
  %last = extractelement <2 x i32> %sum, i64 1
  ret i32 %last
}
)");
}

TEST(SplitVectors, ConditionsStandBesideTheirUsers) {
  EXPECT_EQ(split(R"(
define <2 x float> @f(<2 x float> %x, <2 x i1> %seen) {
  %small = fcmp olt <2 x float> %x, zeroinitializer
  %both = and <2 x i1> %small, %seen
  %y = select <2 x i1> %both, <2 x float> %x, <2 x float> zeroinitializer
  ret <2 x float> %y
}
)"),
            R"(define <2 x float> @f(<2 x float> %x, <2 x i1> %seen) {
  %1 = extractelement <2 x i1> %seen, i64 0
  %2 = extractelement <2 x i1> %seen, i64 1
  %3 = extractelement <2 x float> %x, i64 0
  %4 = extractelement <2 x float> %x, i64 1
  %5 = fcmp olt float %3, 0.000000e+00
  %6 = and i1 %5, %1
  %7 = select i1 %6, float %3, float 0.000000e+00
  %8 = fcmp olt float %4, 0.000000e+00
  %9 = and i1 %8, %2
  %10 = select i1 %9, float %4, float 0.000000e+00
  %11 = insertelement <2 x float> poison, float %7, i64 0
  %12 = insertelement <2 x float> %11, float %10, i64 1
  ret <2 x float> %12
}
)");
}
