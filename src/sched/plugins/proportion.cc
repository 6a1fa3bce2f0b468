#include "sched/plugins/proportion.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/amount_format.h"
#include "sched/plugins/argument_rules.h"
#include "sched/plugins/queue_shares.h"

namespace strata {
namespace {

// One unit; pods are counted in whole ones, of which a thousandth is allowed.
double ToleranceOf(ResourceId resource) {
  return resource == kPods ? 0.001 : 1.0;
}

Amount ToAmount(double amount) {
  constexpr double kMost = 9.2e18;
  return std::llround(std::clamp(amount, -kMost, kMost));
}

struct QueueState {
  QueueShare share;
  Amounts inqueue;  // promised to jobs that have entered and do not have it yet
  Amounts elastic;  // held by jobs beyond their minimum
};

class Proportion final : public Plugin, public OrderPoint, public JobGatePoint, public QuotaPoint {
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
                                                 const Resources& request) const override;
  [[nodiscard]] Ballot Enqueueable(const Job& job) const override;
  void OnEnqueued(const Job& job) override;

 private:
  [[nodiscard]] const QueueState* Find(QueueId id) const {
    return id.index() < queues_.size() && queues_[id.index()] ? &*queues_[id.index()] : nullptr;
  }
  [[nodiscard]] double LiveShare(const Queue& queue) const;
  // What the job has been promised and does not have: (minResources - allocated) at least 0, less
  // what its gated pods ask for.
  [[nodiscard]] Amounts PromisedTo(const Job& job) const;
  void AddPromise(const Job& job);

  const ClusterState* state_ = nullptr;
  std::vector<std::optional<QueueState>> queues_;  // by id; none for queues without jobs
};

std::optional<Refusal> RefuseIfClosed(const Queue& queue) {
  if (queue.spec.open) return std::nullopt;
  return Refusal{"QueueClosed", fmt::format("queue {} is not open", queue.spec.name)};
}

// Some tasks of a job are gated only while it waits to be let in; most jobs have none.
Amounts GatedRequests(const ClusterState& state, const Job& job, std::size_t size) {
  Amounts gated(size, 0.0);
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = state.task(id);
      if (!task.gated || task.status != TaskStatus::kPending) continue;
      const auto request = state.task_class(task.class_id).request.amounts();
      for (std::size_t i = 0; i < std::min(size, request.size()); ++i) {
        gated[i] += static_cast<double>(request[i]);
      }
    }
  }
  return gated;
}

void Proportion::Open(const ClusterState& state, Time /*now*/) {
  state_ = &state;
  queues_.clear();
  for (QueueShare& share : ComputeProportion(state)) {
    const std::size_t index = share.queue.index();
    const std::size_t size = share.deserved.size();
    if (index >= queues_.size()) queues_.resize(index + 1);
    queues_[index] = QueueState{std::move(share), Amounts(size, 0.0), Amounts(size, 0.0)};
  }
  for (const JobId id : state.jobs()) {
    const Job& job = state.job(id);
    if (!job.queue.valid()) continue;
    const bool runs =
        job.phase == JobPhase::kRunning && job.counts.Allocated() >= job.spec.min_available;
    if (job.phase == JobPhase::kInqueue || runs) AddPromise(job);
    Amounts& elastic = queues_[job.queue.index()]->elastic;
    for (std::size_t i = 0; i < job.allocated.size(); ++i) {
      const auto resource = IdAt<ResourceId>(i);
      const Amount least = job.spec.min_resources ? job.spec.min_resources->Get(resource) : 0;
      elastic[i] += static_cast<double>(std::max<Amount>(job.allocated.Get(resource) - least, 0));
    }
  }
}

Amounts Proportion::PromisedTo(const Job& job) const {
  const std::size_t size = state_->resource_names().size();
  Amounts promised(size, 0.0);
  if (!job.spec.min_resources) return promised;
  bool any = false;
  for (std::size_t i = 0; i < size; ++i) {
    const auto resource = IdAt<ResourceId>(i);
    promised[i] = static_cast<double>(job.spec.min_resources->Get(resource)) -
                  static_cast<double>(job.allocated.Get(resource));
    promised[i] = std::max(promised[i], 0.0);
    any = any || promised[i] > 0;
  }
  if (!any) return promised;
  const Amounts gated = GatedRequests(*state_, job, size);
  for (std::size_t i = 0; i < size; ++i) promised[i] = std::max(promised[i] - gated[i], 0.0);
  return promised;
}

void Proportion::AddPromise(const Job& job) {
  const Amounts promised = PromisedTo(job);
  Amounts& inqueue = queues_[job.queue.index()]->inqueue;
  for (std::size_t i = 0; i < inqueue.size(); ++i) inqueue[i] += promised[i];
}

double Proportion::LiveShare(const Queue& queue) const {
  const auto id = state_->FindQueue(queue.spec.name);
  const QueueState* known = id ? Find(*id) : nullptr;
  return known == nullptr ? 0 : ShareOf(queue.allocated, known->share.deserved);
}

bool Proportion::Overused(QueueId id) const {
  const QueueState* queue = Find(id);
  if (queue == nullptr) return false;
  const Resources& allocated = state_->queue(id).allocated;
  const Amounts& deserved = queue->share.deserved;
  for (std::size_t i = 0; i < deserved.size(); ++i) {
    const auto resource = IdAt<ResourceId>(i);
    const auto has = static_cast<double>(allocated.Get(resource));
    if (deserved[i] > has + ToleranceOf(resource)) return false;
  }
  return true;
}

std::optional<Refusal> Proportion::Exhausted(QueueId id, const Resources& request) const {
  const Queue& queue = state_->queue(id);
  if (auto closed = RefuseIfClosed(queue)) return closed;
  const QueueState* known = Find(id);
  if (known == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < request.size(); ++i) {
    const auto resource = IdAt<ResourceId>(i);
    const Amount asked = request.Get(resource);
    if (asked <= 0 || resource == kPods) continue;
    const Amount has = queue.allocated.Get(resource);
    const double deserved = i < known->share.deserved.size() ? known->share.deserved[i] : 0;
    const double after = static_cast<double>(has) + static_cast<double>(asked);
    if (after <= deserved + ToleranceOf(resource)) continue;
    const std::string& name = state_->resource_names().name(resource);
    return Refusal{"QueueQuotaExceeded",
                   fmt::format("queue {}: {} asked for, {} in use, its share is {}",
                               queue.spec.name,
                               FormatAmount(name, asked),
                               FormatNumber(name, has),
                               FormatNumber(name, ToAmount(deserved)))};
  }
  return std::nullopt;
}

Ballot Proportion::Enqueueable(const Job& job) const {
  if (!job.queue.valid()) return {};  // there is no queue to have an opinion about
  const Queue& queue = state_->queue(job.queue);
  if (auto closed = RefuseIfClosed(queue)) return {Vote::kReject, std::move(*closed)};
  const QueueState* known = Find(job.queue);
  if (!job.spec.min_resources || known == nullptr) return {Vote::kPermit, {}};
  for (std::size_t i = 0; i < job.spec.min_resources->size(); ++i) {
    const auto resource = IdAt<ResourceId>(i);
    const Amount asked = job.spec.min_resources->Get(resource);
    if (asked <= 0 || resource == kPods) continue;
    const bool sized = i < known->inqueue.size();
    const double taken = static_cast<double>(queue.allocated.Get(resource)) +
                         (sized ? known->inqueue[i] - known->elastic[i] : 0);
    const double limit = sized ? known->share.real_capability[i] : 0;
    if (static_cast<double>(asked) + taken <= limit + ToleranceOf(resource)) continue;
    const std::string& name = state_->resource_names().name(resource);
    return {Vote::kReject,
            {"QueueQuotaExceeded",
             fmt::format("queue {}: {} asked for, {} in use or promised, its limit is {}",
                         queue.spec.name,
                         FormatAmount(name, asked),
                         FormatNumber(name, ToAmount(taken)),
                         FormatNumber(name, ToAmount(limit)))}};
  }
  return {Vote::kPermit, {}};
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
