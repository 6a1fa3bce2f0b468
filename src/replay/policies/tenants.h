#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace strata::replay {

// Cells that a queue owns.
struct TenantCells {
  static constexpr std::int32_t kLeaf = -1;

  std::string queue;
  std::int32_t gpus = 1;  // of a cell: a power of two up to a node; kLeaf: all nodes of a leaf
  std::int32_t count = 1;
};

// Whether queues own certain cells, or only as many GPUs as these have.
enum class TenantQuota : std::uint8_t { kCells, kCounts };

// A table "queue,gpus,cells", where gpus may be "leaf". Errors name file, line and column.
[[nodiscard]] Result<std::vector<TenantCells>> ReadTenants(std::string_view path,
                                                           std::string_view text);

}  // namespace strata::replay
