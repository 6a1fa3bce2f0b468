#include "sched/plugins/promise_book.h"

#include <utility>

#include "sched/need.h"
#include "sched/plugins/queue_rules.h"

namespace strata {
namespace {

void AddAmounts(Amounts& total, const WideResources& part) {
  for (std::size_t i = 0; i < total.size(); ++i) total[i] += part.Get(IdAt<ResourceId>(i));
}

}  // namespace

PromiseBook::Part PromiseBook::PartOf(const ClusterState& state, const Job& job) {
  Part part{.queue = job.queue, .promised = {}, .elastic = job.allocated};
  if (HoldsPromise(job)) part.promised = PromisedTo(state, job);
  if (job.spec.min_resources) part.elastic.Sub(*Minimum(state, job));
  part.elastic.ClampAtZero();
  return part;
}

void PromiseBook::Add(const Part& part, int sign) {
  Sums& sums = queues_[part.queue];
  sums.promised.AddSigned(part.promised, sign);
  sums.elastic.AddSigned(part.elastic, sign);
}

void PromiseBook::Replace(const ClusterState& state, JobId id) {
  if (id.index() >= parts_.size()) parts_.resize(id.index() + 1);
  Part& part = parts_[id.index()];
  Add(part, -1);
  part = state.workload().job(id).alive ? PartOf(state, state.workload().job(id)) : Part{};
  Add(part, +1);
}

void PromiseBook::Refresh(const ClusterState& state) {
  if (const auto touched = state.workload().JobsTouchedSince(seen_)) {
    for (const JobId id : *touched) Replace(state, id);
  } else {
    parts_.clear();
    queues_.clear();
    for (const JobId id : state.workload().jobs()) Replace(state, id);
  }
  seen_ = state.workload().NextJobVersion();
}

Amounts PromiseBook::PromisedIn(QueueId queue, std::size_t size) const {
  Amounts promised(size, 0.0);
  const auto it = queues_.find(queue);
  if (it != queues_.end()) AddAmounts(promised, it->second.promised);
  return promised;
}

Amounts PromiseBook::ElasticIn(QueueId queue, std::size_t size) const {
  Amounts elastic(size, 0.0);
  const auto it = queues_.find(queue);
  if (it != queues_.end()) AddAmounts(elastic, it->second.elastic);
  return elastic;
}

Amounts PromiseBook::PromisedInAll(std::size_t size) const {
  Amounts promised(size, 0.0);
  for (const auto& [queue, sums] : queues_) AddAmounts(promised, sums.promised);
  return promised;
}

}  // namespace strata
