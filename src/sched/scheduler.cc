#include "sched/scheduler.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "sched/actions/actions.h"
#include "sched/registry.h"
#include "sched/search.h"
#include "sched/session.h"

namespace strata {
namespace {

template <typename Point, typename List>
void Offer(Plugin& plugin, bool enabled, List& list) {
  if (auto* point = dynamic_cast<Point*>(&plugin); point != nullptr && enabled)
    list.push_back(point);
}

template <typename Point, typename List>
void OfferNamed(Plugin& plugin,
                const PluginConfig& config,
                std::string_view switch_name,
                List& list) {
  auto* point = dynamic_cast<Point*>(&plugin);
  if (point != nullptr && config.Enabled(switch_name)) list.push_back({config.name, point});
}

// Sorts one plugin into the points it serves, as far as its switches allow.
void Register(Plugin& plugin, const PluginConfig& config, Points& points) {
  Points::Tier& tier = points.tiers.back();
  Offer<OrderPoint>(plugin, config.Enabled("enableQueueOrder"), points.queue_order);
  Offer<OrderPoint>(plugin, config.Enabled("enableJobOrder"), points.job_order);
  Offer<OrderPoint>(plugin, config.Enabled("enabledSubJobOrder"), points.sub_job_order);
  Offer<OrderPoint>(plugin, config.Enabled("enableTaskOrder"), points.task_order);
  Offer<JobGatePoint>(plugin, true, points.job_valid);
  Offer<JobGatePoint>(plugin, config.Enabled("enableJobReady"), points.job_ready);
  Offer<JobGatePoint>(plugin, config.Enabled("enableJobEnqueued"), tier.enqueueable);
  Offer<JobGatePoint>(plugin, config.Enabled("enableJobEnqueued"), points.enqueued);
  Offer<JobGatePoint>(plugin, config.Enabled("enableJobPipelined"), tier.job_pipelined);
  Offer<SubJobGatePoint>(plugin, config.Enabled("enabledSubJobReady"), points.sub_job_ready);
  Offer<SubJobGatePoint>(plugin, config.Enabled("enabledSubJobPipelined"), tier.sub_job_pipelined);
  Offer<QuotaPoint>(plugin, config.Enabled("enabledOverused"), points.overused);
  Offer<QuotaPoint>(plugin, config.Enabled("enabledAllocatable"), points.allocatable);
  OfferNamed<NodeFilterPoint>(plugin, config, "enablePredicate", points.nodes.filters);
  OfferNamed<NodeScorePoint>(plugin, config, "enableNodeOrder", points.nodes.scores);
  OfferNamed<ScaledScorePoint>(plugin, config, "enableNodeOrder", points.nodes.scaled);
  OfferNamed<ChainScorePoint>(plugin, config, "enableNodeOrder", points.chains);
  OfferNamed<HyperNodeScorePoint>(plugin, config, "enabledHyperNodeOrder", points.hypernodes);
  auto* gradient = dynamic_cast<GradientPoint*>(&plugin);
  if (points.gradient == nullptr && config.Enabled("enabledHyperNodeGradient"))
    points.gradient = gradient;
}

Status CheckActions(const SchedulerConfig& config,
                    std::vector<ActionConfig>& actions,
                    std::vector<std::string>& warnings) {
  for (const ActionConfig& action : config.actions) {
    if (FindAction(action.name) != nullptr) {
      actions.push_back(action);
    } else if (IsVolcanoAction(action.name)) {
      warnings.push_back(
          fmt::format("action \"{}\" is not built yet and is left out", action.name));
    } else {
      return Fail(Code::kInvalidArgument,
                  fmt::format("actions: unknown action \"{}\" (known: {})",
                              action.name,
                              fmt::join(ActionNames(), ", ")));
    }
  }
  return {};
}

}  // namespace

Scheduler::Scheduler(std::unique_ptr<Session> session)
    : session_(std::move(session)), search_(std::make_unique<Search>(*session_)) {}

Scheduler::~Scheduler() = default;

Result<Scheduler::Made> Scheduler::Make(const SchedulerConfig& config, ClusterState& state) {
  Made made;
  std::vector<ActionConfig> actions;
  TRY(CheckActions(config, actions, made.warnings));
  std::vector<std::unique_ptr<Plugin>> plugins;
  Points points;
  for (std::size_t t = 0; t < config.tiers.size(); ++t) {
    points.tiers.emplace_back();
    for (std::size_t p = 0; p < config.tiers[t].size(); ++p) {
      const PluginConfig& plugin = config.tiers[t][p];
      const std::string where = fmt::format("tiers[{}].plugins[{}]", t, p);
      if (!IsPlugin(plugin.name)) {
        if (!IsVolcanoPlugin(plugin.name)) {
          return Fail(Code::kInvalidArgument,
                      fmt::format("{}.name: unknown plugin \"{}\" (known: {})",
                                  where,
                                  plugin.name,
                                  fmt::join(PluginNames(), ", ")));
        }
        made.warnings.push_back(
            fmt::format("plugin \"{}\" is not built yet and is left out", plugin.name));
        continue;
      }
      auto result = MakePlugin(plugin, state.resource_names());
      if (!result) return tl::unexpected(std::move(result.error()).Context(where + ".arguments"));
      for (const std::string& warning : result->warnings)
        made.warnings.push_back(fmt::format("{}: {}", plugin.name, warning));
      Register(*result->plugin, plugin, points);
      plugins.push_back(std::move(result->plugin));
    }
  }
  auto session =
      std::make_unique<Session>(state, std::move(plugins), std::move(points), std::move(actions));
  made.scheduler.reset(new Scheduler(std::move(session)));
  return made;
}

void Scheduler::Open(Time now, TraceSink* trace) {
  session_->Open(now, trace);
}

void Scheduler::RunActions() {
  for (const ActionConfig& action : session_->actions()) {
    const Action run = FindAction(action.name);
    CHECK(run != nullptr);
    run(*session_, *search_);
  }
}

CycleResult Scheduler::Close() {
  return session_->Close();
}

}  // namespace strata
