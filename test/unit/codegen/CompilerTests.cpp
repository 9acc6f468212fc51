//===- CompilerTests.cpp - the facade: stages, statuses, diagnostics ------===//
//
// What the command line and the JIT rely on: every stage's text can be asked
// for and fed back, and every fault has its status and text.
//
//===----------------------------------------------------------------------===//
#include "codegen/Compiler.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace tegula;

static const char *const causal =
    "attention causal(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E]) -> (o: "
    "T[B,H,M,E], lse: f32[B,H,M]) {\n"
    "  static D = 64, E = 64, T = bf16\n"
    "  mask i + (N - M) >= j\n"
    "}\n";

struct Compile : testing::Test {
  Compiler compiler;
  CompileRequest request;
  Compile() {
    request.text = causal;
    request.name = "causal.tg";
  }
  CompileResult run(Stage stop) {
    request.stopAfter = stop;
    return compiler.compile(request);
  }
  CompileResult restart(Stage start, std::string text, Stage stop) {
    CompileRequest next = request;
    next.text = std::move(text);
    next.name = "saved";
    next.startFrom = start;
    next.stopAfter = stop;
    return compiler.compile(next);
  }
};

TEST_F(Compile, SourceToPtx) {
  CompileResult result = run(Stage::Ptx);
  ASSERT_TRUE(result) << result.diagnostics;
  EXPECT_EQ(result.form, "pipelined");
  EXPECT_NE(result.ptx.find(".visible .entry causal("), std::string::npos);
  EXPECT_EQ(result.text, result.ptx);
  EXPECT_EQ(result.times.size(), 5u);
  auto manifest = llvm::json::parse(result.manifest);
  ASSERT_TRUE(bool(manifest));
  llvm::json::Object &object = *manifest->getAsObject();
  EXPECT_EQ(object.getString("symbol"), "causal");
  EXPECT_EQ(object.getString("target"), "sm_90a");
  EXPECT_EQ(object.getString("form"), "pipelined");
  EXPECT_EQ(object.getInteger("version"), 1);
  EXPECT_EQ(object.getInteger("ptx_version"), 80);
}

TEST_F(Compile, EveryStageCanBeFedBack) {
  CompileResult whole = run(Stage::Ptx);
  ASSERT_TRUE(whole) << whole.diagnostics;
  for (Stage stage :
       {Stage::Attention, Stage::Tile, Stage::Warp, Stage::Nvvm, Stage::Ptx}) {
    CompileResult first = run(stage);
    ASSERT_TRUE(first) << first.diagnostics;
    CompileResult second = restart(stage, first.text, Stage::Ptx);
    ASSERT_TRUE(second) << stageName(stage).str() << ": " << second.diagnostics;
    EXPECT_EQ(second.ptx, whole.ptx) << stageName(stage).str();
  }
}

TEST_F(Compile, DumpsOneFileAStage) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tegula-dump", folder));
  request.dumpDir = std::string(folder);
  CompileResult result = run(Stage::Ptx);
  ASSERT_TRUE(result) << result.diagnostics;
  for (const char *name : {"01-attention.mlir", "02-tile.mlir", "03-warp.mlir",
                           "04-nvvm.mlir", "05-ptx.ptx"}) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    EXPECT_TRUE(llvm::sys::fs::exists(path)) << name;
  }
  llvm::sys::fs::remove_directories(folder);
}

TEST_F(Compile, SourceErrorsPointAtTheText) {
  request.text = llvm::StringRef(causal).trim().drop_back().str() +
                 "  score s + nope\n}\n";
  CompileResult result = run(Stage::Ptx);
  EXPECT_EQ(result.status, CompileStatus::UserError);
  EXPECT_EQ(result.diagnostics.find("causal.tg:4:13: error: "), 0u)
      << result.diagnostics;
  EXPECT_NE(result.diagnostics.find("^~~~"), std::string::npos)
      << result.diagnostics;
}

TEST_F(Compile, TextErrorsOfLaterStages) {
  CompileResult result =
      restart(Stage::Warp, "module { warp.nope }", Stage::Ptx);
  EXPECT_EQ(result.status, CompileStatus::UserError);
  EXPECT_EQ(result.diagnostics.find("saved:1:10: error: "), 0u)
      << result.diagnostics;

  result = restart(
      Stage::Nvvm,
      "llvm.func @k(%x: f32) attributes {nvvm.kernel, tegula.manifest = {}} "
      "{\n  %0 = llvm.intr.tanh(%x) : (f32) -> f32\n  llvm.return\n}",
      Stage::Ptx);
  EXPECT_EQ(result.status, CompileStatus::UserError);
  EXPECT_EQ(result.diagnostics.find(
                "saved:2:8: error: 'llvm.tanh' has no instruction in PTX"),
            0u)
      << result.diagnostics;

  result = restart(Stage::Ptx, ".version 8.0\n", Stage::Cubin);
  EXPECT_EQ(result.status, CompileStatus::UserError);
  EXPECT_EQ(result.diagnostics, "error: saved: expected PTX with a manifest in "
                                "a comment, as `--emit=ptx` writes it\n");
}

TEST_F(Compile, StagesThatDoNotGoTogether) {
  CompileResult result = restart(Stage::Nvvm, "module {}", Stage::Tile);
  EXPECT_EQ(result.status, CompileStatus::Usage);
  EXPECT_EQ(result.diagnostics,
            "error: stage `tile` cannot be reached from stage `nvvm`\n");
  result = restart(Stage::Warp, "module {}", Stage::Cpu);
  EXPECT_EQ(result.status, CompileStatus::Usage);
  request.target = "cpu";
  result = run(Stage::Ptx);
  EXPECT_EQ(result.status, CompileStatus::Usage);
  EXPECT_EQ(
      result.diagnostics,
      "error: stage `ptx` belongs to GPU targets, but the target is `cpu`\n");
}

TEST_F(Compile, UnknownTarget) {
  request.target = "sm_1";
  CompileResult result = run(Stage::Ptx);
  EXPECT_EQ(result.status, CompileStatus::UserError);
  EXPECT_EQ(result.diagnostics,
            "error: expected a known architecture (sm_90a), but got 'sm_1'\n");
}

TEST_F(Compile, CubinWithoutPtxas) {
  setenv("TEGULA_PTXAS", "/nowhere/ptxas", 1);
  CompileResult result = run(Stage::Cubin);
  EXPECT_EQ(result.status, CompileStatus::Lacks);
  EXPECT_EQ(result.diagnostics,
            "error: ptxas was not found: TEGULA_PTXAS names '/nowhere/ptxas', "
            "which is not a program\n");
  EXPECT_FALSE(result.ptx.empty());
  setenv("TEGULA_PTXAS", "/bin/false", 1);
  result = run(Stage::Cubin);
  EXPECT_EQ(result.status, CompileStatus::Internal);
  EXPECT_NE(result.diagnostics.find("error: ptxas ended with status "
                                    "1\ncommand: /bin/false -arch=sm_90a -v "),
            std::string::npos)
      << result.diagnostics;
  EXPECT_NE(result.diagnostics.find("error: internal: stage cubin failed; to "
                                    "see it again: tegula compile "),
            std::string::npos);
  unsetenv("TEGULA_PTXAS");
}

TEST_F(Compile, CubinOfTheChosenScheduleIsClean) {
  if (findPtxas().empty())
    GTEST_SKIP() << "ptxas was not found";
  CompileResult result = run(Stage::Cubin);
  ASSERT_TRUE(result) << result.diagnostics;
  EXPECT_EQ(result.diagnostics, "");
  // Outside of the block loop.
  EXPECT_LE(result.assembler.spillStores, 384u);
  EXPECT_GT(result.assembler.registers, 0u);
  EXPECT_EQ(llvm::json::parse(result.manifest)
                ->getAsObject()
                ->getInteger("registers"),
            result.assembler.registers);
}

TEST_F(Compile, EveryMathFunctionEndsInPtx) {
  for (const char *score :
       {"log(exp(tanh(s)))", "sqrt(abs(s)) + rsqrt(abs(s) + 1.0)",
        "pow(s, 2.5)", "exp2(log2(s))", "min(max(s, -1.0), 1.0)",
        "s + f32((i - j) / 3 + (i - j) % 5)"})
    for (const char *form : {"form=pipelined", "form=direct"}) {
      request.text = llvm::StringRef(causal).trim().drop_back().str() +
                     "  score " + score + "\n}\n";
      request.schedule = {form};
      CompileResult result = run(Stage::Ptx);
      EXPECT_TRUE(result) << score << " " << form << ": " << result.diagnostics;
    }
}
