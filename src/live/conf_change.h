#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "convert/scheduler_conf.h"
#include "kube/delta.h"
#include "kube/event_correlator.h"

namespace strata::live {

// What a new version of the scheduler's configuration leads to.
struct ConfChange {
  std::string source;                    // the file, or "ConfigMap namespace/name"
  bool is_default = false;               // there is no configuration any more
  Result<SchedulerConf> conf;            // an error: the previous configuration stays in force
  std::optional<kube::EventNote> event;  // to be written
};

// What a configuration file that was read, or could not be read, changes. Pure.
[[nodiscard]] ConfChange ChangeByFile(const std::string& path, Result<std::string> text);

// What a change of the ConfigMap changes. An invalid one gets an event; a deleted one means the
// default configuration. Pure.
[[nodiscard]] ConfChange ChangeByConfMap(const kube::Delta& delta);

}  // namespace strata::live
