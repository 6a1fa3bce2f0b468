#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "inspect/live_cluster.h"
#include "objects/meta.h"

// What a person does to a Queue. Errors are one line, as LiveCluster gives them.
namespace strata::inspect {

enum class QueueAction : std::uint8_t { kOpen, kClose };

struct NewQueue {
  std::string name;
  std::int32_t weight = 1;
  std::int32_t priority = 0;
  std::string parent;  // "": that of the server, root
  bool reclaimable = true;
  objects::ResourceList capability;
  objects::ResourceList deserved;
  objects::ResourceList guarantee;
};
// The Queue as a manifest; what is as by default is left out. Pure.
[[nodiscard]] std::string QueueBody(const NewQueue& queue);
[[nodiscard]] Status CreateQueue(LiveCluster& cluster, const NewQueue& queue);
// The server rejects it for `default`, `root`, and a queue that has jobs or children.
[[nodiscard]] Status DeleteQueue(LiveCluster& cluster, const std::string& queue);

// The state that the Queue has: "Open", "Closed", "Closing"; "" before a controller has seen it.
// kNotFound when there is no such Queue.
[[nodiscard]] Result<std::string> FindQueueState(LiveCluster& cluster, const std::string& queue);
// Asks the queue controller for it by a bus.volcano.sh Command, as Volcano's own command line does.
[[nodiscard]] Status SendQueueCommand(LiveCluster& cluster,
                                      const std::string& queue,
                                      QueueAction action);

}  // namespace strata::inspect
