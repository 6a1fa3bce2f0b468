#include "explain/holders.h"

#include <algorithm>
#include <utility>

namespace strata {
namespace {

class Collector {
 public:
  Collector(const ClusterState& state, const HolderQuery& query) : state_(state), query_(query) {}

  void Add(TaskId id) {
    const Task& task = state_.workload().task(id);
    Holder named;
    const std::string* group =
        task.job.valid() ? &state_.workload().job(task.job).spec.name : nullptr;
    const bool lone = group == nullptr || query_.made_groups->contains(*group);
    if (group != nullptr && *group == query_.except) return;
    named.kind = lone ? Holder::Kind::kPod : Holder::Kind::kJob;
    named.name = lone ? task.name : *group;
    const Resources& counted = state_.workload().CountedOf(id);
    Holder& holder = holders_.try_emplace({named.kind, named.name}, named).first->second;
    ++holder.pods;
    for (const ResourceId resource : query_.resources) {
      const Amount amount = counted.Get(resource);
      if (amount > 0) holder.amounts[state_.resource_names().name(resource)] += amount;
    }
  }

  std::vector<Holder> Sorted() {
    std::vector<std::pair<double, Holder>> weighed;
    for (auto& [key, holder] : holders_) {
      if (!holder.amounts.empty()) weighed.emplace_back(Share(holder), std::move(holder));
    }
    std::stable_sort(weighed.begin(), weighed.end(), [](const auto& a, const auto& b) {
      return a.first > b.first;
    });
    std::vector<Holder> sorted;
    sorted.reserve(weighed.size());
    for (auto& [share, holder] : weighed) sorted.push_back(std::move(holder));
    return sorted;
  }

 private:
  [[nodiscard]] double Share(const Holder& holder) const {
    const auto whole = state_.sums().Allocatable(state_.tree().top());
    double share = 0;
    for (const ResourceId resource : query_.resources) {
      const auto it = holder.amounts.find(state_.resource_names().name(resource));
      if (it == holder.amounts.end()) continue;
      const Amount all = resource.index() < whole.size() ? whole[resource.index()] : 0;
      share += static_cast<double>(it->second) / static_cast<double>(std::max<Amount>(all, 1));
    }
    return share;
  }

  const ClusterState& state_;
  const HolderQuery& query_;
  std::map<std::pair<Holder::Kind, std::string>, Holder> holders_;
};

}  // namespace

std::vector<Holder> HoldersBelow(const ClusterState& state,
                                 HyperNodeId domain,
                                 const HolderQuery& query) {
  Collector collector(state, query);
  for (const NodeId node : state.tree().NodesOf(domain)) {
    for (const TaskId task : state.nodes().TasksOn(node)) collector.Add(task);
  }
  return collector.Sorted();
}

std::vector<Holder> HoldersInQueue(const ClusterState& state,
                                   QueueId queue,
                                   const HolderQuery& query) {
  Collector collector(state, query);
  for (const JobId id : state.workload().jobs()) {
    const Job& job = state.workload().job(id);
    if (job.queue != queue) continue;
    for (const SubJob& sub_job : job.sub_jobs) {
      for (const TaskId task : sub_job.tasks) {
        if (IsAllocated(state.workload().task(task).status)) collector.Add(task);
      }
    }
  }
  return collector.Sorted();
}

}  // namespace strata
