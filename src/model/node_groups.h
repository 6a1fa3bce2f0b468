#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

// Node groups: nodes that have the same value of one label, and what queues say about them.
namespace strata {

inline constexpr std::string_view kNodeGroupLabel = "volcano.sh/nodegroup-name";

struct NodeGroupTerms {
  std::vector<std::string> required;   // groups its pods may use
  std::vector<std::string> preferred;  // those too, the better ones as the order says
  std::vector<std::string> anti_required;
  std::vector<std::string> anti_preferred;

  auto operator<=>(const NodeGroupTerms&) const = default;
  [[nodiscard]] bool empty() const { return *this == NodeGroupTerms{}; }
};

// What node groups mean to a class of tasks.
struct NodeGroupRules {
  std::string queue;     // of the tasks; "" when neither it nor a queue above it has terms
  bool limited = false;  // that queue may have only so much of a group
  NodeGroupTerms own;    // of that queue
  NodeGroupTerms
      inherited;  // of the nearest queue above it that has any; none when `own` are there

  auto operator<=>(const NodeGroupRules&) const = default;
};

}  // namespace strata
