#include "replay/policies/policy.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace strata::replay {

std::vector<PolicyInfo> KnownPolicies() {
  return {
      {.name = "strata", .stands_for = "the scheduler itself, default configuration"},
      {.name = "rule:random",
       .stands_for = "a rule: any node that fits, the lower bar",
       .random = true},
      {.name = "rule:first-fit",
       .stands_for = "a rule: the first node that fits, FIFO without topology"},
      {.name = "rule:first-fit,order=shuffled",
       .stands_for = "a rule: the same in an order shuffled once",
       .random = true},
      {.name = "rule:first-fit,order=topology", .stands_for = "a rule: the same along the network"},
      {.name = "rule:spread", .stands_for = "a rule: the node with most free GPUs, LeastAllocated"},
      {.name = "rule:binpack",
       .stands_for = "a rule: the node with fewest free GPUs, MostAllocated"},
      {.name = "rule:lowest-switch",
       .stands_for = "a rule: the lowest switch that holds the gang, as Slurm's topology/tree"},
      {.name = "rule:kueue-balanced",
       .stands_for = "a rule: fewest leaves, equal shares, as Kueue's balanced placement"},
      {.name = "rule:buddy",
       .stands_for = "a rule: buddy cells, of queues where --tenants says it, as HiveD"},
      {.name = "rule:buddy,quota=counts",
       .stands_for = "a rule: the same cells, where queues own only a number of GPUs"},
  };
}

Result<PolicyChoice> ChoosePolicy(std::string_view name) {
  std::vector<std::string> known;
  for (PolicyInfo& info : KnownPolicies()) {
    if (info.name == name) {
      PolicyChoice choice{.info = std::move(info)};
      if (name == "strata") choice.config = DefaultSchedulerConfig();
      return choice;
    }
    known.push_back(std::move(info.name));
  }
  return Fail(
      Code::kInvalidArgument,
      fmt::format("unknown policy \"{}\"; known are {}, conf:FILE", name, fmt::join(known, ", ")));
}

Result<std::unique_ptr<Policy>> MakePolicy(const PolicyChoice& choice,
                                           const Workload& workload,
                                           const Fabric& fabric,
                                           std::uint64_t seed) {
  const std::string& name = choice.info.name;
  if (name == "rule:random") return MakeNodeRule(NodeRule::kRandom, fabric, seed);
  if (name == "rule:first-fit") return MakeNodeRule(NodeRule::kFirstFit, fabric, seed);
  if (name == "rule:first-fit,order=shuffled") {
    return MakeNodeRule(NodeRule::kShuffled, fabric, seed);
  }
  if (name == "rule:first-fit,order=topology") {
    return MakeNodeRule(NodeRule::kTopologyOrder, fabric, seed);
  }
  if (name == "rule:spread") return MakeNodeRule(NodeRule::kSpread, fabric, seed);
  if (name == "rule:binpack") return MakeNodeRule(NodeRule::kBinpack, fabric, seed);
  if (name == "rule:lowest-switch") return MakeLowestSwitch();
  if (name == "rule:kueue-balanced") return MakeKueueBalanced();
  if (name == "rule:buddy") {
    return MakeBuddy(workload, fabric, choice.tenants, TenantQuota::kCells);
  }
  if (name == "rule:buddy,quota=counts") {
    return MakeBuddy(workload, fabric, choice.tenants, TenantQuota::kCounts);
  }
  return MakeCorePolicy(choice.config, workload, fabric);
}

}  // namespace strata::replay
