#pragma once

#include <string>
#include <vector>

#include "controllers/cache.h"
#include "controllers/discovery_answers.h"
#include "controllers/plan.h"
#include "discovery/config.h"
#include "discovery/discover.h"

namespace strata::controllers {

struct DiscoveryView {
  std::vector<discovery::SourceConfig> sources;  // of the whole configuration
  std::vector<ObjectRef> nodes;
  std::vector<ObjectRef> hypernodes;
  std::vector<objects::Secret> secrets;
};

// The input of a pass that asks one source alone; what the others found stands as it is, so that
// cliques are put together with all trees.
[[nodiscard]] discovery::DiscoverInput InputFor(const DiscoveryView& view,
                                                const discovery::SourceConfig& source);

struct DiscoveryOutcome {
  Plan plan;
  std::string error;      // why the source's answer is not used; "" when it is
  std::string event;      // the same for an Event: without a word of what the source answered
  bool shrunken = false;  // it lacks too many nodes to be believed at once
  std::vector<std::string> warnings;
};

// What the answers of one source change: HyperNodes to create (children first), to change, to
// delete. Only those that a source of the configuration has made are touched. Pure.
[[nodiscard]] DiscoveryOutcome PlanDiscovery(const DiscoveryView& view,
                                             const discovery::SourceConfig& source,
                                             const ReaderAnswers& answers,
                                             discovery::Shrink shrink);

}  // namespace strata::controllers
