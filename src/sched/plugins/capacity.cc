#include "sched/plugins/capacity.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "model/amount_format.h"
#include "sched/plugins/argument_rules.h"
#include "sched/plugins/capacity_tree.h"
#include "sched/plugins/promise_book.h"
#include "sched/plugins/queue_rules.h"
#include "sched/plugins/reclaim_rules.h"
#include "sched/victim_point.h"

namespace strata {
namespace {

constexpr std::string_view kReclaimLevelKey = "ancestorReclaimLevel";
constexpr std::string_view kDraKey = "capacity.DynamicResourceAllocationEnable";
constexpr std::string_view kDraCapacityKey = "capacity.DRAConsumableCapacityEnable";

// What counts as used by a queue: what it holds, or also what admitted jobs were promised.
enum class Count : std::uint8_t { kHeld, kHeldAndPromised };

class Capacity final : public Plugin,
                       public OrderPoint,
                       public QuotaPoint,
                       public JobGatePoint,
                       public VictimPoint {
 public:
  Capacity(CapacityTree::Shape shape, std::size_t reclaim_level)
      : shape_(shape), reclaim_level_(reclaim_level) {}

  void Open(const ClusterState& state, Time now) override;
  [[nodiscard]] int CompareQueues(const Queue& a, const Queue& b) const override;
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
  [[nodiscard]] ReclaimRules Rules() const;
  [[nodiscard]] std::vector<QueueId> LineOf(QueueId id) const;
  // Promised to jobs that have entered, less what jobs hold beyond their minimum; of the queue and
  // all below it.
  void AddPromise(const Job& job);
  [[nodiscard]] double TakenBy(std::size_t index, ResourceId resource, Count count) const;
  // What the queue, or queues below it, are guaranteed and do not have.
  [[nodiscard]] double OwedTo(std::size_t index, ResourceId resource, Count count) const;
  // What must be left free below each queue on the way from `index` to the root when `index` gets
  // this much more. Nothing where that is owed to it.
  [[nodiscard]] std::vector<double> KeptFree(std::size_t index,
                                             ResourceId resource,
                                             Amount more,
                                             Count count) const;
  // Compares two queues at different places of the tree.
  [[nodiscard]] int ComparePlaces(std::size_t a, std::size_t b) const;
  [[nodiscard]] int CompareShares(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::optional<Refusal> RefuseAnything(std::size_t index) const;
  // That of the queue or, where it names none, of the nearest one above that does.
  [[nodiscard]] double CapabilityOf(std::size_t index, ResourceId resource) const;
  [[nodiscard]] std::optional<Refusal> RefuseAmount(std::size_t index,
                                                    const Resources& asked,
                                                    Count count,
                                                    const Resources& relief) const;

  CapacityTree::Shape shape_;
  std::size_t reclaim_level_;  // so many ancestors of a queue count when it takes or loses
  const ClusterState* state_ = nullptr;
  CapacityTree tree_;
  PromiseBook book_;
  ClusterLimit limit_;
  std::vector<Amounts> promised_;  // by index in the tree
};

void Capacity::Open(const ClusterState& state, Time /*now*/) {
  state_ = &state;
  tree_ = CapacityTree(state, shape_);
  limit_ = ClusterLimit(state);
  const std::size_t size = state.resource_names().size();
  promised_.assign(tree_.queues().size(), Amounts(size, 0.0));
  book_.Refresh(state);
  for (const QueueId id : state.workload().queues()) {
    const auto index = tree_.Find(id);
    if (!index) continue;
    Amounts net = book_.PromisedIn(id, size);
    const Amounts elastic = book_.ElasticIn(id, size);
    for (std::size_t i = 0; i < size; ++i) net[i] -= elastic[i];
    for (const std::size_t above : tree_.at(*index).path) AddTo(promised_[above], net);
  }
}

ReclaimRules Capacity::Rules() const {
  const auto part_of = [this](QueueId id, ResourceId resource) {
    const auto index = tree_.Find(id);
    if (!index) return QueuePart{};
    return QueuePart{.has = tree_.Allocated(*state_, *index, resource),
                     .deserved = At(tree_.at(*index).deserved, resource),
                     .guarantee = At(tree_.at(*index).guarantee, resource)};
  };
  return {.part_of = part_of, .line_of = [this](QueueId id) { return LineOf(id); }};
}

std::vector<QueueId> Capacity::LineOf(QueueId id) const {
  std::vector<QueueId> line{id};
  const auto index = tree_.Find(id);
  if (!index || shape_ == CapacityTree::Shape::kFlat) return line;
  const std::vector<std::size_t>& path = tree_.at(*index).path;
  for (std::size_t i = 1; i <= reclaim_level_ && i + 1 < path.size(); ++i) {
    line.push_back(tree_.at(path[i]).queue);
  }
  return line;
}

void Capacity::AddPromise(const Job& job) {
  const auto index = tree_.Find(job.queue);
  if (!index) return;
  const Resources promised = PromisedTo(*state_, job);
  for (const std::size_t above : tree_.at(*index).path) AddTo(promised_[above], promised);
}

double Capacity::TakenBy(std::size_t index, ResourceId resource, Count count) const {
  const double held = tree_.Allocated(*state_, index, resource);
  return count == Count::kHeld ? held : held + At(promised_[index], resource);
}

double Capacity::OwedTo(std::size_t index, ResourceId resource, Count count) const {
  const double guarantee = At(tree_.at(index).guarantee, resource);
  if (guarantee <= 0) return 0;
  double below = 0;
  for (const std::size_t child : tree_.at(index).children) below += OwedTo(child, resource, count);
  return std::max(below, guarantee - TakenBy(index, resource, count));
}

std::vector<double> Capacity::KeptFree(std::size_t index,
                                       ResourceId resource,
                                       Amount more,
                                       Count count) const {
  const std::vector<std::size_t>& path = tree_.at(index).path;
  std::vector<double> kept(path.size(), 0.0);
  if (At(tree_.at(path.back()).guarantee, resource) <= 0) return kept;
  const auto asked = static_cast<double>(more);
  // Owed below the queue at hand, as things are and once `index` has its part.
  double before = 0;
  double after = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    double to_others = 0;
    for (const std::size_t child : tree_.at(path[i]).children) {
      if (i > 0 && child == path[i - 1]) continue;
      to_others += OwedTo(child, resource, count);
    }
    before += to_others;
    after += to_others;
    const bool is_owed = before - after >= asked - ToleranceOf(resource);
    kept[i] = is_owed ? 0 : after;
    const double lacks =
        At(tree_.at(path[i]).guarantee, resource) - TakenBy(path[i], resource, count);
    before = std::max(before, lacks);
    after = std::max(after, lacks - asked);
  }
  return kept;
}

int Capacity::CompareShares(std::size_t a, std::size_t b) const {
  const double a_share = tree_.ShareOf(*state_, a);
  const double b_share = tree_.ShareOf(*state_, b);
  if (a_share != b_share) return a_share < b_share ? -1 : 1;
  const bool a_deserves = tree_.at(a).Deserves();
  if (a_deserves == tree_.at(b).Deserves()) return 0;
  return a_deserves ? -1 : 1;
}

int Capacity::CompareQueues(const Queue& a, const Queue& b) const {
  if (a.spec.priority != b.spec.priority) return a.spec.priority > b.spec.priority ? -1 : 1;
  constexpr std::size_t kNowhere = SIZE_MAX;
  const auto place = [&](const Queue& queue) {
    const auto id = state_->workload().FindQueue(queue.spec.name);
    return id ? tree_.Find(*id).value_or(kNowhere) : kNowhere;
  };
  const std::size_t left = place(a);
  const std::size_t right = place(b);
  if (left == right || left == kNowhere || right == kNowhere) return 0;
  return ComparePlaces(left, right);
}

int Capacity::ComparePlaces(std::size_t a, std::size_t b) const {
  const CapacityQueue& a_queue = tree_.at(a);
  const CapacityQueue& b_queue = tree_.at(b);
  if (a_queue.children.empty() != b_queue.children.empty()) {
    return a_queue.children.empty() ? -1 : 1;
  }
  // Queues that hang in the air get nothing; they come last.
  const bool a_hangs = shape_ == CapacityTree::Shape::kHierarchical && a_queue.path.size() == 1;
  const bool b_hangs = shape_ == CapacityTree::Shape::kHierarchical && b_queue.path.size() == 1;
  if (a_hangs != b_hangs) return a_hangs ? 1 : -1;
  if (!a_queue.children.empty() || a_hangs) return CompareShares(a, b);
  auto a_at = a_queue.path.rbegin();
  auto b_at = b_queue.path.rbegin();
  while (*a_at == *b_at) {  // a leaf is nobody's ancestor, so the ways part
    ++a_at;
    ++b_at;
  }
  if (const int order = CompareShares(*a_at, *b_at); order != 0) return order;
  if (*a_at == a && *b_at == b) return 0;
  // Equal branches stay apart, or their queues would have no order at all.
  const QueueSpec& a_branch = state_->workload().queue(tree_.at(*a_at).queue).spec;
  const QueueSpec& b_branch = state_->workload().queue(tree_.at(*b_at).queue).spec;
  const auto key = [](const QueueSpec& spec) {
    return std::tie(spec.created, spec.uid, spec.name);
  };
  return key(a_branch) < key(b_branch) ? -1 : 1;
}

std::optional<Refusal> Capacity::RefuseAnything(std::size_t index) const {
  const CapacityQueue& queue = tree_.at(index);
  for (const std::size_t above : queue.path) {
    const QueueId id = tree_.at(above).queue;
    if (!id.valid()) continue;
    auto closed = RefuseIfClosed(state_->workload().queue(id));
    if (!closed) continue;
    if (above != index) closed->message += fmt::format(", so queue {} is not", queue.name);
    return closed;
  }
  return queue.fault;
}

double Capacity::CapabilityOf(std::size_t index, ResourceId resource) const {
  if (!IsAbsent(resource)) return At(tree_.at(index).capability, resource);
  return kUnlimited;
}

std::optional<Refusal> Capacity::RefuseAmount(std::size_t index,
                                              const Resources& asked,
                                              Count count,
                                              const Resources& relief) const {
  const ResourceNames& names = state_->resource_names();
  const std::vector<std::size_t>& path = tree_.at(index).path;
  std::map<ResourceId, std::vector<double>> kept_free;  // by resource, along the path
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto resource = IdAt<ResourceId>(i);
    if (asked.Get(resource) <= 0) continue;
    kept_free.emplace(resource, KeptFree(index, resource, asked.Get(resource), count));
  }
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::size_t at = path[i];
    const auto kept = [&](ResourceId resource) {
      return IsAbsent(resource) ? 0 : kept_free.at(resource)[i];
    };
    const auto limit = [&](ResourceId resource) {
      // The tree has no limit of its own for a resource that no node has.
      const bool is_open = IsAbsent(resource) && shape_ == CapacityTree::Shape::kHierarchical;
      return is_open ? kUnlimited : limit_(resource, At(tree_.at(at).real_capability, resource));
    };
    const auto exceeded = FirstExceeded(names, asked, [&](ResourceId resource) {
      return limit(resource) - TakenBy(at, resource, count) - kept(resource) +
             static_cast<double>(relief.Get(resource));
    });
    if (exceeded) {
      const std::string& name = names.name(*exceeded);
      const double free = kept(*exceeded);
      const double taken = TakenBy(at, *exceeded, count);
      const double wanted = static_cast<double>(asked.Get(*exceeded)) + taken;
      const bool by_kept = wanted <= limit(*exceeded) + ToleranceOf(*exceeded);
      const LimitKind kind = KindOf(*state_,
                                    {.resource = *exceeded,
                                     .limit = limit(*exceeded),
                                     .capability = CapabilityOf(at, *exceeded),
                                     .wanted = wanted,
                                     .gang = count == Count::kHeld ? 0 : wanted - taken});
      return Refusal{
          ReasonOf(by_kept ? LimitKind::kGuarantees : kind),
          fmt::format("queue {}: {} requested, {} in use{}{}, {}",
                      tree_.at(at).name,
                      FormatAmount(name, asked.Get(*exceeded)),
                      FormatNumber(name, ToAmount(taken)),
                      count == Count::kHeld ? "" : " or promised",
                      free > 0 ? fmt::format(", {} kept free for guarantees of other queues",
                                             FormatNumber(name, ToAmount(free)))
                               : std::string(),
                      DescribeLimit(kind, FormatNumber(name, ToAmount(limit(*exceeded)))))};
    }
  }
  return std::nullopt;
}

// Nothing here shrinks because other queues ask for more.
std::optional<Refusal> Capacity::Exhausted(QueueId id,
                                           const Resources& request,
                                           Limit /*limit*/) const {
  const auto index = tree_.Find(id);
  if (!index) return std::nullopt;
  if (auto refusal = RefuseAnything(*index)) return refusal;
  return RefuseAmount(*index, request, Count::kHeld, {});
}

Ballot Capacity::EnqueueableWith(const Job& job, const Relief& relief) const {
  const auto index = tree_.Find(job.queue);
  if (!index) return {};  // there is no queue to have an opinion about
  auto refusal = RefuseAnything(*index);
  if (!refusal && job.spec.min_resources) {
    refusal =
        RefuseAmount(*index, *Minimum(*state_, job), Count::kHeldAndPromised, relief.own_queue);
  }
  if (!refusal) return {Vote::kPermit, {}};
  return {Vote::kReject, std::move(*refusal)};
}

void Capacity::OnEnqueued(const Job& job) {
  AddPromise(job);
}

}  // namespace

Result<MadePlugin> MakeCapacity(const PluginConfig& config, ResourceNames& /*resources*/) {
  TRY_ASSIGN(const std::int64_t level, config.arguments.Int(kReclaimLevelKey, 0));
  std::vector<std::string> warnings =
      WarnOfUnknown(config, {kReclaimLevelKey, kDraKey, kDraCapacityKey});
  for (const std::string_view key : {kDraKey, kDraCapacityKey}) {
    TRY_ASSIGN(const bool enabled, config.arguments.Bool(key, false));
    if (enabled) {
      warnings.push_back(
          ArgumentWarning(config.name, key, "quotas of device classes are not built, ignored"));
    }
  }
  const auto shape = config.Enabled("enableHierarchy") ? CapacityTree::Shape::kHierarchical
                                                       : CapacityTree::Shape::kFlat;
  return MadePlugin{.plugin = std::make_unique<Capacity>(
                        shape, static_cast<std::size_t>(std::max<std::int64_t>(level, 0))),
                    .warnings = std::move(warnings)};
}

}  // namespace strata
