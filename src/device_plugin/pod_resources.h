#pragma once

#include <string>
#include <vector>

#include "agent/reconcile.h"
#include "base/clock.h"
#include "base/result.h"

namespace strata::device_plugin {

// What containers hold of `resource`, as the kubelet's podresources API at `socket` shows it.
// Never while the kubelet waits for an answer of ours: it would compute the set that it is
// choosing.
[[nodiscard]] Result<std::vector<agent::HeldDevices>> ListHeldDevices(const std::string& socket,
                                                                      const std::string& resource,
                                                                      Duration limit);

}  // namespace strata::device_plugin
