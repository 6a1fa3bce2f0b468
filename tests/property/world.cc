#include "tests/property/world.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <ostream>
#include <random>
#include <utility>

#include "base/check.h"
#include "tests/support/property.h"

namespace strata::testing {
namespace {

using AmountsByName = std::map<std::string, Amount>;

constexpr Amount kGiB = Amount{1} << 30U;
constexpr const char* kGpu = "nvidia.com/gpu";
constexpr const char* kHca = "rdma/hca";
const HostPort kPort{.ip = "", .protocol = "TCP", .port = 80};

// What a pod asks of the pods around it.
enum class PeerRule : std::uint8_t {
  kNone,
  kApart,        // none of its app on its node
  kApartZone,    // none of app "x" in its zone
  kTogether,     // beside its own app, by zone
  kFollow,       // beside app "x", by zone
  kSpread,       // even over zones
  kSpreadWide,   // the same, over at least two
  kRatherNear,   // would rather be beside app "x"
  kRatherApart,  // would rather not be on a node with its app
  kRatherSpread  // would rather be even over zones
};

// What a pod asks for.
struct Shape {
  Amount cores, gib, gpus, hcas;
  const char* zone = nullptr;       // must be there
  const char* near_zone = nullptr;  // would rather be there
  bool tolerates = false;
  bool port = false;
  const char* app = nullptr;
  PeerRule rule = PeerRule::kNone;
};

constexpr Shape Peer(const char* app, PeerRule rule) {
  Shape shape{1, 1, 0, 0};
  shape.app = app;
  shape.rule = rule;
  return shape;
}
constexpr std::array kShapes = {
    Shape{1, 1, 0, 0},
    Shape{2, 2, 0, 0},
    Shape{4, 1, 0, 0},
    Shape{0, 0, 0, 0},  // BestEffort
    Shape{1, 1, 1, 0},
    Shape{2, 2, 2, 1},
    Shape{1, 1, 0, 0, "a"},
    Shape{1, 1, 0, 0, nullptr, "b"},
    Shape{1, 1, 0, 0, nullptr, nullptr, true},
    Shape{1, 1, 0, 0, nullptr, nullptr, false, true},
    Shape{0, 0, 0, 0, nullptr, nullptr, true, true},  // BestEffort with a port
    Shape{0, 3, 0, 0},
    Shape{1, 1, 1, 1},
    Peer("x", PeerRule::kNone),
    Peer("x", PeerRule::kApart),
    Peer("y", PeerRule::kApartZone),
    Peer("y", PeerRule::kTogether),
    Peer("z", PeerRule::kFollow),
    Peer("even", PeerRule::kSpread),  // no other pod has these two, so that the rule holds for all
    Peer("wide", PeerRule::kSpreadWide),
    Peer("y", PeerRule::kRatherNear),
    Peer("x", PeerRule::kRatherApart),
    Peer("z", PeerRule::kRatherSpread),
};

std::string Name(const char* kind, std::size_t index) {
  return kind + std::to_string(index);
}

template <typename Container>
std::size_t Pick(int gene, const Container& container) {
  return static_cast<std::size_t>(gene) % container.size();
}

// ---- objects by name, before anybody has an id

AmountsByName AllocatableOf(const NodeGene& gene) {
  constexpr std::array<Amount, 4> kCores = {4, 8, 2, 5};
  constexpr std::array<Amount, 3> kGpus = {0, 2, 4};
  constexpr std::array<Amount, 3> kMaxPods = {110, 2, 3};
  const Amount cores = kCores[Pick(gene.cpu, kCores)];
  return {{"cpu", cores * 1000},
          {"memory", cores * kGiB},
          {"pods", kMaxPods[Pick(gene.pods, kMaxPods)]},
          {kGpu, kGpus[Pick(gene.gpu, kGpus)] * 1000},
          {kHca, (gene.hca % 3) * 1000}};
}

AmountsByName RequestOf(const TaskGene& gene) {
  const Shape& shape = kShapes[Pick(gene.shape, kShapes)];
  return {{"cpu", shape.cores * 1000},
          {"memory", shape.gib * kGiB},
          {"pods", 1},
          {kGpu, shape.gpus * 1000},
          {kHca, shape.hcas * 1000}};
}

Resources Convert(const AmountsByName& amounts, ResourceNames& names) {
  Resources resources;
  for (const auto& [name, amount] : amounts) {
    if (amount != 0) resources.Set(names.Intern(name), amount);
  }
  return resources;
}

PodTerm Apps(const char* app, const char* key) {
  return {.selector = LabelSelector{{{"app", SelectorOp::kIn, {app}}}},
          .namespaces = {"test"},
          .every_namespace = false,
          .topology_key = key};
}

SpreadRule Even(const char* app, SpreadRule::Unsatisfiable when) {
  SpreadRule rule;
  rule.topology_key = "zone";
  rule.when_unsatisfiable = when;
  rule.selector = LabelSelector{{{"app", SelectorOp::kIn, {app}}}};
  return rule;
}

PodRules RulesOf(const Shape& shape) {
  PodRules rules;
  switch (shape.rule) {
    case PeerRule::kNone:
      break;
    case PeerRule::kApart:
      rules.anti_affinity = {Apps(shape.app, "host")};
      break;
    case PeerRule::kApartZone:
      rules.anti_affinity = {Apps("x", "zone")};
      break;
    case PeerRule::kTogether:
      rules.affinity = {Apps(shape.app, "zone")};
      break;
    case PeerRule::kFollow:
      rules.affinity = {Apps("x", "zone")};
      break;
    case PeerRule::kSpread:
      rules.spread = {Even(shape.app, SpreadRule::Unsatisfiable::kDoNotSchedule)};
      break;
    case PeerRule::kSpreadWide:
      rules.spread = {Even(shape.app, SpreadRule::Unsatisfiable::kDoNotSchedule)};
      rules.spread[0].min_domains = 2;
      break;
    case PeerRule::kRatherNear:
      rules.preferred = {{.weight = 50, .term = Apps("x", "zone")}};
      break;
    case PeerRule::kRatherApart:
      rules.preferred = {{.weight = -30, .term = Apps(shape.app, "host")}};
      break;
    case PeerRule::kRatherSpread:
      rules.spread = {Even(shape.app, SpreadRule::Unsatisfiable::kScheduleAnyway)};
      break;
  }
  return rules;
}

ClassSpec ClassOf(const TaskGene& gene, ResourceNames& names) {
  const Shape& shape = kShapes[Pick(gene.shape, kShapes)];
  ClassSpec spec;
  spec.request = Convert(RequestOf(gene), names);
  spec.nonzero_cpu = shape.cores > 0 ? shape.cores * 1000 : 100;
  spec.nonzero_memory = shape.gib > 0 ? shape.gib * kGiB : 200 * (Amount{1} << 20U);
  if (shape.zone != nullptr) spec.node_selector = {{"zone", shape.zone}};
  if (shape.near_zone != nullptr) {
    spec.affinity.preferred = {
        {.weight = 50,
         .term = {.labels = {{"zone", SelectorOp::kIn, {shape.near_zone}}}, .fields = {}}}};
  }
  if (shape.tolerates) {
    spec.tolerations = {
        {.key = kKeepOut.key, .op = Toleration::Op::kExists, .value = "", .effect = std::nullopt}};
  }
  if (shape.port) spec.host_ports = {kPort};
  spec.identity.ns = "test";
  if (shape.app != nullptr) spec.identity.labels = {{"app", shape.app}};
  spec.rules = RulesOf(shape);
  if (gene.uid == 2 && shape.cores > 0) {
    spec.numa.policy = gene.created == 0 ? NumaPolicy::kNone : NumaPolicy::kSingleNumaNode;
    spec.numa.cpus = {static_cast<std::int32_t>(shape.cores)};
  }
  return spec;
}

NodeSpec NodeOf(const World& world, std::size_t index, ResourceNames& names) {
  const NodeGene& gene = world.nodes[index];
  NodeSpec spec;
  spec.name = Name("n", index);
  SetLabel(spec, "host", spec.name);
  constexpr std::array kZones = {"", "a", "b"};
  if (const char* zone = kZones[Pick(gene.zone, kZones)]; *zone != '\0') {
    SetLabel(spec, "zone", zone);
  }
  if (gene.taint > 0) {
    constexpr std::array kEffects = {
        TaintEffect::kPreferNoSchedule, TaintEffect::kNoSchedule, TaintEffect::kNoExecute};
    spec.taints = {kKeepOut};
    spec.taints[0].effect = kEffects[Pick(gene.taint, kEffects)];
  }
  spec.unschedulable = gene.cordoned;
  AmountsByName allocatable = AllocatableOf(gene);
  if (gene.shrunk) allocatable["cpu"] /= 2;
  spec.allocatable = Convert(allocatable, names);
  return spec;
}

bool IsIn(const NodeGene& node, std::size_t hypernode) {
  return static_cast<std::size_t>(node.leaf) == hypernode + 1 ||
         static_cast<std::size_t>(node.second) == hypernode + 1;
}

void AddMember(HyperNodeSpec& spec, HyperNodeMember::Kind kind, const std::string& name) {
  spec.members.emplace_back().kind = kind;
  spec.members.back().selector = HyperNodeMember::Exact{name};
}

HyperNodeSpec HyperNodeOf(const World& world, std::size_t index) {
  const HyperNodeGene& gene = world.hypernodes[index];
  constexpr std::array kTierNames = {"rack", "spine", "core", "odd", ""};
  HyperNodeSpec spec{.name = Name("h", index),
                     .tier = gene.tier + 1,
                     .tier_name = kTierNames[Pick(gene.tier + gene.tier_name, kTierNames)],
                     .members = {}};
  for (std::size_t i = 0; i < world.nodes.size(); ++i) {
    if (IsIn(world.nodes[i], index)) AddMember(spec, HyperNodeMember::Kind::kNode, Name("n", i));
  }
  for (std::size_t i = 0; i < world.hypernodes.size(); ++i) {
    const HyperNodeGene& child = world.hypernodes[i];
    if (static_cast<std::size_t>(child.parent) != index + 1) continue;
    if (child.tier < gene.tier || child.odd) {
      AddMember(spec, HyperNodeMember::Kind::kHyperNode, Name("h", i));
    }
  }
  return spec;
}

QueueSpec QueueOf(const World& world, std::size_t index) {
  const QueueGene& gene = world.queues[index];
  QueueSpec spec;
  spec.name = Name("q", index);
  spec.uid = spec.name;
  spec.weight = 1 + gene.weight;
  spec.open = !gene.closed;
  if (gene.capability > 0) spec.capability[kCpu] = gene.capability * 2000;
  return spec;
}

TopologySpec TopologyOf(int mode, int tier) {
  TopologySpec spec;
  if (mode == 0) return spec;
  spec.mode = mode == 1 ? TopologySpec::Mode::kHard : TopologySpec::Mode::kSoft;
  constexpr std::array<std::int32_t, 6> kTiers = {1, 2, 3, 4, 0, 9};
  if (tier < 6) spec.highest_tier = kTiers[Pick(tier, kTiers)];
  if (tier == 7) spec.highest_tier_name = "rack";
  if (tier == 8) spec.highest_tier_name = "nobody";
  return spec;
}

std::int32_t MinAvailable(const JobGene& gene) {
  const auto tasks = static_cast<std::int32_t>(gene.tasks.size());
  return std::max(tasks - gene.slack, 0);
}

JobSpec JobOf(const World& world, std::size_t index, ResourceNames& names) {
  const JobGene& gene = world.jobs[index];
  JobSpec spec;
  spec.name = Name("j", index);
  spec.uid = spec.name;
  spec.queue = world.queues.empty() ? "none" : Name("q", Pick(gene.queue, world.queues));
  spec.priority = gene.priority;
  spec.min_available = MinAvailable(gene);
  spec.created = Time(Duration(gene.created));
  spec.topology = TopologyOf(gene.mode, gene.tier);
  if (gene.role_minimum > 0) spec.min_task_member["a"] = gene.role_minimum;
  if (gene.min_resources > 0) {
    AmountsByName least;
    for (std::size_t i = 0; i < gene.tasks.size() && i < std::size_t(spec.min_available); ++i) {
      for (const auto& [name, amount] : RequestOf(gene.tasks[i])) least[name] += amount;
    }
    if (gene.min_resources == 2) least["cpu"] += 1000;  // more than its pods ask for
    spec.min_resources = Convert(least, names);
  }
  if (gene.policy > 0) {
    SubGroupPolicy policy;
    policy.name = "p";
    policy.match_label_keys = {"part"};
    policy.size = 1 + gene.part_size;
    policy.min_sub_groups = gene.min_parts;
    policy.topology = TopologyOf(gene.policy - 1, (gene.tier + gene.part_size) % 3);
    spec.sub_groups = {policy};
  }
  return spec;
}

std::string TaskName(std::size_t job, std::size_t index, const TaskGene& gene) {
  return Name("j", job) + (gene.unranked ? "x" : "-w-") + std::to_string(index);
}

constexpr int kPendingGenes = 6;
TaskStatus StatusOf(const TaskGene& gene) {
  constexpr std::array kOthers = {TaskStatus::kRunning,
                                  TaskStatus::kReleasing,
                                  TaskStatus::kBound,
                                  TaskStatus::kSucceeded,
                                  TaskStatus::kFailed,
                                  TaskStatus::kUnknown};
  if (gene.status < kPendingGenes) return TaskStatus::kPending;
  return kOthers[Pick(gene.status - kPendingGenes, kOthers)];
}

// What is left of each node while the pods that run at the beginning find their places, so that the
// beginning is never over-committed.
class Room {
 public:
  explicit Room(const World& world) {
    for (std::size_t i = 0; i < world.nodes.size(); ++i) {
      left_.push_back(AllocatableOf(world.nodes[i]));
    }
    port_taken_.resize(left_.size(), false);
  }
  // Whether the task fits the node, which it then has.
  bool Take(std::size_t node, const TaskGene& gene) {
    const AmountsByName request = RequestOf(gene);
    const bool port = kShapes[Pick(gene.shape, kShapes)].port;
    if (port && port_taken_[node]) return false;
    for (const auto& [name, amount] : request) {
      if (left_[node][name] < amount) return false;
    }
    for (const auto& [name, amount] : request) left_[node][name] -= amount;
    port_taken_[node] = port_taken_[node] || port;
    return true;
  }

 private:
  std::vector<AmountsByName> left_;
  std::vector<bool> port_taken_;
};

// Where the task is at the beginning: "" if it is pending.
using Homes = std::map<std::pair<std::size_t, std::size_t>, std::string>;

Homes HomesOf(const World& world) {
  Homes homes;
  Room room(world);
  for (std::size_t j = 0; j < world.jobs.size(); ++j) {
    for (std::size_t t = 0; t < world.jobs[j].tasks.size(); ++t) {
      const TaskGene& gene = world.jobs[j].tasks[t];
      if (StatusOf(gene) == TaskStatus::kPending) continue;
      const std::size_t node = static_cast<std::size_t>(gene.node) % (world.nodes.size() + 1);
      if (node == world.nodes.size()) {
        homes[{j, t}] = "gone";
      } else if (room.Take(node, gene)) {
        homes[{j, t}] = Name("n", node);
      }
    }
  }
  return homes;
}

TaskSpec TaskOf(const World& world,
                std::size_t job,
                std::size_t index,
                const std::string& home,
                ResourceNames& names) {
  const JobGene& job_gene = world.jobs[job];
  const TaskGene& gene = job_gene.tasks[index];
  TaskSpec spec;
  spec.name = TaskName(job, index, gene);
  spec.uid = std::to_string(gene.uid) + spec.name;
  spec.role = gene.role % 2 == 0 ? "a" : "b";
  spec.constraints = ClassOf(gene, names);
  spec.priority = 1 + gene.priority;
  spec.created = Time(Duration(gene.created));
  spec.gated = gene.gated;
  if (!home.empty()) {
    spec.status = StatusOf(gene);
    spec.node_name = home;
  }
  if (job_gene.policy > 0 && gene.part % 4 != 3) {
    spec.sub_group = SubGroupKey{0, {std::to_string(gene.part % 4)}};
  }
  return spec;
}

// ---- generators

rc::Gen<bool> Rarely(int one_in) {
  return rc::gen::map(Below(one_in), [one_in](int n) { return n == one_in - 1; });
}
// Mostly 0, else anything below `end`.
rc::Gen<int> Sometimes(int end) {
  return rc::gen::oneOf(rc::gen::just(0), rc::gen::just(0), Below(end));
}

// At most `max` of them, at least `least`.
template <typename T>
rc::Gen<std::vector<T>> Several(std::size_t least, int max, const rc::Gen<T>& gen) {
  return rc::gen::map(rc::gen::resize(max, rc::gen::container<std::vector<T>>(gen)),
                      [least](std::vector<T> all) {
                        if (all.size() < least) all.resize(least);
                        return all;
                      });
}

rc::Gen<NodeGene> AnyNode() {
  return rc::gen::build<NodeGene>(rc::gen::set(&NodeGene::cpu, Below(4)),
                                  rc::gen::set(&NodeGene::gpu, Sometimes(3)),
                                  rc::gen::set(&NodeGene::hca, Sometimes(3)),
                                  rc::gen::set(&NodeGene::pods, Sometimes(3)),
                                  rc::gen::set(&NodeGene::zone, Below(3)),
                                  rc::gen::set(&NodeGene::taint, Sometimes(4)),
                                  rc::gen::set(&NodeGene::leaf, Below(5)),
                                  rc::gen::set(&NodeGene::second, Sometimes(9)),
                                  rc::gen::set(&NodeGene::cordoned, Rarely(8)));
}

rc::Gen<HyperNodeGene> AnyHyperNode() {
  return rc::gen::build<HyperNodeGene>(rc::gen::set(&HyperNodeGene::tier, Below(3)),
                                       rc::gen::set(&HyperNodeGene::tier_name, Sometimes(3)),
                                       rc::gen::set(&HyperNodeGene::parent, Below(9)),
                                       rc::gen::set(&HyperNodeGene::odd, Rarely(12)));
}

rc::Gen<QueueGene> AnyQueue() {
  return rc::gen::build<QueueGene>(rc::gen::set(&QueueGene::weight, Below(3)),
                                   rc::gen::set(&QueueGene::capability, Sometimes(8)),
                                   rc::gen::set(&QueueGene::closed, Rarely(10)));
}

rc::Gen<TaskGene> AnyTask() {
  return rc::gen::build<TaskGene>(
      rc::gen::set(&TaskGene::shape,
                   rc::gen::oneOf(Below(3), Below(static_cast<int>(kShapes.size())))),
      rc::gen::set(&TaskGene::status, Below(kPendingGenes + 6)),
      rc::gen::set(&TaskGene::node, Below(12)),
      rc::gen::set(&TaskGene::role, Below(2)),
      rc::gen::set(&TaskGene::priority, Sometimes(3)),
      rc::gen::set(&TaskGene::part, Below(4)),
      rc::gen::set(&TaskGene::created, Below(3)),
      rc::gen::set(&TaskGene::uid, Below(3)),
      rc::gen::set(&TaskGene::gated, Rarely(16)),
      rc::gen::set(&TaskGene::unranked, Rarely(8)));
}

rc::Gen<JobGene> AnyJob() {
  return rc::gen::build<JobGene>(rc::gen::set(&JobGene::queue, Below(3)),
                                 rc::gen::set(&JobGene::priority, Sometimes(3)),
                                 rc::gen::set(&JobGene::created, Below(3)),
                                 rc::gen::set(&JobGene::slack, Sometimes(6)),
                                 rc::gen::set(&JobGene::mode, Below(3)),
                                 rc::gen::set(&JobGene::tier, rc::gen::oneOf(Below(3), Below(9))),
                                 rc::gen::set(&JobGene::policy, Sometimes(4)),
                                 rc::gen::set(&JobGene::part_size, Below(3)),
                                 rc::gen::set(&JobGene::min_parts, Below(3)),
                                 rc::gen::set(&JobGene::min_resources, Sometimes(3)),
                                 rc::gen::set(&JobGene::role_minimum, Sometimes(3)),
                                 rc::gen::set(&JobGene::tasks, Several(1, 7, AnyTask())));
}

rc::Gen<EventGene> AnyEvent() {
  return rc::gen::build<EventGene>(rc::gen::set(&EventGene::what, Below(9)),
                                   rc::gen::set(&EventGene::which, Below(30)),
                                   rc::gen::set(&EventGene::where, Below(10)));
}

// ---- events

std::vector<TaskId> TasksWith(const ClusterState& state, TaskStatus status) {
  std::vector<TaskId> tasks;
  for (const TaskId id : state.workload().AllTasks()) {
    if (state.workload().task(id).status == status) tasks.push_back(id);
  }
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    return state.workload().task(a).name < state.workload().task(b).name;
  });
  return tasks;
}

void ToggleNode(const World& world, std::size_t index, ClusterState& state) {
  if (const auto id = state.nodes().Find(Name("n", index))) {
    state.RemoveNode(*id);
  } else {
    CHECK(state.UpsertNode(NodeOf(world, index, state.resource_names())).has_value());
  }
}

// The node becomes a member of that HyperNode alone.
void MoveNode(const World& world, std::size_t node, std::size_t to, ClusterState& state) {
  World moved = world;
  moved.nodes[node].leaf = static_cast<int>(to) + 1;
  moved.nodes[node].second = 0;
  for (std::size_t i = 0; i < world.hypernodes.size(); ++i) {
    state.UpsertHyperNode(HyperNodeOf(moved, i));
  }
}

}  // namespace

rc::Gen<World> AnyWorld() {
  return rc::gen::build<World>(rc::gen::set(&World::nodes, Several(1, 10, AnyNode())),
                               rc::gen::set(&World::hypernodes, Several(0, 8, AnyHyperNode())),
                               rc::gen::set(&World::queues, Several(1, 3, AnyQueue())),
                               rc::gen::set(&World::jobs, Several(1, 5, AnyJob())),
                               rc::gen::set(&World::events, Several(0, 5, AnyEvent())));
}

std::unique_ptr<ClusterState> Build(const World& world, unsigned seed) {
  auto state = std::make_unique<ClusterState>();
  std::mt19937 random(seed);
  std::vector<std::string> resources = {kGpu, kHca};
  std::shuffle(resources.begin(), resources.end(), random);
  for (const std::string& name : resources) state->resource_names().Intern(name);

  // Each object has a time at which it comes; a task comes after its job.
  std::multimap<unsigned, std::function<void()>> arrivals;
  const auto any_time = [&] { return static_cast<unsigned>(random() % 1000); };
  for (std::size_t i = 0; i < world.nodes.size(); ++i) {
    arrivals.emplace(any_time(), [&, i] {
      CHECK(state->UpsertNode(NodeOf(world, i, state->resource_names())).has_value());
    });
  }
  for (std::size_t i = 0; i < world.hypernodes.size(); ++i) {
    arrivals.emplace(any_time(), [&, i] { state->UpsertHyperNode(HyperNodeOf(world, i)); });
  }
  for (std::size_t i = 0; i < world.queues.size(); ++i) {
    arrivals.emplace(any_time(), [&, i] { state->workload().UpsertQueue(QueueOf(world, i)); });
  }
  const Homes homes = HomesOf(world);
  for (std::size_t j = 0; j < world.jobs.size(); ++j) {
    const unsigned time = any_time();
    arrivals.emplace(
        time, [&, j] { state->workload().UpsertJob(JobOf(world, j, state->resource_names())); });
    for (std::size_t t = 0; t < world.jobs[j].tasks.size(); ++t) {
      const auto home = homes.find({j, t});
      const std::string name = home == homes.end() ? "" : home->second;
      arrivals.emplace(time + 1 + any_time(), [&, j, t, name] {
        TaskSpec spec = TaskOf(world, j, t, name, state->resource_names());
        spec.job = *state->workload().FindJob(Name("j", j));
        state->workload().AddTask(std::move(spec));
      });
    }
  }
  for (const auto& [time, arrive] : arrivals) arrive();
  return state;
}

Objects ObjectsOf(const World& world) {
  Objects objects;
  const auto add = [](auto& all, auto spec) { all.emplace(spec.name, std::move(spec)); };
  for (std::size_t i = 0; i < world.nodes.size(); ++i) {
    add(objects.nodes, NodeOf(world, i, objects.resources));
  }
  for (std::size_t i = 0; i < world.hypernodes.size(); ++i) {
    add(objects.hypernodes, HyperNodeOf(world, i));
  }
  for (std::size_t i = 0; i < world.queues.size(); ++i) add(objects.queues, QueueOf(world, i));
  const Homes homes = HomesOf(world);
  for (std::size_t j = 0; j < world.jobs.size(); ++j) {
    add(objects.jobs, JobOf(world, j, objects.resources));
    for (std::size_t t = 0; t < world.jobs[j].tasks.size(); ++t) {
      const auto home = homes.find({j, t});
      const std::string node = home == homes.end() ? "" : home->second;
      Objects::Pod pod{Name("j", j), TaskOf(world, j, t, node, objects.resources)};
      objects.tasks.emplace(pod.spec.name, std::move(pod));
    }
  }
  return objects;
}

void Happen(const World& world, const EventGene& event, ClusterState& state) {
  const std::size_t which = static_cast<std::size_t>(event.which);
  const std::vector<TaskId> running = TasksWith(state, TaskStatus::kRunning);
  const std::vector<TaskId> pending = TasksWith(state, TaskStatus::kPending);
  switch (event.what) {
    case 1:
      if (!running.empty()) {
        state.workload().SetTaskStatus(running[which % running.size()], TaskStatus::kReleasing);
      }
      break;
    case 2:
      if (!running.empty()) {
        state.workload().SetTaskStatus(running[which % running.size()], TaskStatus::kSucceeded);
      }
      break;
    case 3:
      if (!running.empty()) state.workload().RemoveTask(running[which % running.size()]);
      break;
    case 4:
      if (!pending.empty()) state.workload().RemoveTask(pending[which % pending.size()]);
      break;
    case 5:
      ToggleNode(world, which % world.nodes.size(), state);
      break;
    case 6:
      if (!world.hypernodes.empty()) {
        state.RemoveHyperNode(Name("h", which % world.hypernodes.size()));
      }
      break;
    case 7:
      if (!world.hypernodes.empty()) {
        MoveNode(world,
                 which % world.nodes.size(),
                 static_cast<std::size_t>(event.where) % world.hypernodes.size(),
                 state);
      }
      break;
    case 8:
      if (const auto id = state.nodes().Find(Name("n", which % world.nodes.size()))) {
        NodeSpec spec = state.nodes().spec(*id);
        spec.allocatable.Set(kCpu, spec.allocatable.Get(kCpu) / 2);
        CHECK(state.UpsertNode(std::move(spec)).has_value());
      }
      break;
    default:
      break;
  }
}

void showValue(const World& world, std::ostream& os) {  // NOLINT(readability-identifier-naming)
  os << "World{.nodes = {\n";
  for (const NodeGene& n : world.nodes) {
    os << "  {" << n.cpu << ',' << n.gpu << ',' << n.hca << ',' << n.pods << ", " << n.zone << ','
       << n.taint << ", " << n.leaf << ',' << n.second << ", " << n.cordoned << ',' << n.shrunk
       << "},\n";
  }
  os << "}, .hypernodes = {";
  for (const HyperNodeGene& h : world.hypernodes) {
    os << " {" << h.tier << ',' << h.tier_name << ", " << h.parent << ", " << h.odd << "},";
  }
  os << "}, .queues = {";
  for (const QueueGene& q : world.queues) {
    os << " {" << q.weight << ',' << q.capability << ", " << q.closed << "},";
  }
  os << "}, .jobs = {\n";
  for (const JobGene& j : world.jobs) {
    os << "  {" << j.queue << ',' << j.priority << ',' << j.created << ',' << j.slack << ", "
       << j.mode << ',' << j.tier << ", " << j.policy << ',' << j.part_size << ',' << j.min_parts
       << ", " << j.min_resources << ',' << j.role_minimum << ", {";
    for (const TaskGene& t : j.tasks) {
      os << " {" << t.shape << ", " << t.status << ", " << t.node << ',' << t.role << ','
         << t.priority << ',' << t.part << ',' << t.created << ',' << t.uid << ", " << t.gated
         << ',' << t.unranked << "},";
    }
    os << "}},\n";
  }
  os << "}, .events = {";
  for (const EventGene& e : world.events) {
    os << " {" << e.what << ',' << e.which << ',' << e.where << "},";
  }
  os << "}}";
}

void SetLabel(NodeSpec& node, const std::string& key, const std::string& value) {
  Labels labels;
  for (const auto& [its_key, its_value] : node.labels) labels.emplace(its_key, its_value);
  labels.insert_or_assign(key, value);
  node.labels = labels;
}

}  // namespace strata::testing
