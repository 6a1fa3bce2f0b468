// The GPUs that the tasks of a WorkloadTable hold, and what shares of them count as.
#include <algorithm>
#include <utility>

#include "model/gpu_amounts.h"
#include "model/workload_table.h"

namespace strata {

const GpuClaim& WorkloadTable::GpusOf(TaskId id) const {
  static const GpuClaim none;
  return id.index() < gpu_claims_.size() ? gpu_claims_[id.index()] : none;
}

void WorkloadTable::SetGpus(TaskId id, GpuClaim gpus) {
  if (gpus.empty() && id.index() >= gpu_claims_.size()) return;
  if (id.index() >= gpu_claims_.size()) gpu_claims_.resize(tasks_.size());
  GpuClaim& held = gpu_claims_[id.index()];
  if (gpus.empty() && held.empty()) return;
  const std::string_view name = tasks_[id.index()].name;
  const std::string_view ns = name.substr(0, name.find('/'));
  auto total = gpu_totals_.find(ns);
  if (total == gpu_totals_.end()) total = gpu_totals_.emplace(ns, GpuTotals{}).first;
  total->second.Add(TotalOf(held), -1);
  total->second.Add(TotalOf(gpus));
  held = std::move(gpus);
}

GpuTotals WorkloadTable::GpusIn(std::string_view ns) const {
  const auto it = gpu_totals_.find(ns);
  return it == gpu_totals_.end() ? GpuTotals{} : it->second;
}

ClassId WorkloadTable::JoinClass(ClassSpec spec) {
  const std::size_t known = classes_.count();
  const ClassId id = classes_.Join(std::move(spec));
  const bool added = classes_.count() > known;
  if (added && classes_.TakesShares(id)) {
    classes_.SetCounted(id, CountedByKinds(classes_.spec(id)));
  }
  return id;
}

Resources WorkloadTable::CountedWith(const ClassSpec& spec, std::optional<Amount> amount) const {
  const Amount requested = NamedGpus(names_, spec.request);
  return WithGpus(names_, spec.request, std::min(amount.value_or(requested), requested));
}

Resources WorkloadTable::CountedByKinds(const ClassSpec& spec) const {
  return CountedWith(spec, nodes_.gpu_kinds().LargestAmount(spec, nodes_));
}

void WorkloadTable::CountAgain(TaskId id) {
  Task& task = tasks_[id.index()];
  if (!classes_.TakesShares(task.class_id)) return;
  const Resources& usual = classes_.counted(task.class_id);
  Resources counted = usual;
  if (task.node.valid()) {
    const ClassSpec& spec = classes_.spec(task.class_id);
    const auto& gpus = nodes_.spec(task.node).gpus;
    const bool registered = gpus && gpus->OfferIn(spec.gpus->dialect).registered;
    const auto amount = gpus ? AmountOf(GpusOf(id), *gpus) : std::nullopt;
    if (!registered) counted = CountedWith(spec, std::nullopt);  // its kubelet gave it whole ones
    if (amount) counted = CountedWith(spec, amount);
  }
  if (task.counts_apart) counted_apart_.erase(id);
  task.counts_apart = counted != usual;
  if (task.counts_apart) counted_apart_.emplace(id, std::move(counted));
}

void WorkloadTable::FollowGpusOf(NodeId node) {
  const std::span<const TaskId> on_it = nodes_.TasksOn(node);
  const std::vector<TaskId> tasks(on_it.begin(), on_it.end());
  for (const TaskId id : tasks) {
    if (!classes_.TakesShares(tasks_[id.index()].class_id)) continue;
    Account(id, -1);
    CountAgain(id);
    Account(id, +1);
    if (tasks_[id.index()].job.valid()) Touch(tasks_[id.index()].job);
  }
}

void WorkloadTable::FollowGpus() {
  if (std::exchange(gpu_kinds_seen_, nodes_.gpu_kinds().version()) ==
      nodes_.gpu_kinds().version()) {
    return;
  }
  std::map<ClassId, Resources> changed;
  for (const ClassId id : classes_.with_shares()) {
    Resources counted = CountedByKinds(classes_.spec(id));
    if (counted != classes_.counted(id)) changed.emplace(id, std::move(counted));
  }
  if (changed.empty()) return;
  std::vector<TaskId> concerned;
  for (const TaskId id : AllTasks()) {
    if (changed.contains(tasks_[id.index()].class_id)) concerned.push_back(id);
  }
  for (const TaskId id : concerned) Account(id, -1);
  for (auto& [id, counted] : changed) classes_.SetCounted(id, std::move(counted));
  for (const TaskId id : concerned) {
    CountAgain(id);
    Account(id, +1);
    if (tasks_[id.index()].job.valid()) Touch(tasks_[id.index()].job);
  }
  // What others remember about a class and a node may depend on what the class counts as.
  for (const NodeId node : nodes_.all()) nodes_.Touch(node);
  sums_.Invalidate();
}

}  // namespace strata
