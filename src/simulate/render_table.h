#pragma once

#include <functional>
#include <string>

#include "model/cluster_state.h"
#include "report/text.h"
#include "whatif/run_result.h"

// Results for people. Each is text that ends in a newline.
namespace strata {

using NameOfJob = std::function<std::string(const std::string& group)>;

// The jobs with phase, domain, tier and reason; the pods placed in this run, grouped by leaf
// HyperNode; used and free of every HyperNode; warnings; the explanation if one was asked for; one
// line that sums it all up. `state` is as the run left it. Jobs are called as `name_of` calls the
// PodGroup "ns/name", where it is given.
[[nodiscard]] std::string RenderTable(const RunResult& result,
                                      const ClusterState& state,
                                      const TextStyle& style,
                                      const NameOfJob& name_of = {});

}  // namespace strata
