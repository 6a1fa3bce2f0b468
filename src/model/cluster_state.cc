#include "model/cluster_state.h"

#include <set>
#include <utility>

namespace strata {
namespace {

constexpr std::size_t kFewAbsentNames = 64;

void Collect(const Resources& resources, std::set<ResourceId>& used) {
  for (const auto& [id, amount] : resources.absent()) used.insert(id);
}

void Collect(const ResourceLimits& limits, std::set<ResourceId>& used) {
  for (const auto& [id, limit] : limits) {
    if (IsAbsent(id)) used.insert(id);
  }
}

// Other idle classes stay: what is remembered about them serves the next pods.
bool HasIdleClassesWithAbsentNames(const ClassTable& classes) {
  for (std::size_t i = 0; i < classes.count(); ++i) {
    const auto id = IdAt<ClassId>(i);
    if (!classes.HasTasks(id) && !classes.spec(id).request.absent().empty()) return true;
  }
  return false;
}

}  // namespace

void ClusterState::GrowTables() {
  nodes_.GrowTables();
  sums_.GrowTables();
}

void ClusterState::ForgetAbsentNames() {
  if (resource_names_.absent_count() <= kFewAbsentNames) return;
  if (HasIdleClassesWithAbsentNames(classes_)) workload_.ForgetIdleClasses(0);
  std::set<ResourceId> used;
  for (std::size_t i = 0; i < classes_.count(); ++i) {
    Collect(classes_.spec(IdAt<ClassId>(i)).request, used);
  }
  for (const JobId id : workload_.jobs()) {
    const JobSpec& spec = workload_.job(id).spec;
    if (spec.min_resources) Collect(*spec.min_resources, used);
    Collect(spec.min_quota, used);
  }
  for (const QueueId id : workload_.queues()) {
    const QueueSpec& spec = workload_.queue(id).spec;
    Collect(spec.guarantee, used);
    Collect(spec.capability, used);
    Collect(spec.deserved, used);
    for (const auto& [group, limits] : spec.node_group_limits) Collect(limits, used);
  }
  for (const auto& [name, quota] : quotas_.all()) {
    Collect(quota.hard, used);
    Collect(quota.used, used);
  }
  resource_names_.KeepAbsent(used);
}

Result<NodeId> ClusterState::UpsertNode(NodeSpec spec) {
  TRY_ASSIGN(const NodeTable::Upserted upserted, nodes_.Upsert(std::move(spec)));
  const NodeId id = upserted.id;
  const NodeSpec& now = nodes_.spec(id);
  sums_.GrowTables();
  const bool moved = tree_.UpsertNode(id, now.name, now.labels);
  if (moved || upserted.added) {
    sums_.Invalidate();
  } else {
    sums_.Replace(id,
                  {upserted.room_before, now.allocatable},
                  {upserted.counted_before, nodes_.CountedOf(now)});
  }
  workload_.FollowUpsert(upserted);
  workload_.FollowLargest();
  return id;
}

void ClusterState::RemoveNode(NodeId id) {
  workload_.FollowRemoval(id);
  nodes_.Remove(id);
  workload_.FollowLargest();
  tree_.RemoveNode(id);
  sums_.Invalidate();
}

void ClusterState::CountShares() {
  workload_.FollowGpus();
}

void ClusterState::UpsertHyperNode(HyperNodeSpec spec) {
  tree_.UpsertHyperNode(std::move(spec));
  sums_.Invalidate();
}

void ClusterState::RemoveHyperNode(std::string_view name) {
  tree_.RemoveHyperNode(name);
  sums_.Invalidate();
}

}  // namespace strata
