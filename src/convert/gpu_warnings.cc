#include "convert/gpu_warnings.h"

#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "convert/gpu_annotations.h"
#include "convert/gpu_request.h"

namespace strata {
namespace {

// "", " (and 1 more pod)", " (and 7 more pods)".
std::string AndMore(std::size_t pods) {
  return pods == 0 ? "" : fmt::format(" (and {} more pod{})", pods, pods == 1 ? "" : "s");
}

void WarnOfNode(const objects::Node& node, std::vector<LoadWarning>& warnings) {
  const auto read = ReadNodeGpus(node.meta.annotations);
  if (!read) return;
  for (const std::string& sentence : read->warnings) {
    warnings.push_back({objects::ObjectName(node.meta), "BadGpuAnnotation", sentence});
  }
}

void WarnOfStrangers(const objects::Pod& pod,
                     const NodeGpus& node,
                     const GpuClaim& claim,
                     std::vector<LoadWarning>& warnings) {
  std::set<std::string> unknown;
  for (const auto& shares : claim.containers) {
    for (const GpuShare& share : shares) {
      if (!node.Find(share.uuid)) unknown.insert(share.uuid);
    }
  }
  for (const std::string& uuid : unknown) {
    warnings.push_back({objects::ObjectName(pod.meta),
                        "UnknownGpu",
                        fmt::format("claims GPU {}, which node {} does not register; it is ignored",
                                    uuid,
                                    pod.spec.node_name)});
  }
}

void WarnOfPod(const objects::Pod& pod,
               const ClusterState& state,
               std::vector<LoadWarning>& warnings) {
  std::vector<std::string> sentences;
  if (pod.spec.node_name.empty()) {
    static_cast<void>(ReadGpuRequest(pod, &sentences));
  } else {
    ReadClaim read = ReadGpuClaim(pod.meta.annotations, pod.spec);
    sentences = std::move(read.warnings);
    const auto id = state.FindNode(pod.spec.node_name);
    if (id && state.node(*id).gpus) {
      WarnOfStrangers(pod, *state.node(*id).gpus, read.claim, warnings);
    }
  }
  for (const std::string& sentence : sentences) {
    warnings.push_back({objects::ObjectName(pod.meta), "BadGpuAnnotation", sentence});
  }
}

// GPUs that the pods on a node hold more of than there is.
void WarnOfOverclaims(const ClusterState& state, NodeId node, std::vector<LoadWarning>& warnings) {
  const NodeGpus& gpus = *state.node(node).gpus;
  std::vector<GpuUsage> usage(gpus.gpus.size());
  for (const TaskId task : state.TasksOn(node)) AddClaim(gpus, state.GpusOf(task), usage);
  for (std::size_t i = 0; i < usage.size(); ++i) {
    const Gpu& gpu = gpus.gpus[i];
    const bool over = usage[i].slots > gpu.slots || usage[i].memory_mib > gpu.memory_mib ||
                      usage[i].cores > gpu.cores;
    if (!over || usage[i].slots < 2) continue;
    warnings.push_back(
        {"Node " + state.node(node).name,
         "GpuOverclaimed",
         fmt::format("{} containers claim GPU {} beyond what it has; it counts as full",
                     usage[i].slots,
                     gpu.uuid)});
  }
}

// Pods that ask for GPUs of a node and do not say which they hold.
void WarnOfUnclaimed(const ClusterState& state, NodeId node, std::vector<LoadWarning>& warnings) {
  std::set<std::string> pods;
  for (const TaskId id : state.TasksOn(node)) {
    const Task& task = state.task(id);
    const bool asks = state.task_class(task.class_id).gpus.has_value();
    if (asks && state.GpusOf(id).empty()) pods.insert(task.name);
  }
  if (pods.empty()) return;
  warnings.push_back(
      {"Node " + state.node(node).name,
       "GpuClaimMissing",
       fmt::format("pod {}{} runs here with GPUs but without annotation {}; what it uses of them "
                   "counts as free",
                   *pods.begin(),
                   AndMore(pods.size() - 1),
                   kGpuAllocatedAnnotation)});
}

}  // namespace

void WarnOfGpus(const objects::ObjectSet& objects,
                const ClusterState& state,
                std::vector<LoadWarning>& warnings) {
  for (const objects::Node& node : objects.nodes) WarnOfNode(node, warnings);
  for (const objects::Pod& pod : objects.pods) WarnOfPod(pod, state, warnings);
  for (const NodeId node : state.nodes()) {
    if (!state.node(node).gpus) continue;
    WarnOfOverclaims(state, node, warnings);
    WarnOfUnclaimed(state, node, warnings);
  }
}

}  // namespace strata
