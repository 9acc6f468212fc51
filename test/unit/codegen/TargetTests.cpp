#include "codegen/Target.h"
#include <gtest/gtest.h>

using namespace tegula;

TEST(Target, Hopper) {
  std::string message;
  const Target *target = lookupTarget("sm_90a", message);
  ASSERT_TRUE(target);
  EXPECT_EQ(target, &defaultTarget());
  EXPECT_EQ(target->sharedPerBlock, 232448u);
  EXPECT_EQ(target->ptxVersion, 80u);
}

TEST(Target, UnknownNameListsTheKnown) {
  std::string message;
  EXPECT_FALSE(lookupTarget("sm_75", message));
  EXPECT_EQ(message, "expected a known architecture (sm_90a), but got 'sm_75'");
}

TEST(Target, PtxVersionOfAssembly) {
  EXPECT_EQ(ptxVersionNeeded("wgmma.fence.sync.aligned;"), 0u);
  EXPECT_EQ(
      ptxVersionNeeded("cp.async.bulk.tensor.4d.shared::cluster.global.tile."
                       "mbarrier::complete_tx::bytes [$0], [$1], [$2];"),
      0u);
  EXPECT_EQ(ptxVersionNeeded("cp.async.bulk.shared::cta.global.mbarrier::"
                             "complete_tx::bytes [$0], [$1], 16, [$2];"),
            86u);
}
