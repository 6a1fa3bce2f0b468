#include "defrag/render_plan.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

DefragPlan SomePlan() {
  DefragPlan plan;
  plan.possible = true;
  plan.target = {{"s1", 1}};
  plan.nodes = {"node2", "node3"};
  plan.moves = {{.group = "default/a-7d1c",
                 .whole_gang = true,
                 .pods = {{"default/a-0", "node2", "node4"}, {"default/a-1", "node3", "node5"}},
                 .from = {"s1", 1},
                 .to = {"s2", 1},
                 .lost_work = 7'200'000}};
  plan.pod = {{"cpu", Quantity::Parse("1").value()}};
  plan.largest = {{.tier = 1, .tier_name = "leaf", .before = 2, .after = 4},
                  {.tier = 2, .tier_name = "", .before = 9, .after = 9}};
  return plan;
}

PlanWords Words() {
  return {.before = "default/big can start in ",
          .behind = "",
          .name_of = [](const std::string& group) { return group.substr(0, group.find('-')); }};
}

TEST(RenderPlan, TellsTheStepsAndHowToTakeThem) {
  EXPECT_EQ(
      RenderTable(SomePlan(), Words(), TextStyle{}),
      R"(default/big can start in s1 (tier 1) once 2 pods have moved in 1 step: 1 gang stops meanwhile, and
2.0 GPU hours of work begin again from their last checkpoint.

STEP  JOB        PODS  MOVES  FROM         TO           GPU HOURS LOST
   1  default/a     2  gang   s1 (tier 1)  s2 (tier 1)             2.0

Largest gang of pods of cpu=1:

TIER    BEFORE  AFTER
1 leaf       2      4
any          9      9

To carry it out, keep others off the room that is made:
kubectl cordon node2 node3
Then take one step at a time: delete the pods of the step, and wait until those that replace them
run. -o json names the pods. At the end:
kubectl uncordon node2 node3
This command has changed nothing.
)");
}

TEST(RenderPlan, SaysWhyThereIsNone) {
  DefragPlan plan;
  plan.reason = "no moves make room for it";
  plan.pod = {{"cpu", Quantity::Parse("1").value()}};
  plan.largest = {{.tier = 1, .tier_name = "", .before = 3, .after = 3}};
  EXPECT_EQ(RenderTable(plan, Words(), TextStyle{}), R"(No plan: no moves make room for it.

Largest gang of pods of cpu=1:

TIER  BEFORE  AFTER
any        3      3
)");
}

TEST(RenderPlan, HasEveryMoveInJson) {
  const std::string json = RenderJson(SomePlan(), Words());
  EXPECT_NE(json.find(R"("job": "default/a",)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("podGroup": "default/a-7d1c",)"), std::string::npos);
  EXPECT_NE(json.find(R"("lostGpuSeconds": 7200,)"), std::string::npos);
  EXPECT_NE(json.find(R"("to": "node5")"), std::string::npos);
}

}  // namespace
}  // namespace strata
