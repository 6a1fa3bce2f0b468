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

namespace strata {
namespace {

enum class QueueOrder : std::uint8_t { kNone, kByBranch };

class Drf final : public Plugin, public OrderPoint {
 public:
  explicit Drf(QueueOrder queue_order) : queue_order_(queue_order) {}

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

 private:
  [[nodiscard]] double ShareOf(const Job& job) const {
    return DominantShare(ToAmounts(job.allocated.amounts(), total_.size()), total_);
  }
  // The tree as it is now. Nothing is given or taken without a change of a node, so it holds until
  // the next of them.
  [[nodiscard]] const DrfTree& Tree() const;
  [[nodiscard]] DrfTree BuildTree() const;
  void SumRequests(JobId id);

  QueueOrder queue_order_;
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
      if (!one.IsOversized()) request.AddSaturating(state_->classes().spec(one.class_id).request);
    }
  }
  requests_.insert_or_assign(id, std::move(request));
}

DrfTree Drf::BuildTree() const {
  DrfTree tree(total_);
  for (const auto& [id, resources] : requests_) {
    const Job& job = state_->workload().job(id);
    if (!job.queue.valid()) continue;
    Amounts request = ToAmounts(resources.amounts(), total_.size());
    tree.Add(DrfPathOf(*state_, state_->workload().queue(job.queue).spec),
             {.allocated = ToAmounts(job.allocated.amounts(), total_.size()),
              .request = std::move(request)});
  }
  tree.Finish();
  return tree;
}

const DrfTree& Drf::Tree() const {
  if (!tree_ || tree_version_ != state_->nodes().NextVersion()) {
    tree_ = BuildTree();
    tree_version_ = state_->nodes().NextVersion();
  }
  return *tree_;
}

}  // namespace

Result<MadePlugin> MakeDrf(const PluginConfig& config, ResourceNames& /*resources*/) {
  const auto order = config.Enabled("enableHierarchy") ? QueueOrder::kByBranch : QueueOrder::kNone;
  return MadePlugin{.plugin = std::make_unique<Drf>(order), .warnings = WarnOfUnknown(config, {})};
}

}  // namespace strata
