#include "apps/up.h"

#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "apps/attendant.h"
#include "apps/component.h"
#include "apps/component_logs.h"
#include "apps/embedded_api_server.h"
#include "apps/manifests.h"
#include "apps/system_objects.h"
#include "controllers/controllers.h"
#include "kube/connection.h"
#include "live/live_scheduler.h"
#include "obs/log.h"
#include "virtual_nodes/virtual_nodes.h"

namespace strata {
namespace {

// What Volcano's chart runs its components with: its debugging guides count on these lines.
constexpr int kUsualVerbosity = 3;
// Nobody wants to wait a second for an answer on their own machine.
constexpr Duration kSchedulePeriod = std::chrono::milliseconds(100);

// What happens to the parts: who is ready, and whether one gave up.
class Readiness {
 public:
  void IsReady() {
    const std::lock_guard lock(mutex_);
    ++ready_;
    changed_.notify_all();
  }
  void HasEnded(const Status& outcome) {
    const std::lock_guard lock(mutex_);
    if (!outcome && outcome_) outcome_ = outcome;
    changed_.notify_all();
  }
  // True when so many are ready; false when one has failed or the wait was stopped.
  bool WaitForReady(int parts, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return ready_ >= parts || !outcome_; });
    return ready_ >= parts && outcome_;
  }
  // Returns when one has failed or the wait was stopped: what went wrong, if anything.
  Status WaitForFailure(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return !outcome_; });
    return outcome_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int ready_ = 0;
  Status outcome_;
};

// One part of the cluster.
struct Part {
  const char* name;  // 15 characters at most: also of its thread
  obs::Log& log;
  std::string pages;  // where its pages are; "": nowhere
  std::function<Component(kube::Client&, std::function<void()> ready)> make;
};

class Cluster {
 public:
  Cluster(const UpFlags& flags, std::vector<Manifest> manifests)
      : flags_(flags), manifests_(std::move(manifests)), server_(flags.server) {
    for (obs::Log* log : {&scheduler_log_, &controllers_log_, &nodes_log_}) {
      log->set_verbosity(flags.verbosity.value_or(kUsualVerbosity));
    }
  }

  Status Run() {
    apiserver::ApiServerOptions options;
    logs_.ShowBy(options, server_.loop());
    std::jthread director;
    return server_.Run(
        std::move(options),
        {.serving =
             [&] {
               director = std::jthread([this](const std::stop_token& stop) { Direct(stop); });
             },
         .interrupted =
             [&] { director.joinable() ? void(director.request_stop()) : server_.End({}); }});
  }

 private:
  // Fills the cluster, runs its parts and, when it is asked to stop, ends them before the server.
  void Direct(const std::stop_token& stop) {
    const Status filled = Fill();
    if (!filled) return server_.End(filled);
    const std::vector<Part> parts = Parts();
    std::vector<std::jthread> threads;
    threads.reserve(parts.size());
    for (const Part& part : parts) {
      threads.emplace_back(
          [this, &part](const std::stop_token& end) { readiness_.HasEnded(RunPart(part, end)); });
    }
    if (readiness_.WaitForReady(static_cast<int>(parts.size()), stop)) {
      server_.PrintReady();
      ShowTheWay();
    }
    const Status outcome = readiness_.WaitForFailure(stop);
    for (std::jthread& thread : threads) thread.request_stop();
    threads.clear();
    server_.End(outcome);
  }

  // The one list of what runs beside the API server.
  std::vector<Part> Parts() {
    std::vector<Part> parts;
    parts.push_back(
        {"scheduler", scheduler_log_, flags_.scheduler_pages, [this](auto& client, auto ready) {
           return MakeScheduler(client, std::move(ready));
         }});
    parts.push_back(
        {"controllers",
         controllers_log_,
         flags_.controllers_pages,
         [this](auto& client, auto ready) { return MakeControllers(client, std::move(ready)); }});
    parts.push_back({"virtual-nodes", nodes_log_, "", [this](auto& client, auto ready) {
                       return MakeVirtualNodes(client, std::move(ready));
                     }});
    return parts;
  }

  Component MakeScheduler(kube::Client& client, std::function<void()> ready) {
    live::SchedulerOptions options;
    options.scheduler_names = {};
    options.conf_file = flags_.scheduler_conf;
    options.schedule_period = kSchedulePeriod;
    options.ready = std::move(ready);
    const auto made =
        std::make_shared<live::LiveScheduler>(client, std::move(options), scheduler_log_, clock_);
    Component component = ComponentOf(made);
    component.dump = [made] { made->DumpCache(live::DumpForm::kText); };
    component.snapshot = [made] { made->DumpCache(live::DumpForm::kJson); };
    return component;
  }

  Component MakeControllers(kube::Client& client, std::function<void()> ready) {
    controllers::ControllersOptions options;
    options.conf_file = flags_.controller_conf;
    options.scheduler_names = {};
    options.collect_garbage = true;
    options.ready = std::move(ready);
    return ComponentOf(std::make_shared<controllers::Controllers>(
        client, std::move(options), controllers_log_, clock_));
  }

  Component MakeVirtualNodes(kube::Client& client, std::function<void()> ready) {
    virtual_nodes::Options options;
    options.reach = virtual_nodes::Reach::kEvery;
    options.ready = std::move(ready);
    const auto made = std::make_shared<virtual_nodes::VirtualNodes>(
        client, std::move(options), nodes_log_, clock_);
    return {.run = [made](const std::stop_token& stop) { return made->Run(stop); },
            .metrics = {},
            .ready = {},
            .dump = {}};
  }

  Status RunPart(const Part& part, const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), part.name);  // for top -H and tools/bench_live.py
    TRY_ASSIGN(const std::unique_ptr<kube::Connection> connection,
               Connect(fmt::format("strata-{}", part.name)));
    const Component component = part.make(connection->client(), [this] { readiness_.IsReady(); });
    TRY_ASSIGN(const std::unique_ptr<Attendant> attendant,
               Attendant::Start(part.pages, component, part.log));
    return component.run(stop);
  }

  Result<std::unique_ptr<kube::Connection>> Connect(const std::string& name) {
    kube::ConnectionConfig config;
    config.cluster.server = server_.access().url;
    config.cluster.ca.text = server_.access().ca_pem;
    config.user.token.text = server_.access().token;
    config.origin = "this process";
    kube::ConnectionOptions options;
    options.user_agent = name;
    return kube::Connection::Open(config, options, kube::SystemSurroundings());
  }

  Status Fill() {
    TRY_ASSIGN(const std::unique_ptr<kube::Connection> connection, Connect("strata-up"));
    kube::Client& client = connection->client();
    TRY(MakeSystemObjects(client, clock_.Now()));
    if (flags_.generate) TRY(CreateGenerated(client, *flags_.generate, clock_.Now()));
    return ApplyManifests(client, manifests_);
  }

  void ShowTheWay() const {
    if (isatty(STDERR_FILENO) == 0) return;
    fmt::print(stderr,
               R"(
The cluster is up. In another terminal:

  export KUBECONFIG={}
  kubectl get nodes,hypernodes
  kubectl apply -f examples/training/job.yaml
  kubectl get vcjob,podgroups,pods -o wide
  kubectl logs -n volcano-system -l app=volcano-scheduler

Ctrl-C ends it.
)",
               server_.kubeconfig());
  }

  std::vector<obs::LogSink*> SinksOf(const char* pod) {
    std::vector<obs::LogSink*> sinks = {&logs_.Of(pod)};
    if (flags_.verbosity) sinks.push_back(&standard_error_);
    return sinks;
  }

  const UpFlags& flags_;
  const std::vector<Manifest> manifests_;
  const Clock& clock_ = kube::SystemClock();
  obs::StandardErrorSink standard_error_;
  ComponentLogs logs_;
  obs::Log scheduler_log_{"scheduler", clock_, SinksOf(kSchedulerPod)};
  obs::Log controllers_log_{"controllers", clock_, SinksOf(kControllersPod)};
  obs::Log nodes_log_{"virtual-nodes", clock_, {&standard_error_}};
  Readiness readiness_;
  EmbeddedApiServer server_;
};

}  // namespace

Status RunCluster(const UpFlags& flags) {
  TRY_ASSIGN(std::vector<Manifest> manifests, ReadManifests(flags.files));
  return Cluster(flags, std::move(manifests)).Run();
}

}  // namespace strata
