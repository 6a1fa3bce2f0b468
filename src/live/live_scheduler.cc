#include "live/live_scheduler.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "convert/cluster_feed.h"
#include "convert/scheduler_conf.h"
#include "kube/conf_file.h"
#include "kube/event_recorder.h"
#include "kube/leader_lease.h"
#include "kube/liveness.h"
#include "kube/mailbox.h"
#include "live/advisor.h"
#include "live/bind_book.h"
#include "live/binder.h"
#include "live/cache_dump.h"
#include "live/call_queue.h"
#include "live/clock_steps.h"
#include "live/cluster_watch.h"
#include "live/conf_change.h"
#include "live/cycle_agenda.h"
#include "live/default_queues.h"
#include "live/evictor.h"
#include "live/metrics.h"
#include "live/node_locker.h"
#include "live/overcommit_book.h"
#include "live/session_log.h"
#include "live/status_writer.h"
#include "live/stranded_pods.h"
#include "live/warning_book.h"
#include "objects/volcano_keys.h"
#include "sched/eviction/settings.h"
#include "sched/scheduler.h"
#include "whatif/cluster.h"

namespace strata::live {
namespace {

constexpr Duration kLookAtFile = std::chrono::seconds(1);
constexpr Duration kLookAtLease = std::chrono::seconds(1);
constexpr Duration kIdle = std::chrono::hours(1);
constexpr Duration kQueueReports = std::chrono::seconds(1);
constexpr Duration kLastAnswers = std::chrono::seconds(2);
constexpr int kMaxWrites = 32;
// Before a plan is made again for a job whose plan was dropped: by a budget, say.
constexpr Duration kPlanAgain = std::chrono::seconds(30);
// More than any cycle takes.
constexpr Duration kThreadLimit = std::chrono::seconds(60);
// A kilobyte each: pods are bound in waves, and each has its event.
constexpr std::size_t kMaxEvents = 20'000;

TakesPod TakerOf(std::vector<std::string> names) {
  if (names.empty()) return IsOurs;
  return [names = std::move(names)](const objects::Pod& pod) {
    return std::find(names.begin(), names.end(), pod.spec.scheduler_name) != names.end();
  };
}

std::vector<std::string> ServedNames(const std::vector<std::string>& names) {
  if (!names.empty()) return names;
  return {objects::kUsualSchedulers.begin(), objects::kUsualSchedulers.end()};
}

}  // namespace

// The decisions are in CycleAgenda, BindBook, WarningBook, ConfChange and Scheduler; what is here
// brings them what they decide on, and carries out what they say.
class LiveScheduler::Impl {
 public:
  Impl(kube::Client& client, SchedulerOptions options, obs::Log& log, const Clock& clock)
      : client_(client),
        options_(std::move(options)),
        log_(log),
        clock_(clock),
        feed_(state_, TakerOf(options_.scheduler_names), options_.default_queue),
        agenda_(options_.schedule_period),
        events_(client, {.component = "volcano", .max_waiting = kMaxEvents}, clock),
        calls_(client, {.max_in_flight = kMaxWrites, .leadership = leadership_}),
        binder_(client, calls_, clock),
        status_({calls_, events_, clock, [this] { return Now(); }, options_.random}, mailbox_),
        queues_({calls_, log, [this] { return Now(); }, options_.random},
                mailbox_,
                options_.default_queue),
        binds_(options_.random),
        evictor_({calls_,
                  events_,
                  feed_,
                  metrics_,
                  log,
                  clock,
                  [this] { return Now(); },
                  options_.random,
                  [this](const std::string& job, const std::string& why) {
                    const auto id = state_.workload().FindJob(job);
                    if (!id) return;
                    scheduler_->claims().Refuse(
                        job, state_.workload().job(*id).spec.uid, why, clock_.Now() + kPlanAgain);
                    agenda_.DecideAgain();
                  }},
                 mailbox_),
        locker_({calls_,
                 feed_,
                 log,
                 clock,
                 [this] { return Now(); },
                 options_.random,
                 [this](BindOrder order) {
                   SetBindTime(order, clock_.Now());
                   SendBind(std::move(order));
                 },
                 [this](const Binder::Outcome& outcome) { TakeOutcome(outcome); }},
                mailbox_),
        watch_(client, feed_, log, mailbox_, options_.random) {
    if (!options_.advises) return;
    advisor_.emplace(
        mailbox_, [this] { return Now(); }, [this](const auto& advice) { Advise(advice); });
  }

  Status Start() {
    TRY(UseFirstConf());
    watch_.FollowGroups([this](const objects::PodGroup& group) { status_.See(state_, group); });
    watch_.FollowQueues([this](const objects::Queue& queue) { status_.See(queue); });
    watch_.FollowNodes([this](const std::string& node, const std::string& version) {
      locker_.SeeNode(node, version);
    });
    watch_.FollowPods([this](const std::string& pod) { locker_.SeePod(pod); });
    watch_.Start(
        file_ ? ClusterWatch::OnConfMap()
              : [this](const kube::Delta& delta) { FollowConfMap(delta); },
        options_.conf_map);
    StartLease();
    return {};
  }

  Status Run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { mailbox_->Wake(); });
    TRY(Start());
    while (!stop.stop_requested() && !lost_) Step(TimeToSleep());
    Drain(kLastAnswers);
    return Finish();
  }

  // Serves what arrives within `limit`, then does what is due.
  void Step(Duration limit) {
    heartbeat_->End();
    const std::vector<kube::Mailbox::Letter> letters = mailbox_->Wait(limit);
    heartbeat_->Begin(Now());
    for (const kube::Mailbox::Letter& letter : letters) letter();
    watch_.TakeDeltas();
    FollowFile();
    if (agenda_.IsCycleDue(ThisMoment())) Cycle();
    if (Leads()) DoLateWork();
    if (advisor_ && Leads() && !agenda_.IsCycleDue(ThisMoment())) {
      advisor_->Look(feed_, advice_config_, clock_.Now());
    }
  }

  [[nodiscard]] Duration TimeToSleep() const {
    Duration poll = kIdle;
    if (file_) poll = std::min(poll, kLookAtFile);
    // A scheduler that was suspended past its lease may lead again by a renewal that was under way,
    // and no hook says so.
    if (options_.lease && !Leads()) poll = std::min(poll, kLookAtLease);
    const std::optional<net::SteadyTime> dues[] = {status_.NextWrite(),
                                                   queues_.NextTry(),
                                                   binds_.NextDue(),
                                                   evictor_.NextDue(),
                                                   locker_.NextDue(),
                                                   stranded_.NextDue(),
                                                   next_queue_report_,
                                                   next_fragmentation_,
                                                   advisor_ ? advisor_->NextLook() : std::nullopt};
    return agenda_.TimeToSleep(ThisMoment(), dues, poll);
  }

  [[nodiscard]] bool lost() const { return lost_; }

  bool Drain(Duration limit) {
    watch_.Stop();
    return calls_.Drain(limit);
  }

  // A bind that is under way when the lease goes to another scheduler could take room that the
  // other has given away: then the lease is not released early.
  Status Finish() {
    const bool answered = Drain(Duration(0));
    if (lease_ && (!answered || binder_.IsUnsure())) {
      log_.Warning("writes without an answer: the lease is not released and expires");
      lease_->KeepToItsEnd();
    }
    if (!lost_) return {};
    return Fail(Code::kUnavailable,
                fmt::format("lost the lease {}/{}", options_.lease->ns, options_.lease->name));
  }

  [[nodiscard]] std::string Metrics() const { return metrics_.Text(); }
  [[nodiscard]] bool IsReady() const { return watch_.current(); }
  [[nodiscard]] std::string LateThread() const { return liveness_->LateThread(); }
  void DumpCache(DumpForm form) {
    mailbox_->Post([this, form] { WriteDump(form); });
  }

 private:
  // ---- configuration
  // ------------------------------------------------------------------------------------------------

  Status UseFirstConf() {
    if (options_.conf_file.empty()) return Use(SchedulerConf{DefaultSchedulerConfig(), {}});
    file_.emplace(options_.conf_file);
    TRY_ASSIGN(SchedulerConf conf, ChangeByFile(file_->path(), *file_->ReadIfNew()).conf);
    return Use(std::move(conf));
  }

  Status Use(SchedulerConf conf) {
    TRY_ASSIGN(Scheduler::Made made, Scheduler::Make(conf.config, state_));
    if (scheduler_) made.scheduler->claims() = std::move(scheduler_->claims());
    for (const std::string& warning : conf.warnings) log_.Warning(warning);
    scheduler_ = std::move(made.scheduler);
    scheduler_->LimitWork(options_.work_per_cycle);
    config_ = std::move(conf.config);
    advice_config_ = config_;
    RemoveEvictionActions(advice_config_);  // advice is about changes, not about evictions
    agenda_.UseConfig(scheduler_->DependsOnTime());
    return {};
  }

  void FollowFile() {
    if (!file_ || Now() < look_at_file_) return;
    look_at_file_ = Now() + kLookAtFile;
    if (auto text = file_->ReadIfNew()) Follow(ChangeByFile(file_->path(), *std::move(text)));
  }

  void FollowConfMap(const kube::Delta& delta) {
    const bool deleted = delta.type == kube::Delta::Type::kDeleted;
    if (deleted || !delta.text.empty()) Follow(ChangeByConfMap(delta));
  }

  void Follow(ConfChange change) {
    const Status used = change.conf ? Use(*std::move(change.conf))
                                    : Status(tl::unexpected<Error>(std::move(change.conf).error()));
    if (used) {
      log_.Info(
          change.is_default ? "configuration deleted, using the default" : "configuration read",
          {{"from", change.source}});
    } else {
      log_.Error("invalid configuration, keeping the previous one",
                 {{"err", used.error().message}});
    }
    if (change.event) events_.Record(*std::move(change.event));
  }

  // ---- who leads
  // ------------------------------------------------------------------------------------------------

  void StartLease() {
    if (!options_.lease) return;
    kube::LeaderLease::Hooks hooks;
    hooks.leadership = leadership_;
    hooks.late_thread = [liveness = liveness_] { return liveness->LateThread(); };
    hooks.started = [this] {
      mailbox_->Post([this] {
        log_.Info("leading", {{"lease", options_.lease->name}});
        watch_.CatchUp();
        recovered_ = false;
        agenda_.DecideAgain();
      });
    };
    hooks.stopped = [this] { mailbox_->Post([this] { lost_ = true; }); };
    hooks.waiting = [this](const std::string& why) {
      log_.Info("waiting for the lease", {{"why", why}});
    };
    hooks.trouble = [this](const std::string& error) { log_.Warning("lease", {{"err", error}}); };
    lease_ = std::make_unique<kube::LeaderLease>(
        client_, *options_.lease, std::move(hooks), clock_, options_.random);
  }

  [[nodiscard]] bool Leads() const { return leadership_->Holds(Now()); }

  // Whether it has seen the cluster, and what the leaders before it did: their last binds may be
  // missing in a watch that is behind.
  [[nodiscard]] bool HasSeenEverything() const {
    return watch_.synced() && (!options_.lease || watch_.caught_up());
  }

  // ---- the cycle
  // ------------------------------------------------------------------------------------------------

  [[nodiscard]] net::SteadyTime Now() const { return client_.writes().Now(); }
  [[nodiscard]] CycleAgenda::Moment ThisMoment() const {
    return {.now = Now(),
            .synced = HasSeenEverything(),
            .leads = Leads(),
            .feed_version = feed_.version()};
  }

  void Cycle() {
    FollowClock();
    queues_.Ensure(feed_);
    std::vector<std::string> problems;
    feed_.Settle(problems);
    for (const std::string& problem : problems) {
      log_.Warning("object skipped", {{"err", problem}});
    }
    TellOfOvercommittedNodes();
    if (!std::exchange(recovered_, true)) evictor_.Recover(scheduler_->claims());
    ++cycles_;
    CycleTimer timer;
    const CycleResult result = Decide(timer);
    agenda_.EndCycle({.feed_version = feed_.version(),
                      .changed_state = result.ChangedState(),
                      .some_wait = !result.verdicts.empty(),
                      .left = result.left,
                      .again_at = ToSteady(result.again_at)},
                     Now());
    CarryOut(result);
    if (advisor_) advisor_->Follow(state_, result);
    metrics_.Record(timer, result, state_, clock_.Now());
    if (!next_queue_report_) next_queue_report_ = queues_reported_ + kQueueReports;
    if (std::exchange(ran_, true)) return;
    if (options_.ready) options_.ready();
  }

  // What the scheduler remembers has times of the machine's clock: when somebody sets that clock, a
  // delay of seconds would take an hour, or none.
  void FollowClock() {
    const Duration step = clock_steps_.Take(clock_.Now(), Now());
    if (step == Duration(0)) return;
    log_.Warning("the clock of this machine was set",
                 {{"seconds", std::chrono::duration_cast<std::chrono::seconds>(step).count()}});
    scheduler_->claims() = MoveDeadlines(scheduler_->claims(), step);
    const Status used = Use(SchedulerConf{config_, {}});  // forgets when it tried what
    if (!used) log_.Error("scheduler not made anew", {{"err", used.error().message}});
  }

  void TellOfOvercommittedNodes() {
    for (OvercommitBook::Finding& finding : overcommits_.TakeNew(state_)) {
      log_.Warning("node overcommitted", {{"node", finding.node}, {"err", finding.message}});
      events_.Record({.about = {.kind = "Node",
                                .api_version = "v1",
                                .ns = "",
                                .name = finding.node,
                                .uid = finding.node,
                                .version = ""},
                      .type = kube::EventNote::Type::kWarning,
                      .reason = "NodeOvercommitted",
                      .message = std::move(finding.message)});
    }
  }

  CycleResult Decide(CycleTimer& timer) {
    std::optional<SessionLog> trace;
    if (log_.On(SessionLog::kLeastVerbosity)) trace.emplace(log_);
    scheduler_->Open(clock_.Now(), trace ? &*trace : nullptr);
    LogOpenSession(log_, state_, !ran_);
    timer.Opened();
    scheduler_->RunActions([&timer](const std::string& action) { timer.Acted(action); });
    CycleResult result = scheduler_->Close();
    timer.Closed();
    LogDecisions(log_, state_, result);
    if (log_.On(3)) {
      log_.Info("cycle",
                {{"number", cycles_},
                 {"binds", result.binds.size()},
                 {"waiting", result.verdicts.size()},
                 {"ms", timer.total_ms()}});
    }
    return result;
  }

  void CarryOut(const CycleResult& result) {
    for (const CycleResult::Bind& bind : result.binds) {
      feed_.Assume(bind.task);
      BindTask(bind);
    }
    for (const CycleResult::Warning& warning : warnings_.TakeNew(result.warnings)) {
      log_.Warning(warning.message, {{"object", warning.object}, {"reason", warning.reason}});
    }
    if (!result.binds.empty()) {
      log_.Info("pods placed", {{"pods", result.binds.size()}, {"cycle", cycles_}});
    }
    evictor_.CarryOut(result, scheduler_->claims());
    status_.Write(feed_, result, cycles_);
  }

  [[nodiscard]] std::optional<net::SteadyTime> ToSteady(std::optional<Time> time) const {
    if (!time) return std::nullopt;
    return Now() + std::max(*time - clock_.Now(), Duration(0));
  }

  // What is done when no cycle is due.
  void DoLateWork() {
    const net::SteadyTime now = Now();
    if (const auto due = status_.NextWrite(); due && now >= *due) status_.WriteLate(feed_);
    if (const auto due = queues_.NextTry(); due && now >= *due) queues_.Ensure(feed_);
    TellStrandedPods();
    for (const kube::PodName& pod : binds_.TakeDue(now)) feed_.Forget(NameOf(pod), pod.uid);
    if (const auto due = evictor_.NextDue(); due && now >= *due) evictor_.DoDue();
    if (HasSeenEverything()) locker_.DoDue();
    if (next_queue_report_ && now >= *next_queue_report_) {
      metrics_.RecordQueues(state_, config_);
      metrics_.RecordHyperNodes(state_);
      next_queue_report_.reset();
      queues_reported_ = now;
      if (!next_fragmentation_) next_fragmentation_ = std::max(now, fragmentation_rests_until_);
    }
    if (next_fragmentation_ && now >= *next_fragmentation_ && !agenda_.IsCycleDue(ThisMoment())) {
      RecordFragmentation();
    }
  }

  // Looks at every node and pod. No cycle waits for it, and it takes at most a hundredth of the
  // time of this thread.
  void RecordFragmentation() {
    constexpr int kRest = 100;
    const net::SteadyTime begun = Now();
    metrics_.RecordFragmentation(state_, clock_.Now());
    next_fragmentation_.reset();
    fragmentation_rests_until_ = Now() + kRest * (Now() - begun);
  }

  void TellStrandedPods() {
    if (!HasSeenEverything()) return;
    for (const StrandedPods::Finding& finding : stranded_.TakeNew(feed_, Now())) {
      const objects::Pod* pod = feed_.FindPod(finding.pod);
      if (pod == nullptr) continue;
      log_.Warning("nobody looks at the pod", {{"pod", finding.pod}, {"err", finding.why.message}});
      status_.TellPod(*pod, finding.why);
      if (finding.first_of_owner) status_.TellOwners(feed_, *pod, finding.why);
    }
  }

  void Advise(const Advisor::Advice& advice) {
    if (log_.On(3)) log_.Info("relaxation", {{"job", advice.job}, {"found", advice.text}});
    status_.Advise(feed_, advice.job, advice.verdict, advice.text);
  }

  void BindTask(const CycleResult::Bind& bind) {
    BindOrder order = MakeBindOrder(state_, bind, clock_.Now());
    binds_.Begin(order.pod);
    if (locker_.Needs(order)) {
      locker_.Add(std::move(order));
    } else {
      SendBind(std::move(order));
    }
  }

  void SendBind(BindOrder order) {
    order.pod.version = watch_.VersionOf(NameOf(order.pod));
    binder_.Bind(std::move(order), [mailbox = mailbox_, this](Binder::Outcome outcome) {
      mailbox->Post([this, outcome = std::move(outcome)] { TakeOutcome(outcome); });
    });
  }

  void TakeOutcome(const Binder::Outcome& outcome) {
    const bool bound = outcome.kind == Binder::Outcome::Kind::kBound;
    if (bound) {
      metrics_.CountBind();
    } else {
      metrics_.CountFailedBind();
      log_.Warning("bind failed",
                   {{"pod", NameOf(outcome.order.pod)},
                    {"node", outcome.order.node},
                    {"err", outcome.error}});
    }
    locker_.TakeOutcome(outcome);
    events_.Record(binds_.Take(outcome, Now()));
  }

  void WriteDump(DumpForm form) {
    const Result<std::string> path =
        WriteCacheDump(state_, form, options_.cache_dump_dir, clock_.Now());
    if (path) {
      log_.Info("cache dumped", {{"file", *path}});
    } else {
      log_.Error("cannot dump the cache", {{"err", path.error().message}});
    }
  }

  kube::Client& client_;
  const SchedulerOptions options_;
  obs::Log& log_;
  const Clock& clock_;
  std::shared_ptr<kube::Mailbox> mailbox_ = std::make_shared<kube::Mailbox>();
  const std::shared_ptr<kube::Liveness> liveness_ = std::make_shared<kube::Liveness>(client_);
  const std::shared_ptr<kube::Heartbeat> heartbeat_ = liveness_->Add("scheduler", kThreadLimit);

  ClusterState state_;
  ClusterFeed feed_;
  std::unique_ptr<Scheduler> scheduler_;
  SchedulerConfig config_;
  SchedulerConfig advice_config_;
  std::optional<kube::ConfFile> file_;
  net::SteadyTime look_at_file_{};

  ClockSteps clock_steps_;
  CycleAgenda agenda_;
  std::uint64_t cycles_ = 0;
  bool ran_ = false;
  bool recovered_ = false;  // what former leaders left was looked at
  bool lost_ = false;
  WarningBook warnings_;
  OvercommitBook overcommits_;
  StrandedPods stranded_{ServedNames(options_.scheduler_names)};

  SchedulerMetrics metrics_;
  net::SteadyTime queues_reported_{};
  std::optional<net::SteadyTime> next_queue_report_;
  net::SteadyTime fragmentation_rests_until_{};
  std::optional<net::SteadyTime> next_fragmentation_;
  kube::EventRecorder events_;
  const std::shared_ptr<kube::Leadership> leadership_ =
      options_.lease ? std::make_shared<kube::Leadership>() : kube::Leadership::Always();
  std::unique_ptr<kube::LeaderLease> lease_;
  CallQueue calls_;
  Binder binder_;
  StatusWriter status_;
  DefaultQueues queues_;
  BindBook binds_;
  Evictor evictor_;
  NodeLocker locker_;
  std::optional<Advisor> advisor_;
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

Status LiveScheduler::Start() {
  return impl_->Start();
}

Duration LiveScheduler::Step() {
  impl_->Step(Duration(0));
  return impl_->TimeToSleep();
}

bool LiveScheduler::HasLostLease() const {
  return impl_->lost();
}

bool LiveScheduler::Drain(Duration limit) {
  return impl_->Drain(limit);
}

Status LiveScheduler::Finish() {
  return impl_->Finish();
}

std::string LiveScheduler::Metrics() const {
  return impl_->Metrics();
}

bool LiveScheduler::IsReady() const {
  return impl_->IsReady();
}

std::string LiveScheduler::LateThread() const {
  return impl_->LateThread();
}

void LiveScheduler::DumpCache(DumpForm form) {
  impl_->DumpCache(form);
}

}  // namespace strata::live
