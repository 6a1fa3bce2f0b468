#include "page/page_server.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kube/liveness.h"
#include "kube/mailbox.h"
#include "live/cluster_watch.h"
#include "live/conf_change.h"
#include "net/event_loop.h"
#include "net/gzip.h"
#include "net/http_server.h"
#include "obs/metric_families.h"
#include "page/access.h"
#include "page/pictures.h"
#include "page/responses.h"
#include "page/routes.h"
#include "page/stream.h"
#include "whatif/cluster.h"

namespace strata::page {
namespace {

constexpr Duration kBetweenChanges = std::chrono::milliseconds(250);
constexpr Duration kIdle = std::chrono::seconds(1);
// How long a question waits for the cluster to be seen.
constexpr Duration kPatience = std::chrono::seconds(10);
constexpr Duration kLate = std::chrono::minutes(1);
// The streams of some hundred tabs.
constexpr std::size_t kMaxConnections = 1024;
constexpr std::size_t kMaxBody = 65536;

net::HttpResponse ResponseTo(Result<std::string> answer) {
  if (answer) return JsonResponse(*std::move(answer));
  const Error& error = answer.error();
  return error.code == Code::kNotFound ? ErrorResponse(404, "NotFound", error.message)
                                       : ErrorResponse(400, "BadRequest", error.message);
}

net::HttpResponse NoSuchPath(const std::string& path) {
  return ErrorResponse(404, "NotFound", fmt::format("there is nothing at {}", path));
}

net::HttpResponse NotSeenYet() {
  net::HttpResponse response =
      ErrorResponse(503, "ServiceUnavailable", "the cluster has not been seen yet; try again");
  response.headers.push_back({"Retry-After", "1"});
  return response;
}

// A question that the thread of Run answers.
struct Question {
  Route route;
  std::string query;
  std::string known;  // If-None-Match
  bool takes_gzip = false;
};

// One that came before the cluster was seen.
struct EarlyQuestion {
  std::uint64_t number = 0;
  net::SteadyTime until;
  Question question;
};

}  // namespace

class PageServer::Impl {
 public:
  Impl(kube::Client& client, PageOptions options, obs::Log& log, const Clock& clock)
      : client_(client),
        options_(std::move(options)),
        log_(log),
        clock_(clock),
        watch_(client, feed_, log, mailbox_, options_.random),
        config_(DefaultSchedulerConfig()),
        pictures_(clock.Now().time_since_epoch().count()) {}

  Status Run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { mailbox_->Wake(); });
    TRY(Listen());
    std::thread connections([this] {
      pthread_setname_np(pthread_self(), "page-http");
      loop_.Run();
    });
    if (options_.listening) options_.listening(Url());
    watch_.FollowGroups([this](const objects::PodGroup&) { is_dirty_ = true; });
    is_wanted_ = is_wanted_ || options_.begin == PageOptions::Begin::kAtOnce;
    while (!stop.stop_requested()) Step();
    watch_.Stop();
    loop_.Post([this] {
      waiting_.clear();
      server_.reset();
      loop_.Stop();
    });
    connections.join();
    return {};
  }

  [[nodiscard]] std::string Metrics() const {
    prometheus::MetricFamily viewers =
        obs::GaugeFamily("strata_page_viewers", "Open streams of changes");
    obs::AddSample(viewers, {}, static_cast<double>(stream_.viewers()));
    prometheus::MetricFamily revisions =
        obs::CounterFamily("strata_page_revisions_total", "Pictures of the cluster that were made");
    obs::AddSample(revisions, {}, static_cast<double>(revisions_));
    prometheus::MetricFamily answers =
        obs::CounterFamily("strata_page_answers_total", "Answers about the cluster");
    obs::AddSample(answers, {}, static_cast<double>(answers_));
    return obs::MetricsText({viewers, revisions, answers});
  }
  [[nodiscard]] bool IsReady() const { return !is_wanted_ || watch_.current(); }
  [[nodiscard]] std::string LateThread() const { return liveness_->LateThread(); }

 private:
  // ---- on the thread of connections

  Status Listen() {
    net::HttpServerOptions http;
    http.host = options_.host;
    http.port = options_.port;
    http.max_body_bytes = kMaxBody;
    http.max_connections = kMaxConnections;
    http.check_head = CheckAccess(options_.token);
    http.refusal = Refusal;
    TRY_ASSIGN(server_,
               net::HttpServer::Listen(
                   loop_, std::move(http), [this](std::shared_ptr<net::Exchange> exchange) {
                     Answer(std::move(exchange));
                   }));
    port_ = server_->port();
    return {};
  }

  void Answer(std::shared_ptr<net::Exchange> exchange) {
    const net::HttpRequest& request = exchange->request();
    if (request.method != "GET") {
      return Send(*exchange, ErrorResponse(405, "MethodNotAllowed", "want GET"));
    }
    Route route = FindRoute(request.path);
    if (route.kind == Route::Kind::kUnknown) return Send(*exchange, NoSuchPath(request.path));
    if (route.kind == Route::Kind::kFile) {
      const page_files::PageFile* file = FindPageFile(request.path);
      return Send(*exchange, file != nullptr ? FileResponse(*file) : NoSuchPath(request.path));
    }
    is_wanted_ = true;
    if (route.kind == Route::Kind::kEvents) return OpenStream(exchange);
    Question question{.route = std::move(route),
                      .query = request.query,
                      .known = std::string(request.HeaderValue("If-None-Match")),
                      .takes_gzip = net::AcceptsGzip(request)};
    const std::uint64_t number = ++last_question_;
    waiting_.emplace(number, std::move(exchange));
    mailbox_->Post([this, number, question = std::move(question)] {
      if (has_begun_) return TellAnswer(number, AnswerQuestion(question));
      early_.push_back({number, Now() + kPatience, question});
    });
  }

  void OpenStream(const std::shared_ptr<net::Exchange>& exchange) {
    const auto start = ReadStreamStart(exchange->request().query);
    if (!start) return Send(*exchange, ErrorResponse(400, "BadRequest", start.error().message));
    if (!has_seen_) return Send(*exchange, NotSeenYet());
    stream_.Open(exchange, start->epoch, start->revision);
  }

  // ---- on the thread of Run

  void Step() {
    heartbeat_->End();
    const std::vector<kube::Mailbox::Letter> letters = mailbox_->Wait(TimeToSleep());
    heartbeat_->Begin(Now());
    if (is_wanted_ && !std::exchange(has_started_, true)) {
      watch_.Start([this](const kube::Delta& delta) { FollowConf(delta); }, options_.conf_map);
    }
    if (has_started_) watch_.TakeDeltas();
    for (const kube::Mailbox::Letter& letter : letters) letter();
    if (!has_begun_) return Begin();
    if (stream_.viewers() > 0 && IsDirty() && Now() >= next_change_) Look();
  }

  // Makes the first picture once the cluster has been seen.
  void Begin() {
    if (!watch_.synced()) return GiveUpQuestions();
    has_begun_ = true;
    Look();
    has_seen_ = true;
    for (const EarlyQuestion& early : std::exchange(early_, {})) {
      TellAnswer(early.number, AnswerQuestion(early.question));
    }
    log_.Info("ready", {{"port", port_}});
    if (options_.ready) options_.ready(Url());
  }

  void GiveUpQuestions() {
    while (!early_.empty() && early_.front().until <= Now()) {
      TellAnswer(early_.front().number, NotSeenYet());
      early_.pop_front();
    }
  }

  [[nodiscard]] std::string Url() const {
    const std::string fragment = options_.token.empty() ? "" : "#token=" + options_.token;
    const bool is_ipv6 = options_.host.find(':') != std::string::npos;
    const std::string host = is_ipv6 ? "[" + options_.host + "]" : options_.host;
    return fmt::format("http://{}:{}/{}", host, port_, fragment);
  }

  [[nodiscard]] Duration TimeToSleep() const {
    if (stream_.viewers() == 0 || !IsDirty()) return kIdle;
    const auto left = std::chrono::duration_cast<Duration>(next_change_ - Now());
    return std::clamp(left + Duration(1), Duration(0), kIdle);
  }

  [[nodiscard]] net::SteadyTime Now() const { return client_.reads().Now(); }
  [[nodiscard]] bool IsDirty() const { return is_dirty_ || feed_.version() != seen_; }

  void FollowConf(const kube::Delta& delta) {
    if (delta.type != kube::Delta::Type::kDeleted && delta.text.empty()) return;
    live::ConfChange change = live::ChangeByConfMap(delta);
    if (change.conf) config_ = std::move(change.conf->config);
  }

  // Makes the next picture, if there is something new, and tells viewers.
  void Look() {
    std::vector<std::string> problems;
    feed_.Settle(problems);
    for (const std::string& problem : problems) {
      log_.Warning("object skipped", {{"err", problem}});
    }
    seen_ = feed_.version();
    is_dirty_ = false;
    next_change_ = Now() + kBetweenChanges;
    Pictures::Update update = pictures_.Follow(feed_, clock_.Now());
    if (update.kind == Pictures::Update::Kind::kNothing) return;
    ++revisions_;
    loop_.Post([this, stamp = pictures_.stamp(), update = std::move(update)] {
      if (update.kind == Pictures::Update::Kind::kEpoch) {
        stream_.Begin(stamp.epoch, stamp.revision);
      } else {
        stream_.Add(stamp.revision, update.change);
      }
    });
  }

  net::HttpResponse AnswerQuestion(const Question& question) {
    ++answers_;
    // Viewers' pictures follow at their pace; a question is about what is there now.
    if (IsDirty()) Look();
    switch (question.route.kind) {
      case Route::Kind::kHello:
        return JsonResponse(AnswerHello(options_.facts, config_, state_));
      case Route::Kind::kCluster:
        return AnswerCluster(question);
      case Route::Kind::kQueues:
        return JsonResponse(AnswerQueues(feed_, config_));
      case Route::Kind::kJob:
        return ResponseTo(AnswerJob(feed_, question.route.names[0], question.route.names[1]));
      case Route::Kind::kNode:
        return ResponseTo(AnswerNode(feed_, question.route.names[0]));
      default:
        return AnswerFits(question);
    }
  }

  net::HttpResponse AnswerCluster(const Question& question) {
    const std::string tag = EntityTag(pictures_.stamp());
    if (question.known == tag) {
      net::HttpResponse same = JsonResponse("");
      same.status = 304;
      same.headers.push_back({"ETag", tag});
      return same;
    }
    const auto text = pictures_.Cluster();
    net::HttpResponse response = JsonResponse(question.takes_gzip ? text->gzipped : text->plain);
    response.headers.push_back({"ETag", tag});
    response.headers.push_back({"Vary", "Accept-Encoding"});
    if (question.takes_gzip) response.headers.push_back({"Content-Encoding", "gzip"});
    return response;
  }

  net::HttpResponse AnswerFits(const Question& question) {
    auto shape = ReadShape(question.query);
    if (!shape) return ResponseTo(std::move(shape));
    return ResponseTo(AnswerFit(state_, pictures_.columns(), pictures_.stamp(), *shape));
  }

  void TellAnswer(std::uint64_t number, net::HttpResponse response) {
    loop_.Post([this, number, response = std::move(response)]() mutable {
      const auto found = waiting_.extract(number);
      if (!found.empty()) Send(*found.mapped(), std::move(response));
    });
  }

  kube::Client& client_;
  const PageOptions options_;
  obs::Log& log_;
  const Clock& clock_;
  const std::shared_ptr<kube::Mailbox> mailbox_ = std::make_shared<kube::Mailbox>();
  const std::unique_ptr<kube::Liveness> liveness_ = std::make_unique<kube::Liveness>(client_);
  const std::shared_ptr<kube::Heartbeat> heartbeat_ = liveness_->Add("page", kLate);

  ClusterState state_;
  ClusterFeed feed_{state_, IsOurs};
  live::ClusterWatch watch_;
  SchedulerConfig config_;
  Pictures pictures_;
  std::uint64_t seen_ = 0;               // ClusterFeed::version of the last picture
  bool is_dirty_ = true;                 // something changed that the version does not show
  std::atomic<bool> is_wanted_ = false;  // somebody has asked, or it begins at once
  bool has_started_ = false;
  bool has_begun_ = false;
  std::deque<EarlyQuestion> early_;
  net::SteadyTime next_change_{};
  std::atomic<bool> has_seen_ = false;
  std::atomic<std::uint64_t> revisions_ = 0;
  std::atomic<std::uint64_t> answers_ = 0;

  net::EventLoop loop_;
  Stream stream_{loop_, [mailbox = mailbox_] { mailbox->Wake(); }};
  std::uint64_t last_question_ = 0;
  std::map<std::uint64_t, std::shared_ptr<net::Exchange>> waiting_;
  std::unique_ptr<net::HttpServer> server_;
  std::uint16_t port_ = 0;
};

PageServer::PageServer(kube::Client& client, PageOptions options, obs::Log& log, const Clock& clock)
    : impl_(std::make_unique<Impl>(client, std::move(options), log, clock)) {}
PageServer::~PageServer() = default;

Status PageServer::Run(const std::stop_token& stop) {
  return impl_->Run(stop);
}
std::string PageServer::Metrics() const {
  return impl_->Metrics();
}
bool PageServer::IsReady() const {
  return impl_->IsReady();
}
std::string PageServer::LateThread() const {
  return impl_->LateThread();
}

}  // namespace strata::page
