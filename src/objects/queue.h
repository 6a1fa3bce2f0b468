#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/meta.h"

namespace strata::objects {

enum class QueueState : std::uint8_t { kOpen, kClosed, kClosing, kUnknown };
// "Open"
[[nodiscard]] std::string_view ToString(QueueState state);

struct NodeGroupTerms {
  std::vector<std::string> required;
  std::vector<std::string> preferred;
};

// scheduling.volcano.sh/v1beta1 Queue.
struct Queue {
  Metadata meta;
  std::int32_t weight = 1;  // 1..65535; 1 when the object says 0
  bool reclaimable = true;
  std::int32_t priority = 0;
  std::string parent;  // "" for the queue "root" alone; else "root" when the object names none
  std::string type;
  std::string dequeue_strategy = "traverse";
  ResourceList capability;  // what is not listed is unlimited
  ResourceList deserved;
  ResourceList guarantee;
  NodeGroupTerms node_groups;
  NodeGroupTerms anti_node_groups;
  std::map<std::string, ResourceList> node_group_limits;  // by annotation, what it may have of each
  QueueState state = QueueState::kOpen;
  ResourceList allocated;  // status
};

}  // namespace strata::objects
