#pragma once

#include "kube/conf_file.h"

namespace strata::live {

inline constexpr const char* kConfSpace = "volcano-system";
inline constexpr const char* kConfMap = "volcano-scheduler-configmap";

using kube::ConfFile;

}  // namespace strata::live
