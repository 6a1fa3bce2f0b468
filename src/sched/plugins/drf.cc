#include "sched/plugins/drf.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sched/plugins/argument_rules.h"
#include "sched/plugins/drf_tree.h"
#include "sched/plugins/queue_rules.h"
#include "sched/victim_point.h"

namespace strata {
namespace {

enum class QueueOrder : std::uint8_t { kNone, kByBranch };

// Whether jobs with less may take from jobs with more, and queues from queues.
struct Rights {
  bool of_jobs = true;
  bool of_queues = false;
};

class Drf final : public Plugin, public OrderPoint, public VictimPoint {
 public:
  Drf(QueueOrder queue_order, Rights rights) : queue_order_(queue_order), rights_(rights) {}

  void Open(const ClusterState& state, Time now) override;

  [[nodiscard]] int CompareJobs(const Job& a, const Job& b) const override {
    const double a_share = ShareOf(a);
    const double b_share = ShareOf(b);
    if (a_share == b_share) return 0;
    return a_share < b_share ? -1 : 1;
  }

  [[nodiscard]] int CompareQueues(const Queue& a, const Queue& b) const override {
    if (queue_order_ == QueueOrder::kNone) return 0;
    return Tree().Compare(DrfPathOf(*state_, a.spec), DrfPathOf(*state_, b.spec));
  }

  [[nodiscard]] bool DecidesOn(EvictionKind kind) const override {
    // What a job takes from itself changes no share.
    if (kind == EvictionKind::kWithinJob) return false;
    return kind == EvictionKind::kPreempt ? rights_.of_jobs : rights_.of_queues;
  }
  [[nodiscard]] bool Grants(const EvictionClaim& claim, const VictimUnit& unit) const override {
    return claim.kind == EvictionKind::kPreempt ? MayPreempt(claim, unit) : MayReclaim(claim, unit);
  }
  [[nodiscard]] bool MayGrant(const EvictionClaim& claim,
                              QueueId /*queue*/,
                              std::int32_t priority) const override {
    return claim.kind == EvictionKind::kReclaim ||
           priority <= state_->workload().job(claim.job).spec.priority;
  }

 private:
  // What jobs have beside what the state says, by job.
  using Changes = std::map<JobId, Amounts>;

  [[nodiscard]] double ShareOf(const Job& job) const {
    return DominantShare(ToAmounts(job.allocated.amounts(), total_.size()), total_);
  }
  [[nodiscard]] Amounts AmountsOf(std::span<const TaskId> tasks) const;
  [[nodiscard]] bool MayPreempt(const EvictionClaim& claim, const VictimUnit& unit) const;
  [[nodiscard]] bool MayReclaim(const EvictionClaim& claim, const VictimUnit& unit) const;
  // The tree as it is now. Nothing is given or taken without a change of a node, so it holds until
  // the next of them.
  [[nodiscard]] const DrfTree& Tree() const;
  [[nodiscard]] DrfTree BuildTree(const Changes& changes) const;
  void SumRequests(JobId id);

  QueueOrder queue_order_;
  Rights rights_;
  const ClusterState* state_ = nullptr;
  Amounts total_;
  std::map<JobId, Resources> requests_;  // of all tasks of each job; only with an order of queues
  std::uint64_t seen_ = 0;               // changes of jobs before this one are in requests_
  mutable std::optional<DrfTree> tree_;
  mutable std::uint64_t tree_version_ = 0;
};

void Drf::Open(const ClusterState& state, Time /*now*/) {
  state_ = &state;
  total_ = ToAmounts(state.sums().Allocatable(state.tree().top()), state.resource_names().size());
  tree_.reset();
  if (queue_order_ == QueueOrder::kNone) return;
  if (const auto touched = state.workload().JobsTouchedSince(seen_)) {
    for (const JobId id : *touched) SumRequests(id);
  } else {
    requests_.clear();
    for (const JobId id : state.workload().jobs()) SumRequests(id);
  }
  seen_ = state.workload().NextJobVersion();
}

void Drf::SumRequests(JobId id) {
  if (!state_->workload().job(id).alive) {
    requests_.erase(id);
    return;
  }
  Resources request;
  for (const SubJob& sub_job : state_->workload().job(id).sub_jobs) {
    for (const TaskId task : sub_job.tasks) {
      const Task& one = state_->workload().task(task);
      if (!one.IsOversized()) request.AddSaturating(state_->workload().CountedOf(task));
    }
  }
  requests_.insert_or_assign(id, std::move(request));
}

Amounts Drf::AmountsOf(std::span<const TaskId> tasks) const {
  Resources sum;
  for (const TaskId id : tasks) {
    sum.AddSaturating(state_->workload().CountedOf(id));
  }
  return ToAmounts(sum.amounts(), total_.size());
}

// The claimant must stay below the victim with all that its gang needs. A job that only shrinks is
// measured by what it keeps; one that goes as a whole by what it had, since it comes back with
// that. So neither could take it back.
bool Drf::MayPreempt(const EvictionClaim& claim, const VictimUnit& unit) const {
  const Job& claimant = state_->workload().job(claim.job);
  const Job& victim = state_->workload().job(unit.job);
  if (victim.spec.priority > claimant.spec.priority) return false;
  Amounts wants = ToAmounts(claimant.allocated.amounts(), total_.size());
  AddTo(wants, claim.need.counted());
  Amounts keeps = ToAmounts(victim.allocated.amounts(), total_.size());
  if (unit.kind == VictimUnit::Kind::kSurplus) {
    const Amounts gone = AmountsOf(unit.tasks);
    for (std::size_t i = 0; i < keeps.size(); ++i) keeps[i] -= gone[i];
  }
  return DominantShare(wants, total_) < DominantShare(keeps, total_);
}

bool Drf::MayReclaim(const EvictionClaim& claim, const VictimUnit& unit) const {
  const WorkloadTable& workload = state_->workload();
  const DrfPath poor = DrfPathOf(*state_, workload.queue(workload.job(claim.job).queue).spec);
  const DrfPath rich = DrfPathOf(*state_, workload.queue(workload.job(unit.job).queue).spec);
  if (Tree().Compare(poor, rich) >= 0) return false;  // cheap, and most end here
  Changes changes;
  changes[claim.job] = ToAmounts(claim.need.counted().amounts(), total_.size());
  Amounts& gone = changes[unit.job] = AmountsOf(unit.tasks);
  for (double& amount : gone) amount = -amount;
  return BuildTree(changes).Compare(poor, rich) < 0;
}

DrfTree Drf::BuildTree(const Changes& changes) const {
  DrfTree tree(total_);
  for (const auto& [id, resources] : requests_) {
    const Job& job = state_->workload().job(id);
    if (!job.queue.valid()) continue;
    Amounts request = ToAmounts(resources.amounts(), total_.size());
    Amounts allocated = ToAmounts(job.allocated.amounts(), total_.size());
    if (const auto change = changes.find(id); change != changes.end()) {
      AddTo(allocated, change->second);
    }
    tree.Add(DrfPathOf(*state_, state_->workload().queue(job.queue).spec),
             {.allocated = std::move(allocated), .request = std::move(request)});
  }
  tree.Finish();
  return tree;
}

const DrfTree& Drf::Tree() const {
  if (!tree_ || tree_version_ != state_->nodes().NextVersion()) {
    tree_ = BuildTree({});
    tree_version_ = state_->nodes().NextVersion();
  }
  return *tree_;
}

}  // namespace

Result<MadePlugin> MakeDrf(const PluginConfig& config, ResourceNames& /*resources*/) {
  const auto order = config.Enabled("enableHierarchy") ? QueueOrder::kByBranch : QueueOrder::kNone;
  const Rights rights{
      .of_jobs = config.Enabled("enablePreemptable"),
      .of_queues = order == QueueOrder::kByBranch && config.Enabled("enableReclaimable")};
  return MadePlugin{.plugin = std::make_unique<Drf>(order, rights),
                    .warnings = WarnOfUnknown(config, {})};
}

}  // namespace strata
