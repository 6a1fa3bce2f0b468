#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/client.h"

// The objects of `up` in volcano-system: those that an installation of Volcano would have.
namespace strata {

inline constexpr std::string_view kSystemNamespace = "volcano-system";
inline constexpr const char* kSchedulerPod = "volcano-scheduler";
inline constexpr const char* kControllersPod = "volcano-controllers";

// The volcano-scheduler.conf and volcano-controller.conf that say what is the default without them.
[[nodiscard]] std::string_view DefaultSchedulerConf();
[[nodiscard]] std::string_view DefaultControllerConf();

// Creates what is missing: the two ConfigMaps, and a pod for each component, so that `kubectl logs`
// finds its log. The pods are Running, have no node, and are of no scheduler. Blocks.
[[nodiscard]] Status CreateSystemObjects(kube::Client& client, Time now);

}  // namespace strata
