#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/client.h"

// What `up` shows of itself in volcano-system, as an installation of Volcano would.
namespace strata {

inline constexpr std::string_view kSystemNamespace = "volcano-system";
inline constexpr const char* kSchedulerPod = "volcano-scheduler";
inline constexpr const char* kControllersPod = "volcano-controllers";

// The text of a volcano-scheduler.conf that says what holds without one, and that of a
// volcano-controller.conf.
[[nodiscard]] std::string_view DefaultSchedulerConf();
[[nodiscard]] std::string_view DefaultControllerConf();

// Makes the two ConfigMaps where they are missing, and the pods that stand for the components:
// Running, on no node, for no scheduler. Blocks.
[[nodiscard]] Status MakeSystemObjects(kube::Client& client, Time now);

}  // namespace strata
