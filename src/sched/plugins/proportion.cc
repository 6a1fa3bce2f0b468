#include "sched/plugins/proportion.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/amount_format.h"
#include "sched/need.h"
#include "sched/plugins/argument_rules.h"
#include "sched/plugins/promise_book.h"
#include "sched/plugins/queue_rules.h"
#include "sched/plugins/queue_shares.h"
#include "sched/plugins/reclaim_rules.h"
#include "sched/victim_point.h"

namespace strata {
namespace {

struct QueueState {
  QueueShare share;
  Amounts inqueue;  // promised to jobs that have entered and do not have it yet
  Amounts elastic;  // held by jobs beyond their minimum
};

// Infinite where the queue does not set it, as ComputeProportion reads it.
double CapabilityOf(const QueueSpec& queue, ResourceId resource) {
  const auto found = queue.capability.find(resource);
  const bool is_set = found != queue.capability.end() &&
                      (found->second > 0 || (resource != kCpu && resource != kMemory));
  return is_set ? static_cast<double>(found->second) : std::numeric_limits<double>::infinity();
}

class Proportion final : public Plugin,
                         public OrderPoint,
                         public JobGatePoint,
                         public QuotaPoint,
                         public VictimPoint {
 public:
  void Open(const ClusterState& state, Time now) override;

  [[nodiscard]] int CompareQueues(const Queue& a, const Queue& b) const override {
    if (a.spec.priority != b.spec.priority) return a.spec.priority > b.spec.priority ? -1 : 1;
    const double a_share = LiveShare(a);
    const double b_share = LiveShare(b);
    if (a_share == b_share) return 0;
    return a_share < b_share ? -1 : 1;
  }

  [[nodiscard]] bool Overused(QueueId id) const override;
  [[nodiscard]] std::optional<Refusal> Exhausted(QueueId id,
                                                 const Resources& request,
                                                 Limit limit) const override;
  [[nodiscard]] Ballot Enqueueable(const Job& job) const override {
    return EnqueueableWith(job, {});
  }
  [[nodiscard]] Ballot EnqueueableWith(const Job& job, const Relief& relief) const override;
  void OnEnqueued(const Job& job) override;
  [[nodiscard]] bool DecidesOn(EvictionKind kind) const override {
    return kind == EvictionKind::kReclaim;
  }
  [[nodiscard]] bool Grants(const EvictionClaim& claim, const VictimUnit& unit) const override {
    return MayReclaim(*state_, claim, unit, Rules());
  }
  [[nodiscard]] bool MayGrant(const EvictionClaim& claim,
                              QueueId queue,
                              std::int32_t /*priority*/) const override {
    return HasTooMuch(claim, queue, Rules());
  }
  [[nodiscard]] std::optional<std::string> NotEntitled(const EvictionClaim& claim) const override {
    return WhyNotReclaim(*state_, claim, Rules());
  }

 private:
  [[nodiscard]] const QueueState* Find(QueueId id) const {
    return id.index() < queues_.size() && queues_[id.index()] ? &*queues_[id.index()] : nullptr;
  }
  [[nodiscard]] double LiveShare(const Queue& queue) const;
  // The only queue that wants more shared GPUs than it deserves; none when there are several.
  [[nodiscard]] QueueId FindOnlyUnmet() const;
  void AddPromise(const Job& job);
  [[nodiscard]] ReclaimRules Rules() const;

  const ClusterState* state_ = nullptr;
  PromiseBook book_;
  ClusterLimit limit_;
  QueueId only_unmet_;
  std::vector<std::optional<QueueState>> queues_;  // by id; none for queues without jobs
};

void Proportion::Open(const ClusterState& state, Time /*now*/) {
  state_ = &state;
  book_.Refresh(state);
  queues_.clear();
  for (QueueShare& share : ComputeProportion(state)) {
    const std::size_t index = share.queue.index();
    const std::size_t size = share.deserved.size();
    if (index >= queues_.size()) queues_.resize(index + 1);
    const QueueId queue = share.queue;
    queues_[index] =
        QueueState{std::move(share), book_.PromisedIn(queue, size), book_.ElasticIn(queue, size)};
  }
  limit_ = ClusterLimit(state);
  only_unmet_ = FindOnlyUnmet();
}

QueueId Proportion::FindOnlyUnmet() const {
  QueueId found;
  if (!limit_.gpus()) return found;
  for (const std::optional<QueueState>& queue : queues_) {
    if (!queue ||
        At(queue->share.request, *limit_.gpus()) <= At(queue->share.deserved, *limit_.gpus())) {
      continue;
    }
    if (found.valid()) return {};
    found = queue->share.queue;
  }
  return found;
}

void Proportion::AddPromise(const Job& job) {
  AddTo(queues_[job.queue.index()]->inqueue, PromisedTo(*state_, job));
}

ReclaimRules Proportion::Rules() const {
  const auto part_of = [this](QueueId id, ResourceId resource) {
    QueuePart part;
    part.has = static_cast<double>(state_->workload().queue(id).allocated.Get(resource));
    if (const QueueState* queue = Find(id)) {
      part.deserved = At(queue->share.deserved, resource);
      part.guarantee = At(queue->share.guarantee, resource);
    }
    return part;
  };
  return {.part_of = part_of, .line_of = [](QueueId id) { return std::vector<QueueId>{id}; }};
}

double Proportion::LiveShare(const Queue& queue) const {
  const auto id = state_->workload().FindQueue(queue.spec.name);
  const QueueState* known = id ? Find(*id) : nullptr;
  return known == nullptr ? 0 : ShareOf(queue.allocated, known->share.deserved);
}

bool Proportion::Overused(QueueId id) const {
  const QueueState* queue = Find(id);
  if (queue == nullptr) return false;
  const Resources& allocated = state_->workload().queue(id).allocated;
  const Amounts& deserved = queue->share.deserved;
  for (std::size_t i = 0; i < deserved.size(); ++i) {
    const auto resource = IdAt<ResourceId>(i);
    const auto has = static_cast<double>(allocated.Get(resource));
    if (deserved[i] > has + ToleranceOf(resource)) return false;
  }
  return true;
}

std::optional<Refusal> Proportion::Exhausted(QueueId id,
                                             const Resources& request,
                                             Limit limit) const {
  const Queue& queue = state_->workload().queue(id);
  if (auto closed = RefuseIfClosed(queue)) return closed;
  const QueueState* known = Find(id);
  if (known == nullptr) return std::nullopt;
  const bool by_share = limit == Limit::kShare;
  const Amounts& most = by_share ? known->share.deserved : known->share.real_capability;
  const auto exceeded = FirstExceeded(state_->resource_names(), request, [&](ResourceId resource) {
    const auto has = static_cast<double>(queue.allocated.Get(resource));
    // What nobody else wants is free to it, as far as its capability goes.
    const bool may_have_all = id == only_unmet_ && resource == limit_.gpus();
    const Amounts& its_most = may_have_all ? known->share.real_capability : most;
    return limit_(resource, At(its_most, resource)) - has;
  });
  if (!exceeded) return std::nullopt;
  const std::string& name = state_->resource_names().name(*exceeded);
  const LimitKind kind = KindOf(
      *state_,
      {.resource = *exceeded,
       .limit = At(most, *exceeded),
       .capability = CapabilityOf(queue.spec, *exceeded),
       .wanted = static_cast<double>(request.Get(*exceeded) + queue.allocated.Get(*exceeded)),
       .by_share = by_share});
  return Refusal{
      ReasonOf(kind),
      fmt::format("queue {}: {} requested, {} in use, {}",
                  queue.spec.name,
                  FormatAmount(name, request.Get(*exceeded)),
                  FormatNumber(name, queue.allocated.Get(*exceeded)),
                  DescribeLimit(kind, FormatNumber(name, ToAmount(At(most, *exceeded)))))};
}

Ballot Proportion::EnqueueableWith(const Job& job, const Relief& relief) const {
  if (!job.queue.valid()) return {};  // there is no queue to have an opinion about
  const Queue& queue = state_->workload().queue(job.queue);
  if (auto closed = RefuseIfClosed(queue)) return {Vote::kReject, std::move(*closed)};
  const QueueState* known = Find(job.queue);
  if (!job.spec.min_resources || known == nullptr) return {Vote::kPermit, {}};
  const auto taken = [&](ResourceId resource) {
    return static_cast<double>(queue.allocated.Get(resource)) + At(known->inqueue, resource) -
           At(known->elastic, resource);
  };
  const auto limit = [&](ResourceId resource) {
    return limit_(resource, At(known->share.real_capability, resource));
  };
  const Minimum minimum(*state_, job);
  const auto exceeded = FirstExceeded(state_->resource_names(), *minimum, [&](ResourceId resource) {
    return limit(resource) - taken(resource) + static_cast<double>(relief.own_queue.Get(resource));
  });
  if (!exceeded) return {Vote::kPermit, {}};
  const std::string& name = state_->resource_names().name(*exceeded);
  const LimitKind kind =
      KindOf(*state_,
             {.resource = *exceeded,
              .limit = limit(*exceeded),
              .capability = CapabilityOf(queue.spec, *exceeded),
              .wanted = static_cast<double>(minimum->Get(*exceeded)) + taken(*exceeded),
              .gang = static_cast<double>(minimum->Get(*exceeded))});
  return {Vote::kReject,
          {ReasonOf(kind),
           fmt::format("queue {}: {} requested, {} in use or promised, {}",
                       queue.spec.name,
                       FormatAmount(name, minimum->Get(*exceeded)),
                       FormatNumber(name, ToAmount(taken(*exceeded))),
                       DescribeLimit(kind, FormatNumber(name, ToAmount(limit(*exceeded)))))}};
}

void Proportion::OnEnqueued(const Job& job) {
  if (job.queue.valid() && Find(job.queue) != nullptr) AddPromise(job);
}

}  // namespace

Result<MadePlugin> MakeProportion(const PluginConfig& config, ResourceNames& /*resources*/) {
  return MadePlugin{.plugin = std::make_unique<Proportion>(),
                    .warnings = WarnOfUnknown(config, {})};
}

}  // namespace strata
