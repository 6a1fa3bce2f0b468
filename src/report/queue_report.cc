#include "report/queue_report.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "report/names.h"
#include "report/topology_report.h"
#include "sched/need.h"
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
          .left = {},
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

// What is free on the nodes that take pods, by resource.
Amounts FreeOfCluster(const ClusterState& state) {
  Amounts free(state.resource_names().size(), 0);
  for (const NodeId node : state.nodes().all()) {
    if (MarkOf(state.nodes().spec(node)) != NodeMark::kOpen) continue;
    const auto amounts = FreeOn(state, node);
    for (std::size_t i = 0; i < std::min(amounts.size(), free.size()); ++i) {
      free[i] += static_cast<double>(std::max<Amount>(amounts[i], 0));
    }
  }
  return free;
}

void LimitTo(const QueueReport::Row& row, Amounts& left) {
  // An idle queue may have no share, and still has its capability.
  for (const auto& [resource, limit] : row.capability) {
    if (resource.index() >= left.size()) continue;
    const double room = static_cast<double>(limit) - row.allocated[resource.index()];
    left[resource.index()] = std::max(std::min(left[resource.index()], room), 0.0);
  }
  if (!row.real_capability) return;
  const auto at = [](const Amounts& amounts, std::size_t i) {
    return i < amounts.size() ? amounts[i] : 0;
  };
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double room = at(*row.real_capability, i) - at(row.allocated, i);
    left[i] = std::max(std::min(left[i], room), 0.0);
  }
}

// REQUIRES: the limits are filled in.
void FillLeft(const ClusterState& state, QueueReport& report) {
  const Amounts free = FreeOfCluster(state);
  std::map<std::string, const QueueReport::Row*, std::less<>> by_name;
  for (const QueueReport::Row& row : report.rows) by_name.emplace(row.name, &row);
  for (QueueReport::Row& row : report.rows) {
    row.left = free;
    // A parent that is below its own child is a fault of the objects: no way up is longer than all.
    std::size_t steps = report.rows.size();
    for (const QueueReport::Row* at = &row; at != nullptr && steps-- > 0;) {
      LimitTo(*at, row.left);
      const auto parent = by_name.find(at->parent);
      at = report.hierarchical && parent != by_name.end() ? parent->second : nullptr;
    }
  }
}

}  // namespace

Status NarrowToQueue(const std::string& name, QueueReport& report) {
  std::vector<std::string> names;
  names.reserve(report.rows.size());
  for (const QueueReport::Row& row : report.rows) names.push_back(row.name);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return Fail(Code::kNotFound,
                fmt::format("queue \"{}\" not found; similar names: {}",
                            name,
                            NameSome(NearestNames(names, name, 3))));
  }
  std::erase_if(report.rows, [&](const QueueReport::Row& row) { return row.name != name; });
  report.elsewhere.clear();
  return {};
}

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
  FillLeft(state, report);
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
