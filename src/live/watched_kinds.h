#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "kube/resource.h"
#include "objects/kinds.h"

namespace strata::live {

// What the scheduler looks at. It begins when it has seen all of them; one that the server does not
// have is waited for, unless it may be missing.
struct WatchedKind {
  kube::Resource resource;
  bool may_be_missing = false;
};

constexpr bool IsWatched(const objects::Kind& kind) {
  return kind.use == objects::Use::kScheduler;
}

inline constexpr auto kWatchedKinds = [] {
  constexpr auto kCount = std::count_if(objects::kKinds.begin(), objects::kKinds.end(), IsWatched);
  std::array<WatchedKind, static_cast<std::size_t>(kCount)> watched{};
  std::size_t next = 0;
  for (const objects::Kind& kind : objects::kKinds) {
    if (IsWatched(kind)) watched[next++] = {kube::ToResource(kind), kind.may_be_missing};
  }
  return watched;
}();

}  // namespace strata::live
