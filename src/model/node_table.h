#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/gpu_amounts.h"
#include "model/gpu_kinds.h"
#include "model/node.h"
#include "model/resources.h"
#include "model/topology_domains.h"
#include "model/touch_log.h"
#include "model/workload.h"

namespace strata {

// The nodes of the cluster: what was said about each of them, and what the tasks on it use.
//
// Contract: for every node, used, idle and future idle are the sums over the tasks that were put on
// it with Account and not taken off again. They are exact integers.
//
// Two units: where a node registers its GPUs, its kubelet hands out shares of them. Whether a task
// fits is a matter of what kubelets hand out: the room of a node (idle, future idle). How much a
// node has and how much tasks use of it is counted in GPUs, as queues do. All other resources, and
// GPUs that nobody registered, are the same in both.
//
// What invalidates what:
//   - an id is valid until its node is removed; then it is given to another node
//   - a span of amounts or tasks is valid until the next change of any node
//   - Version(id) moves with every change of the node or of the tasks on it, SpecVersion(id) with
//     every change of its spec, epoch() with every change of any spec
//
// Only ClusterState changes specs (its other rooms must follow), and only WorkloadTable calls
// Account.
class NodeTable {
 public:
  explicit NodeTable(const ResourceNames& names) : names_(names) {}

  [[nodiscard]] std::span<const NodeId> all() const { return live_; }  // ascending by id
  [[nodiscard]] const NodeSpec& spec(NodeId id) const { return specs_[id.index()]; }
  [[nodiscard]] std::optional<NodeId> Find(std::string_view name) const;
  [[nodiscard]] std::size_t slots() const { return specs_.size(); }  // ids are below this
  // Neither tainted nor cordoned. Kept beside the specs: of 100,000 nodes nearly all are open, and
  // a loop over all of them need not fetch the spec of each.
  [[nodiscard]] bool IsOpen(NodeId id) const { return open_[id.index()]; }
  // Nodes with a PreferNoSchedule taint.
  [[nodiscard]] std::size_t with_preferences() const { return with_preferences_; }
  // The nodes by their value of this label. Valid until epoch() moves. COST: O(nodes) for the first
  // question after that, then a lookup.
  [[nodiscard]] const TopologyDomains& Domains(std::string_view label) const;

  // ---- amounts of a node
  // Counted: what it has, and what its tasks take of it. Shares of a GPU may be more than the GPU
  // together, since one takes mostly memory and another mostly cores.
  [[nodiscard]] std::span<const Amount> Allocatable(NodeId id) const {
    return allocatable_[id.index()];
  }
  [[nodiscard]] std::span<const Amount> Used(NodeId id) const { return used_[id.index()]; }
  // Room: what its kubelet has to hand out, less what tasks on it requested; negative when a node
  // shrank under its tasks.
  [[nodiscard]] std::span<const Amount> Idle(NodeId id) const { return idle_[id.index()]; }
  // idle + releasing - pipelined.
  [[nodiscard]] std::span<const Amount> FutureIdle(NodeId id) const {
    return future_idle_[id.index()];
  }
  // Room: the most that a single kubelet hands out of each resource; and a number that moves when
  // one of these amounts does.
  [[nodiscard]] std::span<const Amount> Largest() const { return largest_; }
  [[nodiscard]] std::uint64_t largest_version() const { return largest_version_; }
  // The GPUs that nodes register, and the resource that those are counted by; none while no node
  // registers any.
  [[nodiscard]] const GpuKinds& gpu_kinds() const { return gpu_kinds_; }
  [[nodiscard]] std::optional<ResourceId> RegisteredGpus() const {
    return gpu_nodes_ == 0 ? std::nullopt : names_.Find(kGpuResource);
  }
  // Used, with kube-scheduler's defaults for containers that request nothing.
  [[nodiscard]] Amount NonzeroCpu(NodeId id) const { return nonzero_[id.index()].cpu; }
  [[nodiscard]] Amount NonzeroMemory(NodeId id) const { return nonzero_[id.index()].memory; }

  // ---- tasks on a node
  // Pipelined tasks included; in no particular order.
  [[nodiscard]] std::span<const TaskId> TasksOn(NodeId id) const { return tasks_on_[id.index()]; }
  [[nodiscard]] std::span<const HostPort> PortsInUse(NodeId id) const { return ports_[id.index()]; }
  // True when some node has a task that is being released, and one that is pipelined.
  [[nodiscard]] bool HasReleasing() const { return releasing_tasks_ > 0; }
  [[nodiscard]] bool HasPipelined() const { return pipelined_tasks_ > 0; }

  // ---- versions
  [[nodiscard]] std::uint64_t Version(NodeId id) const { return versions_[id.index()]; }  // never 0
  [[nodiscard]] std::uint64_t SpecVersion(NodeId id) const { return spec_versions_[id.index()]; }
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  // The version that the next change will have, and the nodes changed since a version (with
  // repetitions); none when that is too long ago to be remembered.
  [[nodiscard]] std::uint64_t NextVersion() const { return touched_.Next(); }
  [[nodiscard]] std::optional<std::span<const NodeId>> TouchedSince(std::uint64_t version) const {
    return touched_.Since(version);
  }

  // ---- changes
  struct Upserted {
    NodeId id;
    bool added = false;       // no node had this name
    bool new_report = false;  // added, or its report of NUMA nodes changed
    bool new_gpus = false;    // not added, and it registers other GPUs than before
    Resources room_before;
    Resources counted_before;
  };
  // kInvalidArgument when the total of a resource in the cluster would overflow.
  Result<Upserted> Upsert(NodeSpec spec);
  // REQUIRES: no task is on it.
  void Remove(NodeId id);
  // Adds (+1) or removes (-1) the part that `task` has in the sums of its node.
  // `counted` is what it counts as.
  void Account(
      TaskId id, const Task& task, const ClassSpec& spec, const Resources& counted, int sign);
  // What the node has by its spec, counted.
  [[nodiscard]] Resources CountedOf(const NodeSpec& spec) const;
  // Something else about the node changed: it gets the next version.
  std::uint64_t Touch(NodeId id) { return versions_[id.index()] = touched_.Touch(id); }
  // Makes room for every node and every known resource.
  void GrowTables();

 private:
  struct Nonzero {
    Amount cpu = 0;
    Amount memory = 0;
  };

  NodeId Add(const std::string& name);
  void BeginEpoch();
  // Some node has `after` of each resource where it had `before`. COST: O(nodes) for a resource of
  // which no node has the largest amount any more.
  void FollowLargest(const Resources& before, const Resources& after);
  void FindLargest(std::size_t resource);

  const ResourceNames& names_;
  std::vector<NodeSpec> specs_;
  std::vector<bool> open_;
  std::vector<NodeId> live_;
  std::vector<std::uint32_t> free_;
  std::map<std::string, NodeId, std::less<>> ids_;
  ResourceTable allocatable_, used_, idle_, future_idle_;
  std::vector<std::vector<TaskId>> tasks_on_;
  std::vector<Nonzero> nonzero_;
  std::vector<std::vector<HostPort>> ports_;
  std::vector<std::uint64_t> versions_, spec_versions_;
  TouchLog<NodeId> touched_;
  std::size_t with_preferences_ = 0;
  GpuKinds gpu_kinds_;
  std::size_t gpu_nodes_ = 0;  // that register GPUs
  std::uint64_t epoch_ = 1;
  mutable std::map<std::string, TopologyDomains, std::less<>> domains_;  // of this epoch
  std::size_t releasing_tasks_ = 0;
  std::size_t pipelined_tasks_ = 0;
  Resources total_allocatable_;
  std::vector<Amount> largest_;            // by resource
  std::vector<std::size_t> with_largest_;  // by resource, nodes that have this much
  std::uint64_t largest_version_ = 1;
};

}  // namespace strata
