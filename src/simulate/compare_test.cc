#include "simulate/compare.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/render_compare.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A side of a comparison with all it refers to.
struct Played {
  objects::ObjectSet objects;
  SchedulerConfig config;
  Outcome outcome;

  [[nodiscard]] ComparedSide Side(const std::string& name) const {
    return {.name = name,
            .objects = &objects,
            .config = &config,
            .outcome = &outcome,
            .name_of = [](const std::string& group) { return group; }};
  }
};

Played Play(const std::string& manifests,
            const SchedulerConfig& config = DefaultSchedulerConfig()) {
  return {.objects = objects::MustLoad(manifests),
          .config = config,
          .outcome = Simulate(manifests, {}, config)};
}

// Eight nodes of two GPUs each, and gangs that must be in one tier-2 HyperNode of four nodes.
const char* const kNode = "cpu: 8, pods: 9, nvidia.com/gpu: 2";
const char* const kOneGpu = "cpu: 1, nvidia.com/gpu: 1";

std::string Gangs(int count) {
  std::string text = EightNodes(kNode);
  for (int i = 0; i < count; ++i) {
    text += GangOf("g" + std::to_string(i), 5, kOneGpu, "mode: hard, highestTierAllowed: 2");
  }
  return text;
}

TEST(Compare, CountsJobsTiersAndStrandedGpus) {
  //   A: one gang of 5 in s4 or s5 (8 GPUs), B: two of them, and a third that has no place
  const Played a = Play(Gangs(1));
  const Played b = Play(Gangs(3));
  const Comparison found = Compare(a.Side("one"), b.Side("three"));
  EXPECT_EQ(found.a.placed, 1);
  EXPECT_EQ(found.b.placed, 2);
  EXPECT_EQ(found.b.waiting, 1);
  EXPECT_THAT(found.b.placed_by_tier, ElementsAre(testing::Pair(2, 2)));
  EXPECT_EQ(found.a.gpus.used, 5);
  EXPECT_EQ(found.a.gpus.stranded, 1);  // of five pods on nodes of two GPUs one is alone
  EXPECT_EQ(found.b.gpus.stranded, 2);
  EXPECT_THAT(found.objects, IsEmpty());
}

TEST(Compare, CountsJobsWithoutATopologyByWhereTheirPodsAre) {
  const Played one = Play(EightNodes(kNode) + GangOf("t", 1, kOneGpu, ""));
  const Played all = Play(EightNodes(kNode) + GangOf("t", 16, kOneGpu, ""));
  const Comparison found = Compare(one.Side("one"), all.Side("all"));
  EXPECT_THAT(found.a.placed_by_tier, ElementsAre(testing::Pair(1, 1)));
  EXPECT_THAT(found.b.placed_by_tier, ElementsAre(testing::Pair(3, 1)));
}

TEST(Compare, CountsJobsInNoHyperNodeLast) {
  const Played a = Play(
      "apiVersion: v1\nkind: Node\nmetadata: {name: alone}\n"
      "status: {allocatable: {cpu: 8, pods: 9}}\n---\n" +
      GangOf("t", 1, "cpu: 1", ""));
  const Played b = Play(EightNodes(kNode) + GangOf("t", 1, "cpu: 1", ""));
  EXPECT_THAT(RenderTable(Compare(a.Side("a"), b.Side("b")), {}),
              HasSubstr("    in tier 1     0   1   +1\n    in (cluster)  1   0   -1\n"));
}

TEST(Compare, ListsJobsThatStandOtherwise) {
  const Played a = Play(Gangs(2));
  const Played b = Play(Gangs(1));
  const Comparison found = Compare(a.Side("a"), b.Side("b"));
  ASSERT_EQ(found.jobs.size(), 1U);
  EXPECT_THAT(found.jobs.front().job, testing::StartsWith("default/g1"));
  EXPECT_EQ(ToText(found.jobs.front().after), "not there");
  EXPECT_THAT(RenderTable(found, {}), HasSubstr("1 job stands otherwise: 1 placed only in A, 0"));
}

TEST(Compare, SaysWhichSettingsDiffer) {
  SchedulerConfig other = DefaultSchedulerConfig();
  other.actions.push_back({"gangpreempt", {}});
  other.actions.back().arguments.Set("mode", std::string("strict"));
  ASSERT_FALSE(other.tiers.empty());
  other.tiers.front().front().switches["enablePreemptable"] = false;
  const std::string plugin = other.tiers.front().front().name;
  const Played a = Play(Gangs(1));
  Played b = Play(Gangs(1));
  b.config = other;
  const Comparison found = Compare(a.Side("a"), b.Side("b"));
  std::vector<std::string> names;
  for (const Comparison::Setting& one : found.settings) names.push_back(one.name);
  EXPECT_THAT(names,
              testing::UnorderedElementsAre(
                  "actions", "gangpreempt.arguments.mode", plugin + ".enablePreemptable"));
  EXPECT_THAT(RenderTable(found, {}),
              HasSubstr("gangpreempt.arguments.mode\n    A: -\n    B: strict\n"));
}

TEST(Compare, NamesObjectsThatOneSideLacks) {
  const Played a = Play(Gangs(1));
  const Played b = Play(Gangs(1) + "apiVersion: v1\nkind: Node\nmetadata: {name: extra}\n");
  const Comparison found = Compare(a.Side("a"), b.Side("b"));
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_THAT(found.objects.front().only_b, ElementsAre("extra"));
  EXPECT_THAT(RenderTable(found, {}), HasSubstr("only in B: 1 Node: extra\n"));
}

TEST(RenderCompare, TheSameTwiceDiffersInNothing) {
  const Played a = Play(Gangs(1));
  EXPECT_EQ(RenderTable(Compare(a.Side("x.yaml"), a.Side("x.yaml")), {}),
            R"(A: x.yaml
B: x.yaml

                A   B  B-A
nodes           8   8
GPUs           16  16
  used          5   5
  free         11  11
    stranded    1   1
jobs            1   1
  placed        1   1
    in tier 2   1   1
  waiting       0   0
pods bound      5   5

Every job stands the same in A and B.
)");
}

TEST(RenderCompare, LeavesOutGpusWhereThereAreNone) {
  const Played a = Play(EightNodes("cpu: 1") + GangOf("t", 2, "cpu: 1", ""));
  EXPECT_THAT(RenderTable(Compare(a.Side("a"), a.Side("a")), {}), Not(HasSubstr("GPU")));
}

TEST(RenderCompare, FitsATerminal) {
  const Played a = Play(Gangs(2));
  const Played b = Play(Gangs(1));
  const std::string text =
      RenderTable(Compare(a.Side("a"), b.Side("b")), {.colour = false, .width = 50, .fit = true});
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(DisplayWidth(text.substr(begin, end - begin)), 50U);
    begin = end + 1;
  }
}

TEST(RenderCompare, JsonHasStandingsAsValues) {
  const Played a = Play(Gangs(2));
  const Played b = Play(Gangs(1));
  const std::string json = RenderJson(Compare(a.Side("a"), b.Side("b")));
  EXPECT_THAT(json, HasSubstr(R"("b": {
        "state": "absent"
      })"));
  EXPECT_THAT(json, HasSubstr(R"("stranded": 1)"));
}

}  // namespace
}  // namespace strata
