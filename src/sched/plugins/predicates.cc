#include "sched/plugins/predicates.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sched/plugins/argument_rules.h"
#include "sched/plugins/inter_pod_affinity.h"
#include "sched/plugins/pod_spread.h"
#include "sched/plugins/volume_filters.h"

namespace strata {
namespace {

struct Filters {
  bool node_affinity = true;
  bool taints = true;
  bool ports = true;
  bool pod_affinity = true;
  bool spread = true;
  VolumeFilters volumes;
};

bool ToleratesCordon(const std::vector<Toleration>& tolerations) {
  static const Taint cordon{
      .key = "node.kubernetes.io/unschedulable", .value = "", .effect = TaintEffect::kNoSchedule};
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& toleration) {
    return toleration.Tolerates(cordon);
  });
}

bool AsksNothingOfNodes(const ClassSpec& spec) {
  return spec.node_selector.empty() && !spec.affinity.required && spec.volumes.empty();
}

class Predicates final : public Plugin, public NodeFilterPoint, public PeerFilterPoint {
 public:
  explicit Predicates(const Filters& filters) : filters_(filters) {}

  [[nodiscard]] bool AdmitsSpec(const ClusterState& state,
                                const ClassSpec& spec,
                                NodeId id) const override {
    if (state.nodes().IsOpen(id) && AsksNothingOfNodes(spec)) return true;
    const NodeSpec& node = state.nodes().spec(id);
    return !IsCordoned(spec, node) && IsWanted(spec, node) &&
           RepellentTaint(spec, node) == nullptr &&
           filters_.volumes.RefuseSpec(spec.volumes, node).empty();
  }

  [[nodiscard]] bool AdmitsNow(const ClusterState& state,
                               const ClassSpec& spec,
                               NodeId id) const override {
    return HasPorts(state, spec, id) && !filters_.volumes.ExceedsLimit(state, spec.volumes, id);
  }

  [[nodiscard]] bool TakesOnlyOne(const ClassSpec& spec) const override {
    return filters_.ports && !spec.host_ports.empty();
  }

  [[nodiscard]] std::string Reason(const ClusterState& state,
                                   const ClassSpec& spec,
                                   NodeId id) const override {
    const NodeSpec& node = state.nodes().spec(id);
    if (IsCordoned(spec, node)) return "node(s) were unschedulable";
    if (!IsWanted(spec, node)) return "node(s) didn't match Pod's node affinity/selector";
    if (const Taint* taint = RepellentTaint(spec, node)) {
      return fmt::format("node(s) had untolerated taint {{{}: {}}}", taint->key, taint->value);
    }
    if (!HasPorts(state, spec, id)) {
      return "node(s) didn't have free ports for the requested pod ports";
    }
    if (filters_.volumes.ExceedsLimit(state, spec.volumes, id)) {
      return "node(s) exceed max volume count";
    }
    return filters_.volumes.RefuseSpec(spec.volumes, node);
  }

  [[nodiscard]] bool AdmitsPeer(const PeerCounts& peers, NodeId node) const override {
    return AffinityOf(peers, node) == AffinityRefusal::kNone &&
           SpreadOf(peers, node) == SpreadRefusal::kNone && !filters_.volumes.IsClaimInUse(peers);
  }

  [[nodiscard]] std::string PeerReason(const PeerCounts& peers, NodeId node) const override {
    const AffinityRefusal affinity = AffinityOf(peers, node);
    if (affinity != AffinityRefusal::kNone) return ToString(affinity);
    const SpreadRefusal spread = SpreadOf(peers, node);
    if (spread != SpreadRefusal::kNone) return ToString(spread);
    return "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod "
           "access mode";
  }

 private:
  [[nodiscard]] bool HasPorts(const ClusterState& state, const ClassSpec& spec, NodeId id) const {
    if (!filters_.ports || spec.host_ports.empty()) return true;
    for (const HostPort& used : state.nodes().PortsInUse(id)) {
      for (const HostPort& wanted : spec.host_ports) {
        if (wanted.ConflictsWith(used)) return false;
      }
    }
    return true;
  }

  [[nodiscard]] AffinityRefusal AffinityOf(const PeerCounts& peers, NodeId node) const {
    return filters_.pod_affinity ? RefuseByAffinity(peers, node) : AffinityRefusal::kNone;
  }

  [[nodiscard]] SpreadRefusal SpreadOf(const PeerCounts& peers, NodeId node) const {
    return filters_.spread ? RefuseBySpread(peers, node) : SpreadRefusal::kNone;
  }

  [[nodiscard]] static bool IsCordoned(const ClassSpec& spec, const NodeSpec& node) {
    return node.unschedulable && !ToleratesCordon(spec.tolerations);
  }

  [[nodiscard]] bool IsWanted(const ClassSpec& spec, const NodeSpec& node) const {
    if (!filters_.node_affinity) return true;
    if (spec.node_selector.empty() && !spec.affinity.required) return true;
    return MatchesNode(spec.node_selector, spec.affinity, node.name, node.labels);
  }

  [[nodiscard]] const Taint* RepellentTaint(const ClassSpec& spec, const NodeSpec& node) const {
    if (!filters_.taints || node.taints.empty()) return nullptr;
    return FirstUntolerated(node.taints, spec.tolerations);
  }

  Filters filters_;
};

struct WithoutEffect {
  const char* key;
  bool fallback;
};
constexpr std::array kSwitchesWithoutEffect = {
    WithoutEffect{"predicate.DynamicResourceAllocationEnable", false},
};

constexpr std::array kKnownArguments = {
    "predicate.NodeAffinityEnable",
    "predicate.NodePortsEnable",
    "predicate.TaintTolerationEnable",
    "predicate.PodAffinityEnable",
    "predicate.PodTopologySpreadEnable",
    "predicate.NodeVolumeLimitsEnable",
    "predicate.VolumeZoneEnable",
    "predicate.VolumeBindingEnable",
    "predicate.CacheEnable",
    "volumebinding.weight",
    "volumebinding.bindTimeoutSeconds",
    "volumebinding.shape",
    "dynamicresources.filterTimeoutSeconds",
};

}  // namespace

Result<MadePlugin> MakePredicates(const PluginConfig& config, ResourceNames& /*resources*/) {
  const Arguments& arguments = config.arguments;
  Filters filters;
  TRY_ASSIGN(filters.node_affinity, arguments.Bool("predicate.NodeAffinityEnable", true));
  TRY_ASSIGN(filters.taints, arguments.Bool("predicate.TaintTolerationEnable", true));
  TRY_ASSIGN(filters.ports, arguments.Bool("predicate.NodePortsEnable", true));
  TRY_ASSIGN(filters.pod_affinity, arguments.Bool("predicate.PodAffinityEnable", true));
  TRY_ASSIGN(filters.spread, arguments.Bool("predicate.PodTopologySpreadEnable", true));
  TRY_ASSIGN(filters.volumes.limits, arguments.Bool("predicate.NodeVolumeLimitsEnable", true));
  TRY_ASSIGN(filters.volumes.zones, arguments.Bool("predicate.VolumeZoneEnable", true));
  TRY_ASSIGN(filters.volumes.binding, arguments.Bool("predicate.VolumeBindingEnable", true));
  TRY(arguments.Bool("predicate.CacheEnable", false));  // answers are always remembered here
  for (const char* number : {"volumebinding.weight",
                             "volumebinding.bindTimeoutSeconds",
                             "dynamicresources.filterTimeoutSeconds"}) {
    TRY(arguments.Int(number, 0));
  }

  std::vector<std::string_view> known(kKnownArguments.begin(), kKnownArguments.end());
  std::vector<std::string> warnings;
  for (const auto& [key, fallback] : kSwitchesWithoutEffect) {
    known.emplace_back(key);
    TRY_ASSIGN(const bool on, arguments.Bool(key, fallback));
    if (on && arguments.Has(key)) {
      warnings.push_back(ArgumentWarning(config.name, key, "has no effect in this version"));
    }
  }
  MadePlugin made{.plugin = std::make_unique<Predicates>(filters),
                  .warnings = WarnOfUnknown(config, known)};
  made.warnings.insert(made.warnings.end(), warnings.begin(), warnings.end());
  return made;
}

}  // namespace strata
