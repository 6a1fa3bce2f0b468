#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "defrag/plan.h"
#include "objects/test_support.h"
#include "whatif/test_support.h"

// Jobs on the eight nodes of whatif/test_support.h: node0 to node7 below s0..s3 (tier 1), those
// below s4 and s5 (tier 2), those below s6 (tier 3).
namespace strata::testing {

struct JobText {
  std::string name;
  std::vector<std::string> nodes;  // one pod on each; "": it waits
  std::string cpu = "1";
  int min = 0;           // 0: all pods
  std::string topology;  // "mode: hard, highestTierAllowed: 1"; "" for none
  std::string pod_meta;  // "labels: {...}", behind the annotations
};

inline std::string ToManifests(const JobText& job) {
  const bool runs = !job.nodes.empty() && !job.nodes.front().empty();
  const int min = job.min > 0 ? job.min : static_cast<int>(job.nodes.size());
  std::string text =
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: " + job.name +
      "}\nspec: {minMember: " + std::to_string(min) + ", queue: default" +
      (job.topology.empty() ? "" : ", networkTopology: {" + job.topology + "}") +
      "}\nstatus: {phase: " + (runs ? "Running" : "Inqueue") + "}\n---\n";
  for (std::size_t i = 0; i < job.nodes.size(); ++i) {
    const std::string& node = job.nodes[i];
    text += "apiVersion: v1\nkind: Pod\nmetadata: {name: " + job.name + "-" + std::to_string(i) +
            ", annotations: {scheduling.k8s.io/group-name: " + job.name + "}" +
            (job.pod_meta.empty() ? "" : ", " + job.pod_meta) +
            "}\nspec: {schedulerName: volcano, " +
            (node.empty() ? "" : "nodeName: " + node + ", ") +
            "containers: [{name: c, image: i, resources: {requests: {cpu: " + job.cpu + "}}}]}\n" +
            (node.empty() ? "" : "status: {phase: Running}\n") + "---\n";
  }
  return text;
}

// Eight nodes of two CPUs, with these jobs.
inline CompletedObjects ClusterWith(const std::vector<JobText>& jobs) {
  std::string text = EightNodes("cpu: 2, pods: 20");
  for (const JobText& job : jobs) text += ToManifests(job);
  return CompleteObjects(objects::MustLoad(text)).value();
}

inline DefragPlan MustPlan(const CompletedObjects& objects,
                           DefragGoal goal,
                           const DefragLimits& limits = {}) {
  auto plan = PlanDefrag(objects,
                         DefaultSchedulerConfig(),
                         {.goal = std::move(goal), .limits = limits, .now = {}, .on_stage = {}});
  EXPECT_TRUE(plan.has_value()) << plan.error().message;
  return plan ? *std::move(plan) : DefragPlan{};
}

}  // namespace strata::testing
