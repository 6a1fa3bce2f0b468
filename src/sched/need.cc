#include "sched/need.h"

#include <algorithm>
#include <limits>
#include <map>

#include "model/gpu_amounts.h"

namespace strata {
namespace {

__extension__ using Product = __int128;

// `amount` * `part` / `whole`, rounded up.
Amount Scale(Amount amount, Product part, Product whole) {
  const Product scaled = (Product{amount} * part + whole - 1) / whole;
  return static_cast<Amount>(std::min<Product>(scaled, std::numeric_limits<Amount>::max()));
}

// The same for both tables of amounts.
template <typename Table, typename Id>
std::vector<Amount> FreeIn(const ClusterState& state, const Table& table, Id id) {
  const std::span<const Amount> idle = table.Idle(id);
  std::vector<Amount> free(idle.begin(), idle.end());
  if (const auto gpu = state.nodes().RegisteredGpus(); gpu && gpu->index() < free.size()) {
    free[gpu->index()] = table.Allocatable(id)[gpu->index()] - table.Used(id)[gpu->index()];
  }
  return free;
}

}  // namespace

std::vector<Amount> FreeBelow(const ClusterState& state, HyperNodeId domain) {
  return FreeIn(state, state.sums(), domain);
}

std::vector<Amount> FreeOn(const ClusterState& state, NodeId node) {
  return FreeIn(state, state.nodes(), node);
}

Need SumOf(const ClusterState& state, std::span<const TaskId> tasks) {
  std::map<ClassId, Amount> by_class;
  auto last = by_class.end();  // neighbours are mostly of one class
  for (const TaskId id : tasks) {
    const ClassId class_id = state.workload().task(id).class_id;
    if (last == by_class.end() || last->first != class_id) {
      last = by_class.try_emplace(class_id, 0).first;
    }
    ++last->second;
  }
  Need need;
  bool shares = false;
  for (const auto& [class_id, count] : by_class) {
    need.room.AddSaturating(state.classes().spec(class_id).request, count);
    shares = shares || state.classes().TakesShares(class_id);
  }
  if (!shares) return need;
  need.apart.emplace();
  for (const auto& [class_id, count] : by_class) {
    need.apart->AddSaturating(state.classes().counted(class_id), count);
  }
  return need;
}

bool HasShares(const ClusterState& state, const Need& need) {
  const ResourceNames& names = state.resource_names();
  return need.apart && NamedGpus(names, *need.apart) < NamedGpus(names, need.room);
}

Minimum::Minimum(const ClusterState& state, const Job& job) : written_(*job.spec.min_resources) {
  const bool is_alone = job.spec.min_gpus && job.counts.Total() == 0;
  if (job.sharers == 0 && !is_alone) return;
  const ResourceNames& names = state.resource_names();
  const Amount named = NamedGpus(names, written_);
  if (named <= 0) return;
  if (is_alone) {
    const auto amount = state.nodes().gpu_kinds().LargestAmount(*job.spec.min_gpus);
    shares_ = amount && *amount < named;
    apart_ = WithGpus(names, written_, shares_ ? *amount : named);
    return;
  }
  Product requested = 0;
  Product counted = 0;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = state.workload().task(id);
      requested += NamedGpus(names, state.classes().spec(task.class_id).request);
      counted += NamedGpus(names, state.workload().CountedOf(id));
    }
  }
  shares_ = counted < requested;
  apart_ = WithGpus(names, written_, shares_ ? Scale(named, counted, requested) : named);
}

}  // namespace strata
