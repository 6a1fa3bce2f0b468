#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/selector.h"
#include "objects/meta.h"
#include "objects/topology.h"

namespace strata::objects {

// Where a pod says which PodGroup of its namespace it belongs to.
inline constexpr std::string_view kGroupNameAnnotation = "scheduling.k8s.io/group-name";

struct SubGroupPolicy {
  std::string name;
  std::optional<NetworkTopology> topology;
  std::int32_t sub_group_size = 1;
  std::int32_t min_sub_groups = 0;
  std::optional<LabelSelector> selector;      // none: every pod of the group
  std::vector<std::string> match_label_keys;  // without any the policy matches no pod
};

enum class PodGroupPhase : std::uint8_t { kPending, kInqueue, kRunning, kUnknown, kCompleted };

// scheduling.volcano.sh/v1beta1 PodGroup.
struct PodGroup {
  Metadata meta;
  std::int32_t min_member = 0;
  std::map<std::string, std::int32_t> min_task_member;
  std::string queue = "default";
  std::string priority_class_name;
  std::optional<ResourceList> min_resources;
  std::optional<NetworkTopology> topology;
  std::vector<SubGroupPolicy> sub_groups;

  PodGroupPhase phase = PodGroupPhase::kPending;
  std::vector<Condition> conditions;
  std::int32_t running = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
};

// "Inqueue", and back; none for an unknown word.
[[nodiscard]] std::string_view ToString(PodGroupPhase phase);
[[nodiscard]] std::optional<PodGroupPhase> PodGroupPhaseFrom(std::string_view word);

}  // namespace strata::objects
