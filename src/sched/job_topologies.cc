#include "sched/job_topologies.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sched/lifecycle.h"

namespace strata {
namespace {

constexpr const char* kNotBinding = "TopologyNotBinding";

bool IsGone(TaskStatus status) {
  return status == TaskStatus::kReleasing || status == TaskStatus::kSucceeded ||
         status == TaskStatus::kFailed;
}

// What a policy with a topology does not bind, `missed` pods lacking its keys; "" when all is well.
std::string UnboundPolicy(const SubGroupPolicy& policy, std::size_t index, std::size_t missed) {
  const std::string name = fmt::format("subGroupPolicy[{}] \"{}\"", index, policy.name);
  if (policy.match_label_keys.empty()) {
    return name + " has no matchLabelKeys, so it takes no pods and its networkTopology binds none";
  }
  if (missed == 0) return "";
  return fmt::format(
      "{} does not bind {} by its networkTopology: without a label of its "
      "matchLabelKeys ({}) a pod is in no sub-group",
      name,
      missed == 1 ? "1 pod" : fmt::format("{} pods", missed),
      fmt::join(policy.match_label_keys, ", "));
}

}  // namespace

void JobTopologies::Refresh() {
  const HyperNodeTree& tree = state_.tree();
  auto jobs = state_.workload().JobsTouchedSince(seen_);
  if (!jobs || tree_version_ != tree.version()) {
    jobs.emplace(state_.workload().jobs().begin(), state_.workload().jobs().end());
    limits_.clear();
    unbound_.clear();
    warnings_.reset();
  }
  for (const JobId id : *jobs) {
    limits_.erase(id);
    if (unbound_.erase(id) > 0) warnings_.reset();
    if (!state_.workload().job(id).alive) continue;
    WarnOfPolicies(id);
    if (!state_.workload().job(id).HasTopology()) continue;
    Resolve(id);
    RecoverAllocatedHyperNode(state_, id);
  }
  tree_version_ = tree.version();
  seen_ = state_.workload().NextJobVersion();
}

void JobTopologies::Warn(JobId id, const char* reason, const std::string& message) {
  if (message.empty()) return;
  unbound_[id].emplace("PodGroup " + state_.workload().job(id).spec.name, reason, message);
  warnings_.reset();
}

void JobTopologies::WarnOfPolicies(JobId id) {
  const Job& job = state_.workload().job(id);
  const std::vector<SubGroupPolicy>& policies = job.spec.sub_groups;
  if (policies.empty()) return;
  std::vector<std::size_t> missed(policies.size());
  for (const TaskId task_id : job.sub_jobs[0].tasks) {
    const Task& task = state_.workload().task(task_id);
    const std::size_t policy = task.missed_policy.value_or(policies.size());
    if (policy < policies.size() && !IsGone(task.status)) ++missed[policy];
  }
  for (std::size_t i = 0; i < policies.size(); ++i) {
    if (!policies[i].topology.present()) continue;
    Warn(id, kNotBinding, UnboundPolicy(policies[i], i, missed[i]));
  }
}

void JobTopologies::Resolve(JobId id) {
  const HyperNodeTree& tree = state_.tree();
  const Job& job = state_.workload().job(id);
  if (IsBestEffortOnly(state_, job)) {
    if (job.HasHardTopology()) {
      Warn(id,
           "TopologyIgnoredForBestEffort",
           "all pods are BestEffort, so networkTopology does not bind them");
    }
    return;
  }
  Limits limits;
  limits.job = ResolveLimit(tree, job.spec.topology, TopologyLimit{}, can_search_);
  Warn(id, kNotBinding, limits.job.warning);
  for (const SubJob& sub_job : job.sub_jobs) {
    TopologyLimit limit = ResolveLimit(tree, sub_job.topology, limits.job, can_search_);
    Warn(id, kNotBinding, limit.warning);
    limits.sub_jobs.push_back(std::move(limit));
  }
  limits_.emplace(id, std::move(limits));
}

const TopologyLimit& JobTopologies::LimitOf(JobId job) const {
  static const TopologyLimit unlimited;
  const auto it = limits_.find(job);
  return it == limits_.end() ? unlimited : it->second.job;
}

const TopologyLimit& JobTopologies::LimitOf(JobId job, std::size_t sub_job) const {
  const auto it = limits_.find(job);
  return it == limits_.end() ? LimitOf(job) : it->second.sub_jobs[sub_job];
}

std::optional<Refusal> JobTopologies::WhyImpossible(JobId job) const {
  const auto it = limits_.find(job);
  if (it == limits_.end()) return std::nullopt;
  const auto impossible = [](const TopologyLimit& limit) {
    return limit.kind == TopologyLimit::Kind::kImpossible;
  };
  if (impossible(it->second.job)) return it->second.job.refusal;
  const auto& sub_jobs = it->second.sub_jobs;
  const auto bad = std::find_if(sub_jobs.begin(), sub_jobs.end(), impossible);
  return bad == sub_jobs.end() ? std::nullopt : std::optional(bad->refusal);
}

std::shared_ptr<const std::vector<CycleResult::Warning>> JobTopologies::Warnings() {
  if (warnings_ != nullptr) return warnings_;
  std::set<Warning> sorted;
  for (const auto& [job, its] : unbound_) sorted.insert(its.begin(), its.end());
  auto listed = std::make_shared<std::vector<CycleResult::Warning>>();
  for (const auto& [object, reason, message] : sorted) {
    listed->push_back({object, reason, message});
  }
  return warnings_ = std::move(listed);
}

}  // namespace strata
