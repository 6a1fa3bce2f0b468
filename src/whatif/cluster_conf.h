#pragma once

#include "base/result.h"
#include "convert/scheduler_conf.h"
#include "objects/object_set.h"

namespace strata {

// The configuration that the cluster itself gives its scheduler: ConfigMap
// volcano-system/volcano-scheduler-configmap, key volcano-scheduler.conf or the only *.conf.
// Without it the only one of another name that ends in -scheduler-configmap, with a warning; the
// default configuration when there is none. kInvalidArgument, one line: it is invalid, or there are
// several.
[[nodiscard]] Result<SchedulerConf> FindSchedulerConf(const objects::ObjectSet& objects);

}  // namespace strata
