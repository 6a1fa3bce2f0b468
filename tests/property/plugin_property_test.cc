// The random clusters of the cycle's properties, dressed up with node groups, roles that want to be
// together or apart, and NUMA nodes: the plugins for these decide the same whatever is cached, with
// and without a listener and in any order of events, and no pod is on a forbidden node.
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/check.h"
#include "tests/property/world.h"
#include "tests/support/cycle.h"
#include "tests/support/property.h"
#include "tests/support/state_dump.h"

namespace strata::testing {
namespace {

constexpr int kRounds = 3;

SchedulerConfig WithAllPlugins() {
  SchedulerConfig config = DefaultSchedulerConfig();
  PluginConfig groups{
      .name = "nodegroup", .switches = {{"enableHierarchy", true}}, .arguments = {}};
  groups.arguments.Set("strict", false);
  PluginConfig roles{.name = "task-topology", .switches = {}, .arguments = {}};
  roles.arguments.Set("task-topology.weight", std::int64_t{3});
  config.tiers.back().push_back(std::move(groups));
  config.tiers.back().push_back(std::move(roles));
  config.tiers.back().push_back({.name = "numa-aware", .switches = {}, .arguments = {}});
  return config;
}

std::string GroupOf(const NodeSpec& node) {
  const auto it = node.labels.find(kNodeGroupLabel);
  return it == node.labels.end() ? "" : std::string(it->second);
}

// Nodes in two groups or in none; some with NUMA nodes of two CPUs each.
void DressNode(const NodeGene& gene, NodeSpec& spec) {
  if (gene.zone < 2) SetLabel(spec, std::string(kNodeGroupLabel), "g" + std::to_string(gene.zone));
  if (gene.cpu == 0) return;
  spec.numa.emplace();
  spec.numa->static_cpus = true;
  spec.numa->policy = gene.leaf % 2 == 0 ? NumaPolicy::kSingleNumaNode : NumaPolicy::kRestricted;
  spec.numa->cells.assign(static_cast<std::size_t>(gene.cpu), NumaCell{.cpus = 2, .free = 2});
}

void DressQueue(const QueueGene& gene, QueueSpec& spec) {
  if (gene.weight == 1) spec.node_groups = {.required = {"g0"}, .preferred = {"g1"}};
  if (gene.weight == 2) {
    spec.node_groups = {.preferred = {"g1", "g0"}, .anti_preferred = {"g0"}};
    spec.node_group_limits["g1"] = {{kCpu, 3000}};
  }
  if (gene.capability % 2 == 1) spec.parent = "q0";
}

std::size_t NumberIn(const std::string& name) {
  return static_cast<std::size_t>(std::stoi(name.substr(1)));
}

void Dress(const World& world, ClusterState& state) {
  const std::vector<NodeId> nodes(state.nodes().all().begin(), state.nodes().all().end());
  for (const NodeId id : nodes) {
    NodeSpec spec = state.nodes().spec(id);
    DressNode(world.nodes[NumberIn(spec.name)], spec);
    CHECK(state.UpsertNode(std::move(spec)).has_value());
  }
  const std::vector<QueueId> queues(state.workload().queues().begin(),
                                    state.workload().queues().end());
  for (const QueueId id : queues) {
    QueueSpec spec = state.workload().queue(id).spec;
    DressQueue(world.queues[NumberIn(spec.name)], spec);
    state.workload().UpsertQueue(std::move(spec));
  }
  const std::vector<JobId> jobs(state.workload().jobs().begin(), state.workload().jobs().end());
  for (const JobId id : jobs) {
    JobSpec spec = state.workload().job(id).spec;
    const JobGene& gene = world.jobs[NumberIn(spec.name)];
    if (gene.created == 1) spec.role_affinity.together = {{"a", "b"}};
    if (gene.created > 0) spec.role_affinity.apart = {{"a"}};
    if (gene.priority == 1) spec.role_affinity.order = {"b", "a"};
    state.workload().UpsertJob(std::move(spec));
  }
}

const NodeGroupTerms& TermsOf(const ClusterState& state, const Job& job) {
  const NodeGroupTerms& own = state.workload().queue(job.queue).spec.node_groups;
  const auto parent = state.workload().FindQueue(state.workload().queue(job.queue).spec.parent);
  return own.empty() && parent ? state.workload().queue(*parent).spec.node_groups : own;
}

bool MayUse(const NodeGroupTerms& terms, const std::string& group) {
  if (group.empty()) return terms.empty();
  for (const auto* list : {&terms.required, &terms.preferred, &terms.anti_preferred}) {
    if (std::find(list->begin(), list->end(), group) != list->end()) return true;
  }
  return false;
}

using QueueAndGroup = std::pair<std::string, std::string>;

std::string OverLimit(const ClusterState& state, const QueueAndGroup& key, Amount held) {
  const auto& all =
      state.workload().queue(*state.workload().FindQueue(key.first)).spec.node_group_limits;
  const auto limits = all.find(key.second);
  if (limits == all.end() || held <= limits->second.at(kCpu)) return "";
  return key.first + " has more of " + key.second + " than its limit\n";
}

// Among the pods that this cycle placed: which one is in a forbidden group, which queue has more of
// a group than its limit, which node gave more CPUs of its NUMA nodes than it had.
std::string Misplaced(const ClusterState& state, const std::map<std::string, TaskStatus>& before) {
  std::string faults;
  std::map<QueueAndGroup, Amount> held;  // cpu
  std::map<QueueAndGroup, bool> moved;
  for (const TaskId id : state.workload().AllTasks()) {
    const Task& task = state.workload().task(id);
    const bool holds = IsAllocated(task.status) || task.status == TaskStatus::kPipelined;
    if (!holds || !task.node.valid()) continue;
    const NodeSpec& node = state.nodes().spec(task.node);
    const Job& job = state.workload().job(task.job);
    const ClassSpec& spec = state.classes().spec(task.class_id);
    const auto key = std::pair(job.spec.queue, GroupOf(node));
    held[key] += spec.request.Get(kCpu);
    if (before.at(task.name) != TaskStatus::kPending) continue;
    if (spec.request.Get(kCpu) > 0) moved[key] = true;
    if (!MayUse(TermsOf(state, job), GroupOf(node))) {
      faults += task.name + " is on a node of a group that its queue may not use\n";
    }
    if (spec.numa.policy != NumaPolicy::kNone &&
        (!node.numa || node.numa->policy != spec.numa.policy)) {
      faults += task.name + " is on a node of another policy\n";
    }
    if (!spec.numa.cpus.empty() && node.numa && node.numa->Aligns()) {
      const bool single = node.numa->policy == NumaPolicy::kSingleNumaNode;
      const std::size_t max = 2 * (single ? 1 : node.numa->cells.size());
      if (static_cast<std::size_t>(spec.numa.cpus[0]) > max) {
        faults += task.name + " cannot have its CPUs in one piece\n";
      }
    }
  }
  for (const auto& [key, has_moved] : moved) faults += OverLimit(state, key, held[key]);
  return faults;
}

std::string Written(const Decisions& decisions) {
  std::ostringstream text;
  text << decisions;
  return text.str();
}

void GoOn(const World& world, int cycle, ClusterState& state) {
  Advance(state);
  for (std::size_t i = static_cast<std::size_t>(cycle); i < world.events.size(); i += kRounds - 1) {
    Happen(world, world.events[i], state);
  }
}

TEST(PluginProperty, DecidesTheSameWhateverIsRememberedAndWhoeverListens) {
  CheckProperty(400, [] {
    const World world = *AnyWorld().as("world");
    const auto seed = *rc::gen::arbitrary<std::uint16_t>().as("seed");
    const auto plain = Build(world, 1);
    const auto listened = Build(world, 2U + seed);
    const auto forgetful = Build(world, 70'000U + seed);
    for (ClusterState* state : {plain.get(), listened.get(), forgetful.get()}) Dress(world, *state);
    const SchedulerConfig config = WithAllPlugins();
    Cycles of_plain(*plain, config);
    Cycles of_listened(*listened, config);
    for (int cycle = 0; cycle < kRounds; ++cycle) {
      TraceLog trace;
      const std::string decided = Written(of_plain.Run());
      RC_LOG() << "cycle " << cycle << ":\n" << decided;
      RC_ASSERT(Written(of_listened.Run(&trace)) == decided);
      RC_ASSERT(Written(RunCycle(*forgetful, config)) == decided);
      RC_ASSERT(DumpState(*listened) == DumpState(*plain));
      RC_ASSERT(DumpState(*forgetful) == DumpState(*plain));
      for (ClusterState* state : {plain.get(), listened.get(), forgetful.get()}) {
        GoOn(world, cycle, *state);
      }
    }
  });
}

TEST(PluginProperty, NobodyIsWhereHeMayNotBe) {
  CheckProperty(600, [] {
    const World world = *AnyWorld().as("world");
    const auto state = Build(world, 1);
    Dress(world, *state);
    Cycles cycles(*state, WithAllPlugins());
    for (int cycle = 0; cycle < kRounds; ++cycle) {
      std::map<std::string, TaskStatus> before;
      for (const TaskId id : state->workload().AllTasks()) {
        before[state->workload().task(id).name] = state->workload().task(id).status;
      }
      std::string inside;
      const Decisions decisions = cycles.Run(nullptr, [&] { inside = Misplaced(*state, before); });
      RC_LOG() << "cycle " << cycle << ":\n" << Written(decisions);
      RC_ASSERT(inside == "");
      GoOn(world, cycle, *state);
    }
  });
}

}  // namespace
}  // namespace strata::testing
