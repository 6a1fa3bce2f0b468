#include "report/queue_report.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sched/plugins/capacity_tree.h"

namespace strata {
namespace {

// The plugin that divides the cluster; null when none does.
const PluginConfig* FindDivider(const SchedulerConfig& config) {
  for (const auto& tier : config.tiers) {
    for (const PluginConfig& plugin : tier) {
      if (plugin.name == "proportion" || plugin.name == "capacity") return &plugin;
    }
  }
  return nullptr;
}

QueueReport::Row MakeRow(const ClusterState& state, QueueId id) {
  const Queue& queue = state.workload().queue(id);
  const std::size_t size = state.resource_names().size();
  Resources request = queue.allocated;
  request.AddSaturating(queue.pending.Clamped());
  return {.name = queue.spec.name,
          .state = queue.spec.state,
          .parent = queue.spec.parent,
          .weight = queue.spec.weight,
          .priority = queue.spec.priority,
          .allocated = ToAmounts(queue.allocated.amounts(), size),
          .request = ToAmounts(request.amounts(), size),
          .guarantee = ToAmounts(queue.spec.guarantee.amounts(), size),
          .capability = queue.spec.capability,
          .deserved = std::nullopt,
          .real_capability = std::nullopt,
          .share = std::nullopt,
          .jobs = 0,
          .waiting = {}};
}

void FillProportion(const ClusterState& state, std::map<QueueId, QueueReport::Row*>& rows) {
  for (QueueShare& share : ComputeProportion(state)) {
    QueueReport::Row& row = *rows.at(share.queue);
    row.deserved = std::move(share.deserved);
    row.real_capability = std::move(share.real_capability);
    row.share = share.share;
  }
}

void FillCapacity(const ClusterState& state,
                  CapacityTree::Shape shape,
                  std::map<QueueId, QueueReport::Row*>& rows) {
  const CapacityTree tree(state, shape);
  for (const auto& [id, row] : rows) {
    const auto index = tree.Find(id);
    if (!index) continue;
    const CapacityQueue& queue = tree.at(*index);
    row->guarantee = queue.guarantee;
    row->deserved = queue.deserved;
    row->real_capability = queue.real_capability;
    row->share = tree.ShareOf(state, *index);
    Resources allocated;
    Resources request;
    for (const QueueId below : queue.below) {
      allocated.Add(state.workload().queue(below).allocated);
      request.AddSaturating(state.workload().queue(below).pending.Clamped());
    }
    request.AddSaturating(allocated);
    row->allocated = ToAmounts(allocated.amounts(), row->allocated.size());
    row->request = ToAmounts(request.amounts(), row->request.size());
  }
}

}  // namespace

QueueReport MakeQueueReport(const ClusterState& state,
                            const SchedulerConfig& config,
                            std::span<const QueueReport::Job> jobs) {
  QueueReport report;
  for (const QueueId id : state.workload().queues()) report.rows.push_back(MakeRow(state, id));
  std::map<QueueId, QueueReport::Row*> rows;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    rows.emplace(state.workload().queues()[i], &report.rows[i]);
  }
  if (const PluginConfig* plugin = FindDivider(config)) {
    report.plugin = plugin->name;
    if (plugin->name == "proportion") {
      FillProportion(state, rows);
    } else {
      report.hierarchical = plugin->Enabled("enableHierarchy");
      FillCapacity(
          state,
          report.hierarchical ? CapacityTree::Shape::kHierarchical : CapacityTree::Shape::kFlat,
          rows);
    }
  }
  for (const QueueReport::Job& job : jobs) {
    const auto id = state.workload().FindJob(job.name);
    if (!id) continue;  // pods without their PodGroup are in no queue
    const QueueId queue = state.workload().job(*id).queue;
    QueueReport::Row* row = queue.valid() ? rows.at(queue) : nullptr;
    if (row != nullptr) ++row->jobs;
    if (job.reason.empty()) continue;
    (row == nullptr ? report.elsewhere : row->waiting).push_back(job);
  }
  return report;
}

}  // namespace strata
