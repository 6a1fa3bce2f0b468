#pragma once

#include <cstdint>
#include <string_view>

#include "store/journal.h"

namespace strata::store {

// CRC-32 over everything that a row says; differs for every single damaged byte, and when a text
// is in another column.
[[nodiscard]] std::int64_t ChecksumOf(const Row& row);
[[nodiscard]] std::int64_t ChecksumOf(std::string_view setting, std::string_view value);

}  // namespace strata::store
