#include "sched/plugins/nodegroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

constexpr const char* kNoGroup = "node(s) had no node group";
constexpr const char* kNotNamed = "node(s) had a node group the queue does not name";
constexpr const char* kKeptOff = "node(s) had a node group that the queue excludes";
constexpr const char* kNoMore = "node(s) had a node group whose limit the queue has reached";

// Four nodes: two in groups of their own, one in a third group, one in none.
struct GroupCluster : TestCluster {
  GroupCluster() {
    for (const char* name : {"fast", "slow", "test"}) AddIn(name);
    AddNode("lone", {.cpu = 8, .memory = 8});
  }
  NodeId AddIn(const std::string& group) {
    NodeSpec node;
    node.name = group;
    node.labels = {{std::string(kNodeGroupLabel), group}};
    node.allocatable = Amounts({.cpu = 8, .memory = 8}, 110);
    return AddNode(std::move(node));
  }
  QueueId AddTermed(const std::string& name,
                    NodeGroupTerms terms,
                    const std::string& parent = "root") {
    QueueSpec spec;
    spec.name = name;
    spec.parent = parent;
    spec.node_groups = std::move(terms);
    return state.workload().UpsertQueue(std::move(spec));
  }
  // The class of a pod of one core in a job of the queue.
  const ClassSpec& PodIn(const std::string& queue) {
    const TaskId task = AddTask(AddJob("ns/" + queue, queue), {.cpu = 1});
    return state.classes().spec(state.workload().task(task).class_id);
  }
  [[nodiscard]] NodeId At(const char* node) const { return *state.nodes().Find(node); }
};

const NodeFilterPoint& Filter(const TestPlugin& plugin) {
  return plugin.As<NodeFilterPoint>();
}

// For the nodes fast, slow, test and lone: "" where the pod may go.
std::vector<std::string> Refusals(const TestPlugin& plugin,
                                  const GroupCluster& groups,
                                  const ClassSpec& pod) {
  std::vector<std::string> refusals;
  for (const char* node : {"fast", "slow", "test", "lone"}) {
    const bool admitted = Filter(plugin).AdmitsSpec(groups.state, pod, groups.At(node));
    refusals.push_back(admitted ? "" : Filter(plugin).Reason(groups.state, pod, groups.At(node)));
  }
  return refusals;
}

std::vector<double> GroupScores(const TestPlugin& plugin,
                                const GroupCluster& groups,
                                const ClassSpec& pod) {
  std::vector<NodeId> nodes;
  for (const char* node : {"fast", "slow", "test", "lone"}) nodes.push_back(groups.At(node));
  std::vector<Score> scores(nodes.size());
  plugin.As<NodeScorePoint>().ScoreNodes(groups.state, pod, nodes, scores);
  std::vector<double> values;
  for (const Score score : scores) values.push_back(ToDouble(score));
  return values;
}

TEST(Nodegroup, PodsGoToGroupsThatTheirQueueRequiresOrPrefers) {
  GroupCluster groups;
  groups.AddTermed("q", {.required = {"fast"}, .preferred = {"slow"}});
  const TestPlugin plugin = OpenPlugin(groups, "nodegroup");
  const ClassSpec& pod = groups.PodIn("q");
  EXPECT_THAT(Refusals(plugin, groups, pod), ElementsAre("", "", kNotNamed, kNoGroup));
  EXPECT_THAT(GroupScores(plugin, groups, pod), ElementsAre(100, 50, 0, 0));
}

TEST(Nodegroup, AntiAffinityForbidsWhenRequiredAndLowersTheScoreWhenPreferred) {
  GroupCluster groups;
  groups.AddTermed("q",
                   {.required = {"fast", "slow"},
                    .anti_required = {"slow"},
                    .anti_preferred = {"fast", "test"}});
  const TestPlugin plugin = OpenPlugin(groups, "nodegroup");
  const ClassSpec& pod = groups.PodIn("q");
  EXPECT_THAT(Refusals(plugin, groups, pod), ElementsAre("", kKeptOff, "", kNoGroup));
  EXPECT_THAT(GroupScores(plugin, groups, pod), ElementsAre(-1, 100, -1, 0));
}

TEST(Nodegroup, AForbiddenGroupStaysForbiddenWhenItIsAlsoDiscouraged) {
  GroupCluster groups;
  groups.AddTermed("q", {.anti_required = {"fast"}, .anti_preferred = {"fast"}});
  EXPECT_EQ(Refusals(OpenPlugin(groups, "nodegroup"), groups, groups.PodIn("q"))[0], kKeptOff);
}

TEST(Nodegroup, AGroupThatIsBothRequiredAndPreferredScoresBoth) {
  GroupCluster groups;
  groups.AddTermed("q", {.required = {"fast"}, .preferred = {"fast"}});
  EXPECT_EQ(GroupScores(OpenPlugin(groups, "nodegroup"), groups, groups.PodIn("q"))[0], 150);
}

TEST(Nodegroup, PreferredGroupsScoreByTheirPlaceIfAsked) {
  GroupCluster groups;
  groups.AddTermed("q", {.preferred = {"slow", "test", "fast"}});
  const TestPlugin plugin = OpenPlugin(groups, "nodegroup", {{"enablePreferredOrder", true}});
  EXPECT_THAT(
      GroupScores(plugin, groups, groups.PodIn("q")),
      ElementsAre(
          ::testing::DoubleNear(50.0 / 3, 1e-9), 50, ::testing::DoubleNear(100.0 / 3, 1e-9), 0));
}

TEST(Nodegroup, AQueueWithoutTermsUsesNodesOfNoGroupUnlessStrict) {
  GroupCluster groups;
  groups.AddQueue("plain");
  const ClassSpec& pod = groups.PodIn("plain");
  EXPECT_THAT(Refusals(OpenPlugin(groups, "nodegroup"), groups, pod),
              ElementsAre(kNotNamed, kNotNamed, kNotNamed, kNoGroup));
  EXPECT_THAT(Refusals(OpenPlugin(groups, "nodegroup", {{"strict", false}}), groups, pod),
              ElementsAre(kNotNamed, kNotNamed, kNotNamed, ""));
}

TEST(Nodegroup, NotStrictSaysNothingOfQueuesWithTerms) {
  GroupCluster groups;
  groups.AddTermed("q", {.required = {"fast"}});
  EXPECT_EQ(
      Refusals(OpenPlugin(groups, "nodegroup", {{"strict", false}}), groups, groups.PodIn("q"))[3],
      kNoGroup);
}

Result<MadePlugin> Hierarchical(GroupCluster& groups) {
  const PluginConfig config{
      .name = "nodegroup", .switches = {{"enableHierarchy", true}}, .arguments = {}};
  return MakePlugin(config, groups.state.resource_names());
}

TEST(Nodegroup, ALeafInheritsFromTheNearestQueueThatHasTerms) {
  GroupCluster groups;
  groups.AddTermed("root", {.required = {"test"}}, "");
  groups.AddTermed("dept", {.required = {"fast"}});
  groups.AddTermed("team", {}, "dept");
  groups.AddTermed("leaf", {}, "team");
  groups.AddTermed("own", {.required = {"slow"}}, "team");
  auto made = Hierarchical(groups);
  const TestPlugin plugin{std::move(made->plugin), {}};
  EXPECT_THAT(Refusals(plugin, groups, groups.PodIn("leaf")),
              ElementsAre("", kNotNamed, kNotNamed, kNoGroup));
  EXPECT_THAT(Refusals(plugin, groups, groups.PodIn("own")),
              ElementsAre(kNotNamed, "", kNotNamed, kNoGroup));
  EXPECT_EQ(Refusals(OpenPlugin(groups, "nodegroup"), groups, groups.PodIn("leaf"))[0], kNotNamed)
      << "only with enableHierarchy";
}

TEST(Nodegroup, AQueueOnACycleInheritsWhatItMeets) {
  GroupCluster groups;
  groups.AddTermed("ring", {}, "other");
  groups.AddTermed("other", {.required = {"fast"}}, "ring");
  auto made = Hierarchical(groups);
  EXPECT_EQ(Refusals({std::move(made->plugin), {}}, groups, groups.PodIn("ring"))[0], "");
}

TEST(Nodegroup, ChangedTermsApplyToPendingPods) {
  GroupCluster groups;
  groups.AddTermed("q", {.required = {"fast"}});
  const TaskId task = groups.AddTask(groups.AddJob("ns/j", "q"), {.cpu = 1});
  const auto pod = [&]() -> const ClassSpec& {
    return groups.state.classes().spec(groups.state.workload().task(task).class_id);
  };
  const TestPlugin plugin = OpenPlugin(groups, "nodegroup");
  EXPECT_EQ(Refusals(plugin, groups, pod())[0], "");
  groups.AddTermed("q", {.required = {"slow"}});
  EXPECT_EQ(Refusals(plugin, groups, pod())[0], kNotNamed);
  groups.AddTermed("r", {.required = {"fast"}});
  groups.AddJob("ns/j", "r");
  EXPECT_EQ(Refusals(plugin, groups, pod())[0], "");
}

// One pod of a core runs in each of fast and slow; fast is limited to two cores.
struct Limited : GroupCluster {
  Limited() {
    QueueSpec spec;
    spec.name = "q";
    spec.node_groups.required = {"fast", "slow"};
    spec.node_group_limits["fast"] = {{kCpu, 2000}};
    state.workload().UpsertQueue(std::move(spec));
    job = AddJob("ns/q", "q");
    AddTask(job, {.cpu = 1}, "fast");
    AddTask(job, {.cpu = 1}, "slow");
  }
  JobId job;
};

TEST(Nodegroup, AQueueGetsNoMoreOfAGroupThanItsLimit) {
  Limited limited;
  const TestPlugin plugin = OpenPlugin(limited, "nodegroup");
  const auto& filter = plugin.As<NodeFilterPoint>();
  const TaskId next = limited.AddTask(limited.job, {.cpu = 1});
  const ClassSpec& pod = limited.state.classes().spec(limited.state.workload().task(next).class_id);
  EXPECT_TRUE(filter.LooksBeyondNode(pod));
  EXPECT_TRUE(filter.AdmitsInAll(limited.state, pod, limited.At("fast")));
  limited.state.journal().Allocate(next, limited.At("fast"));
  EXPECT_FALSE(filter.AdmitsInAll(limited.state, pod, limited.At("fast")));
  EXPECT_EQ(filter.Reason(limited.state, pod, limited.At("fast")), kNoMore);
  EXPECT_TRUE(filter.AdmitsInAll(limited.state, pod, limited.At("slow"))) << "has no limit";
  limited.state.journal().RollbackTo(0);
  EXPECT_TRUE(filter.AdmitsInAll(limited.state, pod, limited.At("fast")));
}

TEST(Nodegroup, WhatOtherQueuesHoldOfAGroupDoesNotCount) {
  Limited limited;
  limited.AddTermed("r", {.required = {"fast"}});
  limited.AddTask(limited.AddJob("ns/r", "r"), {.cpu = 4}, "fast");
  const TestPlugin plugin = OpenPlugin(limited, "nodegroup");
  const auto& filter = plugin.As<NodeFilterPoint>();
  const TaskId next = limited.AddTask(limited.job, {.cpu = 1});
  EXPECT_TRUE(
      filter.AdmitsInAll(limited.state,
                         limited.state.classes().spec(limited.state.workload().task(next).class_id),
                         limited.At("fast")));
  EXPECT_FALSE(filter.LooksBeyondNode(limited.PodIn("r")));
}

TEST(Nodegroup, BothArgumentsAreTypeChecked) {
  ResourceNames names;
  for (const char* key : {"strict", "enablePreferredOrder"}) {
    const auto made = TryPlugin("nodegroup", {{key, "perhaps"}}, names);
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().message,
              "nodegroup: " + std::string(key) + ": want true or false, found \"perhaps\"");
  }
}

}  // namespace
}  // namespace strata
