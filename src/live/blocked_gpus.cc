#include "live/blocked_gpus.h"

#include <algorithm>

namespace strata::live {
namespace {

template <std::size_t N>
bool IsOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 3> kTopologyReasons = {
    "TopologyUnsatisfied", "GangLargerThanHyperNode", "HyperNodeHeldByOwnPods"};
constexpr std::array<std::string_view, 7> kQuotaReasons = {"GangLargerThanQueue",
                                                           "QueueQuotaExceeded",
                                                           "QueueShareExceeded",
                                                           "GuaranteedToOthers",
                                                           "QueueOverused",
                                                           "ClusterOvercommitted",
                                                           "NamespaceQuotaExceeded"};
constexpr std::array<std::string_view, 7> kRoomReasons = {"NotEnoughResources",
                                                          "ClusterFull",
                                                          "WaitingForRelease",
                                                          "GangLargerThanCluster",
                                                          "NothingToEvict",
                                                          "EvictionNotAllowed",
                                                          "EvictionSearchCut"};

}  // namespace

BlockedBy WhyBlocked(std::string_view reason, std::int64_t asked, std::int64_t free) {
  if (IsOneOf(reason, kQuotaReasons)) return BlockedBy::kQuota;
  const bool room = IsOneOf(reason, kRoomReasons);
  const bool topology = IsOneOf(reason, kTopologyReasons);
  if (!room && !topology) return BlockedBy::kOther;
  if (asked > free) return BlockedBy::kCapacity;
  return topology ? BlockedBy::kTopology : BlockedBy::kFragmentation;
}

}  // namespace strata::live
