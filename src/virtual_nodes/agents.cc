#include "virtual_nodes/agents.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "agent/admission.h"
#include "agent/device_ids.h"
#include "agent/gpu_record.h"
#include "agent/preferred_allocation.h"
#include "agent/record_names.h"
#include "agent/settlement.h"
#include "convert/gpu_annotations.h"
#include "objects/meta.h"

namespace strata::virtual_nodes {
namespace {

using agent::KnownContainer;
using agent::KnownPod;

// hami.io/bind-phase; "" without one.
std::string_view PhaseOf(const KnownPod& pod) {
  const std::string* phase = objects::Find(pod.annotations, agent::RecordNames().bind_phase);
  return phase == nullptr ? std::string_view() : std::string_view(*phase);
}

bool IsInitContainer(const KnownPod& pod, const std::string& name) {
  return std::any_of(
      pod.containers.begin(), pod.containers.end(), [&](const KnownContainer& container) {
        return container.name == name && container.kind == KnownContainer::Kind::kInit;
      });
}

// The ids that no container has. Containers get those of the init containers of their own pod
// again: these have ended by then.
std::vector<std::string> FreeIds(const NodeGpus& gpus,
                                 const agent::Journal& journal,
                                 const KnownPod& pod) {
  std::set<std::string> held;
  for (const auto& [key, entry] : journal.entries()) {
    if (key.first == pod.uid && IsInitContainer(pod, entry.container)) continue;
    held.insert(entry.ids.begin(), entry.ids.end());
  }
  std::vector<std::string> ids;
  for (const agent::OfferedDevice& device : agent::DevicesOf(gpus, agent::OfferNuma::kNo)) {
    if (device.healthy && !held.contains(device.id)) ids.push_back(device.id);
  }
  return ids;
}

// The others as the kubelet shows them: they run.
std::vector<KnownPod> PodsOf(const agent::Journal& journal, const KnownPod& pod) {
  std::vector<KnownPod> pods = {pod};
  for (const auto& [key, entry] : journal.entries()) {
    if (key.first == pods.back().uid || key.first == pod.uid) continue;
    KnownPod& other = pods.emplace_back();
    other.uid = entry.uid;
    other.ns = entry.ns;
    other.name = entry.pod;
    other.phase = objects::PodPhase::kRunning;
  }
  return pods;
}

agent::JournalEntry EntryOf(const KnownPod& pod, const KnownContainer& container, Time now) {
  return {.uid = pod.uid,
          .ns = pod.ns,
          .pod = pod.name,
          .container = container.name,
          .uuids = {},
          .ids = {},
          .served = now};
}

// "" when every container was served, else why not.
std::string Serve(const std::string& node,
                  const NodeGpus& gpus,
                  const KnownPod& pod,
                  Time now,
                  agent::Journal& journal) {
  const std::vector<KnownPod> pods = PodsOf(journal, pod);
  const agent::AdmissionInput input{
      .node = node, .pods = pods, .journal = journal, .gpus = gpus, .lock_owner = std::nullopt};
  for (const KnownContainer& container : pod.containers) {
    if (container.gpus == 0 || journal.Find(pod.uid, container.name) != nullptr) continue;
    const auto count = static_cast<std::size_t>(container.gpus);
    const std::vector<std::string> available = FreeIds(gpus, journal, pod);
    if (available.size() < count) {
      return fmt::format(
          "requested number of devices unavailable for {}. Requested: {}, Available: {}",
          agent::RecordNames().count,
          count,
          available.size());
    }
    const std::vector<std::string> ids =
        agent::PreferIds(gpus,
                         {.available = available, .must_include = {}, .size = count},
                         agent::WantedBy(input, count, available));
    const auto slot = agent::Admit(input, ids);
    if (!slot) return slot.error().reason;
    agent::JournalEntry entry = EntryOf(pod, pod.containers[slot->container], now);
    entry.uuids = agent::UuidsOf(slot->shares);
    entry.ids = ids;
    journal.Put(std::move(entry));
  }
  return "";
}

}  // namespace

Agents::Answer Agents::Admit(const SeenNode& node, const KnownPod& pod, Time now) {
  using Kind = Answer::Kind;
  if (PhaseOf(pod) == "failed") {
    const auto why = refusals_.find(pod.uid);
    return {Kind::kRefused, why == refusals_.end() ? "the agent has refused it" : why->second};
  }
  if (PhaseOf(pod) == "success") return {Kind::kStart, ""};
  if (const auto place = places_.find(pod.FullName());
      place != places_.end() && place->second.uid != pod.uid) {
    Release(pod.FullName());  // an earlier pod of the same name
  }
  places_[pod.FullName()] = {node.name, pod.uid};
  agent::Journal& journal = journals_[node.name];
  const auto read = ReadNodeGpus(node.gpus);
  std::string refusal = Serve(node.name, read ? read->node : NodeGpus(), pod, now, journal);
  const bool served = refusal.empty();
  std::string patch =
      agent::PatchOf(served ? agent::SettleServed(pod, journal) : agent::SettleRefused(pod),
                     agent::NodeLocked::kNo);
  if (!served && !patch.empty()) refusals_[pod.uid] = refusal;
  if (!patch.empty()) return {Kind::kWrite, std::move(patch)};
  return {served ? Kind::kStart : Kind::kRefused, std::move(refusal)};
}

void Agents::Release(const std::string& pod_name) {
  const auto place = places_.find(pod_name);
  if (place == places_.end()) return;
  const std::string uid = place->second.uid;
  const auto journal = journals_.find(place->second.node);
  places_.erase(place);
  refusals_.erase(uid);
  if (journal == journals_.end()) return;
  std::set<std::string> others;
  for (const auto& [key, entry] : journal->second.entries()) {
    if (key.first != uid) others.insert(key.first);
  }
  journal->second.KeepOnly(others);
  if (others.empty()) journals_.erase(journal);
}

std::size_t Agents::served() const {
  std::size_t count = 0;
  for (const auto& [node, journal] : journals_) count += journal.entries().size();
  return count;
}

}  // namespace strata::virtual_nodes
