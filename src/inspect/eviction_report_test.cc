#include "inspect/eviction_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/timestamp.h"

namespace strata::inspect {
namespace {

using testing::SizeIs;

ListedObject Event(const std::string& kind,
                   const std::string& name,
                   const std::string& reason,
                   const std::string& message,
                   const std::string& time) {
  return {{"ml", name},
          R"({"kind":"Event","involvedObject":{"kind":")" + kind +
              R"(","namespace":"ml","name":")" + name + R"("},"lastTimestamp":")" + time +
              R"(","reason":")" + reason + R"(","message":")" + message + R"("})"};
}

std::vector<EvictionLine> SomeEvictions() {
  return MakeEvictionReport(
      {Event("PodGroup",
             "wide",
             "Evict",
             "gangpreempt: 3 of 3 pods, for ml/train in HyperNode s0 (tier 1)",
             "2026-01-01T00:00:30Z"),
       Event(
           "PodGroup", "old", "Evict", "reclaim: 1 of 4 pods, for ml/fair", "2026-01-01T00:00:10Z"),
       Event("PodGroup", "volcano", "Evict", "preempt", "2026-01-01T00:00:20Z"),
       Event("PodGroup", "train", "Evicting", "1 gang, 3 pods", "2026-01-01T00:00:30Z"),
       Event("Pod", "wide-0", "Evict", "Pod is evicted", "2026-01-01T00:00:30Z"),
       {{"ml", "broken"}, "["}});
}

TEST(EvictionReport, ReadsWhoWentForWhomOldestFirst) {
  const std::vector<EvictionLine> lines = SomeEvictions();
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[0].evicted, "ml/old");
  EXPECT_EQ(lines[0].action, "reclaim");
  EXPECT_EQ(lines[0].claimant, "ml/fair");
  EXPECT_EQ(lines[0].where, "");
  EXPECT_EQ(lines[1].action, "preempt");
  EXPECT_EQ(lines[1].pods, "") << "Volcano's events name the action alone";
  EXPECT_EQ(lines[2].pods, "3 of 3");
  EXPECT_EQ(lines[2].claimant, "ml/train");
  EXPECT_EQ(lines[2].where, "HyperNode s0 (tier 1)");
}

TEST(EvictionReport, AGangThatIsTakenBackGoesForNobody) {
  const auto lines = MakeEvictionReport(
      {Event("PodGroup",
             "half",
             "Evict",
             "gangpreempt: 2 of 4 pods, since only 2 of its 4 pods have nodes, and there is no "
             "room for the rest of the gang",
             "2026-01-01T00:00:30Z")});
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].pods, "2 of 4");
  EXPECT_EQ(lines[0].claimant, "");
}

TEST(EvictionReport, IsATable) {
  EXPECT_EQ(RenderEvictions(SomeEvictions(), *ParseTimestamp("2026-01-01T00:01:00Z"), {}),
            "AGE  ACTION       EVICTED     PODS    FOR       IN\n"
            "50s  reclaim      ml/old      1 of 4  ml/fair   -\n"
            "40s  preempt      ml/volcano  -       -         -\n"
            "30s  gangpreempt  ml/wide     3 of 3  ml/train  HyperNode s0 (tier 1)\n");
  EXPECT_THAT(RenderEvictions({}, Time{}, {}), testing::StartsWith("No evictions among"));
}

TEST(EvictionReport, IsJson) {
  EXPECT_THAT(RenderEvictionsJson(SomeEvictions()), testing::HasSubstr(R"("for": "ml/train")"));
  EXPECT_EQ(RenderEvictionsJson({}), "{\n  \"evictions\": []\n}\n");
}

}  // namespace
}  // namespace strata::inspect
