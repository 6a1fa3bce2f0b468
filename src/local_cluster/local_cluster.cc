#include "local_cluster/local_cluster.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "component/component.h"
#include "component/debug_server.h"
#include "component/listen_address.h"
#include "controllers/controllers.h"
#include "kube/connection.h"
#include "live/live_scheduler.h"
#include "local_cluster/component_logs.h"
#include "local_cluster/embedded_api_server.h"
#include "local_cluster/manifests.h"
#include "local_cluster/next_steps.h"
#include "local_cluster/readiness.h"
#include "local_cluster/system_objects.h"
#include "obs/log.h"
#include "os/private_file.h"
#include "page/access.h"
#include "page/page_server.h"
#include "virtual_nodes/virtual_nodes.h"

namespace strata {
namespace {

// The verbosity of Volcano's chart: its debugging guides rely on the log lines of that level.
constexpr int kUsualVerbosity = 3;
// Shorter than the default of one second, so that a person at the terminal does not wait.
constexpr Duration kSchedulePeriod = std::chrono::milliseconds(100);

// One part of the cluster.
struct Part {
  const char* name;  // at most 15 characters: it is also the name of its thread
  obs::Log& log;
  std::string pages;  // address of its debug pages; "": none are served
  std::function<Component(kube::Client&, std::function<void()> ready)> make;
};

class LocalCluster {
 public:
  LocalCluster(const LocalClusterSettings& settings, std::vector<Manifest> manifests)
      : settings_(settings), manifests_(std::move(manifests)), server_(settings.server) {
    for (obs::Log* log : {&scheduler_log_, &controllers_log_, &nodes_log_}) {
      log->set_verbosity(settings.verbosity.value_or(kUsualVerbosity));
    }
  }

  Status Run() {
    apiserver::ApiServerOptions options;
    logs_.ServeBy(options, server_.loop());
    std::jthread manager;
    return server_.Run(
        std::move(options),
        {.serving =
             [&] {
               manager = std::jthread([this](const std::stop_token& stop) { RunParts(stop); });
             },
         .interrupted =
             [&] { manager.joinable() ? void(manager.request_stop()) : server_.End({}); }});
  }

 private:
  // Creates the initial objects and runs the parts. When `stop` is requested, ends the parts and
  // then the server.
  void RunParts(const std::stop_token& stop) {
    const Status created = CreateInitialObjects();
    if (!created) return server_.End(created);
    const std::vector<Part> parts = Parts();
    std::vector<std::jthread> threads;
    threads.reserve(parts.size());
    for (const Part& part : parts) {
      threads.emplace_back(
          [this, &part](const std::stop_token& end) { readiness_.HasEnded(RunPart(part, end)); });
    }
    if (readiness_.WaitForReady(static_cast<int>(parts.size()), stop)) {
      if (!page_url_.empty()) fmt::print(stderr, "page {}\n", page_url_);
      server_.PrintReady();
      PrintNextSteps();
    }
    const Status outcome = readiness_.WaitForFailure(stop);
    for (std::jthread& thread : threads) thread.request_stop();
    threads.clear();
    server_.End(outcome);
  }

  // Everything that runs beside the API server.
  std::vector<Part> Parts() {
    std::vector<Part> parts;
    parts.push_back(
        {"scheduler", scheduler_log_, settings_.scheduler_pages, [this](auto& client, auto ready) {
           return MakeScheduler(client, std::move(ready));
         }});
    parts.push_back(
        {"controllers",
         controllers_log_,
         settings_.controllers_pages,
         [this](auto& client, auto ready) { return MakeControllers(client, std::move(ready)); }});
    parts.push_back({"virtual-nodes", nodes_log_, "", [this](auto& client, auto ready) {
                       return MakeVirtualNodes(client, std::move(ready));
                     }});
    if (settings_.page.empty()) return parts;
    parts.push_back({"page", page_log_, "", [this](auto& client, auto ready) {
                       return MakePage(client, std::move(ready));
                     }});
    return parts;
  }

  Component MakeScheduler(kube::Client& client, std::function<void()> ready) {
    live::SchedulerOptions options;
    options.scheduler_names = {};
    options.conf_file = settings_.scheduler_conf;
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
    options.conf_file = settings_.controller_conf;
    options.scheduler_names = {};
    options.collect_garbage = true;
    options.keep_budgets = true;
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

  // Looks at the cluster when somebody opens it: what nobody looks at costs nothing.
  Component MakePage(kube::Client& client, std::function<void()> ready) {
    page::PageOptions options;
    const ListenAddress listen = ParseListenAddress(settings_.page).value();
    options.host = listen.host;
    options.port = listen.port;
    options.token = page::NewToken();
    options.facts = {.version = STRATA_VERSION, .cluster = server_.access().url};
    options.begin = page::PageOptions::Begin::kWhenAsked;
    options.listening = [this, ready = std::move(ready)](const std::string& url) {
      KeepPageUrl(url);
      ready();
    };
    return ComponentOf(
        std::make_shared<page::PageServer>(client, std::move(options), page_log_, clock_));
  }

  void KeepPageUrl(const std::string& url) {
    page_url_ = url;
    const std::string& kubeconfig = server_.kubeconfig();
    const std::size_t slash = kubeconfig.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : kubeconfig.substr(0, slash + 1);
    if (const Status written = os::WritePrivateFile(folder + "page", url + "\n"); !written) {
      page_log_.Warning("the URL of the page is not in its file",
                        {{"err", written.error().message}});
    }
  }

  Status RunPart(const Part& part, const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), part.name);  // for top -H and tools/bench_live.py
    TRY_ASSIGN(const std::unique_ptr<kube::Connection> connection,
               Connect(fmt::format("strata-{}", part.name)));
    const Component component = part.make(connection->client(), [this] { readiness_.IsReady(); });
    TRY_ASSIGN(const std::unique_ptr<DebugServer> debug_server,
               DebugServer::Start(part.pages, component, part.log));
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

  Status CreateInitialObjects() {
    TRY_ASSIGN(const std::unique_ptr<kube::Connection> connection, Connect("strata-up"));
    kube::Client& client = connection->client();
    TRY(CreateSystemObjects(client, clock_.Now()));
    if (settings_.generate) TRY(CreateGenerated(client, *settings_.generate, clock_.Now()));
    return ApplyManifests(client, manifests_, settings_.on_fault);
  }

  void PrintNextSteps() const {
    if (isatty(STDERR_FILENO) == 0) return;
    // A data folder may have nodes.
    const bool empty =
        !settings_.generate && manifests_.empty() && settings_.server.data_dir.empty();
    fmt::print(
        stderr,
        "{}",
        NextSteps(server_.kubeconfig(), empty ? ClusterNodes::kNone : ClusterNodes::kPerhaps));
  }

  std::vector<obs::LogSink*> SinksOf(const char* pod) {
    std::vector<obs::LogSink*> sinks = {&logs_.Of(pod)};
    if (settings_.verbosity) sinks.push_back(&standard_error_);
    return sinks;
  }

  const LocalClusterSettings& settings_;
  const std::vector<Manifest> manifests_;
  const Clock& clock_ = kube::SystemClock();
  obs::StandardErrorSink standard_error_;
  ComponentLogs logs_;
  obs::Log scheduler_log_{"scheduler", clock_, SinksOf(kSchedulerPod)};
  obs::Log controllers_log_{"controllers", clock_, SinksOf(kControllersPod)};
  obs::Log page_log_{"page", clock_, {&standard_error_}};
  obs::Log nodes_log_{"virtual-nodes", clock_, {&standard_error_}};
  std::string page_url_;  // set before its part is ready, read afterwards
  Readiness readiness_;
  EmbeddedApiServer server_;
};

}  // namespace

Status RunLocalCluster(const LocalClusterSettings& settings) {
  TRY_ASSIGN(Manifests manifests, ReadManifests(settings.files, settings.on_fault));
  for (const std::string& fault : manifests.faults) fmt::print(stderr, "warning: {}\n", fault);
  return LocalCluster(settings, std::move(manifests.all)).Run();
}

}  // namespace strata
