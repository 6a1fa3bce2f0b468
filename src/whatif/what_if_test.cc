#include "whatif/what_if.h"

#include <gtest/gtest.h>

#include "whatif/changes.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

// Eight nodes with one core each, all cordoned, and a gang of eight pods.
CompletedObjects CordonedCluster() {
  objects::ObjectSet objects =
      objects::MustLoad(EightNodes("cpu: 1") + GangOf("gang", 8, "cpu: 1", ""));
  for (objects::Node& node : objects.nodes) node.unschedulable = true;
  return CompleteObjects(std::move(objects)).value();
}

void UncordonAll(objects::ObjectSet& objects) {
  for (objects::Node& node : objects.nodes) node.unschedulable = false;
}

TEST(WhatIf, DecidesOnTheChangedObjects) {
  const CompletedObjects objects = CordonedCluster();
  const auto changed = WhatIf(objects, UncordonAll, DefaultSchedulerConfig(), {});
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(changed->result.binds.size(), 8U);
  EXPECT_EQ(changed->cluster.state->workload()
                .job(*changed->cluster.state->workload().FindJob("default/gang-gang"))
                .phase,
            JobPhase::kRunning);
}

TEST(WhatIf, LeavesTheGivenObjectsUnchanged) {
  const CompletedObjects objects = CordonedCluster();
  ASSERT_TRUE(WhatIf(objects, UncordonAll, DefaultSchedulerConfig(), {}));
  const auto unchanged = WhatIf(objects, [](objects::ObjectSet&) {}, DefaultSchedulerConfig(), {});
  ASSERT_TRUE(unchanged) << unchanged.error().message;
  EXPECT_TRUE(unchanged->result.binds.empty());
}

TEST(WhatIf, FailsWhenTheConfigurationIsInvalid) {
  SchedulerConfig config = DefaultSchedulerConfig();
  config.actions.front().name = "no-such-action";
  const auto outcome = WhatIf(CordonedCluster(), UncordonAll, config, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace strata
