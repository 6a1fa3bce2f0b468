#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "admission/object_reader.h"
#include "admission/problems.h"

namespace strata::admission {

// A Queue as the hierarchy sees it.
struct QueueNode {
  std::string name;
  std::string parent;  // "" for root alone
  std::string state;   // "Open" when it says nothing
  nlohmann::json spec;
};

inline constexpr std::string_view kQueueResource = "queues.scheduling.volcano.sh";

[[nodiscard]] QueueNode ToQueueNode(std::string name, const nlohmann::json& object);
// All of them, by name.
[[nodiscard]] std::vector<QueueNode> ReadQueues(const ObjectReader& store);

// Whether a queue takes what `what` ("job", "PodGroup") names it in spec.queue: it is there and
// Open; for a job, also a leaf and not root.
enum class Leaf : std::uint8_t { kAny, kOnly };
void CheckQueueTakes(const ObjectReader& store,
                     const std::string& queue,
                     std::string_view what,
                     Leaf leaf,
                     Problems& problems);

// queue_hierarchy.cc: the older hierarchy, by the annotations volcano.sh/hierarchy ("root/a/b") and
// volcano.sh/hierarchy-weights ("1/2/8").

// Puts root before a path that leaves it out.
void CompleteHierarchy(nlohmann::json& object);
[[nodiscard]] bool HaveSameHierarchy(const nlohmann::json& a, const nlohmann::json& b);
// One weight above 0 for each name, and no other queue below the path.
void CheckHierarchyAnnotations(const ObjectReader& store,
                               const nlohmann::json& object,
                               Problems& problems);

}  // namespace strata::admission
