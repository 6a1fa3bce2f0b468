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

}  // namespace strata::admission
