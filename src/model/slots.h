#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace strata {

// The id of a slot that is free, else of the one behind the last of `size` slots.
template <typename IdType>
[[nodiscard]] IdType TakeSlot(std::vector<std::uint32_t>& free, std::size_t size) {
  if (free.empty()) return IdAt<IdType>(size);
  const IdType id{free.back()};
  free.pop_back();
  return id;
}

}  // namespace strata
