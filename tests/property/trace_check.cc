#include "tests/property/trace_check.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <variant>

namespace strata::testing {

TraceCheck::TraceCheck(const ClusterState& state) : state_(state) {
  for (const TaskId id : state.workload().AllTasks()) {
    const Task& task = state.workload().task(id);
    tasks_[task.name] = task;
    if (!task.job.valid()) continue;
    JobView& job = jobs_[state.workload().job(task.job).spec.name];
    job.has_sub_groups = !state.workload().job(task.job).spec.sub_groups.empty();
    if (!task.node.valid()) continue;
    const bool lasts = IsAllocated(task.status);
    job.places[task.name] = {.node = state.nodes().spec(task.node).name, .lasts = lasts};
    job.all_last = job.all_last && lasts;
  }
}

std::string TraceCheck::Faults(const std::vector<TraceRecord>& records) {
  for (const TraceRecord& record : records) std::visit([&](const auto& one) { Look(one); }, record);
  return std::move(faults_);
}

// Pod priority, the number in the name (those without one come last), creation, uid, name.
bool TraceCheck::RanksBefore(const std::string& a, const std::string& b) const {
  const Task& left = tasks_.at(a);
  const Task& right = tasks_.at(b);
  if (left.priority != right.priority) return left.priority > right.priority;
  if ((left.index >= 0) != (right.index >= 0)) return left.index >= 0;
  return std::tie(left.index, left.created, left.uid, left.name) <
         std::tie(right.index, right.created, right.uid, right.name);
}

HyperNodeId TraceCheck::LeafOf(const std::string& node) const {
  const HyperNodeTree& tree = state_.tree();
  return tree.LeafOf(tree.ChainOf(*state_.nodes().Find(node)));
}

std::optional<HyperNodeId> TraceCheck::LeafBefore(const JobView& job,
                                                  const std::string& task) const {
  const std::string* before = nullptr;
  for (const auto& [name, place] : job.places) {
    if (!place.lasts || !RanksBefore(name, task)) continue;
    if (before == nullptr || RanksBefore(*before, name)) before = &name;
  }
  if (before == nullptr) return std::nullopt;
  return LeafOf(job.places.at(*before).node);
}

int TraceCheck::TasksIn(const JobView& job, const std::string& hypernode) const {
  const HyperNodeId id = *state_.tree().Find(hypernode);
  return static_cast<int>(
      std::count_if(job.places.begin(), job.places.end(), [&](const auto& entry) {
        return state_.tree().Contains(id, *state_.nodes().Find(entry.second.node));
      }));
}

void TraceCheck::CheckTotals(const std::string& where,
                             const std::map<std::string, ScoresByName>& scores,
                             const ScoresByName& total) {
  for (const auto& [name, sum] : total) {
    Score counted = 0;
    for (const auto& [plugin, row] : scores) {
      if (const auto it = row.find(name); it != row.end()) counted += it->second;
    }
    if (counted != sum) Fault(where + ": the total of " + name + " is not the sum of its parts");
  }
}

void TraceCheck::Look(const GradientRecord& record) {
  for (std::size_t i = 0; i < record.tiers.size(); ++i) {
    if (i > 0 && record.tiers[i - 1].tier >= record.tiers[i].tier) {
      Fault(record.job + ": its tiers do not ascend");
    }
    if (!std::is_sorted(record.tiers[i].eligible.begin(), record.tiers[i].eligible.end())) {
      Fault(record.job + ": its HyperNodes do not ascend");
    }
    for (const GradientRecord::Rejected& rejected : record.tiers[i].rejected) {
      if (rejected.reason.empty()) Fault(record.job + ": rejected without a reason");
    }
  }
}

void TraceCheck::Look(const HyperNodeScoreRecord& record) {
  CheckTotals(record.job, record.scores, record.total);
  const JobView& job = jobs_[record.job];
  const std::set<std::string> failed(record.failed.begin(), record.failed.end());
  if (record.chosen.empty()) {
    if (failed.size() != record.total.size()) Fault(record.job + ": some HyperNode was not tried");
    return;
  }
  if (failed.contains(record.chosen)) Fault(record.job + ": what failed was chosen");
  const bool two_levels = job.has_sub_groups && record.sub_job.empty();
  const auto rank = [&](const std::string& name) {
    const int tasks = job.has_sub_groups || !job.all_last ? 0 : TasksIn(job, name);
    return std::tuple(-record.total.at(name), -tasks, name);
  };
  // What terminates counts in scores but decides no tie, and the tasks of one sub-job are not known
  // here: then only the totals are compared.
  const bool ties_are_known = two_levels || (!job.has_sub_groups && job.all_last);
  for (const auto& [name, total] : record.total) {
    if (name == record.chosen) continue;
    const bool higher =
        ties_are_known ? rank(name) < rank(record.chosen) : total > record.total.at(record.chosen);
    // By now the tasks just placed count below the chosen one, so ties tell nothing here.
    const bool lower = total < record.total.at(record.chosen);
    if (higher && !failed.contains(name)) {
      Fault(record.job + ": " + name + " is better than " + record.chosen);
    }
    if (lower && !two_levels && failed.contains(name)) {
      Fault(record.job + ": " + name + " (" + std::to_string(total) +
            ") was tried before the better " + record.chosen + " (" +
            std::to_string(record.total.at(record.chosen)) + ")");
    }
  }
}

void TraceCheck::Look(const NodeScoreRecord& record) {
  CheckTotals(record.pod, record.scores, record.total);
  const JobView& job = jobs_[record.job];
  if (!record.total.contains(record.chosen)) {
    Fault(record.pod + ": the chosen node has no score");
    return;
  }
  // With sub-groups a discard may be of a part or of the whole, so the rank before is not known.
  const HyperNodeId before =
      (job.has_sub_groups ? std::nullopt : LeafBefore(job, record.pod)).value_or(HyperNodeId{});
  const auto rank = [&](const std::string& name) {
    return std::tuple(-record.total.at(name), !before.valid() || LeafOf(name) != before, name);
  };
  for (const auto& [name, total] : record.total) {
    const bool better = job.has_sub_groups ? total > record.total.at(record.chosen)
                                           : rank(name) < rank(record.chosen);
    if (better) Fault(record.pod + ": " + name + " is better than " + record.chosen);
  }
}

void TraceCheck::Look(const RejectRecord& record) {
  if (record.plugin.empty() || record.reason.empty()) {
    Fault(record.pod + ": " + record.node + " is rejected without a reason");
  }
}

void TraceCheck::Look(const NearestMissRecord& record) {
  if (record.wanted == 0 || !state_.tree().Find(record.hypernode)) {
    Fault(record.job + ": its nearest miss is of nothing or nowhere");
  }
}

void TraceCheck::Look(const EvictionRecord& record) {
  if (record.chosen.cost.pods == 0) Fault(record.job + ": a plan that evicts nobody");
}

void TraceCheck::Look(const StepRecord& record) {
  JobView& job = jobs_[record.job];
  switch (record.kind) {
    case StepRecord::Kind::kAllocate:
    case StepRecord::Kind::kPipeline:
      job.places[record.pod] = {.node = record.node, .lasts = true};
      job.undecided.push_back(record.pod);
      break;
    case StepRecord::Kind::kDiscard:
      for (const std::string& pod : job.undecided) job.places.erase(pod);
      job.undecided.clear();
      break;
    case StepRecord::Kind::kCommit:
      job.undecided.clear();
      break;
    case StepRecord::Kind::kEvict:
      break;
  }
}

}  // namespace strata::testing
