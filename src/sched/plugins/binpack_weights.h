#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/resources.h"
#include "sched/config.h"

// The weighted "how full would it be" that binpack asks of nodes and network-topology-aware of
// HyperNodes.
namespace strata {

struct ResourceWeight {
  ResourceId resource;
  double weight = 0;
};

struct BinpackWeights {
  std::vector<ResourceWeight> weights;  // cpu, memory, then the listed ones; none is 0
  std::vector<std::string> known;       // the arguments these rules know
  std::vector<std::string> warnings;    // weights of resources that are not listed
};

// Reads `<prefix>.cpu`, `<prefix>.memory` (default 1 each), `<prefix>.resources` (a list) and
// `<prefix>.resources.<name>` (default 1 if listed, ignored with a warning if not). A negative
// weight is the default; one above kMaxWeight is an error.
[[nodiscard]] Result<BinpackWeights> ReadBinpackWeights(const PluginConfig& config,
                                                        std::string_view prefix,
                                                        ResourceNames& names);

// What a place without any of a resource means for a request of it.
enum class IfNoneThere {
  kCountsAsEmpty,  // adds nothing, though its weight counts (nodes)
  kDoesNotFit,     // as every other overflow (HyperNodes)
};

// The weighted mean of (used + request) / allocatable over the weighted resources that are
// requested, 0..1; 0 when none is. None when one of them would overflow.
[[nodiscard]] std::optional<double> Fullness(std::span<const ResourceWeight> weights,
                                             const Resources& request,
                                             std::span<const Amount> used,
                                             std::span<const Amount> allocatable,
                                             IfNoneThere if_none_there);

}  // namespace strata
