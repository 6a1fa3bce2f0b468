#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "objects/load.h"
#include "sched/config.h"

namespace strata {

struct SchedulerConf {
  SchedulerConfig config;
  // One line each, in the order of the file: keys and arguments nobody reads, and actions and
  // plugins that Volcano has and Strata does not have yet (they are left out of `config`).
  std::vector<std::string> warnings;
};

// Reads a volcano-scheduler.conf, bare or inside the ConfigMap that holds it in a cluster.
//
// kInvalidArgument with one line that names the file and the field:
//   sched.conf: tiers[1].plugins[3].arguments.weight: want an integer, found "abc"
// That is: broken YAML, a value of the wrong type (quoted numbers and booleans are fine), an action
// or plugin nobody knows (the known ones are listed), no actions at all, and hierarchical drf
// beside proportion in one tier. What passes here, Scheduler::Make takes.
[[nodiscard]] Result<SchedulerConf> ParseSchedulerConf(const objects::Source& source);

}  // namespace strata
