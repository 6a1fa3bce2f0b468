#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "inspect/live_cluster.h"

// What a person does to a Queue. Errors are one line, as LiveCluster gives them.
namespace strata::inspect {

enum class QueueAction : std::uint8_t { kOpen, kClose };

// The state that the Queue has: "Open", "Closed", "Closing"; "" before a controller has seen it.
// kNotFound when there is no such Queue.
[[nodiscard]] Result<std::string> FindQueueState(LiveCluster& cluster, const std::string& queue);
// Asks the queue controller for it by a bus.volcano.sh Command, as Volcano's own command line does.
[[nodiscard]] Status SendQueueCommand(LiveCluster& cluster,
                                      const std::string& queue,
                                      QueueAction action);

}  // namespace strata::inspect
