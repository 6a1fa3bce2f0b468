#pragma once

#include <string>

#include "model/cluster_state.h"
#include "report/text.h"
#include "whatif/run_result.h"

// Results for people. Each is text that ends in a newline.
namespace strata {

// The jobs with phase, domain, tier and reason; the pods placed in this run, grouped by leaf
// HyperNode; used and free of every HyperNode; warnings; the explanation if one was asked for; one
// line that sums it all up. `state` is as the run left it.
[[nodiscard]] std::string RenderTable(const RunResult& result,
                                      const ClusterState& state,
                                      const TextStyle& style);

}  // namespace strata
