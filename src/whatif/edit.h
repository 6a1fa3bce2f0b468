#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "whatif/cluster.h"

// Changes of a cluster as people ask about them: "what if rack-3 were drained?"
namespace strata {

struct Edit {
  // In the order in which several are made.
  enum class Kind : std::uint8_t {
    kAdd,      // "nodes=4[,racks=R][,like=NODE][,under=HYPERNODE][,gpus=G][,cpu=C][,memory=M]"
    kCordon,   // a node, or a HyperNode: all nodes below it
    kDrain,    // the same, and their pods wait again
    kWithout,  // a job
    kSet,      // "QUEUE.FIELD=VALUE"
    kScale,    // "JOB[:TASK]=N"
  };
  Kind kind = Kind::kDrain;
  std::string text;
};

// Whether the text can be understood, whatever objects there are. kInvalidArgument says what is
// accepted. Pure.
[[nodiscard]] Status CheckEdit(const Edit& edit);

// Makes the changes in `objects`, and says in one line for each what was done: "rack-3 drained (4
// nodes): 16 pods wait again". Jobs are "ns/name", of a Job or PodGroup, or the name alone in
// namespace `ns`.
//
// Pods of DaemonSets stay on a drained node. Added nodes are copies of `like`, else of the node
// with most GPUs and CPUs; they are in its HyperNode, in `under`, or in `racks` new ones beside it.
//
// Pure. kNotFound names what is near to an unknown name; then `objects` may be half changed.
// COST: a load of all objects where a HyperNode is named, or nodes are added.
[[nodiscard]] Result<std::vector<std::string>> ApplyEdits(std::span<const Edit> edits,
                                                          const std::string& ns,
                                                          CompletedObjects& objects);

}  // namespace strata
