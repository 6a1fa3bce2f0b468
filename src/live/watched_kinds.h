#pragma once

#include <array>
#include <string>

#include "kube/reflector_state.h"
#include "kube/resource.h"

namespace strata::live {

// What the scheduler looks at. It begins when it has seen all of them; one that the server does not
// have is waited for, unless it may be missing.
struct WatchedKind {
  kube::Resource resource;
  bool may_be_missing = false;
};

inline constexpr std::array kWatchedKinds = {
    WatchedKind{kube::kNodes},
    WatchedKind{kube::kPods},
    WatchedKind{kube::kPodGroups},
    WatchedKind{kube::kQueues},
    WatchedKind{kube::kHyperNodes},
    WatchedKind{kube::kResourceQuotas},
    WatchedKind{kube::kNamespaces},
    WatchedKind{kube::kPriorityClasses},
    WatchedKind{kube::kVolumeClaims},
    WatchedKind{kube::kVolumes},
    WatchedKind{kube::kStorageClasses},
    WatchedKind{kube::kCsiNodes},
    WatchedKind{kube::kNumatopologies, true},
};

}  // namespace strata::live
