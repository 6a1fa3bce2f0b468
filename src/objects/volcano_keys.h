#pragma once

#include <array>
#include <string_view>

// Annotations and labels of Volcano that controllers write and the scheduler reads.
namespace strata::objects {

// The names under which a scheduler takes pods where it is not told any.
inline constexpr std::array<std::string_view, 4> kUsualSchedulers = {
    "volcano", "strata", "default-scheduler", "hami-scheduler"};

inline constexpr std::string_view kTaskIndexKey = "volcano.sh/task-index";
inline constexpr std::string_view kTaskSpecKey = "volcano.sh/task-spec";
inline constexpr std::string_view kJobNameKey = "volcano.sh/job-name";
inline constexpr std::string_view kJobNamespaceKey = "volcano.sh/job-namespace";
inline constexpr std::string_view kQueueNameKey = "volcano.sh/queue-name";
inline constexpr std::string_view kJobVersionKey = "volcano.sh/job-version";
inline constexpr std::string_view kTemplateUidKey = "volcano.sh/template-uid";
inline constexpr std::string_view kJobRetryCountKey = "volcano.sh/job-retry-count";
inline constexpr std::string_view kPartitionIdKey = "volcano.sh/partition-id";
inline constexpr std::string_view kNumaPolicyKey = "volcano.sh/numa-topology-policy";
inline constexpr std::string_view kPreemptableKey = "volcano.sh/preemptable";
inline constexpr std::string_view kCooldownTimeKey = "volcano.sh/cooldown-time";
inline constexpr std::string_view kLastCheckpointKey = "volcano.sh/last-checkpoint-time";
inline constexpr std::array<std::string_view, 2> kSlaKeys = {"sla-waiting-time",
                                                             "volcano.sh/sla-waiting-time"};
inline constexpr std::string_view kRevocableZoneKey = "volcano.sh/revocable-zone";
inline constexpr std::string_view kJdbMinAvailableKey = "volcano.sh/jdb-min-available";
inline constexpr std::string_view kJdbMaxUnavailableKey = "volcano.sh/jdb-max-unavailable";

// On queues.
inline constexpr std::string_view kNodeGroupLimitsKey = "volcano.sh/nodegroup-resource-limits";

// On discovered HyperNodes: the source, and with several entries of one source the entry's name.
inline constexpr std::string_view kTopologySourceKey = "volcano.sh/network-topology-source";
inline constexpr std::string_view kTopologySourceNameKey = "strata.sh/network-topology-source-name";

// On plain pods.
inline constexpr std::string_view kPodQueueNameKey = "scheduling.volcano.sh/queue-name";
inline constexpr std::string_view kTopologyModeKey = "volcano.sh/network-topology-mode";
inline constexpr std::string_view kTopologyTierKey = "volcano.sh/network-topology-highest-tier";

// What pods inherit from their Job, and PodGroups from their plain pod.
inline constexpr std::array<std::string_view, 5> kInheritedAnnotations = {kPreemptableKey,
                                                                          kCooldownTimeKey,
                                                                          kRevocableZoneKey,
                                                                          kJdbMinAvailableKey,
                                                                          kJdbMaxUnavailableKey};
inline constexpr std::array<std::string_view, 2> kInheritedLabels = {kPreemptableKey,
                                                                     kCooldownTimeKey};

}  // namespace strata::objects
