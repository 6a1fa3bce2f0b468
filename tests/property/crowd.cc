#include "tests/property/crowd.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <ostream>
#include <random>
#include <utility>

#include "tests/support/property.h"

namespace strata::testing {
namespace {

constexpr int kQueues = 3;
constexpr int kNow = 100'000;  // seconds

std::string Numbered(const char* kind, std::size_t index) {
  return kind + std::to_string(index);
}

rc::Gen<CrowdPod> AnyPod() {
  return rc::gen::build<CrowdPod>(rc::gen::set(&CrowdPod::node, Below(12)),
                                  rc::gen::set(&CrowdPod::size, Below(3)),
                                  rc::gen::set(&CrowdPod::kept, Below(14)),
                                  rc::gen::set(&CrowdPod::since, Below(4)),
                                  rc::gen::set(&CrowdPod::grace, Below(3)),
                                  rc::gen::set(&CrowdPod::ps, rc::gen::arbitrary<bool>()));
}

rc::Gen<CrowdJob> AnyJob() {
  return rc::gen::build<CrowdJob>(
      rc::gen::set(&CrowdJob::queue, Below(kQueues)),
      rc::gen::set(&CrowdJob::priority, Below(3)),
      rc::gen::set(&CrowdJob::slack, Below(4)),
      rc::gen::set(&CrowdJob::group_kept, rc::gen::map(Below(10), [](int n) { return n == 9; })),
      rc::gen::set(&CrowdJob::ps_minimum, Below(3)),
      rc::gen::set(&CrowdJob::parts, Below(4)),
      rc::gen::set(&CrowdJob::pods, rc::gen::mapcat(Below(4), [](int n) {
        return rc::gen::container<std::vector<CrowdPod>>(static_cast<std::size_t>(n) + 1, AnyPod());
      })));
}

rc::Gen<CrowdGang> AnyGang() {
  return rc::gen::build<CrowdGang>(rc::gen::set(&CrowdGang::queue, Below(kQueues)),
                                   rc::gen::set(&CrowdGang::priority, Below(4)),
                                   rc::gen::set(&CrowdGang::pods, Below(4)),
                                   rc::gen::set(&CrowdGang::size, Below(3)),
                                   rc::gen::set(&CrowdGang::slack, Below(3)),
                                   rc::gen::set(&CrowdGang::topology, Below(4)),
                                   rc::gen::set(&CrowdGang::parts, Below(4)));
}

SubGroupPolicy PolicyOf(std::int32_t size, std::int32_t minimum, TopologySpec topology) {
  return {.name = "part",
          .selector = std::nullopt,
          .match_label_keys = {"part"},
          .size = size,
          .min_sub_groups = minimum,
          .topology = std::move(topology)};
}

SubGroupKey PartOf(std::size_t number) {
  return {.policy = 0, .values = {std::to_string(number)}};
}

TaskArgs ArgsOf(const CrowdPod& pod) {
  TaskArgs args{.cpu = CrowdCores(pod.size), .role = pod.ps ? "ps" : "w"};
  args.disruption.preemptable = pod.kept != 1;
  args.disruption.critical = pod.kept == 2;
  const int age = pod.kept == 3 ? 10 : 1000 * (pod.since + 1);
  args.disruption.runs_since = ToMoment(Time(std::chrono::seconds(kNow - age)));
  args.disruption.cooldown_seconds = pod.kept == 3 ? 3600 : 0;
  args.disruption.grace_seconds = 30 * pod.grace;
  return args;
}

// The pods that find room, each with its node.
using Placed = std::vector<std::pair<CrowdPod, std::size_t>>;

std::vector<Placed> PlaceAll(const Crowd& crowd) {
  std::vector<Amount> free(crowd.racks.size(), kCrowdNodeCores);
  std::vector<Placed> placed;
  for (const CrowdJob& job : crowd.jobs) {
    Placed& of_job = placed.emplace_back();
    for (const CrowdPod& pod : job.pods) {
      const std::size_t node = static_cast<std::size_t>(pod.node) % free.size();
      if (free[node] < CrowdCores(pod.size)) continue;
      free[node] -= CrowdCores(pod.size);
      of_job.emplace_back(pod, node);
    }
  }
  return placed;
}

void AddJob(const CrowdJob& job,
            const std::string& name,
            const Placed& placed,
            ClusterBuilder& to) {
  const auto count = static_cast<std::int32_t>(placed.size());
  JobArgs args{.tasks = 0,
               .min_available = std::max(count - job.slack, 0),
               .queue = Numbered("q", static_cast<std::size_t>(job.queue)),
               .priority = job.priority};
  if (job.group_kept) args.preemptable = false;
  const auto ps = static_cast<std::int32_t>(
      std::count_if(placed.begin(), placed.end(), [](const auto& one) { return one.first.ps; }));
  if (job.ps_minimum > 0) args.min_task_member["ps"] = std::min(ps, job.ps_minimum);
  const std::size_t parts = job.parts > 1 ? static_cast<std::size_t>(job.parts) : 0;
  if (parts > 0) {
    const auto size = std::max(count / static_cast<std::int32_t>(parts), 1);
    args.sub_groups.push_back(PolicyOf(size, 1, {}));
  }
  to.Job(name, args);
  std::size_t dealt = 0;
  for (const auto& [pod, node] : placed) {
    TaskArgs pod_args = ArgsOf(pod);
    pod_args.status = TaskStatus::kRunning;
    pod_args.node = Numbered("n", node);
    if (parts > 0) pod_args.sub_group = PartOf(dealt++ % parts);
    to.Task(name, pod_args);
  }
  to.state.workload().SetJobPhase(to.FindJob(name), JobPhase::kRunning);
}

void AddGang(const CrowdGang& gang, const std::string& name, ClusterBuilder& to) {
  const int pods = gang.pods + 1;
  JobArgs args{.tasks = 0,
               .min_available = std::max(pods - gang.slack, 1),
               .topology = CrowdTopology(gang),
               .queue = Numbered("q", static_cast<std::size_t>(gang.queue)),
               .priority = gang.priority};
  const bool parted = (gang.parts == 1 || gang.parts == 2) && pods > 1;
  if (parted) {
    const TopologySpec topology = gang.parts == 2 ? Hard(1) : TopologySpec{};
    args.sub_groups.push_back(PolicyOf(2, std::max(pods / 2 - gang.slack, 1), topology));
  }
  to.Job(name, args);
  for (int i = 0; i < pods; ++i) {
    TaskArgs task{.cpu = CrowdCores(gang.size)};
    if (parted) task.sub_group = PartOf(static_cast<std::size_t>(i / 2));
    to.Task(name, task);
  }
}

void AddQueues(int policies, ClusterBuilder& to) {
  for (int i = 0; i < kQueues; ++i) {
    QueueArgs args;
    args.reclaimable = policies % 7 != i;
    args.cpu_deserved = (policies / 7 + 3 * i) % 10;
    args.cpu_guarantee = policies % 5 == i ? 2 : 0;
    to.Queue(Numbered("q", static_cast<std::size_t>(i)), args);
  }
}

}  // namespace

Time CrowdNow() {
  return Time(std::chrono::seconds(kNow));
}

Amount CrowdCores(int size) {
  constexpr std::array<Amount, 3> kSizes = {4, 2, 1};
  return kSizes[static_cast<std::size_t>(size) % kSizes.size()];
}

TopologySpec CrowdTopology(const CrowdGang& gang) {
  switch (gang.topology) {
    case 1:
      return Hard(1);
    case 2:
      return Hard(2);
    case 3:
      return Soft();
    default:
      return {};
  }
}

void showValue(const Crowd& crowd, std::ostream& os) {
  os << "racks";
  for (const int rack : crowd.racks) os << ' ' << rack;
  os << " policies " << crowd.policies << '\n';
  for (const CrowdJob& job : crowd.jobs) {
    os << "job {" << job.queue << ',' << job.priority << ',' << job.slack << ',' << job.group_kept
       << ',' << job.ps_minimum << ',' << job.parts << "}";
    for (const CrowdPod& pod : job.pods) {
      os << " {" << pod.node << ',' << pod.size << ',' << pod.kept << ',' << pod.since << ','
         << pod.grace << ',' << pod.ps << '}';
    }
    os << '\n';
  }
  for (const CrowdGang& gang : crowd.gangs) {
    os << "gang {" << gang.queue << ',' << gang.priority << ',' << gang.pods << ',' << gang.size
       << ',' << gang.slack << ',' << gang.topology << ',' << gang.parts << "}\n";
  }
}

rc::Gen<Crowd> AnyCrowd(int jobs, int gangs) {
  const auto some = [](int most, const auto& one) {
    using Value = typename std::decay_t<decltype(one())>::ValueType;
    return rc::gen::mapcat(Below(most), [one](int n) {
      return rc::gen::container<std::vector<Value>>(static_cast<std::size_t>(n) + 1, one());
    });
  };
  return rc::gen::build<Crowd>(
      rc::gen::set(&Crowd::racks,
                   rc::gen::mapcat(Below(4),
                                   [](int n) {
                                     return rc::gen::container<std::vector<int>>(
                                         static_cast<std::size_t>(n) + 2, Below(2));
                                   })),
      rc::gen::set(&Crowd::policies, Below(70)),
      rc::gen::set(&Crowd::jobs, some(jobs, AnyJob)),
      rc::gen::set(&Crowd::gangs, some(gangs, AnyGang)));
}

void RemoveSubGroups(Crowd& crowd) {
  for (CrowdJob& job : crowd.jobs) job.parts = 0;
  for (CrowdGang& gang : crowd.gangs) gang.parts = 0;
}

std::unique_ptr<ClusterBuilder> Build(const Crowd& crowd, unsigned seed) {
  auto cluster = std::make_unique<ClusterBuilder>();
  AddQueues(crowd.policies, *cluster);
  const std::vector<Placed> placed = PlaceAll(crowd);
  std::vector<std::function<void()>> nodes;
  std::vector<std::function<void()>> jobs;
  for (std::size_t i = 0; i < crowd.racks.size(); ++i) {
    nodes.emplace_back([&, i] { cluster->Node(Numbered("n", i), {.cpu = kCrowdNodeCores}); });
  }
  for (std::size_t i = 0; i < crowd.jobs.size(); ++i) {
    jobs.emplace_back([&, i] { AddJob(crowd.jobs[i], Numbered("j", i), placed[i], *cluster); });
  }
  for (std::size_t i = 0; i < crowd.gangs.size(); ++i) {
    jobs.emplace_back([&, i] { AddGang(crowd.gangs[i], Numbered("g", i), *cluster); });
  }
  std::mt19937 random(seed);  // NOLINT(cert-msc51-cpp): the same orders in every run
  if (seed != 0) {
    std::shuffle(nodes.begin(), nodes.end(), random);
    std::shuffle(jobs.begin(), jobs.end(), random);
  }
  for (const auto& add : nodes) add();
  HyperNodeSpec spine;
  spine.name = "s2";
  spine.tier = 2;
  for (int rack = 0; rack < 2; ++rack) {
    HyperNodeSpec spec;
    spec.name = Numbered("s", static_cast<std::size_t>(rack));
    spec.tier = 1;
    for (std::size_t i = 0; i < crowd.racks.size(); ++i) {
      if (crowd.racks[i] != rack) continue;
      HyperNodeMember& member = spec.members.emplace_back();
      member.kind = HyperNodeMember::Kind::kNode;
      member.selector.emplace<HyperNodeMember::Exact>().name = Numbered("n", i);
    }
    if (spec.members.empty()) continue;
    HyperNodeMember& child = spine.members.emplace_back();
    child.kind = HyperNodeMember::Kind::kHyperNode;
    child.selector.emplace<HyperNodeMember::Exact>().name = spec.name;
    cluster->state.UpsertHyperNode(std::move(spec));
  }
  cluster->state.UpsertHyperNode(std::move(spine));
  for (const auto& add : jobs) add();
  return cluster;
}

SchedulerConfig CrowdConfig(const std::string& action, bool dry_run) {
  SchedulerConfig config = DefaultSchedulerConfig();
  ActionConfig added{.name = action, .arguments = {}};
  if (dry_run) added.arguments.Set("dryRun", true);
  config.actions.resize(2);
  config.actions.push_back(std::move(added));
  PluginConfig cooldowns;
  cooldowns.name = "cdp";
  config.tiers.front().push_back(std::move(cooldowns));
  const bool reclaims = action.ends_with("reclaim");
  for (auto& tier : config.tiers) {
    for (PluginConfig& plugin : tier) {
      if (plugin.name == "proportion" && reclaims) plugin.name = "capacity";
    }
    if (!reclaims) {
      std::erase_if(tier, [](const PluginConfig& one) { return one.name == "proportion"; });
    }
  }
  return config;
}

}  // namespace strata::testing
