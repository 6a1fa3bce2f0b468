#include "sched/scheduler.h"

#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "model/gpu_amounts.h"
#include "sched/actions/actions.h"
#include "sched/attempts.h"
#include "sched/caches.h"
#include "sched/eviction/claims.h"
#include "sched/eviction/settings.h"
#include "sched/eviction/victim_finder.h"
#include "sched/eviction/victim_votes.h"
#include "sched/job_queues.h"
#include "sched/plugin_set.h"
#include "sched/registry.h"
#include "sched/search.h"
#include "sched/session.h"
#include "sched/verdict.h"

namespace strata {
namespace {

template <typename Point, typename List>
void Offer(Plugin& plugin, bool enabled, List& list) {
  if (auto* point = dynamic_cast<Point*>(&plugin); point != nullptr && enabled) {
    list.push_back(point);
  }
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
  Offer<StarvingPoint>(plugin, config.Enabled("enableJobStarving"), tier.starving);
  Offer<VictimPoint>(plugin, config.Enabled("enablePreemptable"), tier.preemptable);
  Offer<VictimPoint>(plugin, config.Enabled("enableReclaimable"), tier.reclaimable);
  Offer<VictimPoint>(plugin, true, tier.evictable);
  OfferNamed<NodeFilterPoint>(plugin, config, "enablePredicate", points.nodes.filters);
  OfferNamed<NodeScorePoint>(plugin, config, "enableNodeOrder", points.nodes.scores);
  OfferNamed<ScaledScorePoint>(plugin, config, "enableNodeOrder", points.nodes.scaled);
  OfferNamed<PeerFilterPoint>(plugin, config, "enablePredicate", points.nodes.peer_filters);
  OfferNamed<PeerScorePoint>(plugin, config, "enableNodeOrder", points.nodes.peer_scores);
  OfferNamed<TaskScorePoint>(plugin, config, "enableNodeOrder", points.tasks);
  OfferNamed<ChainScorePoint>(plugin, config, "enableNodeOrder", points.chains);
  OfferNamed<HyperNodeScorePoint>(plugin, config, "enabledHyperNodeOrder", points.hypernodes);
  auto* gradient = dynamic_cast<GradientPoint*>(&plugin);
  if (points.gradient == nullptr && config.Enabled("enabledHyperNodeGradient")) {
    points.gradient = gradient;
  }
  auto* devices = dynamic_cast<DevicePoint*>(&plugin);
  if (points.devices == nullptr && config.Enabled("enablePredicate")) points.devices = devices;
}

Result<std::vector<ActionConfig>> CheckActions(const SchedulerConfig& config,
                                               std::vector<std::string>& warnings) {
  std::vector<ActionConfig> actions;
  for (const ActionConfig& action : config.actions) {
    if (FindAction(action.name) != nullptr) {
      auto unknown = CheckArguments(action);
      if (!unknown) {
        return tl::unexpected(std::move(unknown.error()).Context("configurations: " + action.name));
      }
      for (const std::string& warning : *unknown) warnings.push_back(action.name + ": " + warning);
      actions.push_back(action);
    } else if (IsVolcanoAction(action.name)) {
      warnings.push_back(
          fmt::format("action \"{}\" is not supported yet and is ignored", action.name));
    } else {
      return Fail(Code::kInvalidArgument,
                  fmt::format("actions: unknown action \"{}\" (known: {})",
                              action.name,
                              fmt::join(ActionNames(), ", ")));
    }
  }
  return actions;
}

void WarnOfActionsWithoutRights(const Points& points,
                                const std::vector<ActionConfig>& actions,
                                std::vector<std::string>& warnings) {
  for (const ActionConfig& action : actions) {
    if (!IsEvictionAction(action.name)) continue;
    const auto read = ReadEvictionSettings(action);
    CHECK(read.has_value());  // CheckActions has read it, too
    if (VictimVotes(points, read->settings).tiers() > 0) continue;
    const bool reclaims = read->settings.kind == EvictionKind::kReclaim;
    warnings.push_back(fmt::format(
        "{}: evicts no pods, because no enabled plugin decides whose pods may be evicted: {}",
        action.name,
        reclaims ? "proportion, capacity, or drf with enableHierarchy" : "priority or drf"));
  }
}

// Keeps pods of Volcano's dialect waiting where nobody chooses their GPUs: by numbers alone several
// would get the same GPU, and the node's agent would serve none of them.
class NoDevices final : public NodeFilterPoint {
 public:
  [[nodiscard]] bool ConcernsClass(const ClassSpec& spec) const override {
    return spec.gpus && spec.gpus->dialect == GpuDialect::kVolcano;
  }
  [[nodiscard]] bool AdmitsSpec(const ClusterState& /*state*/,
                                const ClassSpec& spec,
                                NodeId /*node*/) const override {
    return !ConcernsClass(spec);
  }
  [[nodiscard]] bool AdmitsNow(const ClusterState& /*state*/,
                               const ClassSpec& spec,
                               NodeId /*node*/) const override {
    return !ConcernsClass(spec);
  }
  [[nodiscard]] bool TakesOnlyOne(const ClassSpec& /*spec*/) const override { return false; }
  [[nodiscard]] std::string Reason(const ClusterState& /*state*/,
                                   const ClassSpec& /*spec*/,
                                   NodeId /*node*/) const override {
    return fmt::format("node(s) rejected the pod: {} requires the plugin deviceshare",
                       kVgpuResource);
  }
};

// Adds one plugin of the configuration, or says in a warning why it is left out.
class PluginLoader {
 public:
  PluginLoader(ResourceNames& resources, std::vector<std::string>& warnings)
      : resources_(resources), warnings_(warnings) {}

  void BeginTier() { points.tiers.emplace_back(); }
  void End() {
    static const NoDevices no_devices;
    if (points.devices == nullptr) points.nodes.filters.push_back({"deviceshare", &no_devices});
  }

  Status Add(const PluginConfig& config, const std::string& where) {
    if (!IsPlugin(config.name) && !IsVolcanoPlugin(config.name)) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}.name: unknown plugin \"{}\" (known: {})",
                              where,
                              config.name,
                              fmt::join(PluginNames(), ", ")));
    }
    if (!IsPlugin(config.name)) {
      warnings_.push_back(
          fmt::format("plugin \"{}\" is not supported yet and is ignored", config.name));
      return {};
    }
    if (!names_.insert(config.name).second) {
      warnings_.push_back(
          fmt::format("plugin \"{}\" is a duplicate; {} is ignored", config.name, where));
      return {};
    }
    auto made = MakePlugin(config, resources_);
    if (!made) return tl::unexpected(std::move(made.error()).Context(where + ".arguments"));
    warnings_.insert(warnings_.end(), made->warnings.begin(), made->warnings.end());
    Register(*made->plugin, config, points);
    plugins.push_back(std::move(made->plugin));
    return {};
  }

  std::vector<std::unique_ptr<Plugin>> plugins;
  Points points;

 private:
  ResourceNames& resources_;
  std::vector<std::string>& warnings_;
  std::set<std::string> names_;
};

// Gives a verdict to jobs that wait for what no configured action does. With the usual actions
// there are no such jobs.
void ExplainUnattended(Session& session) {
  if (session.HasAction("allocate") && session.HasAction("backfill")) return;
  for (const JobId id : session.state().workload().WaitingJobs()) {
    if (session.HasVerdict(id)) continue;
    if (auto refusal = ExplainNoAction(session, id)) session.SetVerdict(id, std::move(*refusal));
  }
}

}  // namespace

Result<std::vector<std::string>> CheckArguments(const ActionConfig& action) {
  if (IsEvictionAction(action.name)) {
    TRY_ASSIGN(EvictionArguments read, ReadEvictionSettings(action));
    return std::move(read.warnings);
  }
  std::vector<std::string_view> known;
  if (action.name == "allocate") {
    known.emplace_back("predicateErrorCacheEnable");
    TRY(action.arguments.Bool(known.back(), true));
  }
  std::vector<std::string> warnings;
  for (const std::string& key : action.arguments.Unknown(known)) {
    warnings.push_back(key + ": unknown argument, ignored");
  }
  return warnings;
}

// What lives as long as the scheduler, and the cycle that is open, if one is.
struct Scheduler::Parts {
  struct Cycle {
    Session session;
    Search search;
    CycleClaims claims;

    Cycle(Parts& parts, TraceSink* trace, Time now)
        : session(parts.state, parts.plugins, parts.caches, parts.actions, trace, now),
          search(session),
          claims(session, search, parts.claims) {
      session.UseClaims(claims);
    }
  };

  Parts(ClusterState& cluster, PluginLoader& loader, std::vector<ActionConfig> configured)
      : state(cluster),
        plugins(cluster, std::move(loader.plugins), std::move(loader.points)),
        caches(cluster, plugins),
        actions(std::move(configured)) {}

  ClusterState& state;
  PluginSet plugins;
  Caches caches;
  std::vector<ActionConfig> actions;
  ClaimBook claims;
  std::uint64_t budget = 0;
  std::optional<std::string> explained;  // none: every job
  std::optional<Attempts> attempts;      // none: cycles have no budget
  std::optional<Cycle> cycle;
};

Scheduler::Scheduler(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Scheduler::~Scheduler() = default;

Result<Scheduler::Made> Scheduler::Make(const SchedulerConfig& config, ClusterState& state) {
  Made made;
  TRY_ASSIGN(std::vector<ActionConfig> actions, CheckActions(config, made.warnings));
  PluginLoader loader(state.resource_names(), made.warnings);
  for (std::size_t t = 0; t < config.tiers.size(); ++t) {
    loader.BeginTier();
    for (std::size_t p = 0; p < config.tiers[t].size(); ++p) {
      TRY(loader.Add(config.tiers[t][p], fmt::format("tiers[{}].plugins[{}]", t, p)));
    }
  }
  loader.End();
  state.GrowTables();  // plugins may have named resources that nothing asks for
  made.scheduler.reset(new Scheduler(std::make_unique<Parts>(state, loader, std::move(actions))));
  const Parts& parts = *made.scheduler->parts_;
  WarnOfActionsWithoutRights(parts.plugins.points(), parts.actions, made.warnings);
  return made;
}

bool Scheduler::DependsOnTime() const {
  return parts_->plugins.DependsOnTime();
}

void Scheduler::LimitWork(std::uint64_t budget) {
  CHECK(!parts_->cycle);
  parts_->budget = budget;
  if (!parts_->attempts) parts_->attempts.emplace(parts_->state, parts_->caches.views());
}

void Scheduler::Open(Time now, TraceSink* trace) {
  CHECK(!parts_->cycle);
  parts_->caches.ForgetIdleClasses();
  parts_->plugins.Open(now);
  parts_->caches.FollowScores(parts_->plugins.ScoresVersion());
  // Before Refresh, which writes to jobs.
  if (parts_->attempts) parts_->attempts->Open(now, parts_->plugins.DependsOnTime());
  parts_->caches.topologies().Refresh();
  parts_->cycle.emplace(*parts_, trace, now);
  if (parts_->attempts) parts_->cycle->session.LimitWork(*parts_->attempts, parts_->budget);
  if (parts_->explained) {
    const auto job = parts_->state.workload().FindJob(*parts_->explained);
    parts_->cycle->session.ExplainOnly(job.value_or(JobId{}));
  }
  parts_->cycle->claims.Begin();
}

void Scheduler::ExplainOnly(std::string job) {
  parts_->explained = std::move(job);
}

ClaimBook& Scheduler::claims() {
  return parts_->claims;
}

void Scheduler::RunActions() {
  RunActions([](const std::string&) {});
}

void Scheduler::RunActions(const std::function<void(const std::string& action)>& ran) {
  CHECK(parts_->cycle);
  // Whatever an action does, it does for jobs that wait.
  const bool idle = parts_->state.workload().WaitingJobs().empty();
  for (const ActionConfig& action : parts_->actions) {
    const Action run = FindAction(action.name);
    CHECK(run != nullptr);
    if (!idle) run(parts_->cycle->session, parts_->cycle->search);
    ran(action.name);
  }
}

CycleResult Scheduler::Close() {
  CHECK(parts_->cycle);
  ExplainUnattended(parts_->cycle->session);
  CycleResult result = parts_->cycle->session.Close();
  parts_->cycle->claims.Close(result);
  parts_->cycle.reset();
  if (parts_->attempts) parts_->attempts->Close();
  return result;
}

std::map<JobId, std::string> Scheduler::JobsThatStay() const {
  CHECK(parts_->cycle);
  EvictionSettings settings;
  settings.by_gang = true;  // then no switch of the configuration silences a plugin
  VictimFinder finder(parts_->cycle->session, settings);
  return finder.JobsThatStay();
}

std::map<QueueId, std::vector<JobId>> Scheduler::Lines() const {
  CHECK(parts_->cycle);
  const WorkloadTable& workload = parts_->state.workload();
  JobQueues queues(parts_->cycle->session);
  std::map<QueueId, std::vector<JobId>> lines;
  for (const JobId id : workload.WaitingJobs()) {
    const QueueId queue = workload.job(id).queue;
    if (!queue.valid()) continue;
    queues.Add(id);
    lines.try_emplace(queue);
  }
  for (auto& [queue, line] : lines) {
    while (!queues.Left(queue).empty()) line.push_back(queues.TakeJob(queue));
  }
  return lines;
}

}  // namespace strata
