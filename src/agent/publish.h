#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/machine.h"
#include "base/clock.h"
#include "model/labels.h"

// What the agent writes on the Node of its machine: the GPUs and their links in HAMi's annotations,
// a word about itself, and labels that others may want. Functions of values.
namespace strata::agent {

// A Node says at least so often that its agent is there.
inline constexpr Duration kHeartbeat = std::chrono::minutes(5);

struct AgentFacts {
  std::string version;
  std::string identity = "none";  // how it learns which pod it serves: convert/node_lock.h
  std::int32_t shares = 1;        // containers that may have a GPU together
  std::string boot;
  std::string fabric = {};  // what it sees of the network (discovery/node_report.h); "": nothing
};

// What the Node has.
struct NodeNotes {
  Labels annotations;
  Labels labels;
};
// Reads a Node as the API server sends it; empty when the text is none.
[[nodiscard]] NodeNotes ReadNodeNotes(std::string_view node);

// Whether somebody else registers the GPUs of the Node, such as HAMi's agent: two would write over
// each other for ever.
[[nodiscard]] bool HasOtherAgent(const NodeNotes& node);

// The JSON merge patch after which the Node says what holds; "" when it does already, and has said
// so within kHeartbeat. Labels that somebody else set stay as they are.
[[nodiscard]] std::string PatchToPublish(const Machine& machine,
                                         const AgentFacts& facts,
                                         const NodeNotes& node,
                                         Time now);
// The patch that takes back what an agent wrote; "" when there is nothing.
[[nodiscard]] std::string PatchToWithdraw(const NodeNotes& node);

}  // namespace strata::agent
