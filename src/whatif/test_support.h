#pragma once

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "objects/test_support.h"
#include "whatif/what_if.h"

// Short words for tests: the eight nodes of examples/training, a gang, and a run on manifests.
namespace strata {

// node0 to node7 with `allocatable`, two below each of s0..s3, those below s4 and s5, those below
// s6.
inline std::string EightNodes(const std::string& allocatable) {
  std::string text;
  for (int i = 0; i < 8; ++i) {
    text += "apiVersion: v1\nkind: Node\nmetadata: {name: node" + std::to_string(i) +
            ", labels: {switch: s" + std::to_string(i / 2) + "}}\nstatus: {allocatable: {" +
            allocatable + "}}\n---\n";
  }
  const std::string head =
      "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: ";
  for (int i = 0; i < 4; ++i) {
    const std::string name = "s" + std::to_string(i);
    text += head + name + "}\nspec: {tier: 1, members: [{type: Node, selector: {labelMatch: " +
            "{matchLabels: {switch: " + name + "}}}}]}\n---\n";
  }
  for (int i = 4; i < 7; ++i) {
    const auto child = [&](int index) {
      return "{type: HyperNode, selector: {exactMatch: {name: s" + std::to_string(index) + "}}}";
    };
    text += head + "s" + std::to_string(i) + "}\nspec: {tier: " + (i == 6 ? "3" : "2") +
            ", members: [" + child(2 * (i - 4)) + ", " + child(2 * (i - 4) + 1) + "]}\n---\n";
  }
  return text;
}

// A Job of `replicas` pods with `requests`; `topology` is its networkTopology, "" for none.
inline std::string GangOf(const std::string& name,
                          int replicas,
                          const std::string& requests,
                          const std::string& topology) {
  std::string text = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: " + name +
                     "}\nspec:\n  minAvailable: " + std::to_string(replicas) + "\n";
  if (!topology.empty()) text += "  networkTopology: {" + topology + "}\n";
  return text + "  tasks: [{name: w, replicas: " + std::to_string(replicas) +
         ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: " +
         "{requests: {" + requests + "}, limits: {" + requests + "}}}]}}}]\n---\n";
}

// One node with room for one pod, which a pod of PodGroup default/low has; Pod "urgent" of PodGroup
// default/high waits and has a higher priority.
inline std::string FullCluster() {
  const auto group = [](const std::string& name, const std::string& phase) {
    return "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: " + name +
           "}\nvalue: " + (name == "high" ? "100" : "1") +
           "\n---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: " +
           name + "}\nspec: {minMember: 1, queue: default, priorityClassName: " + name +
           "}\nstatus: {phase: " + phase + "}\n---\n";
  };
  const auto pod =
      [](const std::string& name, const std::string& its_group, const std::string& rest) {
        return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
               ", annotations: {scheduling.k8s.io/group-name: " + its_group +
               "}}\nspec: {schedulerName: volcano, " + rest + "\n---\n";
      };
  const std::string container =
      "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}";
  return "apiVersion: v1\nkind: Node\nmetadata: {name: n0}\nstatus: {allocatable: {cpu: 1, pods: "
         "9}}\n---\n" +
         group("low", "Running") + group("high", "Inqueue") +
         pod("old",
             "low",
             "nodeName: n0, terminationGracePeriodSeconds: 45, " + container +
                 "\nstatus: {phase: Running}") +
         pod("urgent", "high", container);
}

inline SchedulerConfig WithGangPreempt() {
  SchedulerConfig config = DefaultSchedulerConfig();
  config.actions.push_back({"gangpreempt", {}});
  return config;
}

inline Outcome Simulate(const std::string& manifests,
                        const RunOptions& options = {},
                        const SchedulerConfig& config = DefaultSchedulerConfig()) {
  Outcome outcome;
  auto cluster = BuildCluster(objects::MustLoad(manifests));
  EXPECT_TRUE(cluster.has_value()) << cluster.error().message;
  if (!cluster) return outcome;
  outcome.cluster = std::move(*cluster);
  auto result = RunCycles(outcome.cluster, config, options);
  EXPECT_TRUE(result.has_value()) << result.error().message;
  if (result) outcome.result = std::move(*result);
  return outcome;
}

}  // namespace strata
