#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/flags.h"
#include "apps/terminal.h"
#include "base/result.h"
#include "convert/scheduler_conf.h"
#include "inspect/cluster_watch.h"
#include "inspect/live_cluster.h"
#include "sched/config.h"
#include "whatif/cluster.h"

namespace strata {

struct Input {
  SchedulerConfig config;  // without actions that evict, for a running cluster
  SchedulerConfig as_configured;
  CompletedObjects objects;
  LoadedCluster cluster;
  std::optional<Time> now;            // none: the latest time in the objects
  std::vector<std::string> warnings;  // lines for standard error
  std::vector<std::string> what_if;   // likewise: what was changed, and what that does to jobs
  std::string ns;                     // of -n, else of the context, else "default"
};

// Which Jobs of a running cluster are given pods that do not exist there (ExpandJobs), once the
// objects and the namespace of the context are known. Without one every Job that lacks pods is.
using ChooseJobs =
    std::function<Result<objects::MakesPods>(const objects::ObjectSet&, const std::string& ns)>;

// Reads everything the flags name. The first problem is the error, one line.
[[nodiscard]] Result<Input> LoadInput(const InputFlags& flags,
                                      Progress& progress,
                                      const ChooseJobs& choose = {});

// Reads a volcano-scheduler.conf, or the ConfigMap that holds one; "-" is standard input.
[[nodiscard]] Result<SchedulerConf> ReadSchedulerConf(const std::string& path);

// Shows what `view` says of the cluster that the flags name: once, or with --watch again whenever
// it says something new, until the process is ended. Returns the exit status.
using View = std::function<Result<std::string>(Input& input, Progress& progress)>;
[[nodiscard]] int ShowCluster(const InputFlags& flags,
                              const View& view,
                              const ChooseJobs& choose = {});

// Calls `frame` for the cluster as it is, and again after each change, and shows what it gives
// whenever that is something new. Ends only with an error.
using Frame = std::function<std::string(const inspect::LiveCluster& cluster,
                                        const inspect::ClusterWatch& objects)>;
[[nodiscard]] Status WatchCluster(const kube::ConnectionFlags& connection, const Frame& frame);

// Ends a command: text to standard output and the warnings to standard error, or the error line
// alone. Returns the exit status.
[[nodiscard]] int PrintResult(const Result<std::string>& text,
                              const std::vector<std::string>& warnings,
                              const std::vector<std::string>& what_if = {});
// Standard output takes all of `text`, or the error says why not.
[[nodiscard]] Status WriteOut(std::string_view text);

}  // namespace strata
