#include "sched/plugins/deviceshare.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "model/gpu_amounts.h"
#include "sched/devices/gpu_filter.h"
#include "sched/devices/gpu_fit.h"
#include "sched/devices/gpu_sets.h"
#include "sched/extension.h"
#include "sched/plugins/argument_rules.h"

namespace strata {
namespace {

using Usage = std::vector<GpuUsage>;
using When = DevicePoint::When;

// What is taken of the GPUs of a node.
Usage UsageOn(const ClusterState& state, NodeId node, When when) {
  const NodeGpus& gpus = *state.nodes().spec(node).gpus;
  Usage now(gpus.gpus.size());
  Usage future(gpus.gpus.size());
  bool differ = false;
  for (const TaskId id : state.nodes().TasksOn(node)) {
    const GpuClaim& claim = state.workload().GpusOf(id);
    if (claim.empty()) continue;
    const TaskStatus status = state.workload().task(id).status;
    if (status != TaskStatus::kPipelined) AddClaim(gpus, claim, now);
    if (status != TaskStatus::kReleasing) AddClaim(gpus, claim, future);
    differ = differ || status == TaskStatus::kPipelined || status == TaskStatus::kReleasing;
  }
  if (when == When::kFuture || !differ) return future;
  for (std::size_t i = 0; i < now.size(); ++i) now[i].RaiseTo(future[i]);
  return now;
}

// Marks the GPUs of which pods of the PodGroup have shares.
void MarkGroup(
    const ClusterState& state, NodeId node, const std::string& group, When when, Usage& usage) {
  const NodeGpus& gpus = *state.nodes().spec(node).gpus;
  for (const TaskId id : state.nodes().TasksOn(node)) {
    const Task& task = state.workload().task(id);
    if (!task.job.valid() || state.workload().job(task.job).spec.name != group) continue;
    if (when == When::kFuture && task.status == TaskStatus::kReleasing) continue;
    for (const auto& shares : state.workload().GpusOf(id).containers) {
      for (const GpuShare& share : shares) {
        if (const auto at = gpus.Find(share.uuid)) usage[*at].by_own_group = true;
      }
    }
  }
}

// The same with what only this pod has to mind.
Usage UsageFor(const ClusterState& state, const GpuRequest& pod, NodeId node, When when) {
  Usage usage = UsageOn(state, node, when);
  if (!pod.spread_group.empty()) MarkGroup(state, node, pod.spread_group, when, usage);
  return usage;
}

// How full the GPUs of the node are, from 0 to 1: slots, cores and memory in equal parts.
double Fullness(const NodeGpus& node, const Usage& usage) {
  double slots = 0;
  double cores = 0;
  double memory = 0;
  GpuUsage used;
  for (std::size_t i = 0; i < usage.size(); ++i) {
    slots += node.gpus[i].slots;
    cores += node.gpus[i].cores;
    memory += static_cast<double>(node.gpus[i].memory_mib);
    used.slots += usage[i].slots;
    used.cores += usage[i].cores;
    used.memory_mib += usage[i].memory_mib;
  }
  const auto ratio = [](double part, double whole) {
    return whole > 0 ? std::min(part / whole, 1.0) : 0;
  };
  return (ratio(used.slots, slots) + ratio(used.cores, cores) +
          ratio(static_cast<double>(used.memory_mib), memory)) /
         3;
}

// Why what a pod would get is more than its namespace may have; none when it is not.
std::optional<std::string> OverQuota(const ClusterState& state,
                                     const GpuRequest& request,
                                     const GpuClaim& claim) {
  if (request.quota_namespace.empty()) return std::nullopt;
  const GpuTotals used = state.workload().GpusIn(request.quota_namespace);
  const GpuTotals asked = TotalOf(claim);
  for (const QuotaSpec* quota : state.quotas().Of(request.quota_namespace)) {
    for (const GpuPart& part : kGpuParts) {
      const std::optional<std::int64_t> limit = quota->gpus.*part.limit;
      if (!limit || asked.*part.total <= *limit - used.*part.total) continue;
      return fmt::format("ResourceQuota {}: {} {} requested, {} in use, its limit is {}",
                         quota->name,
                         asked.*part.total,
                         part.resource,
                         used.*part.total,
                         *limit);
    }
  }
  return std::nullopt;
}

bool IsUnused(const Usage& usage) {
  return std::all_of(
      usage.begin(), usage.end(), [](const GpuUsage& gpu) { return gpu == GpuUsage{}; });
}

// deviceshare.SchedulePolicy: what pods of Volcano's dialect get that name no policy.
struct SchedulePolicy {
  GpuPolicy gpus = {.order = {GpuOrder::kLastToFirst}, .chain = true};
  GpuNodePolicy nodes = GpuNodePolicy::kBinpack;
};

class Deviceshare final : public Plugin,
                          public NodeFilterPoint,
                          public NodeScorePoint,
                          public DevicePoint {
 public:
  Deviceshare(std::int64_t weight, SchedulePolicy policy)
      : weight_(static_cast<double>(weight)), policy_(std::move(policy)) {}

  [[nodiscard]] bool ConcernsClass(const ClassSpec& spec) const override {
    return spec.gpus.has_value();
  }

  [[nodiscard]] bool AdmitsSpec(const ClusterState& state,
                                const ClassSpec& spec,
                                NodeId node) const override {
    if (!spec.gpus) return true;
    if (!spec.gpus->problem.empty()) return false;
    const GpuOffer& offer = OfferOf(state, spec, node);
    if (!offer.registered) return spec.gpus->dialect == GpuDialect::kHami;  // by count alone
    return offer.problem.empty();
  }

  [[nodiscard]] bool AdmitsNow(const ClusterState& state,
                               const ClassSpec& spec,
                               NodeId node) const override {
    return !Concerns(state, spec, node) || FitNow(state, spec, node).claim.has_value();
  }

  [[nodiscard]] bool AdmitsFuture(const ClusterState& state,
                                  const ClassSpec& spec,
                                  NodeId node) const override {
    if (!Concerns(state, spec, node)) return true;
    const GpuFit fit = FitWhen(state, spec, node, When::kFuture);
    return fit.claim && !OverQuota(state, *spec.gpus, *fit.claim);
  }

  [[nodiscard]] bool LooksBeyondNode(const ClassSpec& spec) const override {
    return spec.gpus && !spec.gpus->quota_namespace.empty();
  }

  [[nodiscard]] bool AdmitsInAll(const ClusterState& state,
                                 const ClassSpec& spec,
                                 NodeId node) const override {
    return !Concerns(state, spec, node) ||
           !OverQuota(state, *spec.gpus, *FitNow(state, spec, node).claim);
  }

  [[nodiscard]] std::uint32_t Room(const ClusterState& state,
                                   const ClassSpec& spec,
                                   NodeId node,
                                   std::uint32_t max) const override {
    if (!Concerns(state, spec, node)) return max;
    const Usage usage = UsageFor(state, *spec.gpus, node, When::kNow);
    // One fits, whatever the quick count finds.
    return std::max(CountGpuFits(*spec.gpus, *state.nodes().spec(node).gpus, usage, max), 1U);
  }

  [[nodiscard]] bool TakesOnlyOne(const ClassSpec& /*spec*/) const override { return false; }

  [[nodiscard]] std::string Reason(const ClusterState& state,
                                   const ClassSpec& spec,
                                   NodeId node) const override {
    if (!spec.gpus->problem.empty()) return "node(s) rejected the pod: " + spec.gpus->problem;
    const GpuOffer& offer = OfferOf(state, spec, node);
    if (!offer.problem.empty()) return "node(s) offer no GPUs: " + offer.problem;
    if (!offer.registered) return "node(s) register no GPUs for " + std::string(kVgpuResource);
    const auto& gpus = state.nodes().spec(node).gpus;
    const GpuFit& fit = FitNow(state, spec, node);
    if (!fit.claim) return fmt::format("{}: {}", kNoSuitableGpus, fit.reason);
    return fmt::format("{}: {}/{} {} ({})",
                       kNoSuitableGpus,
                       gpus->gpus.size(),
                       gpus->gpus.size(),
                       ToString(GpuRefusal::kQuotaNotFit),
                       OverQuota(state, *spec.gpus, *fit.claim).value_or(""));
  }

  void ScoreNodes(const ClusterState& state,
                  const ClassSpec& spec,
                  std::span<const NodeId> nodes,
                  std::span<Score> out) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      out[i] = Concerns(state, spec, nodes[i]) ? ToScore(weight_ * Quality(state, spec, nodes[i]))
                                               : Score{0};
    }
  }

  [[nodiscard]] GpuClaim Choose(const ClusterState& state,
                                const ClassSpec& spec,
                                NodeId node,
                                When when) const override {
    if (!Concerns(state, spec, node)) return {};
    GpuFit fit =
        when == When::kNow ? FitNow(state, spec, node) : FitWhen(state, spec, node, When::kFuture);
    CHECK(fit.claim.has_value());
    return *std::move(fit.claim);
  }

  [[nodiscard]] DeviceRecord Describe(const ClusterState& state,
                                      const ClassSpec& spec,
                                      NodeId node,
                                      const GpuClaim& claim) const override;

 private:
  // The answer for one class on one node, good until the node changes.
  struct Known {
    std::uint64_t version = 0;
    std::uint64_t class_epoch = 0;  // in another one another class may have the address
    const ClassSpec* spec = nullptr;
    GpuFit fit;
  };

  // What the node says in the dialect of the pod.
  static const GpuOffer& OfferOf(const ClusterState& state, const ClassSpec& spec, NodeId node) {
    static const GpuOffer none;
    const auto& gpus = state.nodes().spec(node).gpus;
    return gpus ? gpus->OfferIn(spec.gpus->dialect) : none;
  }
  static bool Concerns(const ClusterState& state, const ClassSpec& spec, NodeId node) {
    return spec.gpus && OfferOf(state, spec, node).registered;
  }

  [[nodiscard]] const GpuPolicy& PolicyOf(const GpuRequest& pod) const {
    return pod.policy.order.empty() ? policy_.gpus : pod.policy;
  }
  [[nodiscard]] GpuNodePolicy NodePolicyOf(const GpuRequest& pod) const {
    return pod.node_policy == GpuNodePolicy::kAsConfigured ? policy_.nodes : pod.node_policy;
  }
  [[nodiscard]] GpuFit FitOn(const ClusterState& state,
                             const ClassSpec& spec,
                             NodeId node,
                             const Usage& usage) const {
    const NodeGpus& gpus = *state.nodes().spec(node).gpus;
    return FitGpus(*spec.gpus, PolicyOf(*spec.gpus), gpus, usage);
  }
  [[nodiscard]] GpuFit FitWhen(const ClusterState& state,
                               const ClassSpec& spec,
                               NodeId node,
                               When when) const {
    return FitOn(state, spec, node, UsageFor(state, *spec.gpus, node, when));
  }

  const GpuFit& FitNow(const ClusterState& state, const ClassSpec& spec, NodeId node) const {
    if (node.index() >= known_.size()) known_.resize(state.nodes().slots());
    Known& known = known_[node.index()];
    if (known.spec != &spec || known.class_epoch != state.classes().epoch() ||
        known.version != state.nodes().Version(node)) {
      known.fit = FitWhen(state, spec, node, When::kNow);
      known.spec = &spec;
      known.class_epoch = state.classes().epoch();
      known.version = state.nodes().Version(node);
    }
    return known.fit;
  }

  [[nodiscard]] double Quality(const ClusterState& state, const ClassSpec& spec, NodeId node) const;

  double weight_;
  SchedulePolicy policy_;
  mutable std::vector<Known> known_;  // by node
};

double Deviceshare::Quality(const ClusterState& state, const ClassSpec& spec, NodeId node) const {
  const NodeGpus& gpus = *state.nodes().spec(node).gpus;
  const Usage usage = UsageOn(state, node, When::kNow);
  const double full = Fullness(gpus, usage);
  const double policy = NodePolicyOf(*spec.gpus) == GpuNodePolicy::kBinpack ? full : 1 - full;
  if (!PolicyOf(*spec.gpus).topology_aware) return 100 * policy;

  const GpuFit& fit = FitNow(state, spec, node);
  const GpuFit best = IsUnused(usage) ? fit : FitOn(state, spec, node, Usage(usage.size()));
  const auto& containers = spec.gpus->containers;
  const bool single = std::all_of(containers.begin(), containers.end(), [](const auto& container) {
    return container.count <= 1;
  });
  double quality = 1;
  if (single && best.damage > 0) {
    quality = 1 - static_cast<double>(fit.damage) / static_cast<double>(best.damage);
  } else if (!single && best.score > 0) {
    quality = static_cast<double>(fit.score) / static_cast<double>(best.score);
  }
  return 100 * std::clamp(quality, 0.0, 1.0) + policy / 100;
}

DeviceRecord Deviceshare::Describe(const ClusterState& state,
                                   const ClassSpec& spec,
                                   NodeId node,
                                   const GpuClaim& claim) const {
  const NodeGpus& gpus = *state.nodes().spec(node).gpus;
  const GpuFit best = FitOn(state, spec, node, Usage(gpus.gpus.size()));
  const auto positions = [&](const std::vector<GpuShare>& shares) {
    std::vector<std::size_t> found;
    for (const GpuShare& share : shares) {
      if (const auto at = gpus.Find(share.uuid)) found.push_back(*at);
    }
    return found;
  };
  DeviceRecord record;
  for (std::size_t c = 0; c < claim.containers.size(); ++c) {
    if (claim.containers[c].empty()) continue;
    DeviceRecord::Container& out = record.containers.emplace_back();
    out.name = spec.gpus->containers[c].container;
    for (const GpuShare& share : claim.containers[c]) out.uuids.push_back(share.uuid);
    const std::vector<std::size_t> at = positions(claim.containers[c]);
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (std::size_t j = i + 1; j < at.size(); ++j) {
        const bool known = gpus.scores.IsKnown(at[i], at[j]);
        out.links.push_back(
            fmt::format("{}-{} {}",
                        gpus.gpus[at[i]].index,
                        gpus.gpus[at[j]].index,
                        known ? DescribeScore(gpus.scores.Get(at[i], at[j])) : "unknown"));
      }
    }
    out.score = SumOfPairs(gpus.scores, at);
    out.proven = claim.proven && (!best.claim || best.claim->proven);
    if (best.claim) out.best = SumOfPairs(gpus.scores, positions(best.claim->containers[c]));
    out.best = std::max(out.best, out.score);
  }
  return record;
}

// Whether an argument says anything: "" is what it is without.
bool Given(const Arguments& arguments, std::string_view key) {
  const Result<std::string> text = arguments.String(key, "");
  return !text || !text->empty();
}

// None: there is no such policy. Ties go to the lower position.
std::optional<SchedulePolicy> FindSchedulePolicy(std::string_view name) {
  SchedulePolicy policy;
  if (name.empty()) return policy;
  if (name == "binpack") {
    policy.gpus.order = {GpuOrder::kByUsedMemory};
  } else if (name == "spread") {
    policy.gpus.order = {GpuOrder::kByShares};
    policy.nodes = GpuNodePolicy::kSpread;
  } else if (name == "topology-aware") {
    policy.gpus.topology_aware = true;
  } else {
    return std::nullopt;
  }
  return policy;
}

}  // namespace

Result<MadePlugin> MakeDeviceshare(const PluginConfig& config, ResourceNames& /*resources*/) {
  constexpr std::string_view kVgpu = "deviceshare.VGPUEnable";
  constexpr std::string_view kPolicy = "deviceshare.SchedulePolicy";
  const Arguments& arguments = config.arguments;
  TRY_ASSIGN(const std::int64_t weight,
             WeightArgument(arguments, "deviceshare.ScheduleWeight", 10, IfNegative::kUseDefault));
  std::vector<std::string_view> known = {"deviceshare.ScheduleWeight", kVgpu, kPolicy};
  std::vector<std::string> warnings;
  const auto warn = [&](std::string_view key, std::string_view what) {
    warnings.push_back(ArgumentWarning(config.name, key, what));
  };
  TRY_ASSIGN(const bool vgpu, arguments.Bool(kVgpu, true));
  if (!vgpu) {
    warn(kVgpu, "false has no effect: listed is enabled; remove the plugin to turn it off");
  }
  TRY_ASSIGN(const std::string policy_name, arguments.String(kPolicy, ""));
  const std::optional<SchedulePolicy> policy = FindSchedulePolicy(policy_name);
  if (!policy) {
    warn(kPolicy,
         fmt::format("\"{}\" is not a policy (want binpack, spread or topology-aware) and has no "
                     "effect",
                     policy_name));
  }
  for (const std::string_view key : {"deviceshare.GPUSharingEnable",
                                     "deviceshare.GPUNumberEnable",
                                     "deviceshare.NodeLockEnable",
                                     "deviceshare.AscendMindClusterVNPUEnable",
                                     "deviceshare.AscendHAMiVNPUEnable"}) {
    known.push_back(key);
    TRY_ASSIGN(const bool on, arguments.Bool(key, false));
    if (on) warn(key, "has no effect");
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kUnused = {
      {{"deviceshare.GPUExclusiveRules", "has no effect"},
       {"deviceshare.KnownGeometriesCMName", "has no effect; MIG profiles are what nodes register"},
       {"deviceshare.KnownGeometriesCMNamespace",
        "has no effect; MIG profiles are what nodes register"}}};
  for (const auto& [key, what] : kUnused) {
    known.push_back(key);
    if (Given(arguments, key)) warn(key, what);
  }
  MadePlugin made{
      .plugin = std::make_unique<Deviceshare>(weight, policy.value_or(SchedulePolicy{})),
      .warnings = WarnOfUnknown(config, known)};
  made.warnings.insert(made.warnings.end(), warnings.begin(), warnings.end());
  return made;
}

}  // namespace strata
