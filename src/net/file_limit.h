#pragma once

#include <cstddef>

namespace strata::net {

// How many files this process may have open, raised to `wanted` as far as the system allows. Never
// lowers the limit. Programs that the process starts inherit it.
[[nodiscard]] std::size_t RaiseFileLimit(std::size_t wanted);

}  // namespace strata::net
