#pragma once

#include "base/result.h"
#include "convert/scheduler_conf.h"
#include "objects/object_set.h"

namespace strata {

// The configuration that the cluster itself gives its scheduler: ConfigMap
// volcano-system/volcano-scheduler-configmap, key volcano-scheduler.conf. The default configuration
// when there is none. kInvalidArgument, one line, when it is invalid.
[[nodiscard]] Result<SchedulerConf> FindSchedulerConf(const objects::ObjectSet& objects);

}  // namespace strata
