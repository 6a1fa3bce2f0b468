#include "sched/plugins/task_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/task_buckets.h"
#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

struct RoleCluster : TestCluster {
  explicit RoleCluster(RoleAffinity affinity) {
    AddQueue("q");
    for (const char* node : {"n0", "n1", "n2"}) AddNode(node, {.cpu = 8, .memory = 8});
    JobSpec spec;
    spec.name = "ns/job";
    spec.queue = "q";
    spec.role_affinity = std::move(affinity);
    job = state.workload().UpsertJob(std::move(spec));
  }
  TaskId AddRole(const std::string& role, double cpu = 1, const std::string& node = "") {
    TaskSpec task;
    task.role = role;
    task.constraints = ClassOf({.cpu = cpu});
    return AddTask(job, std::move(task), node);
  }
  // The roles of each bucket, in the order they joined.
  [[nodiscard]] std::vector<std::string> Buckets() const {
    const TaskBuckets buckets(state, state.workload().job(job));
    std::vector<std::string> texts;
    for (const TaskBuckets::Bucket& bucket : buckets.buckets()) {
      std::string& text = texts.emplace_back();
      for (const TaskId id : bucket.tasks) {
        text += (text.empty() ? "" : " ") +
                state.workload().job(job).roles[state.workload().task(id).role].name;
      }
    }
    return texts;
  }
  [[nodiscard]] NodeId At(const char* node) const { return *state.nodes().Find(node); }
  JobId job;
};

TEST(TaskBuckets, RolesThatWantEachOtherAreSpreadOverBucketsOfTheOneThatDoesNotWantItself) {
  RoleCluster cluster({.together = {{"ps", "worker"}}, .apart = {{"ps"}}, .order = {}});
  for (const char* role : {"worker", "worker", "ps", "worker", "worker", "ps"}) {
    cluster.AddRole(role);
  }
  EXPECT_THAT(cluster.Buckets(), ElementsAre("ps worker worker", "ps worker worker"));
}

TEST(TaskBuckets, ARoleThatWantsItselfIsInOneBucket) {
  RoleCluster cluster({.together = {{"a"}}, .apart = {}, .order = {}});
  for (const char* role : {"a", "b", "a", "a"}) cluster.AddRole(role);
  EXPECT_THAT(cluster.Buckets(), ElementsAre("a a a")) << "nobody said anything of b";
}

TEST(TaskBuckets, TasksOnANodeMakeItsBucket) {
  RoleCluster cluster({.together = {{"ps", "worker"}}, .apart = {{"ps"}}, .order = {}});
  cluster.AddRole("worker");
  cluster.AddRole("worker", 1, "n1");
  cluster.AddRole("ps", 1, "n1");
  cluster.AddRole("ps", 1, "n0");
  EXPECT_THAT(cluster.Buckets(), ElementsAre("ps worker", "worker ps"));
}

TEST(TaskBuckets, OfEqualBucketsTheOneThatAsksForLeastIsJoined) {
  RoleCluster cluster({.together = {{"ps", "worker"}}, .apart = {{"ps"}}, .order = {}});
  cluster.AddRole("ps", 4);
  cluster.AddRole("ps", 1);
  cluster.AddRole("worker");
  EXPECT_THAT(cluster.Buckets(), ElementsAre("ps", "ps worker"));
}

TEST(TaskBuckets, TheUsersOrderComesBeforeTheKindOfRule) {
  RoleCluster cluster({.together = {{"ps", "worker"}}, .apart = {{"ps"}}, .order = {"worker"}});
  for (const char* role : {"ps", "worker"}) cluster.AddRole(role);
  EXPECT_THAT(cluster.Buckets(), ElementsAre("worker ps"));
}

TEST(TaskBuckets, IgnoresTheNameOfAnUnknownTask) {
  RoleCluster cluster({.together = {{"ps", "ghost"}}, .apart = {{"ghost"}}, .order = {"ghost"}});
  cluster.AddRole("ps");
  EXPECT_THAT(cluster.Buckets(), ElementsAre("ps"));
}

TEST(TaskTopology, TasksOfLargerBucketsComeFirstAndThoseInNoneLast) {
  RoleCluster cluster({.together = {{"ps", "worker"}}, .apart = {{"ps"}}, .order = {}});
  const TaskId other = cluster.AddRole("other");
  const TaskId big = cluster.AddRole("ps", 1);
  const TaskId small = cluster.AddRole("ps", 4);
  const TaskId worker = cluster.AddRole("worker");
  const TestPlugin plugin = OpenPlugin(cluster, "task-topology");
  const auto compare = [&](TaskId a, TaskId b) {
    return plugin.As<OrderPoint>().CompareTasks(cluster.state.workload().task(a),
                                                cluster.state.workload().task(b));
  };
  EXPECT_LT(compare(big, small), 0);
  EXPECT_GT(compare(small, big), 0);
  EXPECT_LT(compare(big, worker), 0) << "in one bucket by what is said of the role";
  EXPECT_LT(compare(worker, small), 0);
  EXPECT_GT(compare(other, small), 0);
  EXPECT_EQ(compare(other, other), 0);
}

std::vector<double> RoleScores(const TestPlugin& plugin, const RoleCluster& cluster, TaskId task) {
  const std::vector<NodeId> nodes{cluster.At("n0"), cluster.At("n1"), cluster.At("n2")};
  std::vector<Score> scores(nodes.size());
  plugin.As<TaskScorePoint>().ScoreForTask(cluster.state, task, nodes, scores);
  std::vector<double> values;
  for (const Score score : scores) values.push_back(ToDouble(score));
  return values;
}

TEST(TaskTopology, ANodeScoresByTheBucketThatIsThereAndThatStillFits) {
  // n0 has one of the bucket, n2 room for two of its four only.
  RoleCluster cluster({.together = {{"a"}}, .apart = {}, .order = {}});
  cluster.AddRole("a", 1, "n0");
  cluster.AddTask(JobId{}, {.cpu = 6}, "n2");
  std::vector<TaskId> tasks;
  for (int i = 0; i < 4; ++i) tasks.push_back(cluster.AddRole("a"));
  const TestPlugin plugin = OpenPlugin(cluster, "task-topology");
  ASSERT_TRUE(plugin.As<TaskScorePoint>().ScoresTasksOf(cluster.job));
  EXPECT_THAT(RoleScores(plugin, cluster, tasks[0]), ElementsAre(100, 80, 40));
  cluster.state.journal().Allocate(tasks[0], cluster.At("n1"));
  EXPECT_THAT(RoleScores(plugin, cluster, tasks[1]), ElementsAre(80, 80, 40));
}

TEST(TaskTopology, ANodeWithWhatTheRoleDoesNotWantScoresLess) {
  RoleCluster cluster({.together = {}, .apart = {{"ps"}}, .order = {}});
  cluster.AddRole("ps", 1, "n0");
  const TaskId next = cluster.AddRole("ps");
  const TestPlugin plugin =
      OpenPlugin(cluster, "task-topology", {{"task-topology.weight", std::int64_t{2}}});
  EXPECT_THAT(RoleScores(plugin, cluster, next), ElementsAre(0, 200, 200));
}

TEST(TaskTopology, AScoreStaysWithinWhatSumsCanHold) {
  RoleCluster cluster({.together = {}, .apart = {{"ps"}}, .order = {}});
  std::vector<TaskId> tasks;
  for (int i = 0; i < 21; ++i) tasks.push_back(cluster.AddRole("ps", 0));
  const TestPlugin plugin =
      OpenPlugin(cluster, "task-topology", {{"task-topology.weight", std::int64_t{1'000'000}}});
  for (std::size_t i = 0; i < 20; ++i) cluster.state.journal().Allocate(tasks[i], cluster.At("n0"));
  EXPECT_EQ(RoleScores(plugin, cluster, tasks.back()).front(), -1e9);
}

TEST(TaskTopology, TasksInNoBucketAndJobsWithoutRulesAreNotScored) {
  RoleCluster cluster({.together = {{"a"}}, .apart = {}, .order = {}});
  cluster.AddRole("a");
  const TaskId other = cluster.AddRole("b");
  const JobId plain = cluster.AddJob("ns/plain", "q");
  cluster.AddTask(plain, {.cpu = 1});
  const TestPlugin plugin = OpenPlugin(cluster, "task-topology");
  EXPECT_THAT(RoleScores(plugin, cluster, other), ElementsAre(0, 0, 0));
  EXPECT_FALSE(plugin.As<TaskScorePoint>().ScoresTasksOf(plain));
}

TEST(TaskTopology, TheWeightIsTypeChecked) {
  ResourceNames names;
  const auto made = TryPlugin("task-topology", {{"task-topology.weight", 1.5}}, names);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message,
            "task-topology: task-topology.weight: want an integer, found 1.5");
}

}  // namespace
}  // namespace strata
