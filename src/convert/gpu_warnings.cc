#include "convert/gpu_warnings.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "convert/gpu_annotations.h"
#include "convert/gpu_dialect.h"
#include "convert/gpu_request.h"
#include "convert/specs.h"

namespace strata {
namespace {

// "", " (and 1 more pod)", " (and 7 more pods)".
std::string AndMore(std::size_t pods) {
  return pods == 0 ? "" : fmt::format(" (and {} more pod{})", pods, pods == 1 ? "" : "s");
}

void WarnOfNode(const objects::Node& node, std::vector<LoadWarning>& warnings) {
  const auto read = ReadNodeGpus(node);
  if (!read) return;
  for (const std::string& sentence : read->warnings) {
    warnings.push_back({objects::ObjectName(node.meta), "BadGpuAnnotation", sentence});
  }
}

// Whom pods have in common that were made alike: their controller, else their PodGroup.
std::string MakerOf(const objects::Pod& pod) {
  for (const objects::OwnerReference& owner : pod.meta.owners) {
    if (owner.controller) return fmt::format("{} {}/{}", owner.kind, pod.meta.ns, owner.name);
  }
  const std::string group = GroupOf(pod);
  return group.empty() ? objects::ObjectName(pod.meta) : "PodGroup " + group;
}

// Warnings about pods: of those made alike the first is named, the others are counted.
class PodWarnings {
 public:
  explicit PodWarnings(const ClusterState& state) : state_(state) {}

  void Read(const objects::Pod& pod) {
    if (pod.spec.node_name.empty()) {
      std::vector<std::string> sentences;
      static_cast<void>(ReadGpuRequest(pod, &sentences));
      for (const std::string& sentence : sentences) Add(pod, "BadGpuAnnotation", sentence);
      return;
    }
    const ReadClaim read = ReadGpuClaim(pod.meta.annotations, pod.spec);
    const auto id = state_.nodes().Find(pod.spec.node_name);
    if (id && state_.nodes().spec(*id).gpus) {
      FindStrangers(pod, *state_.nodes().spec(*id).gpus, read.claim);
    }
    for (const std::string& sentence : read.warnings) Add(pod, "BadGpuAnnotation", sentence);
  }

  void MoveTo(std::vector<LoadWarning>& warnings) {
    for (Entry& entry : entries_) {
      entry.warning.message += AndMore(entry.more);
      warnings.push_back(std::move(entry.warning));
    }
  }

 private:
  struct Entry {
    LoadWarning warning;
    std::size_t more = 0;
  };

  void FindStrangers(const objects::Pod& pod, const NodeGpus& node, const GpuClaim& claim) {
    std::set<std::string> unknown;
    for (const auto& shares : claim.containers) {
      for (const GpuShare& share : shares) {
        if (!node.Find(share.uuid)) unknown.insert(share.uuid);
      }
    }
    for (const std::string& uuid : unknown) {
      Add(pod,
          "UnknownGpu",
          fmt::format("claims GPU {}, which node {} does not register; it is ignored",
                      uuid,
                      pod.spec.node_name));
    }
  }

  void Add(const objects::Pod& pod, std::string_view reason, const std::string& message) {
    const auto [at, is_new] = at_.try_emplace({MakerOf(pod), reason, message}, entries_.size());
    if (is_new) {
      entries_.push_back({{objects::ObjectName(pod.meta), std::string(reason), message}});
    } else {
      ++entries_[at->second].more;
    }
  }

  const ClusterState& state_;
  std::vector<Entry> entries_;
  std::map<std::tuple<std::string, std::string_view, std::string>, std::size_t> at_;
};

// GPUs that the pods on a node hold more of than there is.
void WarnOfOverclaims(const ClusterState& state, NodeId node, std::vector<LoadWarning>& warnings) {
  const NodeGpus& gpus = *state.nodes().spec(node).gpus;
  std::vector<GpuUsage> usage(gpus.gpus.size());
  for (const TaskId task : state.nodes().TasksOn(node)) {
    AddClaim(gpus, state.workload().GpusOf(task), usage);
  }
  for (std::size_t i = 0; i < usage.size(); ++i) {
    const Gpu& gpu = gpus.gpus[i];
    const bool over = usage[i].slots > gpu.slots || usage[i].memory_mib > gpu.memory_mib ||
                      usage[i].cores > gpu.cores;
    if (!over || usage[i].slots < 2) continue;
    warnings.push_back(
        {"Node " + state.nodes().spec(node).name,
         "GpuOverclaimed",
         fmt::format("{} containers claim GPU {} beyond what it has; it counts as full",
                     usage[i].slots,
                     gpu.uuid)});
  }
}

// Pods that ask for GPUs of a node and do not say which they hold.
void WarnOfUnclaimed(const ClusterState& state, NodeId node, std::vector<LoadWarning>& warnings) {
  std::map<std::string, GpuDialect> pods;
  for (const TaskId id : state.nodes().TasksOn(node)) {
    const Task& task = state.workload().task(id);
    const auto& request = state.classes().spec(task.class_id).gpus;
    if (!request || !state.workload().GpusOf(id).empty()) continue;
    if (!state.nodes().spec(node).gpus->OfferIn(request->dialect).registered) continue;
    pods.emplace(task.name, request->dialect);
  }
  if (pods.empty()) return;
  warnings.push_back(
      {"Node " + state.nodes().spec(node).name,
       "GpuClaimMissing",
       fmt::format("pod {}{} runs here with GPUs but without annotation {}; what it uses of them "
                   "counts as free",
                   pods.begin()->first,
                   AndMore(pods.size() - 1),
                   NamesOf(pods.begin()->second).allocated)});
}

}  // namespace

void WarnOfGpus(const objects::ObjectSet& objects,
                const ClusterState& state,
                std::vector<LoadWarning>& warnings) {
  for (const objects::Node& node : objects.nodes) WarnOfNode(node, warnings);
  PodWarnings pods(state);
  for (const objects::Pod& pod : objects.pods) pods.Read(pod);
  pods.MoveTo(warnings);
  for (const NodeId node : state.nodes().all()) {
    if (!state.nodes().spec(node).gpus) continue;
    WarnOfOverclaims(state, node, warnings);
    WarnOfUnclaimed(state, node, warnings);
  }
}

}  // namespace strata
