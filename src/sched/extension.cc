#include "sched/extension.h"

#include <algorithm>

#include "sched/victim_point.h"

namespace strata {

int OrderPoint::CompareQueues(const Queue& /*a*/, const Queue& /*b*/) const {
  return 0;
}
int OrderPoint::CompareJobs(const Job& /*a*/, const Job& /*b*/) const {
  return 0;
}
int OrderPoint::CompareSubJobs(const Job& /*job*/, const SubJob& /*a*/, const SubJob& /*b*/) const {
  return 0;
}
int OrderPoint::CompareTasks(const Task& /*a*/, const Task& /*b*/) const {
  return 0;
}

std::optional<Refusal> JobGatePoint::Invalid(const Job& /*job*/) const {
  return std::nullopt;
}
Ballot JobGatePoint::EnqueueableWith(const Job& job, const Relief& /*relief*/) const {
  return Enqueueable(job);
}
Ballot JobGatePoint::Enqueueable(const Job& /*job*/) const {
  return {};
}
void JobGatePoint::OnEnqueued(const Job& /*job*/) {}
bool JobGatePoint::Ready(const Job& /*job*/) const {
  return true;
}
Vote JobGatePoint::Pipelined(const Job& /*job*/) const {
  return Vote::kAbstain;
}

bool SubJobGatePoint::SubJobReady(const Job& /*job*/, const SubJob& /*sub_job*/) const {
  return true;
}
Vote SubJobGatePoint::SubJobPipelined(const Job& /*job*/, const SubJob& /*sub_job*/) const {
  return Vote::kAbstain;
}

bool QuotaPoint::Overused(QueueId /*queue*/) const {
  return false;
}
std::optional<Refusal> QuotaPoint::Exhausted(QueueId /*queue*/,
                                             const Resources& /*request*/,
                                             Limit /*limit*/) const {
  return std::nullopt;
}

std::string_view VictimPoint::Protects(const Task& /*task*/) const {
  return {};
}

bool VictimPoint::SparesUnit(const VictimUnit& /*unit*/) const {
  return false;
}

bool VictimPoint::DecidesOn(EvictionKind /*kind*/) const {
  return false;
}

bool VictimPoint::Grants(const EvictionClaim& /*claim*/, const VictimUnit& /*unit*/) const {
  return false;
}

bool VictimPoint::MayGrant(const EvictionClaim& /*claim*/,
                           QueueId /*queue*/,
                           std::int32_t /*priority*/) const {
  return true;
}

std::optional<std::string> VictimPoint::NotEntitled(const EvictionClaim& /*claim*/) const {
  return std::nullopt;
}

bool HasNothingPlaced(const SubJob& sub_job) {
  return sub_job.counts.Total() == sub_job.counts.Of(TaskStatus::kPending);
}

std::uint32_t TasksIn(const ClusterState& state, const SubJob& sub_job, HyperNodeId hypernode) {
  return static_cast<std::uint32_t>(
      std::count_if(sub_job.tasks.begin(), sub_job.tasks.end(), [&](TaskId id) {
        const NodeId node = state.workload().task(id).node;
        return node.valid() && state.tree().Contains(hypernode, node);
      }));
}

}  // namespace strata
