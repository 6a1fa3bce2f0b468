#include "sched/worksheet.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/registry.h"
#include "tests/support/cluster_builder.h"

namespace strata {
namespace {

using testing::BestEffort;
using testing::ClusterBuilder;
using testing::Cores;
using ::testing::ElementsAre;

// A session with the two plugins that decide which sub-job comes next: gang and priority.
class WorksheetOfJob : public ::testing::Test {
 protected:
  Session& OpenSession() {
    Points points;
    std::vector<std::unique_ptr<Plugin>> plugins;
    for (const char* name : {"gang", "priority"}) {
      PluginConfig config;
      config.name = name;
      auto made = MakePlugin(config, cluster_.state.resource_names());
      plugins.push_back(std::move(made->plugin));
      Plugin& plugin = *plugins.back();
      if (auto* order = dynamic_cast<OrderPoint*>(&plugin)) {
        points.sub_job_order.push_back(order);
        points.task_order.push_back(order);
      }
      if (auto* gate = dynamic_cast<JobGatePoint*>(&plugin)) points.job_ready.push_back(gate);
      if (auto* gate = dynamic_cast<SubJobGatePoint*>(&plugin)) {
        points.sub_job_ready.push_back(gate);
      }
    }
    plugins_.emplace(cluster_.state, std::move(plugins), std::move(points));
    plugins_->Open(Time{});
    caches_.emplace(cluster_.state, *plugins_);
    caches_->topologies().Refresh();
    session_.emplace(cluster_.state, *plugins_, *caches_, std::span<const ActionConfig>{}, nullptr);
    return *session_;
  }
  [[nodiscard]] std::vector<std::string> Names(std::span<const TaskId> tasks) const {
    std::vector<std::string> names;
    for (const TaskId id : tasks) names.push_back(cluster_.state.workload().task(id).name);
    return names;
  }

  ClusterBuilder cluster_;
  std::optional<PluginSet> plugins_;
  std::optional<Caches> caches_;
  std::optional<Session> session_;
};

SubGroupPolicy Parts(std::int32_t size, std::int32_t min_sub_groups) {
  SubGroupPolicy policy;
  policy.name = "p";
  policy.match_label_keys = {"part"};
  policy.size = size;
  policy.min_sub_groups = min_sub_groups;
  return policy;
}

SubGroupKey Part(const char* value) {
  return {0, {value}};
}

TEST_F(WorksheetOfJob, ListsWhatMayBePlacedInRankOrder) {
  cluster_.Node("node0").Job("a", {.tasks = 0, .min_available = 2});
  for (const char* name : {"a-w-10", "a-w-2", "a-w-1"}) cluster_.Task("a", {}, name);
  cluster_.Task("a", {.priority = 9}, "a-w-99")
      .Task("a", {.gated = true}, "a-w-3")
      .Task("a", BestEffort(), "a-w-4")
      .Task("a", {.status = TaskStatus::kRunning, .node = "node0"}, "a-w-5");
  const Worksheet worksheet(OpenSession(), cluster_.FindJob("a"));
  ASSERT_EQ(worksheet.sheets().size(), 1U);
  EXPECT_THAT(Names(worksheet.sheets()[0].left()),
              ElementsAre("a-w-99", "a-w-1", "a-w-2", "a-w-10"));
}

TEST_F(WorksheetOfJob, TheOrderOfPodsWithAndWithoutARankIsTotal) {
  // By rank 3 < 5, by time "x" stands between them: only one total order may come of it.
  std::vector<std::string> first;
  std::vector<std::string> names = {"a-w-3", "a-w-5", "x"};
  do {
    ClusterBuilder cluster;
    cluster.Job("a", {.tasks = 0, .min_available = 3});
    for (const std::string& name : names) {
      TaskSpec spec;
      spec.name = name;
      spec.uid = name;
      spec.job = cluster.FindJob("a");
      spec.constraints = cluster.ClassOf({});
      spec.created = Time(Duration(name == "a-w-5" ? 1 : name == "x" ? 2 : 3));
      cluster.state.workload().AddTask(spec);
    }
    PluginSet plugins(cluster.state, {}, Points{});
    Caches caches(cluster.state, plugins);
    const Session session(cluster.state, plugins, caches, {}, nullptr);
    const Worksheet worksheet(session, cluster.FindJob("a"));
    std::vector<std::string> order;
    for (const TaskId id : worksheet.sheets()[0].left()) {
      order.push_back(cluster.state.workload().task(id).name);
    }
    if (first.empty()) first = order;
    EXPECT_EQ(order, first);
  } while (std::next_permutation(names.begin(), names.end()));
}

TEST_F(WorksheetOfJob, ASubJobThatIsStillNeededComesFirst) {
  //   part 0 runs already and has one pod left, part 1 is still needed for minSubGroups 2
  cluster_.Node("node0").Job("a", {.tasks = 0, .min_available = 4, .sub_groups = {Parts(2, 2)}});
  cluster_.Running("a", {"node0", "node0"}, {.sub_group = Part("0")});
  cluster_.Task("a", {.priority = 9, .sub_group = Part("0")});
  cluster_.Task("a", {.sub_group = Part("1")}).Task("a", {.sub_group = Part("1")});
  Session& session = OpenSession();
  Worksheet worksheet(session, cluster_.FindJob("a"));
  const auto next = [&] {
    return cluster_.JobNamed("a").sub_jobs[worksheet.Next(session)->sub_job].name;
  };
  EXPECT_EQ(next(), "p-1");
  for (Worksheet::Sheet& sheet : worksheet.sheets()) {
    if (cluster_.JobNamed("a").sub_jobs[sheet.sub_job].name == "p-1") {
      sheet.next = sheet.tasks.size();
    }
  }
  EXPECT_EQ(next(), "p-0");
  for (Worksheet::Sheet& sheet : worksheet.sheets()) sheet.next = sheet.tasks.size();
  EXPECT_EQ(worksheet.Next(session), nullptr);
  EXPECT_TRUE(worksheet.empty());
}

TEST_F(WorksheetOfJob, SubJobsAreOrderedByTheirNumber) {
  cluster_.Job("a", {.tasks = 0, .min_available = 2, .sub_groups = {Parts(1, 0)}});
  cluster_.Task("a", {.sub_group = Part("10")}).Task("a", {.sub_group = Part("9")});
  Session& session = OpenSession();
  Worksheet worksheet(session, cluster_.FindJob("a"));
  EXPECT_EQ(cluster_.JobNamed("a").sub_jobs[worksheet.Next(session)->sub_job].name, "p-9");
}

TEST_F(WorksheetOfJob, TheNeedOfAGangIsThatOfTheTasksItStillMisses) {
  cluster_.Node("node0").Job("a", {.tasks = 3, .task = {.cpu = 2}, .min_available = 3});
  cluster_.Running("a", {"node0"});
  Session& session = OpenSession();
  const Worksheet worksheet(session, cluster_.FindJob("a"));
  EXPECT_EQ(NeedOf(session, cluster_.FindJob("a"), worksheet).room.Get(kCpu), Cores(4));
}

TEST_F(WorksheetOfJob, TheNeedOfAGangIsItsMinResourcesLessWhatItHolds) {
  Resources least;
  least.Set(kCpu, Cores(10));
  cluster_.Node("node0").Job("a", {.tasks = 3, .min_available = 3, .min_resources = least});
  cluster_.Running("a", {"node0"}, {.cpu = 4});
  Session& session = OpenSession();
  const Worksheet worksheet(session, cluster_.FindJob("a"));
  EXPECT_EQ(NeedOf(session, cluster_.FindJob("a"), worksheet).room.Get(kCpu), Cores(6));
}

TEST_F(WorksheetOfJob, AGangThatIsFullNeedsNothing) {
  cluster_.Node("node0").Job("a", {.tasks = 2, .min_available = 1}).Running("a", {"node0"});
  Session& session = OpenSession();
  const Worksheet worksheet(session, cluster_.FindJob("a"));
  EXPECT_EQ(NeedOf(session, cluster_.FindJob("a"), worksheet).room, Resources{});
  EXPECT_EQ(MissingForGang(cluster_.JobNamed("a"), cluster_.JobNamed("a").sub_jobs[0], 2), 0U);
}

}  // namespace
}  // namespace strata
