#include "agent/node_agent.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "agent/agent_metrics.h"
#include "agent/fabric_watch.h"
#include "agent/publish_agenda.h"
#include "base/mutex.h"
#include "kube/event_recorder.h"
#include "kube/liveness.h"
#include "kube/mailbox.h"
#include "os/private_file.h"

namespace strata::agent {
namespace {

constexpr Duration kStopLimit = std::chrono::seconds(5);
constexpr Duration kTurn = std::chrono::seconds(1);  // how soon the thread of the driver stops

kube::ResourcePath PathOf(const std::string& node) {
  return {.resource = kube::kNodes, .ns = {}, .name = node, .subresource = {}};
}

kube::Call PatchOf(const std::string& node, std::string patch) {
  return kube::PatchCall(PathOf(node), kube::PatchOptions{}, std::move(patch));  // a merge patch
}

// The thread that calls the driver. It owns what it uses, so that one which blocks for ever can be
// left behind.
class DriverThread {
 public:
  struct News {
    GpuWatch::Turned turned;
    MachineView machine;
    std::string health_text;
    std::string away;
  };
  using Tell = std::function<void(News)>;

  DriverThread(GpuWatch watch,
               std::shared_ptr<kube::Heartbeat> heartbeat,
               std::function<net::SteadyTime()> now,
               Tell tell)
      : shared_(std::make_shared<Shared>(
            std::move(watch), std::move(heartbeat), std::move(now), std::move(tell))),
        thread_([shared = shared_] { shared->Work(); }) {}
  DriverThread(const DriverThread&) = delete;
  DriverThread& operator=(const DriverThread&) = delete;
  ~DriverThread() {
    if (shared_->Stop()) {
      thread_.join();
    } else {
      thread_.detach();
    }
  }

 private:
  class Shared {
   public:
    Shared(GpuWatch watch,
           std::shared_ptr<kube::Heartbeat> heartbeat,
           std::function<net::SteadyTime()> now,
           Tell tell)
        : watch_(std::move(watch)),
          heartbeat_(std::move(heartbeat)),
          now_(std::move(now)),
          tell_(std::move(tell)) {}

    void Work() {
      std::string away;
      while (!IsStopped()) {
        const net::SteadyTime now = now_();
        heartbeat_->Begin(now);
        News news{.turned = watch_.Turn(now, kTurn), .machine = {}, .health_text = {}, .away = {}};
        heartbeat_->End();
        const Duration to_wait = news.turned.to_wait;
        const bool is_news = news.turned.changed || !news.turned.problems.empty() ||
                             !news.turned.xids.empty() || watch_.away() != away;
        if (is_news) {
          away = news.away = watch_.away();
          news.machine = watch_.machine();
          news.health_text = watch_.health_text();
          tell_(std::move(news));
        }
        WaitFor(to_wait);
      }
      const MutexLock lock(mutex_);
      ended_ = true;
      changed_.NotifyAll();
    }

    // False when the thread does not end in time.
    bool Stop() {
      const auto end = std::chrono::steady_clock::now() + kStopLimit;
      const MutexLock lock(mutex_);
      stopped_ = true;
      changed_.NotifyAll();
      while (!ended_ && changed_.WaitUntil(mutex_, end)) {
      }
      return ended_;
    }

   private:
    bool IsStopped() {
      const MutexLock lock(mutex_);
      return stopped_;
    }
    void WaitFor(Duration limit) {
      const auto end = std::chrono::steady_clock::now() + limit;
      const MutexLock lock(mutex_);
      while (!stopped_ && limit > Duration(0) && changed_.WaitUntil(mutex_, end)) {
      }
    }

    GpuWatch watch_;
    const std::shared_ptr<kube::Heartbeat> heartbeat_;
    const std::function<net::SteadyTime()> now_;
    const Tell tell_;
    Mutex mutex_;
    CondVar changed_;
    bool stopped_ GUARDED_BY(mutex_) = false;
    bool ended_ GUARDED_BY(mutex_) = false;
  };

  const std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace

class NodeAgent::Impl {
 public:
  Impl(kube::Client& client, Options options, obs::Log& log, const Clock& clock)
      : client_(client),
        options_(std::move(options)),
        log_(log),
        clock_(clock),
        events_(client, {.component = "strata-agent"}, clock) {
    facts_ = {.version = options_.version,
              .identity = {},
              .shares = options_.gpus.shares,
              .boot = ReadDriverLife(options_.gpus.proc, options_.gpus.sysfs).boot};
  }

  Status Run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { mailbox_->Wake(); });
    const DriverThread driver(
        GpuWatch(options_.gpus, ReadState()),
        liveness_.Add("gpus", options_.driver_limit),
        [] { return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now()); },
        [this, mailbox = mailbox_](DriverThread::News news) {
          mailbox->Post([this, news = std::move(news)] { Take(news); });
        });
    std::optional<FabricWatch> fabric;
    if (options_.fabric) {
      fabric.emplace(
          *options_.fabric,
          [this] { return machine(); },
          [this, mailbox = mailbox_](FabricWatch::News news) {
            mailbox->Post([this, news = std::move(news)] { TakeFabric(news); });
          });
    }
    while (!stop.stop_requested()) {
      mailbox_->Serve(TimeToWait());
      if (!stop.stop_requested() && agenda_.Begin(Now())) ReadNode();
    }
    return {};
  }

  std::string Metrics() const {
    const MutexLock lock(mutex_);
    return obs::MetricsText(metrics_.Families());
  }
  bool IsReady() const {
    const MutexLock lock(mutex_);
    return ready_;
  }
  MachineView machine() const {
    const MutexLock lock(mutex_);
    return machine_;
  }
  std::string LateThread() { return liveness_.LateThread(); }

 private:
  net::SteadyTime Now() const { return client_.writes().Now(); }

  Duration TimeToWait() const {
    constexpr Duration kLong = std::chrono::hours(1);
    const auto due = agenda_.NextDue();
    return due ? std::clamp(*due - Now(), Duration(0), kLong) : kLong;
  }

  // ---- the driver
  void Take(const DriverThread::News& news) {
    {
      const MutexLock lock(mutex_);
      metrics_.Count(news.turned);
      metrics_.Take(news.machine, news.away.empty());
    }
    for (const std::string& problem : news.turned.problems) {
      log_.Warning("GPU cannot be read", {{"problem", problem}});
    }
    if (news.away != away_ && !news.away.empty()) {
      log_.Warning("the driver cannot be asked, trying again", {{"problem", news.away}});
    }
    away_ = news.away;
    for (const HealthChange& change : news.turned.changes) Tell(change, *news.machine);
    if (!news.turned.changed && told_) return;
    told_ = true;
    {
      const MutexLock lock(mutex_);
      machine_ = news.machine;
    }
    options_.machine_changed();
    WriteState(news.health_text);
    agenda_.Hurry(Now());
  }

  void TakeFabric(const FabricWatch::News& news) {
    for (const std::string& problem : news.problems) {
      log_.Warning("network cannot be read", {{"problem", problem}});
    }
    if (news.text == facts_.fabric) return;
    facts_.fabric = news.text;
    if (told_) agenda_.Hurry(Now());  // else the first news of the driver publishes it, too
  }

  void Tell(const HealthChange& change, const Machine& machine) {
    if (change.after == Health::kSuspect) return;  // the next answer decides
    const bool healthy = change.after == Health::kHealthy;
    if (healthy && change.before == Health::kSuspect) return;
    const auto at = machine.node.Find(change.uuid);
    const std::string name =
        at ? fmt::format("GPU {} ({})", machine.node.gpus[*at].index, change.uuid) : change.uuid;
    const std::string message =
        fmt::format("{} is {}: {}", name, healthy ? "healthy again" : "not healthy", change.why);
    log_.Warning("health of a GPU changed", {{"message", message}});
    Say(healthy ? kube::EventNote::Type::kNormal : kube::EventNote::Type::kWarning,
        healthy ? "GPUHealthy" : "GPUUnhealthy",
        message);
  }

  // As an Event of the Node.
  void Say(kube::EventNote::Type type, std::string reason, std::string message) {
    events_.Record({.about = {.kind = "Node",
                              .api_version = "v1",
                              .ns = {},
                              .name = options_.node,
                              .uid = options_.node,  // as kubelets do, so that `describe` finds it
                              .version = {}},
                    .type = type,
                    .reason = std::move(reason),
                    .message = std::move(message)});
  }

  std::string StateFile() const { return options_.state_folder + "/gpu-health.json"; }
  std::string ReadState() const {
    if (options_.state_folder.empty()) return "";
    std::ostringstream text;
    text << std::ifstream(StateFile()).rdbuf();
    return text.str();
  }
  void WriteState(const std::string& text) {
    if (options_.state_folder.empty()) return;
    if (const Status written = os::WritePrivateFile(StateFile(), text); !written) {
      log_.Warning("errors of GPUs are not kept", {{"problem", written.error().message}});
    }
  }

  // ---- the Node
  void ReadNode() {
    client_.Start(kube::GetCall(PathOf(options_.node)),
                  [this, mailbox = mailbox_](kube::Reply reply) {
                    mailbox->Post([this, reply = std::move(reply)] { TakeNode(reply); });
                  });
  }

  void TakeNode(const kube::Reply& reply) {
    if (!reply) return Finish(reply);
    const NodeNotes node = ReadNodeNotes(*reply);
    if (HasOtherAgent(node) && !options_.take_over) {
      return Refuse("OtherAgent",
                    "another agent has registered the GPUs of this Node, such as HAMi's; remove "
                    "that one and start this one with --take-over");
    }
    if (const std::string obstacle = options_.obstacle(); !obstacle.empty()) {
      return Refuse("OtherDevicePlugin", obstacle);
    }
    facts_.identity = options_.identity();
    std::string patch = PatchToPublish(*machine(), facts_, node, clock_.Now());
    if (patch.empty()) return Finish(reply);
    client_.Start(PatchOf(options_.node, std::move(patch)),
                  [this, mailbox = mailbox_](kube::Reply answer) {
                    mailbox->Post([this, answer = std::move(answer)] { Finish(answer); });
                  });
  }

  void Refuse(const char* reason, const std::string& message) {
    Say(kube::EventNote::Type::kWarning, reason, message);
    kube::Failure failure;
    failure.error = {Code::kConflict, message};
    Finish(tl::unexpected(std::move(failure)));
  }

  void Finish(const kube::Reply& reply) {
    if (!reply) {
      log_.Warning("Node is not up to date, trying again",
                   {{"node", options_.node}, {"problem", reply.error().error.message}});
    }
    agenda_.Finish(reply.has_value(), Now());
    const MutexLock lock(mutex_);
    metrics_.CountPublication(reply.has_value());
    ready_ = reply.has_value();
  }

  kube::Client& client_;
  const Options options_;
  obs::Log& log_;
  const Clock& clock_;
  kube::EventRecorder events_;
  kube::Liveness liveness_{client_};
  // Shared with answers that come when nobody works any more.
  const std::shared_ptr<kube::Mailbox> mailbox_ = std::make_shared<kube::Mailbox>();
  AgentFacts facts_;
  PublishAgenda agenda_{kube::SystemRandom()};
  std::string away_;
  bool told_ = false;  // there was news of the driver, so that there is something to publish
  mutable Mutex mutex_;
  MachineView machine_ GUARDED_BY(mutex_) = std::make_shared<const Machine>();
  AgentMetrics metrics_ GUARDED_BY(mutex_);
  bool ready_ GUARDED_BY(mutex_) = false;
};

NodeAgent::NodeAgent(kube::Client& client, Options options, obs::Log& log, const Clock& clock)
    : impl_(std::make_unique<Impl>(client, std::move(options), log, clock)) {}
NodeAgent::~NodeAgent() = default;

Status NodeAgent::Run(const std::stop_token& stop) {
  return impl_->Run(stop);
}
MachineView NodeAgent::machine() const {
  return impl_->machine();
}
std::string NodeAgent::Metrics() const {
  return impl_->Metrics();
}
bool NodeAgent::IsReady() const {
  return impl_->IsReady();
}
std::string NodeAgent::LateThread() const {
  return impl_->LateThread();
}

Status Withdraw(kube::Client& client, const std::string& node) {
  const kube::Reply found = client.Do(kube::GetCall(PathOf(node)));
  if (!found) return tl::unexpected(found.error().error);
  std::string patch = PatchToWithdraw(ReadNodeNotes(*found));
  if (patch.empty()) return {};
  const kube::Reply written = client.Do(PatchOf(node, std::move(patch)));
  if (!written) return tl::unexpected(written.error().error);
  return {};
}

}  // namespace strata::agent
