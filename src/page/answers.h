#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "convert/cluster_feed.h"
#include "page/cluster_columns.h"
#include "page/columns_json.h"
#include "page/reviewer.h"
#include "page/scope.h"
#include "sched/config.h"

// The answers about single things, each one JSON document. Errors are one sentence: kNotFound,
// kInvalidArgument. REQUIRES of all: the feed is settled, and no cycle is running.
namespace strata::page {

// What does not come from the cluster.
struct HelloFacts {
  std::string version;  // of Strata
  std::string cluster;  // the server's URL
};
[[nodiscard]] std::string AnswerHello(const HelloFacts& facts,
                                      const SchedulerConfig& config,
                                      const ClusterState& state,
                                      const Viewer& viewer);

// As `strata queue list -o json`, with the jobs that are in scope.
[[nodiscard]] std::string AnswerQueues(const ClusterFeed& feed,
                                       const SchedulerConfig& config,
                                       const Scope& scope);

// As `strata job describe -o json`, without the events. `name` is that of the Job or of the
// PodGroup.
[[nodiscard]] Result<std::string> AnswerJob(const ClusterFeed& feed,
                                            std::string_view ns,
                                            std::string_view name);

// A row of `strata top -o json`, with GPUs and pods; pods that are not in scope have no names.
[[nodiscard]] Result<std::string> AnswerNode(const ClusterFeed& feed,
                                             std::string_view name,
                                             const Scope& scope);

// The PodGroup ("namespace/podgroup") of the Job or PodGroup of that name.
[[nodiscard]] Result<std::string> GroupOfJob(const ClusterFeed& feed,
                                             std::string_view ns,
                                             std::string_view name);

// What fits of a shape ("cpu=8,nvidia.com/gpu=8"; "" for the default shape), by the positions of
// `columns`, which are those of the present state.
[[nodiscard]] Result<std::string> AnswerFit(const ClusterState& state,
                                            const ClusterColumns& columns,
                                            const Stamp& stamp,
                                            std::string_view shape);

}  // namespace strata::page
