#include "admission/queue_rules.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "json/access.h"
#include "json/parse.h"

namespace strata::admission {

using nlohmann::json;

QueueNode ToQueueNode(std::string name, const json& object) {
  QueueNode node{std::move(name), TextAt(object, {"spec", "parent"}), {}, {}};
  if (node.parent.empty() && node.name != "root") node.parent = "root";
  node.state = TextAt(object, {"status", "state"});
  if (node.state.empty()) node.state = "Open";
  node.spec = ObjectAt(object, {"spec"});
  return node;
}

std::vector<QueueNode> ReadQueues(const ObjectReader& store) {
  std::vector<QueueNode> queues;
  store.VisitLatest(std::string(kQueueResource), "", [&](const StoredObject& object) {
    queues.push_back(ToQueueNode(object.name, ParseJsonOrNull(object.body)));
    return true;
  });
  return queues;
}

void CheckQueueTakes(const ObjectReader& store,
                     const std::string& queue,
                     std::string_view what,
                     Leaf leaf,
                     Problems& problems) {
  const std::vector<QueueNode> queues = ReadQueues(store);
  const auto found = std::find_if(
      queues.begin(), queues.end(), [&](const QueueNode& node) { return node.name == queue; });
  const auto refuse = [&](const std::string& why) { problems.Invalid("spec.queue", queue, why); };
  if (found == queues.end()) {
    store.Missed({std::string(kQueueResource), "", queue});
    return refuse(
        fmt::format("unable to find {} queue: queues.scheduling.volcano.sh \"{}\" not found",
                    LowerCase(what),
                    queue));
  }
  if (leaf == Leaf::kOnly && queue == "root") {
    return refuse(fmt::format("can not submit {} to root queue", what));
  }
  if (found->state != "Open") {
    return refuse(
        fmt::format("can only submit {} to queue with state `Open`, queue `{}` status is `{}`",
                    what,
                    queue,
                    found->state));
  }
  const auto children = std::count_if(
      queues.begin(), queues.end(), [&](const QueueNode& node) { return node.parent == queue; });
  if (leaf == Leaf::kOnly && children > 0) {
    refuse(fmt::format(
        "can only submit {} to leaf queue, queue `{}` has {} child queues", what, queue, children));
  }
}

}  // namespace strata::admission
