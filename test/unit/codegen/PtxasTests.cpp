#include "codegen/Ptxas.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace tegula;

TEST(Ptxas, ReadsReport) {
  PtxasFacts facts = parsePtxasLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'fa' for 'sm_90a'\n"
      "ptxas info    : Function properties for fa\n"
      "    40 bytes stack frame, 24 bytes spill stores, 36 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 16 barriers, 40 bytes "
      "cumulative stack size, 2048 bytes smem\n"
      "ptxas info    : Compile time = 209.548 ms\n");
  EXPECT_EQ(facts.registers, 168u);
  EXPECT_EQ(facts.barriers, 16u);
  EXPECT_EQ(facts.stackBytes, 40u);
  EXPECT_EQ(facts.spillStores, 24u);
  EXPECT_EQ(facts.spillLoads, 36u);
  EXPECT_EQ(facts.sharedBytes, 2048u);
  EXPECT_TRUE(facts.notes.empty());
}

TEST(Ptxas, TellsSerialisingNotesFromRemarks) {
  PtxasFacts facts =
      parsePtxasLog("ptxas info    : (C7513) Potential Performance Loss: "
                    "wgmma.mma_async instructions are serialized due to "
                    "non wgmma instructions defining accumulator registers of "
                    "a wgmma in function 'fa'\n"
                    "ptxas info    : (C7517) wgmma.mma_async: a "
                    "warpgroup.arrive was injected in around line 5\n"
                    "ptxas info    : (C7510) Potential Performance Loss: "
                    "wgmma.mma_async instructions are serialized due to x\n");
  ASSERT_EQ(facts.notes.size(), 3u);
  EXPECT_EQ(facts.notes[0].number, 7513u);
  EXPECT_TRUE(facts.notes[0].serialises);
  EXPECT_FALSE(facts.notes[1].serialises);
  EXPECT_TRUE(facts.notes[2].serialises);
}

TEST(Ptxas, MissingHasItsOwnStatus) {
  setenv("TEGULA_PTXAS", "/nowhere/ptxas", 1);
  PtxasResult result = assemblePtx(".version 8.0\n");
  EXPECT_EQ(result.status, PtxasStatus::Missing);
  EXPECT_EQ(result.message, "ptxas was not found: TEGULA_PTXAS names "
                            "'/nowhere/ptxas', which is not a program");
  unsetenv("TEGULA_PTXAS");
}

TEST(Ptxas, FailureGivesCommandAndLog) {
  if (findPtxas().empty())
    GTEST_SKIP() << "ptxas was not found";
  PtxasResult result = assemblePtx(".version 8.0\n.target sm_90a\nnonsense\n");
  EXPECT_EQ(result.status, PtxasStatus::Failed);
  EXPECT_NE(result.command.find(" -arch=sm_90a "), std::string::npos);
  EXPECT_NE(result.log.find("Parsing error"), std::string::npos) << result.log;
  EXPECT_EQ(result.message.find("ptxas ended with status "), 0u);
}

TEST(Ptxas, ProgramThatCannotRun) {
  setenv("TEGULA_PTXAS", "/bin/false", 1);
  PtxasResult result = assemblePtx(".version 8.0\n");
  EXPECT_EQ(result.status, PtxasStatus::Failed);
  EXPECT_EQ(result.message, "ptxas ended with status 1");
  unsetenv("TEGULA_PTXAS");
}
