#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::objects {

enum class TopologyMode : std::uint8_t { kHard, kSoft };

// "hard" or "soft", in any case; none for another word.
[[nodiscard]] std::optional<TopologyMode> TopologyModeFrom(std::string_view word);

// networkTopology of a PodGroup, a sub-group policy, a Job or a partition policy. At most one of
// the two limits is set.
struct NetworkTopology {
  TopologyMode mode = TopologyMode::kHard;
  std::optional<std::int32_t> highest_tier_allowed;
  std::string highest_tier_name;

  auto operator<=>(const NetworkTopology&) const = default;
};

}  // namespace strata::objects
