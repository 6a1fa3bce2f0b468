#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/hypernode_tree.h"
#include "model/workload.h"
#include "sched/extension.h"

namespace strata {

// How far apart the tasks of a job or sub-job may be.
struct TopologyLimit {
  enum class Kind : std::uint8_t {
    kNone,        // no topology asked for
    kBounded,     // inside one HyperNode of at most tier `tier`; the top's tier means anywhere,
                  // nearest first
    kImpossible,  // asks for a tier that cannot be resolved; `refusal` says why
  } kind = Kind::kNone;
  std::int32_t tier = 0;
  // The tier that messages name when it is not `tier`: the limit is lower than written because
  // invalid HyperNodes are excluded from the tree.
  std::optional<std::int32_t> written;
  Refusal refusal;
  std::string warning;  // for an event: the constraint as written does not bind

  [[nodiscard]] std::int32_t TierToSay() const { return written.value_or(tier); }
};

// Reads a topology spec against the tree (decisions 1 to 5 of docs/differences.md). `outer` is the
// limit of the job around a sub-job: a soft sub-job stays inside it.
[[nodiscard]] TopologyLimit ResolveLimit(const HyperNodeTree& tree,
                                         const TopologySpec& spec,
                                         const TopologyLimit& outer,
                                         bool can_search);

}  // namespace strata
