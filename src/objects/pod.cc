#include "objects/pod.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "objects/readers.h"
#include "objects/syntax.h"

namespace strata::objects {
namespace {

void ReadVolume(const Cursor& at, Volume& out) {
  at.At("name").Required().Read(out.name);
  CheckDnsLabel(at.At("name"), out.name);
  const Cursor claim = at.At("persistentVolumeClaim");
  if (claim.present()) {
    claim.At("claimName").Required().Read(out.claim_name);
    CheckDnsSubdomain(claim.At("claimName"), out.claim_name);
  }
  const Cursor ephemeral = at.At("ephemeral");
  if (ephemeral.present()) {
    const Cursor claim_template = ephemeral.At("volumeClaimTemplate");
    ReadClaimSpec(claim_template.At("spec"), out.ephemeral.emplace());
  }
  const Cursor csi = at.At("csi");
  csi.At("driver").Read(out.csi_driver);
}

void ReadContainers(const Cursor& spec, PodSpec& out) {
  std::set<std::string> names;
  const auto read = [&](const Cursor& at, Container& container) {
    ReadContainer(at, container);
    if (names.insert(container.name).second) return;
    at.At("name").Refuse(fmt::format("\"{}\" is the name of another container", container.name));
  };
  spec.At("initContainers").ReadList(out.init_containers, read);
  spec.At("containers").Required().ReadList(out.containers, read);
  if (out.containers.empty()) spec.At("containers").Refuse("want at least one container");
  for (Container& container : out.containers) container.sidecar = false;
}

// With the node's own network a port of a container is a port of the node.
void SetHostNetworkPorts(const Cursor& spec, PodSpec& out) {
  if (!out.host_network) return;
  for (std::vector<Container>* list : {&out.init_containers, &out.containers}) {
    for (Container& container : *list) {
      for (ContainerPort& port : container.ports) {
        if (port.host.port == 0) port.host.port = port.container_port;
        if (port.host.port == port.container_port) continue;
        spec.At("hostNetwork")
            .Refuse(fmt::format("container \"{}\": hostPort {} must equal containerPort {}",
                                container.name,
                                port.host.port,
                                port.container_port));
      }
    }
  }
}

void ReadPodLevelResources(const Cursor& at, PodLevelResources& out) {
  for (const auto& [name, list] :
       {std::pair("requests", &out.requests), std::pair("limits", &out.limits)}) {
    const Cursor amounts = at.At(name);
    ReadResources(amounts, *list);
    for (const auto& [resource, amount] : *list) {
      if (resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-")) continue;
      amounts.At(resource).Refuse("want cpu, memory or hugepages-<size> for a whole pod");
    }
  }
  for (const auto& [resource, limit] : out.limits) {
    const auto request = out.requests.find(resource);
    if (request == out.requests.end() || request->second <= limit) continue;
    const Cursor requests = at.At("requests");
    requests.At(resource).Refuse(
        fmt::format("{} is more than the limit {}", request->second.ToString(), limit.ToString()));
  }
}

void ReadPlacement(const Cursor& spec, PodSpec& out) {
  ReadLabels(spec.At("nodeSelector"), out.node_selector);
  const Cursor affinity = spec.At("affinity");
  ReadNodeAffinity(affinity.At("nodeAffinity"), out.node_affinity);
  ReadPodAffinity(affinity.At("podAffinity"), out.pod_affinity);
  ReadPodAffinity(affinity.At("podAntiAffinity"), out.pod_anti_affinity);
  spec.At("tolerations").ReadRules(out.tolerations, ReadToleration);
  const auto read_spread = [&](const Cursor& item, TopologySpreadConstraint& constraint) {
    ReadSpreadConstraint(item, constraint);
    const bool twice = std::any_of(out.spread.begin(), out.spread.end(), [&](const auto& other) {
      return other.topology_key == constraint.topology_key &&
             other.when_unsatisfiable == constraint.when_unsatisfiable;
    });
    if (twice) {
      item.Refuse("duplicate constraint (same topologyKey and whenUnsatisfiable)");
    }
  };
  spec.At("topologySpreadConstraints").ReadRules(out.spread, read_spread);
}

void ReadContainerStatus(const Cursor& at, ContainerStatus& out) {
  at.At("name").Read(out.name);
  ReadResources(at.At("allocatedResources"), out.allocated);
  const Cursor resources = at.At("resources");
  ReadResources(resources.At("requests"), out.requests);
}

// Adds `key in (value)` (or its opposite) for each key that the pod has.
void MergeKeys(const Labels& labels,
               const std::vector<std::string>& keys,
               SelectorOp op,
               std::optional<LabelSelector>& selector) {
  if (!selector) return;
  std::vector<Requirement>& all = selector->requirements;
  for (const std::string& key : keys) {
    const std::string* value = Find(labels, key);
    if (value == nullptr) continue;
    Requirement requirement{key, op, {*value}};
    const auto place = std::lower_bound(all.begin(), all.end(), requirement);
    if (place == all.end() || *place != requirement) all.insert(place, std::move(requirement));
  }
}

}  // namespace

void ReadPodSpec(const Cursor& at, PodSpec& out) {
  at.At("nodeName").Read(out.node_name);
  if (!out.node_name.empty()) CheckDnsSubdomain(at.At("nodeName"), out.node_name);
  at.At("schedulerName").Read(out.scheduler_name);
  at.At("priority").Read(out.priority);
  at.At("priorityClassName").Read(out.priority_class_name);
  const Cursor preemption = at.At("preemptionPolicy");
  if (preemption.present()) ReadPreemptionPolicy(preemption, out.preemption_policy.emplace());
  at.At("hostNetwork").Read(out.host_network);
  at.At("terminationGracePeriodSeconds").Read(out.grace_seconds);
  ReadContainers(at, out);
  SetHostNetworkPorts(at, out);
  ReadResources(at.At("overhead"), out.overhead);
  const Cursor resources = at.At("resources");
  if (resources.present()) ReadPodLevelResources(resources, out.resources.emplace());
  ReadPlacement(at, out);
  at.At("volumes").ReadList(out.volumes, ReadVolume);
  at.At("schedulingGates").ForEach([&](const Cursor& item) {
    item.At("name").Required().Read(out.scheduling_gates.emplace_back());
  });
}

void ReadObject(const Cursor& object, Pod& out) {
  constexpr std::array<std::pair<std::string_view, PodPhase>, 5> kPhases = {
      {{"Pending", PodPhase::kPending},
       {"Running", PodPhase::kRunning},
       {"Succeeded", PodPhase::kSucceeded},
       {"Failed", PodPhase::kFailed},
       {"Unknown", PodPhase::kUnknown}}};
  const Cursor spec = object.At("spec");
  ReadPodSpec(spec.Required(), out.spec);
  if (out.spec.scheduler_name.empty()) out.spec.scheduler_name = "default-scheduler";
  MergeMatchLabelKeys(out);

  const Cursor status = object.At("status");
  status.At("phase").ReadEnum(out.status.phase, kPhases);
  status.At("nominatedNodeName").Read(out.status.nominated_node_name);
  ReadConditions(status.At("conditions"), out.status.conditions);
  status.At("containerStatuses").ReadList(out.status.containers, ReadContainerStatus);
  status.At("initContainerStatuses").ReadList(out.status.init_containers, ReadContainerStatus);
}

std::vector<HostPort> HostPortsOf(const PodSpec& spec) {
  std::vector<HostPort> ports;
  const auto add = [&](const Container& container) {
    for (const ContainerPort& port : container.ports) {
      if (port.host.port != 0) ports.push_back(port.host);
    }
  };
  for (const Container& container : spec.init_containers) {
    if (container.sidecar) add(container);
  }
  for (const Container& container : spec.containers) add(container);
  return ports;
}

std::string ClaimNameOf(const Pod& pod, const Volume& volume) {
  return volume.ephemeral ? pod.meta.name + "-" + volume.name : volume.claim_name;
}

void MergeMatchLabelKeys(Pod& pod) {
  const auto merge = [&](PodAffinityTerm& term) {
    MergeKeys(pod.meta.labels, term.match_label_keys, SelectorOp::kIn, term.selector);
    MergeKeys(pod.meta.labels, term.mismatch_label_keys, SelectorOp::kNotIn, term.selector);
  };
  for (PodAffinity* affinity : {&pod.spec.pod_affinity, &pod.spec.pod_anti_affinity}) {
    for (PodAffinityTerm& term : affinity->required) merge(term);
    for (WeightedPodAffinityTerm& weighted : affinity->preferred) merge(weighted.term);
  }
  for (TopologySpreadConstraint& constraint : pod.spec.spread) {
    MergeKeys(pod.meta.labels, constraint.match_label_keys, SelectorOp::kIn, constraint.selector);
  }
}

}  // namespace strata::objects
