#pragma once

#include <nlohmann/json_fwd.hpp>

#include "apiserver/store/object_store.h"

namespace strata::apiserver {

// Whether a LabelSelector ({"matchLabels":...,"matchExpressions":...}) takes these labels. An empty
// one matches all labels; an invalid one matches none.
[[nodiscard]] bool SelectorObjectMatches(const nlohmann::json& selector, const Pairs& labels);

}  // namespace strata::apiserver
