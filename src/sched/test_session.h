#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sched/caches.h"
#include "sched/plugin_set.h"
#include "sched/registry.h"
#include "sched/session.h"
#include "tests/support/cluster_builder.h"

namespace strata::testing {

// A session of plugin gang alone over a small cluster, for tests of what a search is made of.
class OpenedSession {
 public:
  // REQUIRES: `cluster` outlives it, and its jobs, nodes and HyperNodes are there.
  explicit OpenedSession(ClusterBuilder& cluster) {
    PluginConfig config;
    config.name = "gang";
    auto made = MakePlugin(config, cluster.state.resource_names());
    CHECK(made.has_value());
    Points points;
    points.job_ready.push_back(dynamic_cast<JobGatePoint*>(made->plugin.get()));
    points.sub_job_ready.push_back(dynamic_cast<SubJobGatePoint*>(made->plugin.get()));
    std::vector<std::unique_ptr<Plugin>> plugins;
    plugins.push_back(std::move(made->plugin));
    plugins_.emplace(cluster.state, std::move(plugins), std::move(points));
    plugins_->Open(Time{});
    caches_.emplace(cluster.state, *plugins_);
    caches_->topologies().Refresh();
    session_.emplace(cluster.state, *plugins_, *caches_, std::span<const ActionConfig>{}, nullptr);
  }

  Session& operator*() { return *session_; }

 private:
  std::optional<PluginSet> plugins_;
  std::optional<Caches> caches_;
  std::optional<Session> session_;
};

}  // namespace strata::testing
