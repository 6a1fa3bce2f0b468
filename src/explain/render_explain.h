#pragma once

#include <string>
#include <vector>

#include "explain/explain.h"
#include "report/text.h"

namespace strata {

// One sentence first, then the search, the nearest misses with the jobs that hold what is short,
// where the pods went, and what would help. Lines are indented by depth.
[[nodiscard]] std::vector<std::string> ExplainLines(const Explanation& explanation);

// The lines of ExplainPlacedAgain: "If it were placed again now, it would go to rack-2 (tier 1):",
// then the search and the pods.
[[nodiscard]] std::vector<std::string> PlacedAgainLines(const Explanation& again);

// One JSON object (docs/explain.md), with a newline at its end.
[[nodiscard]] std::string RenderJson(const Explanation& explanation);

// "default/train waits (NotEnoughResources): ...".
[[nodiscard]] std::string FirstSentence(const Explanation& explanation);

}  // namespace strata
