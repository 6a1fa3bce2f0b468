#include "replay/policies/policy.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"

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
      {.name = "rule:kueue-bestfit",
       .stands_for = "a rule: the largest leaves first, as Kueue's best fit"},
      {.name = "rule:block",
       .stands_for =
           "a rule: segments of the gang, each inside one leaf, as Slurm's topology/block"},
      {.name = "rule:buddy",
       .stands_for = "a rule: buddy cells, of queues where --tenants says it, as HiveD"},
      {.name = "rule:buddy,quota=counts",
       .stands_for = "a rule: the same cells, where queues own only a number of GPUs"},
  };
}

Result<PolicyChoice> ChoosePolicy(std::string_view name) {
  constexpr std::string_view kBlock = "rule:block,segment=";
  if (name.starts_with(kBlock)) {
    const auto segment = strata::WholeNumber(name.substr(kBlock.size()), 100'000);
    if (!segment || *segment == 0) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("\"{}\": want rule:block,segment=PODS, from 1", name));
    }
    TRY_ASSIGN(PolicyChoice choice, ChoosePolicy("rule:block"));
    choice.info.name = name;
    choice.segment = static_cast<std::int32_t>(*segment);
    return choice;
  }
  std::vector<std::string> known;
  for (PolicyInfo& info : KnownPolicies()) {
    if (info.name == name) {
      PolicyChoice choice{.info = std::move(info)};
      if (name == "strata") choice.config = DefaultSchedulerConfig();
      return choice;
    }
    known.push_back(std::move(info.name));
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("unknown policy \"{}\"; known are {}, conf:FILE, exec:PROGRAM",
                          name,
                          fmt::join(known, ", ")));
}

Result<std::unique_ptr<Policy>> MakePolicy(const PolicyChoice& choice,
                                           const Workload& workload,
                                           const Fabric& fabric,
                                           std::uint64_t seed) {
  if (choice.make) return choice.make(workload, fabric, seed);
  const std::string& name = choice.info.name;
  if (name.starts_with("rule:block")) return MakeBlock(choice.segment);
  if (name == "rule:kueue-bestfit") return MakeKueueBestFit();
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
