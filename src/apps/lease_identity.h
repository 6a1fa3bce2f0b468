#pragma once

#include <string>

namespace strata {

// Who a process is among those that want a lease: its host and something random, never the same
// twice.
[[nodiscard]] std::string NewLeaseIdentity();

}  // namespace strata
