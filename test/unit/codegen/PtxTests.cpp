#include "codegen/Ptx.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include <gtest/gtest.h>

using namespace mlir;

struct Ptx : testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  std::string message, llvmIr;
  Ptx() { context.loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>(); }

  FailureOr<tegula::PtxCode> emit(const std::string &text) {
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return failure();
    tegula::PtxOptions options;
    options.llvmIr = &llvmIr;
    return tegula::emitPtx(*module, options);
  }
  FailureOr<tegula::PtxCode> emitBody(const std::string &body) {
    return emit("llvm.func @k(%x: f32, %n: i32, %p: !llvm.ptr<1>) attributes "
                "{nvvm.kernel, denormal_fp_math_f32 = \"preserve-sign\"} {\n" +
                body + "\n llvm.return }");
  }
};

TEST_F(Ptx, Kernel) {
  auto code = emitBody("%0 = llvm.intr.exp2(%x) : (f32) -> f32  llvm.store %0, "
                       "%p : f32, !llvm.ptr<1>");
  ASSERT_TRUE(succeeded(code));
  EXPECT_EQ(code->symbol, "k");
  EXPECT_EQ(code->ptxVersion, 80u);
  EXPECT_NE(code->text.find(".version 8.0\n.target sm_90a\n"),
            std::string::npos);
  EXPECT_NE(code->text.find(".visible .entry k("), std::string::npos);
  EXPECT_NE(code->text.find("ex2.approx.ftz.f32"), std::string::npos);
}

/// What takes most of the time of a compilation is which passes run, and on what.
TEST_F(Ptx, Passes) {
  const char *arguments[] = {"CodegenTests", "--debug-pass=Structure"};
  llvm::cl::ParseCommandLineOptions(2, arguments);
  testing::internal::CaptureStderr();
  ASSERT_TRUE(succeeded(emitBody("")));
  std::string passes = testing::internal::GetCapturedStderr();
  llvm::cl::ResetAllOptionOccurrences();
  auto count = [&](llvm::StringRef name) { return llvm::StringRef(passes).count("      " + name.str() + "\n"); };
  EXPECT_EQ(count("Straight line strength reduction"), 0u) << passes;
  EXPECT_EQ(count("Canonicalize Freeze Instructions in Loops"), 0u);
  EXPECT_EQ(count("GPU Load and Store Vectorizer"), 0u);
  EXPECT_EQ(count("Early CSE"), 1u);
  EXPECT_EQ(count("Split vectors"), 1u);
  EXPECT_LT(passes.find("CodeGen Prepare"), passes.find("Split vectors"));
  EXPECT_LT(passes.find("Split vectors"), passes.find("NVPTX DAG->DAG Pattern Instruction Selection"));
}

TEST_F(Ptx, AssemblyIsConvergent) {
  ASSERT_TRUE(
      succeeded(emitBody("llvm.inline_asm has_side_effects asm_dialect = att "
                         "\"bar.sync 1, 128;\", \"\" : () -> ()")));
  EXPECT_NE(llvmIr.find("attributes #1 = { convergent nounwind }"),
            std::string::npos)
      << llvmIr;
}

TEST_F(Ptx, VersionFollowsAssembly) {
  auto code = emitBody(
      "llvm.inline_asm has_side_effects asm_dialect = att "
      "\"st.bulk.weak.shared::cta [$0], 16, 0;\", \"r\" %n : (i32) -> ()");
  ASSERT_TRUE(succeeded(code));
  EXPECT_EQ(code->ptxVersion, 86u);
  EXPECT_NE(code->text.find(".version 8.6\n"), std::string::npos);
}

TEST_F(Ptx, RefusesIntrinsicsThatDoNotSelect) {
  for (const char *name :
       {"exp", "exp10", "log", "log2", "log10", "tanh", "sin", "cos", "tan",
        "asin", "acos", "atan", "sinh", "cosh"}) {
    EXPECT_TRUE(failed(emitBody("%0 = llvm.intr." + std::string(name) +
                                "(%x) : (f32) -> f32")))
        << name;
    EXPECT_EQ(message, "'llvm." + std::string(name) +
                           "' has no instruction in PTX; expected it to be "
                           "legalised before code generation");
  }
  EXPECT_TRUE(
      failed(emitBody("%0 = llvm.intr.pow(%x, %x) : (f32, f32) -> f32")));
  EXPECT_TRUE(
      failed(emitBody("%0 = llvm.intr.powi(%x, %n) : (f32, i32) -> f32")));
  EXPECT_TRUE(failed(emitBody(
      "%0 = llvm.call_intrinsic \"llvm.tanh.f32\"(%x) : (f32) -> f32")));
  EXPECT_EQ(message, "'llvm.tanh' has no instruction in PTX; expected it to be "
                     "legalised before code generation");
  EXPECT_TRUE(failed(emitBody("%0 = llvm.fpext %x : f32 to f64  %1 = "
                              "llvm.intr.exp2(%0) : (f64) -> f64")));
  EXPECT_EQ(message, "'llvm.exp2' has no instruction in PTX for f64");
}

TEST_F(Ptx, RefusesWhatPtxLacks) {
  EXPECT_TRUE(failed(emitBody("%0 = llvm.fpext %x : f32 to f128")));
  EXPECT_EQ(message, "type 'f128' has no form in PTX");
  EXPECT_TRUE(failed(
      emitBody("%0 = llvm.call_intrinsic \"llvm.no.such\"() : () -> f32")));
  EXPECT_EQ(message, "'llvm.no.such' is not an intrinsic of LLVM");
  EXPECT_TRUE(failed(
      emitBody("%0 = builtin.unrealized_conversion_cast %n : i32 to f32")));
  EXPECT_EQ(message,
            "expected only llvm and nvvm operations before code generation, "
            "but got 'builtin.unrealized_conversion_cast'");
  EXPECT_TRUE(failed(emit("llvm.func @expf(f32) -> f32  llvm.func @k(%x: f32) "
                          "attributes {nvvm.kernel} { %0 = llvm.call @expf(%x) "
                          ": (f32) -> f32  llvm.return }")));
  EXPECT_EQ(message, "call of 'expf', which has no body; there is no library "
                     "to link a kernel with");
  EXPECT_TRUE(failed(emit("llvm.func @k() { llvm.return }")));
  EXPECT_EQ(message, "expected a function with 'nvvm.kernel' in the module");
}

TEST_F(Ptx, SurvivesFatalErrorsOfLlvm) {
  EXPECT_TRUE(failed(emitBody(
      "llvm.call_intrinsic \"llvm.nvvm.tcgen05.wait.ld\"() : () -> ()")));
  EXPECT_EQ(
      message,
      "code generation: Cannot select: intrinsic %llvm.nvvm.tcgen05.wait.ld");
  EXPECT_TRUE(failed(emitBody(
      "%0 = llvm.inline_asm asm_dialect = att \"mov.b32 $0, $7;\", \"=f,f\" %x "
      ": (f32) -> f32  llvm.store %0, %p : f32, !llvm.ptr<1>")));
  EXPECT_EQ(message, "code generation: Invalid $ operand number in inline asm "
                     "string: 'mov.b32 $0, $7;'");
  EXPECT_TRUE(failed(emitBody(
      "%0 = llvm.inline_asm asm_dialect = att \"mov.b32 $0, $1;\", \"=x,f\" %x "
      ": (f32) -> f32  llvm.store %0, %p : f32, !llvm.ptr<1>")));
  EXPECT_EQ(
      message,
      "code generation: couldn't allocate output register for constraint 'x'");
  EXPECT_TRUE(succeeded(emitBody("")));
}
