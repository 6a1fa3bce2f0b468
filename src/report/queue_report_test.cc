#include "report/queue_report.h"

#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/render_queues.h"
#include "report/text.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

using nlohmann::json;

std::string NodeOf(int cores) {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: n0}\nstatus: {allocatable: {cpu: " +
         std::to_string(cores) + ", memory: 100Gi, pods: 110}}\n---\n";
}

std::string QueueOf(const std::string& name, const std::string& spec) {
  return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " + name +
         "}\nspec: {" + spec + "}\n---\n";
}

// A Job of so many pods of one core, of which `least` make the gang.
std::string JobIn(const std::string& name, const std::string& queue, int pods, int least = 1) {
  return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: " + name +
         "}\nspec:\n  minAvailable: " + std::to_string(least) + "\n  queue: " + queue +
         "\n  tasks: [{name: w, replicas: " + std::to_string(pods) +
         ", minAvailable: " + std::to_string(least) +
         ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: "
         "{requests: {cpu: 1}}}]}}}]\n---\n";
}

SchedulerConfig WithCapacity(bool hierarchical) {
  SchedulerConfig config = DefaultSchedulerConfig();
  for (PluginConfig& plugin : config.tiers[1]) {
    if (plugin.name != "proportion") continue;
    plugin.name = "capacity";
    plugin.switches["enableHierarchy"] = hierarchical;
  }
  return config;
}

std::vector<QueueReport::Job> JobsOf(const RunResult& result) {
  std::vector<QueueReport::Job> jobs;
  for (const auto& [name, job] : result.jobs) {
    jobs.push_back({name, job.phase, job.reason, job.message});
  }
  return jobs;
}

json Report(const std::string& manifests, const SchedulerConfig& config) {
  auto cluster = BuildCluster(objects::MustLoad(manifests));
  EXPECT_TRUE(cluster.has_value());
  const auto result = RunCycles(*cluster, config, {});
  EXPECT_TRUE(result.has_value());
  const QueueReport report = MakeQueueReport(*cluster->state, config, JobsOf(*result));
  return json::parse(RenderJson(report, cluster->state->resource_names()));
}

TEST(QueueReport, ShowsWhatProportionGivesToAMillionth) {
  //   8 cores among three queues that want more: 8/3 each, of which 2 whole pods are placed
  std::string manifests = NodeOf(8);
  for (const char* name : {"a", "b", "c"}) {
    manifests += QueueOf(name, "weight: 1") + JobIn(std::string("job-") + name, name, 8);
  }
  const json report = Report(manifests, DefaultSchedulerConfig());
  EXPECT_EQ(report["plugin"], "proportion");
  for (const char* name : {"a", "b", "c"}) {
    const json& queue = report["queues"][name];
    EXPECT_EQ(queue["state"], "Open");
    EXPECT_EQ(queue["parent"], "root");
    EXPECT_NEAR(queue["deserved"]["cpu"].get<double>(), 8.0 / 3, 1e-6);
    EXPECT_EQ(queue["allocated"]["cpu"], 2);
    EXPECT_EQ(queue["request"]["cpu"], 8);
    EXPECT_NEAR(queue["share"].get<double>(), 0.75, 1e-6);
    EXPECT_EQ(queue["waiting"].size(), 1U);
  }
  EXPECT_EQ(report["queues"]["default"]["share"], nullptr);  // no jobs, no part
}

TEST(QueueReport, ShowsTheTreeOfCapacityAndWhyJobsWait) {
  //   dept (capability 4) ─ x (deserves 3), rest; root is as large as the cluster of 10
  const std::string manifests = NodeOf(10) + QueueOf("dept", "capability: {cpu: 4}") +
                                QueueOf("x", "parent: dept, deserved: {cpu: 3}") +
                                QueueOf("rest", "parent: dept, guarantee: {resource: {cpu: 1}}") +
                                JobIn("fits", "x", 2, 2) + JobIn("large", "x", 5, 5) +
                                JobIn("lost", "nowhere", 1) + JobIn("above", "dept", 1);
  const json report = Report(manifests, WithCapacity(true));
  EXPECT_EQ(report["plugin"], "capacity");
  EXPECT_EQ(report["hierarchical"], true);
  const json& x = report["queues"]["x"];
  EXPECT_NEAR(x["share"].get<double>(), 2.0 / 3, 1e-6);
  EXPECT_EQ(x["deserved"]["cpu"], 3);
  EXPECT_EQ(x["realCapability"]["cpu"], 3);  // 4, less 1 that rest is guaranteed
  EXPECT_EQ(x["waiting"]["default/large-large"]["reason"], "GangLargerThanQueue");
  EXPECT_EQ(x["jobs"], 2);
  const json& dept = report["queues"]["dept"];
  EXPECT_EQ(dept["allocated"]["cpu"], 2);
  EXPECT_EQ(dept["guarantee"]["cpu"], 1);
  EXPECT_EQ(dept["capability"]["cpu"], 4);
  EXPECT_EQ(dept["waiting"]["default/above-above"]["reason"], "QueueNotLeaf");
  EXPECT_EQ(report["jobsWithoutQueue"]["default/lost-lost"]["reason"], "QueueNotFound");
}

TEST(QueueReport, WithoutAPluginThatDividesThereAreNoShares) {
  SchedulerConfig config = DefaultSchedulerConfig();
  std::erase_if(config.tiers[1],
                [](const PluginConfig& plugin) { return plugin.name == "proportion"; });
  const json report = Report(NodeOf(2) + JobIn("j", "default", 1), config);
  EXPECT_EQ(report["plugin"], "");
  EXPECT_EQ(report["queues"]["default"]["share"], nullptr);
  EXPECT_EQ(report["queues"]["default"]["allocated"]["cpu"], 1);
}

TEST(QueueReport, WhatIsLeftIsFreeAndWithinEveryLimitAbove) {
  //   dept (capability 4) ─ a, b: 3 cores are taken by a, so 1 is left of dept for either;
  //   10 cores less those 3 are free for anybody else
  const std::string manifests = NodeOf(10) + QueueOf("dept", "capability: {cpu: 4}") +
                                QueueOf("a", "parent: dept") + QueueOf("b", "parent: dept") +
                                QueueOf("other", "weight: 1") + JobIn("job", "a", 3);
  const json report = Report(manifests, WithCapacity(true));
  EXPECT_EQ(report["queues"]["a"]["left"]["cpu"], 1);
  EXPECT_EQ(report["queues"]["b"]["left"]["cpu"], 1);
  EXPECT_EQ(report["queues"]["dept"]["left"]["cpu"], 1);
  EXPECT_EQ(report["queues"]["other"]["left"]["cpu"], 7);
}

TEST(QueueReport, NothingIsLeftOfCordonedNodes) {
  std::string node = NodeOf(10);
  node.insert(node.find("status:"), "spec: {unschedulable: true}\n");
  const json report = Report(node + QueueOf("a", "weight: 1"), DefaultSchedulerConfig());
  EXPECT_FALSE(report["queues"]["a"]["left"].contains("cpu"));
}

TEST(QueueReport, AnUnknownQueueNamesSimilarOnes) {
  auto cluster = BuildCluster(objects::MustLoad(NodeOf(1) + QueueOf("research", "weight: 1")));
  ASSERT_TRUE(cluster.has_value());
  QueueReport report = MakeQueueReport(*cluster->state, DefaultSchedulerConfig(), {});
  const Status status = NarrowToQueue("reserch", report);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message.substr(0, 54),
            "queue \"reserch\" not found; similar names: research, de");
  ASSERT_TRUE(NarrowToQueue("research", report));
  EXPECT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(json::parse(RenderQueueJson(report, cluster->state->resource_names()))["name"],
            "research");
}

TEST(QueueReport, TheTableHasARowPerResourceAndTheSentences) {
  auto cluster = BuildCluster(objects::MustLoad(
      NodeOf(2) + QueueOf("small", "capability: {cpu: 1}") + JobIn("big", "small", 2, 2)));
  ASSERT_TRUE(cluster.has_value());
  const SchedulerConfig config = DefaultSchedulerConfig();
  const auto result = RunCycles(*cluster, config, {});
  ASSERT_TRUE(result.has_value());
  const QueueReport report = MakeQueueReport(*cluster->state, config, JobsOf(*result));
  EXPECT_EQ(RenderTable(report, cluster->state->resource_names(), {}),
            "QUEUE    STATE  PARENT  WEIGHT     SHARE  PLACED  RESOURCE  ALLOCATED  REQUEST  "
            "DESERVED  GUARANTEE  CAPABILITY  LIMIT  LEFT\n"
            "default  Open   root         1         -     0/0  cpu               0        0      "
            "   -          0           -      -     2\n"
            "small    Open   root         1  0.000000     0/1  cpu               0        2      "
            "   1          0           1      1     1\n"
            "                                                  pods              0        2      "
            "   2          0           -    110   110\n"
            "\n"
            "QUEUE  JOB              PHASE    REASON\n"
            "small  default/big-big  Pending  GangLargerThanQueue\n"
            "    queue small: 2 cpu requested, 0 in use or promised, its limit is 1, less than the "
            "gang requests\n"
            "    by itself\n"
            "\n"
            "Shares by proportion.\n");
}

TEST(QueueReport, TheTableFitsATerminalOf80Columns) {
  auto cluster = BuildCluster(objects::MustLoad(
      NodeOf(2) + QueueOf("research-and-development", "capability: {cpu: 1}") +
      JobIn("pytorch-distributed-training-of-a-large-model", "research-and-development", 2, 2)));
  ASSERT_TRUE(cluster.has_value());
  const SchedulerConfig config = DefaultSchedulerConfig();
  const auto result = RunCycles(*cluster, config, {});
  ASSERT_TRUE(result.has_value());
  const QueueReport report = MakeQueueReport(*cluster->state, config, JobsOf(*result));
  const ResourceNames& names = cluster->state->resource_names();
  std::istringstream lines(RenderTable(report, names, {.colour = false, .width = 80, .fit = true}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), 80U) << line;
  EXPECT_THAT(RenderTable(report, names, {.colour = false, .width = 80, .fit = true}),
              ::testing::HasSubstr("ALLOCATED  DESERVED  LIMIT  LEFT\n"));
  EXPECT_THAT(RenderTable(report, names, {.colour = false, .width = 200, .fit = true}),
              ::testing::HasSubstr("GUARANTEE  CAPABILITY  LIMIT  LEFT\n"));
}

}  // namespace
}  // namespace strata
