#pragma once

#include <cstdint>

namespace strata {

// kube-scheduler's plugins give a node between 0 and this, in whole steps.
inline constexpr std::int64_t kMaxNodeScore = 100;

}  // namespace strata
