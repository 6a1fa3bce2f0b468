#include "page/gpu_cells.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "report/gpu_sums.h"
#include "report/topology_report.h"

namespace strata::page {
namespace {

constexpr double kPercent = 100;

// The tasks on a node, the oldest first, so that cells stay where they are when a pod comes.
std::vector<TaskId> TasksInOrder(const ClusterState& state, NodeId node) {
  const auto on = state.nodes().TasksOn(node);
  std::vector<TaskId> tasks(on.begin(), on.end());
  const WorkloadTable& workload = state.workload();
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    const Task& first = workload.task(a);
    const Task& second = workload.task(b);
    return std::tie(first.created, first.name) < std::tie(second.created, second.name);
  });
  return tasks;
}

// One node, cell by cell.
class Cells {
 public:
  Cells(const ClusterState& state, NodeId node, GpuColumns& out)
      : state_(state),
        gpus_(state.nodes().spec(node).gpus),
        out_(out),
        first_(out.state.size()),
        count_(CountCells(state, node)) {
    const bool open = MarkOf(state.nodes().spec(node)) == NodeMark::kOpen;
    out_.state.append(count_, open ? 'f' : 'x');
    out_.holder.insert(out_.holder.end(), count_, kNowhere);
    held_.resize(count_);
  }

  void Add(const Task& task, TaskId id, Place job) {
    const GpuClaim& claim = state_.workload().GpusOf(id);
    const char mark = task.status == TaskStatus::kReleasing ? 'h' : 'u';
    if (gpus_ && !claim.empty()) return AddClaimed(claim, mark, job);
    const std::int64_t count =
        GpusIn(state_.resource_names(), state_.workload().CountedOf(id).amounts());
    std::int64_t left = count;
    for (std::size_t i = 0; i < count_ && left > 0; ++i) {
      if (!held_[i].empty()) continue;
      Hold(i, mark, {job, 1});
      --left;
    }
  }

  void Finish() {
    for (std::size_t i = 0; i < count_; ++i) {
      const std::vector<GpuPartHeld>& held = held_[i];
      const bool is_whole = held.size() == 1 && held.front().part >= 1;
      if (is_whole) out_.holder[first_ + i] = held.front().job;
      if (!held.empty() && !is_whole) {
        out_.state[first_ + i] = 's';
        out_.shared.emplace(first_ + i, held);
      }
      if (gpus_ && (!gpus_->gpus[i].healthy || gpus_->gpus[i].cordoned)) {
        out_.state[first_ + i] = 'x';
      }
    }
  }

 private:
  void AddClaimed(const GpuClaim& claim, char mark, Place job) {
    std::vector<GpuUsage> usage(count_);
    AddClaim(*gpus_, claim, usage);
    for (std::size_t i = 0; i < count_; ++i) {
      if (usage[i].slots == 0) continue;
      Hold(i, mark, {job, PartOf(usage[i], gpus_->gpus[i])});
    }
  }

  void Hold(std::size_t cell, char mark, GpuPartHeld part) {
    out_.state[first_ + cell] = mark;
    held_[cell].push_back(part);
  }

  const ClusterState& state_;
  const std::optional<NodeGpus>& gpus_;
  GpuColumns& out_;
  const std::size_t first_;
  const std::size_t count_;
  std::vector<std::vector<GpuPartHeld>> held_;
};

}  // namespace

double PartOf(const GpuUsage& usage, const Gpu& gpu) {
  double part = usage.cores / kPercent;
  if (gpu.memory_mib > 0) {
    part =
        std::max(part, static_cast<double>(usage.memory_mib) / static_cast<double>(gpu.memory_mib));
  }
  if (part == 0) part = 1;  // it says nothing about its part
  return std::min(std::round(part * kPercent) / kPercent, 1.0);
}

std::size_t CountCells(const ClusterState& state, NodeId node) {
  const NodeSpec& spec = state.nodes().spec(node);
  if (spec.gpus) return spec.gpus->gpus.size();
  // What a node says it has is a claim of somebody else, not a reason to draw a billion cells.
  constexpr std::int64_t kMost = 1024;
  const std::int64_t counted = GpusIn(state.resource_names(), state.nodes().Allocatable(node));
  return static_cast<std::size_t>(std::clamp<std::int64_t>(counted, 0, kMost));
}

void AppendCells(const ClusterState& state, NodeId node, const PlaceOf& place_of, GpuColumns& out) {
  Cells cells(state, node, out);
  for (const TaskId id : TasksInOrder(state, node)) {
    const Task& task = state.workload().task(id);
    cells.Add(task, id, task.job.valid() ? place_of(task.job) : kNowhere);
  }
  cells.Finish();
}

}  // namespace strata::page
