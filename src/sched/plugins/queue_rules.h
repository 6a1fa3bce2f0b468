#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "model/cluster_state.h"
#include "sched/extension.h"
#include "sched/plugins/queue_shares.h"

// What plugins that let jobs into queues have in common.
namespace strata {

// Sums of a queue are compared with its limits up to one unit; pods are counted in whole ones, of
// which a thousandth is allowed.
[[nodiscard]] double ToleranceOf(ResourceId resource);

// The nearest whole amount, for sentences.
[[nodiscard]] Amount ToAmount(double amount);

// QueueClosed, when the state of the queue is not Open.
[[nodiscard]] std::optional<Refusal> RefuseIfClosed(const Queue& queue);

// The same for a job that wants to enter its queue. One whose minimum already runs is in.
// REQUIRES: the queue exists.
[[nodiscard]] std::optional<Refusal> RefuseIfClosedTo(const ClusterState& state, const Job& job);

// The first by name of the resources of which `asked` is more than `left` says; pods are free.
// Asked for each pod of a gang, so `left` (double of a ResourceId) is not hidden behind a pointer.
template <typename Left>
[[nodiscard]] std::optional<ResourceId> FirstExceeded(const ResourceNames& names,
                                                      const Resources& asked,
                                                      const Left& left) {
  std::optional<ResourceId> first;
  const auto compare = [&](ResourceId resource, Amount amount) {
    if (amount <= 0 || resource == kPods) return;
    if (static_cast<double>(amount) <= left(resource) + ToleranceOf(resource)) return;
    if (!first || names.name(resource) < names.name(*first)) first = resource;
  };
  for (std::size_t i = 0; i < asked.size(); ++i) compare(IdAt<ResourceId>(i), asked.amounts()[i]);
  for (const auto& [resource, amount] : asked.absent()) compare(resource, amount);
  return first;
}

// Limits of queues that are the size of the cluster. What pods take of shared GPUs may add up to
// more than there is (NodeTable), so a queue that may have all of them has no limit: the GPUs
// themselves refuse what they cannot hold.
class ClusterLimit {
 public:
  ClusterLimit() = default;
  explicit ClusterLimit(const ClusterState& state);

  [[nodiscard]] double operator()(ResourceId resource, double limit) const {
    const bool is_all = resource == gpus_ && limit >= all_;
    return is_all ? std::numeric_limits<double>::infinity() : limit;
  }
  [[nodiscard]] std::optional<ResourceId> gpus() const { return gpus_; }

 private:
  std::optional<ResourceId> gpus_;  // none: no GPU is shared
  double all_ = 0;
};

// What makes the limit of a queue as low as it is.
enum class LimitKind : std::uint8_t {
  kGang,        // the capability that was set is less than the gang requests by itself
  kQuota,       // the capability that was set, of the queue or of one above it
  kShare,       // its part by weight
  kGuarantees,  // what is guaranteed to other queues
  kCluster,     // nothing was set: the cluster has no more
};

struct QueueLimit {
  ResourceId resource;
  double limit = 0;                                             // what holds
  double capability = std::numeric_limits<double>::infinity();  // infinite where none was set
  double wanted = 0;                                            // in use, and requested
  double gang = 0;  // requested by a whole gang; 0 where a part of one requests
  bool by_share = false;
};
[[nodiscard]] LimitKind KindOf(const ClusterState& state, const QueueLimit& limit);
// "QueueQuotaExceeded", only where a quota was set.
[[nodiscard]] std::string ReasonOf(LimitKind kind);
// "its limit is 8": the end of the sentence that begins with what is requested and in use.
[[nodiscard]] std::string DescribeLimit(LimitKind kind, const std::string& amount);

// True when the job was admitted, so that what it has been promised counts: it is Inqueue, or
// Running with its minimum.
[[nodiscard]] bool HoldsPromise(const Job& job);

// What the job has been promised and does not have: (minResources, as they count, - allocated) at
// least 0, less what its gated pods ask for.
[[nodiscard]] Resources PromisedTo(const ClusterState& state, const Job& job);

void AddTo(Amounts& sum, const Amounts& more);
void AddTo(Amounts& sum, const Resources& more);
[[nodiscard]] double At(const Amounts& amounts, ResourceId resource);

}  // namespace strata
