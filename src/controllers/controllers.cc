#include "controllers/controllers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "controllers/budget_reconcile.h"
#include "controllers/cache.h"
#include "controllers/controller.h"
#include "controllers/discoverers.h"
#include "controllers/garbage_controller.h"
#include "controllers/gone_nodes.h"
#include "controllers/hypernode_status.h"
#include "controllers/job_controller.h"
#include "controllers/lone_pods.h"
#include "controllers/object_meta.h"
#include "controllers/queue_reconcile.h"
#include "controllers/ssh_keys.h"
#include "controllers/volcano_metrics.h"
#include "discovery/permissions.h"
#include "discovery/system_reader.h"
#include "json/access.h"
#include "kube/conf_file.h"
#include "kube/informers.h"
#include "kube/leader_lease.h"
#include "kube/liveness.h"
#include "kube/mailbox.h"
#include "objects/volcano_keys.h"

namespace strata::controllers {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Pods change in swarms: their job is looked at once for many of them.
constexpr Duration kGatherPods = milliseconds(30);
// Nobody waits for counts.
constexpr Duration kGatherCounts = milliseconds(200);
// A PodGroup without pods is left alone so long: its owner may be about to replace a pod.
constexpr Duration kEmptyGroupAfter = seconds(5);
// How long it may take to notice that somebody else leads.
constexpr Duration kMinRetryDelay = milliseconds(200);
constexpr Duration kIdle = std::chrono::hours(1);
constexpr Duration kThreadLimit = seconds(60);
constexpr kube::Backoff::Limits kPatience{.first = milliseconds(200), .max = seconds(2)};

constexpr const char* kConfKey = "volcano-controller.conf";
constexpr const char* kStatusKey = "status";
constexpr const char* kDiscoveryKey = "discovery";

// Which of the watches are pods, and the ConfigMap with the configuration.
constexpr std::size_t kPodSource = 2;
constexpr int kConfSource = 8;

std::vector<Cache::Watched> WatchesFor(const ControllersOptions& options) {
  using Keep = Cache::Keep;
  const auto all = [](const kube::Resource& resource, Keep keep) {
    Cache::Watched watched;
    watched.spec.resource = resource;
    watched.keep = keep;
    return watched;
  };
  std::vector<Cache::Watched> watches = {all(kube::kJobs, Keep::kWhole),
                                         all(kube::kPodGroups, Keep::kWhole),
                                         all(kube::kPods, Keep::kPod),
                                         all(kube::kQueues, Keep::kWhole),
                                         all(kube::kCommands, Keep::kWhole),
                                         all(kube::kPriorityClasses, Keep::kWhole),
                                         all(kube::kNodes, Keep::kNode),
                                         all(kube::kHyperNodes, Keep::kWhole)};
  Cache::Watched conf = all(kube::kConfigMaps, Keep::kWhole);
  const kube::ObjectKey conf_map = KeyFrom(options.conf_map);
  conf.spec.ns = conf_map.ns;
  conf.spec.field_selector = "metadata.name=" + conf_map.name;
  watches.push_back(std::move(conf));  // kConfSource
  if (options.keep_budgets) {
    watches[kPodSource].pod_labels = true;
    watches.push_back(all(kube::kDisruptionBudgets, Keep::kWhole));
  }
  if (!options.collect_garbage) return watches;
  for (const kube::Resource& resource :
       {kube::kConfigMaps, kube::kSecrets, kube::kServices, kube::kVolumeClaims}) {
    watches.push_back(all(resource, Keep::kMetadata));
  }
  return watches;
}

// Secrets are those of the namespace that the configuration is in.
discovery::Permissions PermissionsOf(const ControllersOptions& options) {
  return discovery::Permissions::Only(options.discovery_allow, KeyFrom(options.conf_map).ns)
      .value();
}

// Whose the jobs are that name no scheduler, as in Volcano's webhook.
std::string JobScheduler(const ControllersOptions& options) {
  return options.scheduler_names.empty() ? "volcano" : options.scheduler_names.front();
}

}  // namespace

class Controllers::Impl {
 public:
  Impl(kube::Client& client, ControllersOptions options, obs::Log& log, const Clock& clock)
      : client_(client),
        options_(std::move(options)),
        log_(log),
        clock_(clock),
        cache_(WatchesFor(options_)),
        events_(client, {.component = "vc-controller-manager"}, clock),
        tools_{client, cache_, events_, log, leadership_, *liveness_},
        jobs_(cache_, clock, NewSshKeys, JobScheduler(options_)),
        owned_(client, cache_),
        gone_nodes_(client, cache_),
        lone_pods_(cache_, [this](const std::string& scheduler) { return IsOurs(scheduler); }),
        job_("job", tools_, [this](const std::string& key) { return jobs_.Decide(key); }),
        pod_group_("podgroup",
                   tools_,
                   [this](const std::string& key) -> Controller::Work {
                     return {.plan = lone_pods_.Decide(key), .done = {}};
                   }),
        queue_("queue", tools_, [this](const std::string& key) { return QueueWork(key); }),
        hypernode_("hypernode", tools_, [this](const std::string& key) { return HyperNodes(key); }),
        budget_("disruption", tools_, [this](const std::string& key) { return Budget(key); }),
        garbage_("garbage", tools_, [this](const std::string& uid) { return owned_.Decide(uid); }),
        pod_garbage_("podgarbage",
                     tools_,
                     [this](const std::string& node) -> Controller::Work {
                       return {.plan = gone_nodes_.Decide(node), .done = {}};
                     }),
        discoverers_({client,
                      cache_,
                      log,
                      clock,
                      [permissions = PermissionsOf(options_)](Duration time) {
                        return discovery::MakeSystemReader(permissions, {.time = time});
                      },
                      PermissionsOf(options_),
                      [this] { hypernode_.Add(kDiscoveryKey); }}) {}

  Status Run(const std::stop_token& stop) {
    const std::stop_callback on_stop(stop, [this] { mailbox_->Wake(); });
    TRY(Start(Workers::kThreads));
    while (!stop.stop_requested() && !lost_) Step(TimeToSleep());
    heartbeat_->End();
    StopWorkers();
    lease_.reset();
    informers_.reset();
    if (!lost_) return {};
    return Fail(Code::kUnavailable, "the leader lease was lost");
  }

  enum class Workers : std::uint8_t { kThreads, kSteps };
  Status Start(Workers workers) {
    workers_ = workers;
    TRY(ReadConfFile());
    deltas_.SetWake([this] { mailbox_->Wake(); });
    kube::Informers::Options options;
    options.backoff = kPatience;
    options.random = options_.random;
    options.trouble = [this](const kube::WatchTrouble& trouble) {
      if (log_.On(2)) log_.Warning("watch failed, retrying", {{"err", trouble.Text()}});
    };
    options.sight = [this](int source, kube::Reflector::Sight sight) {
      mailbox_->Post([this, source, sight] { TakeSight(source, sight); });
    };
    informers_.emplace(client_, deltas_, std::move(options));
    for (const Cache::Watched& watched : cache_.watched()) informers_->Add(watched.spec);
    TakePart();
    return {};
  }

  // Serves what arrives within `limit`, then does what is due.
  void Step(Duration limit) {
    heartbeat_->End();
    const std::vector<kube::Mailbox::Letter> letters = mailbox_->Wait(limit);
    heartbeat_->Begin(client_.writes().Now());
    for (const kube::Mailbox::Letter& letter : letters) letter();
    for (const kube::Delta& delta : deltas_.Take()) Take(delta);
    FollowConfFile();
    if (synced_.size() < cache_.watched().size()) return;
    if (!ready_) Ready();
    if (works_ && !MayWrite()) lost_ = true;
    if (lost_) return;
    if (!works_ && MayWrite() && HasCaughtUp()) works_ = StartWorkers();
    if (!works_ || workers_ == Workers::kThreads) return;
    for (Controller* controller : Mine()) controller->Step(options_.workers, mailbox_);
  }

  [[nodiscard]] Duration TimeToNextStep() {
    Duration sleep = TimeToSleep();
    if (!works_) return sleep;
    const net::SteadyTime now = client_.writes().Now();
    for (Controller* controller : Mine()) {
      if (const auto due = controller->NextStep()) sleep = std::min(sleep, *due - now);
    }
    return std::max(sleep, Duration(0));
  }

  bool Drain() {
    mailbox_->Serve(Duration(0));
    const auto all = AllControllers();
    return std::none_of(all.begin(), all.end(), [](const auto* one) { return one->IsBusy(); });
  }

  [[nodiscard]] bool lost() const { return lost_; }

  std::string Metrics() const {
    obs::Families families = CounterMetrics(AllControllers());
    obs::Append(families, discoverers_.Metrics());
    obs::Append(families, {latency_.Metrics()});
    obs::Append(families, GroupMetrics(cache_.All(kube::kQueues), cache_.All(kube::kPodGroups)));
    obs::Append(families, JobMetrics(cache_.All(kube::kJobs)));
    return obs::MetricsText(families);
  }

  bool IsReady() const { return ready_ && !blind_; }
  std::string LateThread() const { return liveness_->LateThread(); }

 private:
  std::vector<const Controller*> AllControllers() const {
    return {&job_, &pod_group_, &queue_, &hypernode_, &budget_, &garbage_, &pod_garbage_};
  }

  Status TakeConfText(const Result<std::string>& text) {
    if (!text) return tl::unexpected(text.error());
    return discoverers_.Configure(*text, options_.conf_file, std::nullopt);
  }

  // The first time it must be of use, later keeping the previous one.
  Status ReadConfFile() {
    if (options_.conf_file.empty()) return {};
    conf_file_.emplace(options_.conf_file);
    return TakeConfText(conf_file_->ReadIfNew().value());
  }

  void FollowConfFile() {
    if (!conf_file_) return;
    const std::optional<Result<std::string>> text = conf_file_->ReadIfNew();
    if (!text) return;
    if (const Status taken = TakeConfText(*text); !taken) TellBadConf(taken.error());
  }

  void TellBadConf(const Error& error) {
    log_.Error("invalid configuration, keeping the previous one", {{"err", error.message}});
  }

  // Deltas wake it. A file and a lease that passes while the machine sleeps do not, nor does the
  // moment from which on a new lease counts.
  Duration TimeToSleep() const {
    const bool polls = conf_file_.has_value() || options_.lease.has_value();
    return polls ? kMinRetryDelay : kIdle;
  }

  // The watches may be behind what the last leader saw: a pod that has succeeded long ago must not
  // be deleted because it is taken to run.
  void CatchUp() {
    behind_.emplace();
    const int sources = static_cast<int>(cache_.watched().size());
    for (int source = 0; source < sources; ++source) behind_->insert(source);
    informers_->CatchUp();
  }
  [[nodiscard]] bool HasCaughtUp() const {
    return !options_.lease || (behind_ && behind_->empty());
  }

  bool MayWrite() const { return leadership_->Holds(client_.writes().Now()); }

  void TakePart() {
    if (!options_.lease) return;
    kube::LeaderLease::Hooks hooks;
    hooks.leadership = leadership_;
    hooks.late_thread = [liveness = liveness_] { return liveness->LateThread(); };
    hooks.started = [this] {
      mailbox_->Post([this] {
        log_.Info("leads");
        CatchUp();
      });
    };
    hooks.stopped = [this] { log_.Info("lost the lease"); };
    hooks.waiting = [this](const std::string& why) {
      log_.Info("waiting for the lease", {{"why", why}});
    };
    hooks.trouble = [this](const std::string& error) {
      if (log_.On(2)) log_.Warning("cannot get the lease", {{"err", error}});
    };
    lease_.emplace(client_, *options_.lease, std::move(hooks), clock_, options_.random);
  }

  void Ready() {
    ready_ = true;
    log_.Info("has seen the cluster");
    if (options_.ready) options_.ready();
  }

  [[nodiscard]] std::array<Controller*, 7> Mine() {
    return {&job_, &pod_group_, &queue_, &hypernode_, &budget_, &garbage_, &pod_garbage_};
  }

  bool StartWorkers() {
    if (workers_ == Workers::kThreads) {
      for (Controller* controller : Mine()) controller->Start(options_.workers);
    }
    log_.Info("Started controllers", {{"workers", options_.workers}});
    return true;
  }

  void StopWorkers() {
    for (Controller* controller : Mine()) controller->Stop();
  }

  // --- from what changed to the controllers that must look

  void TakeSight(int source, kube::Reflector::Sight sight) {
    if (sight == kube::Reflector::Sight::kLost) {
      overdue_.insert(source);
      log_.Warning("watch overdue, connecting again", {{"informer", source}});
    } else {
      overdue_.erase(source);
    }
    blind_ = !overdue_.empty();
  }

  void Take(const kube::Delta& delta) {
    if (delta.type == kube::Delta::Type::kSynced) {
      synced_.insert(delta.source);
      return;
    }
    if (delta.type == kube::Delta::Type::kCaughtUp) {
      if (behind_) behind_->erase(delta.source);
      return;
    }
    const Cache::Change change = cache_.Take(delta);
    if (delta.source == kConfSource) return TakeConf(change);
    if (options_.collect_garbage) {
      for (const std::string& uid : owned_.Take(change)) garbage_.Add(uid);
      const std::string node = gone_nodes_.Concerns(change);
      if (!node.empty()) pod_garbage_.AddAfter(node, GoneNodes::kPatience);
    }
    Route(change);
  }

  void Route(const Cache::Change& change) {
    const kube::Resource& resource = *change.resource;
    if (resource == kube::kJobs) {
      if (change.type == kube::Delta::Type::kDeleted) jobs_.Forget(change.uid);
      job_.Add(KeyText(change.key));
    } else if (resource == kube::kPods) {
      TakePod(change);
      NotePodOfBudgets(change.key.ns);
    } else if (change.seen == nullptr) {
      return;
    } else if (resource == kube::kPodGroups) {
      TakeGroup(change);
    } else if (resource == kube::kQueues) {
      TakeQueue(change);
    } else if (resource == kube::kDisruptionBudgets) {
      budget_.Add(KeyText(change.key));
    } else if (resource == kube::kCommands) {
      TakeCommand(*change.seen);
    } else if ((resource == kube::kNodes || resource == kube::kHyperNodes) && !change.same) {
      hypernode_.AddAfter(kStatusKey, kGatherCounts);
      const bool own = resource == kube::kHyperNodes;
      if (!own || change.type == kube::Delta::Type::kDeleted) discoverers_.NoteNodesChanged();
    }
  }

  void TakeConf(const Cache::Change& change) {
    if (!options_.conf_file.empty() || change.seen == nullptr) return;
    const bool gone = change.type == kube::Delta::Type::kDeleted;
    const json* text = FindAt(*change.seen, {"data", kConfKey});
    Status taken;
    if (gone) {
      taken = discoverers_.Configure("", change.key.name, std::nullopt);
    } else if (text == nullptr || !text->is_string()) {
      taken = Fail(Code::kInvalidArgument, std::string("no key ") + kConfKey);
    } else {
      taken = discoverers_.Configure(
          text->get<std::string>(), change.key.name, ReferenceTo(kube::kConfigMaps, *change.seen));
    }
    if (taken) return;
    TellBadConf(taken.error());
    if (!MayWrite()) return;
    events_.Record({.about = ReferenceTo(kube::kConfigMaps, *change.seen),
                    .type = kube::EventNote::Type::kWarning,
                    .reason = "InvalidConfiguration",
                    .message = taken.error().message});
  }

  void TakePod(const Cache::Change& change) {
    const bool gone = change.type == kube::Delta::Type::kDeleted;
    if (change.pod != nullptr && !change.pod->job.empty()) {
      if (gone) jobs_.NotePodGone(*change.pod);
      if (ready_ && change.type == kube::Delta::Type::kAdded) MeasureCreation(*change.pod);
      job_.AddAfter(KeyText({change.key.ns, change.pod->job}), kGatherPods);
    } else if (change.pod != nullptr) {
      pod_group_.AddAfter(LonePods::KeyOf(*change.pod), gone ? kEmptyGroupAfter : Duration(0));
    }
  }

  void NotePodOfBudgets(const std::string& ns) {
    if (!options_.keep_budgets) return;
    for (const ObjectRef& budget : cache_.All(kube::kDisruptionBudgets)) {
      if (TextAt(*budget, {"metadata", "namespace"}) != ns) continue;
      budget_.AddAfter(KeyText({ns, TextAt(*budget, {"metadata", "name"})}), kGatherPods);
    }
  }

  void MeasureCreation(const PodSeen& pod) {
    const ObjectRef job = cache_.Find(kube::kJobs, {pod.key.ns, pod.job});
    if (job == nullptr || TextAt(*job, {"metadata", "uid"}) != pod.owner_uid) return;
    const Result<Time> made = ParseTimestamp(TextAt(*job, {"metadata", "creationTimestamp"}));
    if (made) latency_.Observe(clock_.Now() - *made);
  }

  void TakeGroup(const Cache::Change& change) {
    job_.Add(KeyText(change.key));  // the job that may adopt it
    for (const json& owner : ListAt(*change.seen, {"metadata", "ownerReferences"})) {
      if (TextAt(owner, {"kind"}) != kube::kJobs.kind) continue;
      job_.Add(KeyText({change.key.ns, TextAt(owner, {"name"})}));
    }
    if (const auto key = LonePods::KeyOfGroup(*change.seen)) {
      pod_group_.AddAfter(*key, kEmptyGroupAfter);
    }
    const std::string& queue = TextAt(*change.seen, {"spec", "queue"});
    queue_.AddAfter(queue.empty() ? "default" : queue, kGatherCounts);
  }

  void TakeQueue(const Cache::Change& change) {
    queue_.Add(change.key.name);
    for (const ObjectRef& other : cache_.All(kube::kQueues)) {
      if (TextAt(*other, {"spec", "parent"}) == change.key.name) {
        queue_.Add(TextAt(*other, {"metadata", "name"}));
      }
    }
  }

  void TakeCommand(const json& command) {
    const std::string& name = TextAt(command, {"target", "name"});
    if (TextAt(command, {"target", "kind"}) == kube::kQueues.kind) {
      queue_.Add(name);
    } else {
      job_.Add(KeyText({TextAt(command, {"metadata", "namespace"}), name}));
    }
  }

  // --- what they see

  bool IsOurs(const std::string& scheduler) const {
    const auto in = [&](const auto& names) {
      return std::find(names.begin(), names.end(), scheduler) != names.end();
    };
    return options_.scheduler_names.empty() ? in(objects::kUsualSchedulers)
                                            : in(options_.scheduler_names);
  }

  Controller::Work QueueWork(const std::string& name) {
    const ObjectRef queue = cache_.Find(kube::kQueues, {"", name});
    if (queue == nullptr || IsBeingDeleted(*queue)) return {};
    const std::map<std::string, GroupCounts> groups = CountGroups(cache_.All(kube::kPodGroups));
    const auto own = groups.find(name);
    const QueueView view{
        .queue = queue,
        .parent = cache_.Find(kube::kQueues, {"", TextAt(*queue, {"spec", "parent"})}),
        .commands = CommandsFor(cache_, kube::kQueues, *queue),
        .groups = own == groups.end() ? GroupCounts{} : own->second};
    return {.plan = ReconcileQueue(view), .done = {}};
  }

  Controller::Work Budget(const std::string& key) {
    const kube::ObjectKey name = KeyFrom(key);
    const ObjectRef budget = cache_.Find(kube::kDisruptionBudgets, name);
    if (budget == nullptr || IsBeingDeleted(*budget)) return {};
    return {.plan = ReconcileBudget({.budget = budget, .pods = cache_.PodsIn(name.ns)}),
            .done = {}};
  }

  Controller::Work HyperNodes(const std::string& key) {
    if (key == kDiscoveryKey) return discoverers_.Work();
    return {.plan = ReconcileHyperNodeStatus(
                cache_.All(kube::kHyperNodes), cache_.All(kube::kNodes), clock_.Now()),
            .done = {}};
  }

  kube::Client& client_;
  const ControllersOptions options_;
  obs::Log& log_;
  const Clock& clock_;
  const std::shared_ptr<kube::Mailbox> mailbox_ = std::make_shared<kube::Mailbox>();
  kube::DeltaQueue deltas_;
  Cache cache_;
  kube::EventRecorder events_;
  const std::shared_ptr<kube::Liveness> liveness_ = std::make_shared<kube::Liveness>(client_);
  const std::shared_ptr<kube::Heartbeat> heartbeat_ = liveness_->Add("dispatcher", kThreadLimit);
  const std::shared_ptr<kube::Leadership> leadership_ =
      options_.lease ? std::make_shared<kube::Leadership>() : kube::Leadership::Always();
  std::optional<kube::LeaderLease> lease_;
  const Tools tools_;
  std::optional<kube::ConfFile> conf_file_;
  JobDesk jobs_;
  GarbageDesk owned_;
  GoneNodes gone_nodes_;
  const LonePods lone_pods_;
  Controller job_;
  Controller pod_group_;
  Controller queue_;
  Controller hypernode_;
  Controller budget_;
  Controller garbage_;
  Controller pod_garbage_;
  Discoverers discoverers_;
  CreationLatency latency_;
  std::set<int> synced_;
  std::atomic<bool> ready_{false};
  std::optional<std::set<int>> behind_;  // informers that have not caught up; none: nobody asked
  std::set<int> overdue_;                // informers
  std::atomic<bool> blind_{false};
  Workers workers_ = Workers::kThreads;
  bool works_ = false;
  bool lost_ = false;
  std::optional<kube::Informers> informers_;
};

Controllers::Controllers(kube::Client& client,
                         ControllersOptions options,
                         obs::Log& log,
                         const Clock& clock)
    : impl_(std::make_unique<Impl>(client, std::move(options), log, clock)) {}

Controllers::~Controllers() = default;

Status Controllers::Run(const std::stop_token& stop) {
  return impl_->Run(stop);
}

Status Controllers::Start() {
  return impl_->Start(Impl::Workers::kSteps);
}

Duration Controllers::Step() {
  impl_->Step(Duration(0));
  return impl_->TimeToNextStep();
}

bool Controllers::HasLostLease() const {
  return impl_->lost();
}

bool Controllers::Drain() {
  return impl_->Drain();
}

std::string Controllers::Metrics() const {
  return impl_->Metrics();
}

std::string Controllers::LateThread() const {
  return impl_->LateThread();
}

bool Controllers::IsReady() const {
  return impl_->IsReady();
}

}  // namespace strata::controllers
