#include "live/live_scheduler.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "convert/cluster_feed.h"
#include "convert/scheduler_conf.h"
#include "kube/event_recorder.h"
#include "kube/leader_lease.h"
#include "live/advisor.h"
#include "live/binder.h"
#include "live/cache_dump.h"
#include "live/call_queue.h"
#include "live/cluster_watch.h"
#include "live/conf_source.h"
#include "live/default_queues.h"
#include "live/mailbox.h"
#include "live/metrics.h"
#include "live/retry_times.h"
#include "live/session_log.h"
#include "live/status_writer.h"
#include "sched/scheduler.h"
#include "simulate/cluster.h"

namespace strata::live {
namespace {

constexpr Duration kLookAtFile = std::chrono::seconds(1);
constexpr Duration kLookAtLease = std::chrono::seconds(1);
constexpr Duration kIdle = std::chrono::hours(1);
constexpr Duration kQueueReports = std::chrono::seconds(1);
constexpr Duration kLastAnswers = std::chrono::seconds(2);
constexpr int kMostWrites = 32;
// A kilobyte each: pods are bound in waves, and each has its event.
constexpr std::size_t kMostEvents = 20'000;

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

std::string NameOf(const kube::PodName& pod) {
  return pod.space + "/" + pod.name;
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
        feed_(TakerOf(options_.scheduler_names), options_.default_queue),
        events_(client, {.component = "volcano", .most_waiting = kMostEvents}, clock),
        calls_(client, {.most_under_way = kMostWrites, .may_send = [this] { return Leads(); }}),
        binder_(client, calls_),
        status_({calls_, events_, clock, [this] { return Now(); }, kube::SystemRandom()}, mailbox_),
        queues_({calls_, log, [this] { return Now(); }, kube::SystemRandom()},
                mailbox_,
                options_.default_queue),
        bind_retries_(kube::SystemRandom()),
        advisor_(
            mailbox_, [this] { return Now(); }, [this](const auto& advice) { Advise(advice); }),
        watch_(client, feed_, log, mailbox_) {}

  Status Run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { mailbox_->Wake(); });
    TRY(ReadFirstConf());
    watch_.Start(file_ ? ClusterWatch::OnConfMap()
                       : [this](const kube::Delta& delta) { TakeConfMap(delta); });
    StartLease();
    while (!stop.stop_requested() && !lost_) {
      for (const Mailbox::Letter& letter : mailbox_->Wait(TimeToWait())) letter();
      watch_.TakeDeltas();
      LookAtFile();
      if (IsCycleDue()) Cycle();
      if (Leads()) DoLateWork();
      if (!IsCycleDue() && Leads()) advisor_.Look(feed_, config_, clock_.Now());
    }
    watch_.Stop();
    FinishWrites();
    if (!lost_) return {};
    return Fail(Code::kUnavailable,
                fmt::format("lost the lease {}/{}", options_.lease->space, options_.lease->name));
  }

  [[nodiscard]] std::string Metrics() const { return metrics_.Text(); }
  [[nodiscard]] bool IsReady() const { return watch_.synced(); }
  void DumpCache(DumpForm form) {
    mailbox_->Post([this, form] { WriteDump(form); });
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
    const std::string name = fmt::format("ConfigMap {}/{}", kConfSpace, kConfMap);
    const bool gone = delta.type == kube::Delta::Type::kDeleted;
    if (!gone && delta.text.empty()) return;
    const Status used =
        gone ? Use(SchedulerConf{DefaultSchedulerConfig(), {}}) : UseText({name, delta.text});
    if (used) {
      log_.Info(gone ? "configuration gone, the default is in force" : "configuration read",
                {{"from", name}});
      return;
    }
    log_.Error("configuration refused, the old one is kept", {{"err", used.error().message}});
    events_.Record({{"ConfigMap", "v1", kConfSpace, kConfMap, delta.uid, delta.version},
                    kube::EventNote::Type::kWarning,
                    "InvalidConfiguration",
                    used.error().message});
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

  // A bind that is under way when the lease goes to another could take room that the other has
  // given away.
  void FinishWrites() {
    const bool answered = calls_.Drain(kLastAnswers);
    if (!lease_ || (answered && !binder_.IsUnsure())) return;
    log_.Warning("writes without an answer, the lease is kept to its end");
    lease_->KeepToItsEnd();
  }

  [[nodiscard]] bool Leads() const { return !options_.lease || (lease_ && lease_->Leads()); }

  // ---- the cycle
  // ------------------------------------------------------------------------------------------------

  [[nodiscard]] net::SteadyTime Now() const { return client_.writes().Now(); }

  [[nodiscard]] bool HasWork() const {
    return dirty_ || feed_.version() != decided_version_ || (depends_on_time_ && some_wait_);
  }
  [[nodiscard]] bool IsCycleDue() const {
    return watch_.synced() && HasWork() && Now() >= next_cycle_ && Leads();
  }

  [[nodiscard]] Duration TimeToWait() const {
    Duration wait = kIdle;
    if (file_) wait = std::min(wait, kLookAtFile);
    // Who slept past its time may lead again by a renewal that was under way, and nobody says so.
    if (options_.lease && !Leads()) wait = std::min(wait, kLookAtLease);
    if (watch_.synced() && Leads()) {
      if (HasWork()) wait = std::min(wait, next_cycle_ - Now());
      for (const auto& due : {status_.NextWrite(),
                              queues_.NextTry(),
                              NextRebind(),
                              next_queue_report_,
                              advisor_.NextLook()}) {
        if (due) wait = std::min(wait, *due - Now());
      }
    }
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
    LogOpenSession(log_, feed_.state(), !ran_);
    timer.Opened();
    scheduler_->RunActions([&timer](const std::string& action) { timer.Acted(action); });
    const CycleResult result = scheduler_->Close();
    timer.Closed();
    decided_version_ = feed_.version();
    some_wait_ = !result.verdicts.empty();
    dirty_ = !result.binds.empty() || result.phases_changed;
    next_cycle_ = Now() + options_.schedule_period;
    LogDecisions(log_, feed_.state(), result);
    if (log_.On(3)) {
      log_.Info("cycle",
                {{"number", cycles_},
                 {"binds", result.binds.size()},
                 {"waiting", result.verdicts.size()},
                 {"ms", timer.total_ms()}});
    }
    CarryOut(result);
    advisor_.Follow(feed_.state(), result);
    metrics_.Record(timer, result, feed_.state(), clock_.Now());
    if (!next_queue_report_) next_queue_report_ = queues_reported_ + kQueueReports;
    if (std::exchange(ran_, true)) return;
    if (options_.ready) options_.ready();
  }

  // Says what is new among them.
  void Warn(const std::vector<CycleResult::Warning>& warnings) {
    std::set<std::pair<std::string, std::string>> warned;
    for (const CycleResult::Warning& warning : warnings) {
      warned.insert({warning.object, warning.message});
      if (warned_.contains({warning.object, warning.message})) continue;
      log_.Warning(warning.message, {{"object", warning.object}, {"reason", warning.reason}});
    }
    warned_ = std::move(warned);
  }

  void CarryOut(const CycleResult& result) {
    for (const CycleResult::Bind& bind : result.binds) {
      feed_.Assume(bind.task);
      BindTask(bind);
    }
    if (warnings_ != result.warnings) Warn(*result.warnings);
    warnings_ = result.warnings;
    if (!result.binds.empty()) {
      log_.Info("pods placed", {{"pods", result.binds.size()}, {"cycle", cycles_}});
    }
    status_.Write(feed_, result, cycles_);
  }

  // What is done when no cycle is due.
  void DoLateWork() {
    const net::SteadyTime now = Now();
    if (const auto due = status_.NextWrite(); due && now >= *due) status_.WriteLate(feed_);
    if (const auto due = queues_.NextTry(); due && now >= *due) queues_.Ensure(feed_);
    while (!refused_binds_.empty() && now >= refused_binds_.begin()->first) {
      const kube::PodName pod = refused_binds_.extract(refused_binds_.begin()).mapped();
      feed_.Forget(NameOf(pod), pod.uid);
    }
    if (next_queue_report_ && now >= *next_queue_report_) {
      metrics_.RecordQueues(feed_.state(), config_);
      next_queue_report_.reset();
      queues_reported_ = now;
    }
  }

  void Advise(const Advisor::Advice& advice) {
    if (log_.On(3)) log_.Info("relaxation", {{"job", advice.job}, {"found", advice.text}});
    status_.Advise(feed_, advice.job, advice.verdict, advice.text);
  }

  [[nodiscard]] std::optional<net::SteadyTime> NextRebind() const {
    if (refused_binds_.empty()) return std::nullopt;
    return refused_binds_.begin()->first;
  }

  void BindTask(const CycleResult::Bind& bind) {
    BindOrder order = MakeBindOrder(feed_.state(), bind, clock_.Now());
    DropRefusal(order.pod);
    binder_.Bind(std::move(order), [mailbox = mailbox_, this](Binder::Outcome outcome) {
      mailbox->Post([this, outcome = std::move(outcome)] { TakeOutcome(outcome); });
    });
  }

  // A refusal of the past says nothing about the bind that follows it.
  void DropRefusal(const kube::PodName& pod) {
    auto [it, end] = refused_binds_.equal_range(bind_retries_.Due(NameOf(pod)));
    while (it != end) it = NameOf(it->second) == NameOf(pod) ? refused_binds_.erase(it) : ++it;
  }

  void TakeOutcome(const Binder::Outcome& outcome) {
    const kube::PodName& pod = outcome.order.pod;
    const std::string name = NameOf(pod);
    if (outcome.kind == Binder::Outcome::Kind::kBound) {
      metrics_.CountBind();
      bind_retries_.Forget(name);
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
    // Until it is tried again it keeps its room: the next cycle would only give it the same.
    refused_binds_.emplace(bind_retries_.Failed(name, Now()), pod);
  }

  void WriteDump(DumpForm form) {
    const Result<std::string> path =
        WriteCacheDump(feed_.state(), form, options_.cache_dump_dir, clock_.Now());
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

  std::uint64_t cycles_ = 0;
  std::uint64_t decided_version_ = 0;  // of the feed, when the last cycle ran
  bool dirty_ = true;                  // there is more to decide than the feed tells of
  bool depends_on_time_ = false;
  bool some_wait_ = false;
  bool ran_ = false;
  bool lost_ = false;
  net::SteadyTime next_cycle_{};
  std::shared_ptr<const std::vector<CycleResult::Warning>> warnings_;  // of the last cycle
  std::set<std::pair<std::string, std::string>> warned_;               // the same: object, message

  SchedulerMetrics metrics_;
  net::SteadyTime queues_reported_{};
  std::optional<net::SteadyTime> next_queue_report_;
  kube::EventRecorder events_;
  std::unique_ptr<kube::LeaderLease> lease_;
  CallQueue calls_;
  Binder binder_;
  StatusWriter status_;
  DefaultQueues queues_;
  RetryTimes bind_retries_;                                      // by pod
  std::multimap<net::SteadyTime, kube::PodName> refused_binds_;  // by when to try again
  Advisor advisor_;
  ClusterWatch watch_;
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

void LiveScheduler::DumpCache(DumpForm form) {
  impl_->DumpCache(form);
}

}  // namespace strata::live
