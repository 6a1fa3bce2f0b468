#pragma once

#include <chrono>

namespace strata {

// No job is evicted before it has run this long, so that nobody is started and stopped in turn.
inline constexpr std::chrono::seconds kDefaultCooldown{60};

}  // namespace strata
