#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/name_pattern.h"
#include "model/selector.h"

namespace strata {

inline constexpr std::string_view kTopHyperNodeName = "<cluster-top-hypernode>";
// The highest tier that users may give: the virtual top is above it, and has a tier, too.
inline constexpr std::int32_t kHighestTier = std::numeric_limits<std::int32_t>::max() - 1;

// One member of a HyperNode as written. A member without any selector matches nothing.
struct HyperNodeMember {
  enum class Kind : std::uint8_t { kNode, kHyperNode } kind = Kind::kNode;
  struct Exact {
    std::string name;

    bool operator==(const Exact&) const = default;
  };
  std::variant<std::monostate, Exact, NamePattern, LabelSelector> selector;

  bool operator==(const HyperNodeMember&) const = default;
};

struct HyperNodeSpec {
  std::string name;
  std::int32_t tier = 0;
  std::string tier_name;
  std::vector<HyperNodeMember> members;

  bool operator==(const HyperNodeSpec&) const = default;
};

}  // namespace strata
