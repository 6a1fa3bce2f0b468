#pragma once

#include <string>
#include <vector>

#include "simulate/explain.h"
#include "simulate/text.h"

namespace strata {

// One sentence first, then the search, the nearest misses with who holds what is short, where the
// pods went, and what would help. Lines are indented by depth.
[[nodiscard]] std::vector<std::string> ExplainLines(const Explanation& explanation);

// The lines, wrapped.
[[nodiscard]] std::string RenderText(const std::vector<std::string>& lines, const TextStyle& style);

// One JSON object (docs/explain.md), with a newline at its end.
[[nodiscard]] std::string RenderJson(const Explanation& explanation);

// "default/train waits (NotEnoughResources): ...".
[[nodiscard]] std::string FirstSentence(const Explanation& explanation);

}  // namespace strata
