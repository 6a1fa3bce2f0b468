#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

// A small cluster in which pods have to go, for the tests of the actions that evict.
namespace strata::testing {

using ActionArguments = std::vector<std::pair<std::string, ArgumentValue>>;

// The default configuration with this action after allocate.
inline SchedulerConfig Evicting(const std::string& action, const ActionArguments& arguments = {}) {
  SchedulerConfig config = DefaultSchedulerConfig();
  ActionConfig added{.name = action, .arguments = {}};
  for (const auto& [key, value] : arguments) added.arguments.Set(key, value);
  config.actions.insert(config.actions.begin() + 2, added);
  return config;
}

// The same with capacity instead of proportion.
inline SchedulerConfig EvictingByCapacity(const std::string& action) {
  SchedulerConfig config = Evicting(action);
  for (auto& tier : config.tiers) {
    for (PluginConfig& plugin : tier) {
      if (plugin.name == "proportion") plugin.name = "capacity";
    }
  }
  return config;
}

inline SchedulerConfig WithSwitch(SchedulerConfig config,
                                  const std::string& plugin,
                                  const std::string& name,
                                  bool value) {
  for (auto& tier : config.tiers) {
    for (PluginConfig& one : tier) {
      if (one.name == plugin) one.switches[name] = value;
    }
  }
  return config;
}

// node0 and node1 in rack s0, node2 and node3 in s1, both below spine s2. A pod of kWholeNode fills
// a node.
class EvictTest : public ::testing::Test {
 protected:
  EvictTest() {
    cluster_.Nodes(4)
        .Leaf("s0", 1, {"node0", "node1"})
        .Leaf("s1", 1, {"node2", "node3"})
        .Above("s2", 2, {"s0", "s1"});
  }

  // A job whose pods run on these nodes, and need this many of them; all by default.
  void Runs(const std::string& name,
            std::initializer_list<std::string> nodes,
            JobArgs args = {},
            const TaskArgs& pod = kWholeNode) {
    args.tasks = 0;
    args.min_available = args.min_available.value_or(static_cast<std::int32_t>(nodes.size()));
    cluster_.Job(name, args).Running(name, nodes, pod);
    cluster_.state.workload().SetJobPhase(cluster_.FindJob(name), JobPhase::kRunning);
  }
  // A gang of priority 10 that waits for so many nodes.
  void Waits(const std::string& name, int pods, JobArgs args = {}) {
    args.tasks = pods;
    args.task = kWholeNode;
    if (args.priority == 0) args.priority = 10;
    cluster_.Job(name, args);
  }
  Decisions Run(const SchedulerConfig& config) { return Cycles(cluster_.state, config).Run(); }
  Decisions Run(const std::string& action) { return Run(Evicting(action)); }

  ClusterBuilder cluster_;
};

}  // namespace strata::testing
