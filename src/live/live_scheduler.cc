#include "live/live_scheduler.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "convert/cluster_feed.h"
#include "convert/scheduler_conf.h"
#include "kube/delta.h"
#include "kube/event_recorder.h"
#include "kube/informers.h"
#include "kube/leader_lease.h"
#include "live/binder.h"
#include "live/cache_dump.h"
#include "live/call_queue.h"
#include "live/conf_source.h"
#include "live/default_queues.h"
#include "live/mailbox.h"
#include "live/metrics.h"
#include "live/session_log.h"
#include "live/status_writer.h"
#include "live/watched_kinds.h"
#include "objects/load.h"
#include "sched/scheduler.h"
#include "simulate/cluster.h"

namespace strata::live {
namespace {

constexpr Duration kLookAtFile = std::chrono::seconds(1);
constexpr Duration kIdle = std::chrono::hours(1);
constexpr int kMostWrites = 32;

// Whether cycles decide otherwise when nothing but time has passed.
bool DependsOnTime(const SchedulerConfig& config) {
  return std::any_of(config.tiers.begin(), config.tiers.end(), [](const auto& tier) {
    return std::any_of(tier.begin(), tier.end(), [](const PluginConfig& plugin) {
      return plugin.name == "sla" || plugin.name == "tdm";
    });
  });
}

kube::ObjectReference ReferToPod(const kube::PodName& pod) {
  return {.kind = "Pod",
          .api_version = "v1",
          .space = pod.space,
          .name = pod.name,
          .uid = pod.uid,
          .version = ""};
}

TakesPod TakerOf(std::vector<std::string> names) {
  if (names.empty()) return IsOurs;
  return [names = std::move(names)](const objects::Pod& pod) {
    return std::find(names.begin(), names.end(), pod.spec.scheduler_name) != names.end();
  };
}

}  // namespace

class LiveScheduler::Impl {
 public:
  Impl(kube::Client& client, SchedulerOptions options, obs::Log& log, const Clock& clock)
      : client_(client),
        options_(std::move(options)),
        log_(log),
        clock_(clock),
        feed_(TakerOf(options_.scheduler_names)),
        events_(client, {.component = "volcano"}, clock),
        calls_(client, {.most_under_way = kMostWrites, .may_send = [this] { return Leads(); }}),
        binder_(client, calls_),
        status_(calls_, events_, mailbox_, clock),
        queues_(calls_, mailbox_, log, options_.default_queue) {}

  Status Run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { mailbox_->Wake(); });
    TRY(ReadFirstConf());
    queue_.SetWake([mailbox = mailbox_] { mailbox->Wake(); });
    StartInformers();
    StartLease();
    while (!stop.stop_requested() && !lost_) {
      for (const Mailbox::Letter& letter : mailbox_->Wait(TimeToWait())) letter();
      TakeDeltas();
      LookAtFile();
      if (IsCycleDue()) Cycle();
      if (dump_.exchange(false)) WriteDump();
    }
    informers_.reset();
    if (!lost_) return {};
    return Fail(Code::kUnavailable,
                fmt::format("lost the lease {}/{}", options_.lease->space, options_.lease->name));
  }

  [[nodiscard]] std::string Metrics() const { return metrics_.Text(); }
  [[nodiscard]] bool IsReady() const { return synced_; }
  void DumpCache() {
    dump_ = true;
    mailbox_->Wake();
  }

 private:
  // ---- configuration
  // ------------------------------------------------------------------------------------------------

  Status ReadFirstConf() {
    if (options_.conf_file.empty()) return Use(SchedulerConf{DefaultSchedulerConfig(), {}});
    file_.emplace(options_.conf_file);
    TRY_ASSIGN(std::string text, *file_->ReadIfNew());
    return UseText({options_.conf_file, std::move(text)});
  }

  Status UseText(const objects::Source& source) {
    TRY_ASSIGN(SchedulerConf conf, ParseSchedulerConf(source));
    return Use(std::move(conf));
  }

  Status Use(SchedulerConf conf) {
    TRY_ASSIGN(Scheduler::Made made, Scheduler::Make(conf.config, feed_.state()));
    for (const std::string& warning : conf.warnings) log_.Warning(warning);
    scheduler_ = std::move(made.scheduler);
    depends_on_time_ = DependsOnTime(conf.config);
    config_ = std::move(conf.config);
    dirty_ = true;
    return {};
  }

  void LookAtFile() {
    if (!file_ || Now() < look_at_file_) return;
    look_at_file_ = Now() + kLookAtFile;
    auto text = file_->ReadIfNew();
    if (!text) return;
    const Status used = *text ? UseText({file_->path(), **text})
                              : Status(tl::unexpected<Error>(std::move(text->error())));
    if (used) {
      log_.Info("configuration read", {{"file", file_->path()}});
    } else {
      log_.Error("configuration refused, the old one is kept", {{"err", used.error().message}});
    }
  }

  void TakeConfMap(const kube::Delta& delta) {
    if (delta.type == kube::Delta::Type::kDeleted || delta.text.empty()) return;
    const std::string name = fmt::format("ConfigMap {}/{}", kConfSpace, kConfMap);
    const Status used = UseText({name, delta.text});
    if (used) {
      log_.Info("configuration read", {{"from", name}});
      return;
    }
    log_.Error("configuration refused, the old one is kept", {{"err", used.error().message}});
    events_.Record({{"ConfigMap", "v1", kConfSpace, kConfMap, delta.uid, delta.version},
                    kube::EventNote::Type::kWarning,
                    "InvalidConfiguration",
                    used.error().message});
  }

  // ---- what is seen
  // -------------------------------------------------------------------------------------------------

  void StartInformers() {
    kube::Informers::Options options;
    options.trouble = [mailbox = mailbox_, this](const std::string& line) {
      mailbox->Post([this, line] { Trouble(line); });
    };
    informers_.emplace(client_, queue_, std::move(options));
    for (const WatchedKind& kind : kWatchedKinds) {
      waited_for_.insert(informers_->Add({kind.resource, "", "", ""}));
    }
    if (file_) return;
    conf_source_ = informers_->Add(
        {kube::kConfigMaps, kConfSpace, "", fmt::format("metadata.name={}", kConfMap)});
    waited_for_.insert(conf_source_);
  }

  void Trouble(const std::string& line) {
    log_.Warning("cannot watch", {{"err", line}});
    for (std::size_t i = 0; i < kWatchedKinds.size(); ++i) {
      const WatchedKind& kind = kWatchedKinds[i];
      const bool its = line.starts_with(std::string(kind.resource.plural) + ":");
      if (its && kind.may_be_missing) waited_for_.erase(static_cast<int>(i));
    }
  }

  void TakeDeltas() {
    for (const kube::Delta& delta : queue_.Take()) TakeDelta(delta);
    if (!synced_ && waited_for_.empty()) {
      synced_ = true;
      log_.Info("cluster seen",
                {{"nodes", feed_.state().nodes().size()}, {"jobs", feed_.state().jobs().size()}});
    }
  }

  void TakeDelta(const kube::Delta& delta) {
    using Type = kube::Delta::Type;
    if (delta.type == Type::kSynced) {
      waited_for_.erase(delta.source);
      return;
    }
    if (delta.source == conf_source_) return TakeConfMap(delta);
    const kube::Resource& resource = kWatchedKinds[static_cast<std::size_t>(delta.source)].resource;
    if (delta.type == Type::kDeleted) {
      feed_.Remove(resource.kind, delta.key.space, delta.key.name);
      return;
    }
    const objects::Source source{"cluster", delta.text};
    Result<objects::ObjectSet> read = objects::ParseObjects({&source, 1});
    const Status applied = read ? feed_.Apply(*std::move(read))
                                : Status(tl::unexpected<Error>(std::move(read).error()));
    if (!applied) log_.Warning("object left out", {{"err", applied.error().message}});
  }

  // ---- who leads
  // ------------------------------------------------------------------------------------------------

  void StartLease() {
    if (!options_.lease) return;
    kube::LeaderLease::Hooks hooks;
    hooks.started = [this] {
      mailbox_->Post([this] {
        log_.Info("leading", {{"lease", options_.lease->name}});
        dirty_ = true;
      });
    };
    hooks.stopped = [this] { mailbox_->Post([this] { lost_ = true; }); };
    hooks.trouble = [this](const std::string& error) { log_.Warning("lease", {{"err", error}}); };
    lease_ = std::make_unique<kube::LeaderLease>(
        client_, *options_.lease, std::move(hooks), clock_, kube::SystemRandom());
  }

  [[nodiscard]] bool Leads() const { return !options_.lease || (lease_ && lease_->Leads()); }

  // ---- the cycle
  // ------------------------------------------------------------------------------------------------

  [[nodiscard]] net::SteadyTime Now() const { return client_.writes().Now(); }

  [[nodiscard]] bool HasWork() const {
    return dirty_ || feed_.version() != decided_version_ || (depends_on_time_ && some_wait_);
  }
  [[nodiscard]] bool IsCycleDue() {
    if (status_.TakeUnfinished() || queues_.TakeUnfinished()) dirty_ = true;
    return synced_ && HasWork() && Now() >= next_cycle_ && Leads();
  }

  [[nodiscard]] Duration TimeToWait() const {
    Duration wait = kIdle;
    if (file_) wait = std::min(wait, kLookAtFile);
    if (synced_ && HasWork() && Leads()) wait = std::min(wait, next_cycle_ - Now());
    return std::max(wait, Duration(0));
  }

  void Cycle() {
    queues_.Ensure(feed_);
    std::vector<std::string> problems;
    feed_.Settle(problems);
    for (const std::string& problem : problems) {
      log_.Warning("object left out", {{"err", problem}});
    }
    ++cycles_;
    std::optional<SessionLog> trace;
    if (log_.On(SessionLog::kLeastVerbosity)) trace.emplace(log_);
    CycleTimer timer;
    scheduler_->Open(clock_.Now(), trace ? &*trace : nullptr);
    LogOpenSession(log_, feed_.state());
    timer.Opened();
    scheduler_->RunActions();
    timer.Acted();
    const CycleResult result = scheduler_->Close();
    timer.Closed();
    decided_version_ = feed_.version();
    some_wait_ = !result.verdicts.empty();
    dirty_ = !result.binds.empty() || result.phases_changed;
    next_cycle_ = Now() + options_.schedule_period;
    LogDecisions(log_, feed_.state(), result);
    CarryOut(result);
    metrics_.Record(timer, result, feed_.state());
    if (std::exchange(ran_, true)) return;
    if (options_.ready) options_.ready();
  }

  void CarryOut(const CycleResult& result) {
    for (const CycleResult::Bind& bind : result.binds) {
      feed_.Assume(bind.task);
      BindTask(bind);
    }
    std::set<std::pair<std::string, std::string>> warned;
    for (const CycleResult::Warning& warning : result.warnings) {
      warned.insert({warning.object, warning.message});
      if (warned_.contains({warning.object, warning.message})) continue;
      log_.Warning(warning.message, {{"object", warning.object}, {"reason", warning.reason}});
    }
    warned_ = std::move(warned);
    if (!result.binds.empty()) {
      log_.Info("pods placed", {{"pods", result.binds.size()}, {"cycle", cycles_}});
    }
    status_.Write(feed_, result, cycles_);
  }

  void BindTask(const CycleResult::Bind& bind) {
    BindOrder order = MakeBindOrder(feed_.state(), bind, clock_.Now());
    binder_.Bind(std::move(order), [mailbox = mailbox_, this](Binder::Outcome outcome) {
      mailbox->Post([this, outcome = std::move(outcome)] { TakeOutcome(outcome); });
    });
  }

  void TakeOutcome(const Binder::Outcome& outcome) {
    const kube::PodName& pod = outcome.order.pod;
    const std::string name = pod.space + "/" + pod.name;
    if (outcome.kind == Binder::Outcome::Kind::kBound) {
      metrics_.CountBind();
      events_.Record({ReferToPod(pod),
                      kube::EventNote::Type::kNormal,
                      "Scheduled",
                      fmt::format("Successfully assigned {} to {}", name, outcome.order.node)});
      return;
    }
    metrics_.CountFailedBind();
    log_.Warning("bind failed",
                 {{"pod", name}, {"node", outcome.order.node}, {"err", outcome.error}});
    events_.Record({ReferToPod(pod),
                    kube::EventNote::Type::kWarning,
                    "FailedScheduling",
                    "bind: " + outcome.error});
    feed_.Forget(name, pod.uid);
  }

  void WriteDump() {
    const Result<std::string> path =
        WriteCacheDump(feed_.state(), options_.cache_dump_dir, clock_.Now());
    if (path) {
      log_.Info("cache dumped", {{"file", *path}});
    } else {
      log_.Error("cache not dumped", {{"err", path.error().message}});
    }
  }

  kube::Client& client_;
  const SchedulerOptions options_;
  obs::Log& log_;
  const Clock& clock_;
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();

  ClusterFeed feed_;
  std::unique_ptr<Scheduler> scheduler_;
  SchedulerConfig config_;
  std::optional<ConfFile> file_;
  net::SteadyTime look_at_file_{};

  std::set<int> waited_for_;  // informers that have not given everything yet
  int conf_source_ = -1;
  std::atomic<bool> synced_{false};
  std::atomic<bool> dump_{false};

  std::uint64_t cycles_ = 0;
  std::uint64_t decided_version_ = 0;  // of the feed, when the last cycle ran
  bool dirty_ = true;                  // there is more to decide than the feed tells of
  bool depends_on_time_ = false;
  bool some_wait_ = false;
  bool ran_ = false;
  bool lost_ = false;
  net::SteadyTime next_cycle_{};
  std::set<std::pair<std::string, std::string>> warned_;  // in the last cycle

  SchedulerMetrics metrics_;
  kube::DeltaQueue queue_;
  kube::EventRecorder events_;
  std::unique_ptr<kube::LeaderLease> lease_;
  CallQueue calls_;
  Binder binder_;
  StatusWriter status_;
  DefaultQueues queues_;
  std::optional<kube::Informers> informers_;
};

LiveScheduler::LiveScheduler(kube::Client& client,
                             SchedulerOptions options,
                             obs::Log& log,
                             const Clock& clock)
    : impl_(std::make_unique<Impl>(client, std::move(options), log, clock)) {}

LiveScheduler::~LiveScheduler() = default;

Status LiveScheduler::Run(const std::stop_token& stop) {
  return impl_->Run(stop);
}

std::string LiveScheduler::Metrics() const {
  return impl_->Metrics();
}

bool LiveScheduler::IsReady() const {
  return impl_->IsReady();
}

void LiveScheduler::DumpCache() {
  impl_->DumpCache();
}

}  // namespace strata::live
