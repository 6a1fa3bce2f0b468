#include "explain/job_names.h"

#include <gtest/gtest.h>

#include "whatif/test_support.h"

namespace strata {
namespace {

TEST(JobNames, AJobIsFoundByItsOwnNameAndByThatOfItsPodGroup) {
  const Outcome run = Simulate(EightNodes("cpu: 1") + GangOf("t", 2, "cpu: 1", ""));
  EXPECT_EQ(FindJobByName(run.cluster, "default/t").value(), "default/t-t");
  EXPECT_EQ(FindJobByName(run.cluster, "default/t-t").value(), "default/t-t");
}

TEST(JobNames, AnUnknownJobIsOneLineWithTheNearestNames) {
  const Outcome run = Simulate(EightNodes("cpu: 1") + GangOf("train", 1, "cpu: 1", "") +
                               GangOf("serve", 1, "cpu: 1", ""));
  EXPECT_EQ(FindJobByName(run.cluster, "default/trian").error().message,
            "no job default/trian: nearest are default/train, default/serve, default/train-train "
            "(and 1 more)");
  const Outcome none = Simulate(EightNodes("cpu: 1"));
  EXPECT_EQ(FindJobByName(none.cluster, "a/b").error().message, "no job a/b: there are no jobs");
}

}  // namespace
}  // namespace strata
