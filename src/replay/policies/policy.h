#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/fabric.h"
#include "replay/policies/tenants.h"
#include "replay/room.h"
#include "replay/workload.h"
#include "sched/config.h"

namespace strata::replay {

// A job that a policy is to place.
struct PlaceJob {
  std::uint32_t job = 0;  // its index in the workload
  const JobClass* job_class = nullptr;
  Millis now = 0;
};

// Decides where a job goes. When, is the engine's business: it owns the queue, the time and the
// books, so that policies differ in nothing but placement. Used by one thread.
class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  // A node for each pod, by rank; empty when the job has no place now. Asked again only after
  // something ended. `room` is left as it was found.
  [[nodiscard]] virtual std::vector<NodeIndex> Place(const PlaceJob& job, Room& room) = 0;
  // The job that had its place is over.
  virtual void End(std::uint32_t /*job*/) {}
  // What went wrong outside, after which it places nothing more: what was replayed does not count.
  [[nodiscard]] virtual Status Problem() const { return {}; }
};

// What is said about a policy wherever its figures are shown.
struct PolicyInfo {
  std::string name;        // as given: "rule:binpack"
  std::string stands_for;  // "a rule: kube-scheduler's MostAllocated, our reading"
  bool random = false;     // its decisions depend on the seed
};

// The policies by name, and what stands for what; in the order of the help.
[[nodiscard]] std::vector<PolicyInfo> KnownPolicies();

struct PolicyChoice {
  PolicyInfo info;
  SchedulerConfig config = {};            // of `strata` and `conf:FILE`
  std::vector<TenantCells> tenants = {};  // of rule:buddy; none: cells are nobody's
  std::int32_t segment = 1;               // of rule:block
  // Makes the policy, if it is made elsewhere.
  std::function<Result<std::unique_ptr<Policy>>(const Workload&, const Fabric&, std::uint64_t)>
      make = {};
};

// kInvalidArgument with the known names when `name` is none of them. `conf:FILE` is not made here.
[[nodiscard]] Result<PolicyChoice> ChoosePolicy(std::string_view name);

// kInvalidArgument when the configuration of the core cannot be used, or the cells of rule:buddy.
// What is passed must outlive the policy.
[[nodiscard]] Result<std::unique_ptr<Policy>> MakePolicy(const PolicyChoice& choice,
                                                         const Workload& workload,
                                                         const Fabric& fabric,
                                                         std::uint64_t seed);

// ---- the makers of single policies
// Rules of one node at a time, blind to the network: a gang is undone if one pod fails. Jobs with a
// hard limit get the first domain that holds them, the fullest one first.
enum class NodeRule : std::uint8_t {
  kRandom,
  kFirstFit,
  kShuffled,
  kTopologyOrder,
  kSpread,
  kBinpack
};
[[nodiscard]] std::unique_ptr<Policy> MakeNodeRule(NodeRule rule,
                                                   const Fabric& fabric,
                                                   std::uint64_t seed);
// The lowest tier with a domain that holds the gang, there the least free one; inside, leaf by leaf
// with the least surplus. A single pod: the tightest node, then the leaf with the fewest whole
// nodes.
[[nodiscard]] std::unique_ptr<Policy> MakeLowestSwitch();
// Kueue's balanced placement: the fewest leaves of the lowest domain that holds the gang, the pods
// in equal shares over them.
[[nodiscard]] std::unique_ptr<Policy> MakeKueueBalanced();
// Kueue's best fit: the lowest domain that holds the gang, the fullest one; below it the leaves
// with most room one after the other, and for what is left the leaf that holds it with least
// surplus.
[[nodiscard]] std::unique_ptr<Policy> MakeKueueBestFit();
// Slurm's topology/block: the gang in segments of so many pods, each inside one leaf, or not at
// all.
[[nodiscard]] std::unique_ptr<Policy> MakeBlock(std::int32_t segment);
// HiveD's buddy cells: each pod takes the smallest free cell that holds it. A queue with cells of
// its own has its jobs in these only, or, by kCounts, in any as long as it has GPUs left. Jobs over
// their quota wait: HiveD would start them and evict them later. kInvalidArgument unless nodes are
// alike and have 1, 2, 4, 8 ... GPUs, the cells of all queues are there at a time, and each job
// fits in those of its queue.
[[nodiscard]] Result<std::unique_ptr<Policy>> MakeBuddy(const Workload& workload,
                                                        const Fabric& fabric,
                                                        const std::vector<TenantCells>& tenants,
                                                        TenantQuota quota);
// The scheduler itself on a state of its own, one cycle per question.
[[nodiscard]] Result<std::unique_ptr<Policy>> MakeCorePolicy(const SchedulerConfig& config,
                                                             const Workload& workload,
                                                             const Fabric& fabric);

}  // namespace strata::replay
