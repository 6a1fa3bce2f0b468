#pragma once

#include <string>

#include "model/cluster_state.h"
#include "simulate/result.h"
#include "simulate/text.h"
#include "simulate/topology_report.h"

// Results for people. Each is text that ends in a newline.
namespace strata {

// The jobs with phase, domain, tier and reason; the pods placed in this run, grouped by leaf
// HyperNode; used and free of every HyperNode; warnings; the explanation if one was asked for; one
// line that sums it all up. `state` is as the run left it.
[[nodiscard]] std::string RenderTable(const SimulationResult& result,
                                      const ClusterState& state,
                                      const TextStyle& style);

// The tree with what is used and free, and how many pods of the shape fit at each tier.
[[nodiscard]] std::string RenderTable(const TopologyReport& report, const TextStyle& style);

// The tree alone; with the column of fitting pods if asked for.
enum class FitColumn : std::uint8_t { kHide, kShow };
[[nodiscard]] std::string RenderTree(const TopologyReport& report,
                                     FitColumn fit_column,
                                     const TextStyle& style);

}  // namespace strata
