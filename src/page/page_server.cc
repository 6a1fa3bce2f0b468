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
#include <nlohmann/json.hpp>

#include "base/mutex.h"
#include "json/dump.h"
#include "json/parse.h"
#include "kube/liveness.h"
#include "kube/mailbox.h"
#include "live/cluster_watch.h"
#include "live/conf_change.h"
#include "net/event_loop.h"
#include "net/gzip.h"
#include "net/http_server.h"
#include "obs/metric_families.h"
#include "page/access.h"
#include "page/audience.h"
#include "page/history.h"
#include "page/pictures.h"
#include "page/responses.h"
#include "page/reviewer.h"
#include "page/routes.h"
#include "page/scope.h"
#include "page/stories.h"
#include "page/story_json.h"
#include "page/stream.h"
#include "page/worker.h"
#include "report/gpu_sums.h"
#include "whatif/cluster.h"

namespace strata::page {
namespace {

constexpr Duration kBetweenChanges = std::chrono::milliseconds(250);
// While nobody looks, the history and the metrics follow.
constexpr Duration kUnwatched = std::chrono::seconds(5);
constexpr Duration kIdle = std::chrono::seconds(1);
// How long a question waits for the cluster to be seen.
constexpr Duration kPatience = std::chrono::seconds(10);
constexpr Duration kLate = std::chrono::minutes(1);
// The streams of some hundred tabs.
constexpr std::size_t kMaxConnections = 1024;
constexpr std::size_t kMaxBody = 65536;
constexpr Duration kAskAgain = std::chrono::minutes(1);
// Groups of viewers who see the same; one that nobody asks for goes after kAudienceKept.
constexpr std::size_t kMaxAudiences = 64;
constexpr Duration kAudienceKept = std::chrono::minutes(2);
// What-if of one user in a minute.
constexpr std::size_t kTriesPerMinute = 10;
constexpr std::size_t kTriesWaiting = 32;
// How long a copy of all objects is kept for the next question.
constexpr Duration kCaseKept = std::chrono::seconds(10);

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

net::HttpResponse TooMany(const std::string& message) {
  net::HttpResponse response = ErrorResponse(429, "TooManyRequests", message);
  response.headers.push_back({"Retry-After", "10"});
  return response;
}

net::HttpResponse NotForYou(const std::string& message) {
  return ErrorResponse(403, "Forbidden", message);
}

net::HttpResponse ResponseTo(const Permit& permit) {
  switch (permit.kind) {
    case Permit::Kind::kUnknown:
      return ErrorResponse(401, "Unauthorized", "Unauthorized: " + permit.message);
    case Permit::Kind::kForbidden:
      return NotForYou(permit.message);
    default:
      return ErrorResponse(
          503, "ServiceUnavailable", "the API server cannot be asked: " + permit.message);
  }
}

std::string BearerOf(const net::HttpRequest& request) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view header = request.HeaderValue("Authorization");
  return header.starts_with(kBearer) ? std::string(header.substr(kBearer.size())) : "";
}

// A document without the names that are not in scope.
std::string Hidden(std::string text, const Scope& scope, const Namespaces& known) {
  if (scope.everything) return text;
  nlohmann::ordered_json document = ParseOrderedJsonOrNull(text);
  HideNames(document, scope, known);
  return DumpJson(document) + "\n";
}

// A question that the thread of Run answers.
struct Question {
  std::uint64_t number = 0;
  Route route;
  std::string query;
  std::string known;  // If-None-Match
  bool takes_gzip = false;
  std::string token;
  std::string body;
};

// One that came before the cluster was seen.
struct EarlyQuestion {
  net::SteadyTime until;
  Question question;
};

// A stream whose viewer is asked about again.
struct Watched {
  std::string token;
  Namespaces namespaces;
  Permit permit;
  std::weak_ptr<Ticket> ticket;
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
        pictures_(clock.Now().time_since_epoch().count()) {
    if (options_.access == PageOptions::Access::kKubernetes) {
      reviewer_ = std::make_unique<Reviewer>(client_, mailbox_);
    }
  }

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
    obs::AddSample(viewers, {}, static_cast<double>(viewers_));
    prometheus::MetricFamily revisions =
        obs::CounterFamily("strata_page_revisions_total", "Pictures of the cluster that were made");
    obs::AddSample(revisions, {}, static_cast<double>(revisions_));
    prometheus::MetricFamily answers =
        obs::CounterFamily("strata_page_answers_total", "Answers about the cluster");
    obs::AddSample(answers, {}, static_cast<double>(answers_));
    prometheus::MetricFamily gangs =
        obs::GaugeFamily("strata_largest_gang_pods",
                         "Pods of the usual shape that fit into one HyperNode of the tier");
    prometheus::MetricFamily stranded = obs::GaugeFamily(
        "strata_stranded_gpus", "Free GPUs of nodes of which other GPUs are in use");
    {
      const MutexLock lock(gauges_mutex_);
      for (const auto& [tier, pods] : gangs_) {
        obs::AddSample(gangs, {{"tier", tier}}, static_cast<double>(pods));
      }
      if (!gangs_.empty()) obs::AddSample(stranded, {}, static_cast<double>(stranded_));
    }
    return obs::MetricsText({viewers, revisions, answers, gangs, stranded});
  }
  [[nodiscard]] bool IsReady() const { return !is_wanted_ || watch_.current(); }
  [[nodiscard]] std::string LateThread() const { return liveness_->LateThread(); }

 private:
  // ---- on the thread of connections

  Status Listen() {
    net::HttpServerOptions http;
    http.host = options_.host;
    http.port = options_.port;
    http.certificate = options_.certificate;
    http.max_body_bytes = kMaxBody;
    http.max_connections = kMaxConnections;
    http.check_head = reviewer_ ? CheckAccessByReview() : CheckAccess(options_.token);
    http.refusal = Refusal;
    TRY_ASSIGN(server_,
               net::HttpServer::Listen(
                   loop_, std::move(http), [this](std::shared_ptr<net::Exchange> exchange) {
                     Answer(std::move(exchange));
                   }));
    port_ = server_->port();
    AddStream("");
    return {};
  }

  void Answer(std::shared_ptr<net::Exchange> exchange) {
    const net::HttpRequest& request = exchange->request();
    Route route = FindRoute(request.path);
    const bool is_post = route.kind == Route::Kind::kWhatIf;
    if (request.method != (is_post ? "POST" : "GET")) {
      return Send(*exchange,
                  ErrorResponse(405, "MethodNotAllowed", is_post ? "want POST" : "want GET"));
    }
    if (is_post && !request.HeaderValue("Content-Type").starts_with("application/json")) {
      return Send(*exchange,
                  ErrorResponse(415, "UnsupportedMediaType", "want Content-Type application/json"));
    }
    if (route.kind == Route::Kind::kUnknown) return Send(*exchange, NoSuchPath(request.path));
    if (route.kind == Route::Kind::kFile) {
      const page_files::PageFile* file = FindPageFile(request.path);
      return Send(*exchange, file != nullptr ? FileResponse(*file) : NoSuchPath(request.path));
    }
    is_wanted_ = true;
    Question question{.number = ++last_question_,
                      .route = std::move(route),
                      .query = request.query,
                      .known = std::string(request.HeaderValue("If-None-Match")),
                      .takes_gzip = net::AcceptsGzip(request),
                      .token = reviewer_ ? BearerOf(request) : "",
                      .body = request.body};
    waiting_.emplace(question.number, std::move(exchange));
    mailbox_->Post([this, question = std::move(question)] {
      if (has_begun_) return Admit(question);
      early_.push_back({Now() + kPatience, question});
    });
  }

  // Viewers who see the same share a stream.
  Stream& AddStream(const std::string& key) {
    std::unique_ptr<Stream>& stream = streams_[key];
    if (!stream) stream = std::make_unique<Stream>(loop_, [this] { CountViewers(); });
    return *stream;
  }

  void CountViewers() {
    std::size_t viewers = 0;
    for (const auto& [key, stream] : streams_) viewers += stream->viewers();
    if (viewers_.exchange(viewers) < viewers) mailbox_->Wake();
  }

  void OpenStream(std::uint64_t number,
                  const std::string& key,
                  const StreamStart& start,
                  std::shared_ptr<const Ticket> ticket) {
    const auto found = waiting_.extract(number);
    if (found.empty()) return;
    const auto stream = streams_.find(key);
    if (stream == streams_.end()) return Send(*found.mapped(), NotSeenYet());
    stream->second->Open(found.mapped(), start.epoch, start.revision, std::move(ticket));
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
    if (IsDirty() && Now() >= NextLook()) Look();
    if (history_.IsDue(clock_.Now())) NoteHistory();
    stories_.Tidy(Now());
    if (case_ && Now() - case_used_ > kCaseKept) case_.reset();
    if (reviewer_ && Now() >= next_review_) ReviewAgain();
  }

  // Makes the first picture once the cluster has been seen.
  void Begin() {
    if (!watch_.synced()) return GiveUpQuestions();
    has_begun_ = true;
    Look();
    for (const EarlyQuestion& early : std::exchange(early_, {})) Admit(early.question);
    log_.Info("ready", {{"port", port_}});
    if (options_.ready) options_.ready(Url());
  }

  void GiveUpQuestions() {
    while (!early_.empty() && early_.front().until <= Now()) {
      TellAnswer(early_.front().question.number, NotSeenYet());
      early_.pop_front();
    }
  }

  [[nodiscard]] std::string Url() const {
    const std::string fragment = options_.token.empty() ? "" : "#token=" + options_.token;
    const bool is_ipv6 = options_.host.find(':') != std::string::npos;
    const std::string host = is_ipv6 ? "[" + options_.host + "]" : options_.host;
    return fmt::format(
        "{}://{}:{}/{}", options_.certificate ? "https" : "http", host, port_, fragment);
  }

  [[nodiscard]] net::SteadyTime NextLook() const {
    return last_look_ + (viewers_ > 0 ? kBetweenChanges : kUnwatched);
  }

  [[nodiscard]] Duration TimeToSleep() const {
    if (!has_begun_ || !IsDirty()) return kIdle;
    const auto left = std::chrono::duration_cast<Duration>(NextLook() - Now());
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
    last_look_ = Now();
    Pictures::Update update = pictures_.Follow(feed_, clock_.Now());
    if (update.kind == Pictures::Update::Kind::kNothing) return;
    ++revisions_;
    NoteHistory();
    TellViewers("", update);
    if (audiences_.empty()) return;
    FindNamespaces();
    for (auto& [key, audience] : audiences_) {
      update.change =
          audience->Follow(pictures_.columns(), pictures_.stamp(), namespaces_, update.kind);
      TellViewers(key, update);
    }
  }

  void TellViewers(const std::string& key, const Pictures::Update& update) {
    loop_.Post([this, key, stamp = pictures_.stamp(), update] {
      Stream& stream = AddStream(key);
      if (update.kind == Pictures::Update::Kind::kEpoch) {
        stream.Begin(stamp.epoch, stamp.revision);
      } else {
        stream.Add(stamp.revision, update.change);
      }
      CountViewers();
    });
  }

  // What the pictures of the past and the metrics show.
  void NoteHistory() {
    const GpuSums sums = SumGpus(state_);
    history_.Note(pictures_.columns(), pictures_.stamp(), sums, clock_.Now());
    const MutexLock lock(gauges_mutex_);
    gangs_.clear();
    const auto& tiers = pictures_.columns().tiers;
    for (std::size_t i = 0; i < tiers.size(); ++i) {
      const bool is_whole = i + 1 == tiers.size();
      gangs_.emplace_back(is_whole ? "cluster" : std::to_string(tiers[i].tier), tiers[i].pods);
    }
    stranded_ = sums.stranded;
  }

  // ---- who asks

  void Admit(const Question& question) {
    if (!reviewer_) return Ask(question, Permit{Permit::Kind::kGranted, {}, ""}, {});
    auto namespaces = ReadNamespaces(question.query);
    if (!namespaces) {
      return TellAnswer(question.number,
                        ResponseTo(Fail(namespaces.error().code, namespaces.error().message)));
    }
    reviewer_->Ask(
        question.token, *namespaces, [this, question, named = *namespaces](const Permit& permit) {
          if (permit.kind != Permit::Kind::kGranted) {
            return TellAnswer(question.number, ResponseTo(permit));
          }
          Ask(question, permit, named);
        });
  }

  void Ask(const Question& question, const Permit& permit, const Namespaces& named) {
    const Viewer& viewer = permit.viewer;
    // Viewers' pictures follow at their pace; a question is about what is there now.
    if (IsDirty()) Look();
    if (!viewer.scope.everything && AudienceOf(viewer.scope) == nullptr) {
      return TellAnswer(question.number, TooMany("too many different users look at the page"));
    }
    if (question.route.kind == Route::Kind::kEvents) return Follow(question, permit, named);
    ++answers_;
    if (question.route.kind == Route::Kind::kWhatIf) return AnswerTry(question, viewer);
    TellAnswer(question.number, AnswerQuestion(question, viewer));
  }

  void Follow(const Question& question, const Permit& permit, const Namespaces& named) {
    const auto start = ReadStreamStart(question.query);
    if (!start) {
      return TellAnswer(question.number, ErrorResponse(400, "BadRequest", start.error().message));
    }
    const auto ticket = std::make_shared<Ticket>();
    if (reviewer_) watched_.push_back({question.token, named, permit, ticket});
    const Scope& scope = permit.viewer.scope;
    const std::string key = scope.everything ? "" : scope.Key();
    loop_.Post([this, number = question.number, key, start = *start, ticket] {
      OpenStream(number, key, start, ticket);
    });
  }

  // Rights may have been taken back.
  void ReviewAgain() {
    next_review_ = Now() + kAskAgain;
    std::erase_if(watched_, [](const Watched& one) { return one.ticket.expired(); });
    for (const Watched& one : watched_) {
      reviewer_->Ask(one.token, one.namespaces, [this, one](const Permit& permit) {
        const auto ticket = one.ticket.lock();
        // An API server that is away for a moment has taken nothing back.
        if (!ticket || permit.kind == Permit::Kind::kUnavailable || permit == one.permit) return;
        ticket->is_over = true;
        loop_.Post([this] {
          for (const auto& [key, stream] : streams_) stream->Tell();
        });
      });
    }
    std::erase_if(audiences_, [&](const auto& entry) {
      if (Now() - entry.second->asked < kAudienceKept) return false;
      const bool is_watched =
          std::any_of(watched_.begin(), watched_.end(), [&](const Watched& one) {
            return one.permit.viewer.scope.Key() == entry.first;
          });
      if (!is_watched) loop_.Post([this, key = entry.first] { streams_.erase(key); });
      return !is_watched;
    });
  }

  // Null when there are too many.
  Audience* AudienceOf(const Scope& scope) {
    const std::string key = scope.Key();
    auto found = audiences_.find(key);
    if (found == audiences_.end()) {
      if (audiences_.size() >= kMaxAudiences) return nullptr;
      found = audiences_.emplace(key, std::make_unique<Audience>(scope)).first;
      FindNamespaces();
      Pictures::Update update;
      update.kind = Pictures::Update::Kind::kEpoch;
      update.change =
          found->second->Follow(pictures_.columns(), pictures_.stamp(), namespaces_, update.kind);
      TellViewers(key, update);
    }
    found->second->asked = Now();
    return found->second.get();
  }

  void FindNamespaces() {
    namespaces_.clear();
    feed_.VisitPods([this](const objects::Pod& pod) {
      if (!namespaces_.contains(pod.meta.ns)) namespaces_.insert(pod.meta.ns);
    });
    for (const std::string& ns : pictures_.columns().jobs.ns) namespaces_.insert(ns);
  }

  // ---- answers

  net::HttpResponse AnswerQuestion(const Question& question, const Viewer& viewer) {
    const std::vector<std::string>& names = question.route.names;
    const Scope& scope = viewer.scope;
    switch (question.route.kind) {
      case Route::Kind::kHello:
        return JsonResponse(AnswerHello(options_.facts, config_, state_, viewer));
      case Route::Kind::kCluster:
        return AnswerCluster(question, scope);
      case Route::Kind::kQueues:
        if (!scope.queues) return NotForYou("you may not list queues.scheduling.volcano.sh");
        return JsonResponse(Hidden(AnswerQueues(feed_, config_, scope), scope, namespaces_));
      case Route::Kind::kJob:
        if (!scope.Sees(names[0])) return NotInScope(names[0]);
        return ResponseTo(AnswerJob(feed_, names[0], names[1]));
      case Route::Kind::kStory:
        if (!scope.Sees(names[0])) return NotInScope(names[0]);
        return AnswerStory(names, scope);
      case Route::Kind::kNode:
        return ResponseTo(AnswerNode(feed_, names[0], scope));
      case Route::Kind::kHistory:
        if (!scope.everything) {
          return NotForYou(
              "the past shows all namespaces; you may not list podgroups.scheduling.volcano.sh and "
              "pods in all of them");
        }
        return AnswerHistory(question);
      default:
        return AnswerFits(question);
    }
  }

  static net::HttpResponse NotInScope(const std::string& ns) {
    return NotForYou(
        fmt::format("you may not list podgroups.scheduling.volcano.sh and pods in namespace "
                    "\"{}\", or have not named it",
                    ns));
  }

  net::HttpResponse AnswerCluster(const Question& question, const Scope& scope) {
    const std::string tag = EntityTag(pictures_.stamp());
    if (question.known == tag) {
      net::HttpResponse same = JsonResponse("");
      same.status = 304;
      same.headers.push_back({"ETag", tag});
      return same;
    }
    const auto text =
        scope.everything ? pictures_.Cluster() : AudienceOf(scope)->Cluster(pictures_.stamp());
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

  net::HttpResponse AnswerHistory(const Question& question) {
    const auto at = ReadMoment(question.query);
    if (!at) return ErrorResponse(400, "BadRequest", at.error().message);
    return JsonResponse(*at ? history_.At(**at) : history_.Overview());
  }

  net::HttpResponse AnswerStory(const std::vector<std::string>& names, const Scope& scope) {
    const auto group = GroupOfJob(feed_, names[0], names[1]);
    if (!group) return ErrorResponse(404, "NotFound", group.error().message);
    const auto at = static_cast<std::size_t>(std::max(pictures_.PlaceOfJob(*group), Place(0)));
    const JobColumns& jobs = pictures_.columns().jobs;
    const auto message = jobs.message.find(at);
    Stories::Question asks{.group = *group,
                           .verdict = "",
                           .sentence = message == jobs.message.end() ? "" : message->second,
                           .reason = jobs.reason[at],
                           .phase = jobs.phase[at]};
    asks.verdict = fmt::format("{}\n{}\n{}\n{}\n{}",
                               asks.phase,
                               asks.reason,
                               asks.sentence,
                               jobs.ready[at],
                               jobs.hypernode[at]);
    const std::string story = stories_.Tell(
        asks, [this] { return CaseOfNow(); }, Now());
    return JsonResponse(Hidden(story, scope, namespaces_));
  }

  // An older one may know nothing of the verdict that is asked about. COST: a copy of all objects,
  // unless nothing has changed since the last.
  std::shared_ptr<const StoryCase> CaseOfNow() {
    if (!case_ || case_version_ != feed_.version()) {
      case_ =
          std::make_shared<const StoryCase>(feed_.Objects(), feed_.takes(), config_, clock_.Now());
      case_version_ = feed_.version();
    }
    case_used_ = Now();
    return case_;
  }

  // Tries what somebody would submit, on a thread of its own.
  void AnswerTry(const Question& question, const Viewer& viewer) {
    if (!MayTry(viewer.user)) {
      return TellAnswer(question.number,
                        TooMany(fmt::format("want at most {} tries a minute", kTriesPerMinute)));
    }
    auto request = ReadWhatIf(question.body);
    if (!request) {
      return TellAnswer(question.number, ErrorResponse(400, "BadRequest", request.error().message));
    }
    std::string foreign;
    objects::ForEachList(request->added, [&](std::string_view, const auto& list) {
      for (const auto& object : list) {
        if (!viewer.scope.Sees(object.meta.ns)) foreign = object.meta.ns;
      }
    });
    if (!foreign.empty()) return TellAnswer(question.number, NotInScope(foreign));
    const bool added = tries_.Add([this,
                                   objects = CaseOfNow(),
                                   request = *std::move(request),
                                   number = question.number,
                                   scope = viewer.scope](const std::stop_token&) {
      auto answer = TellWhatIf(*objects, request);
      mailbox_->Post([this, number, scope, answer = std::move(answer)]() mutable {
        if (answer) answer = Hidden(*std::move(answer), scope, namespaces_);
        TellAnswer(number, ResponseTo(std::move(answer)));
      });
    });
    if (!added) TellAnswer(question.number, TooMany("too many questions wait"));
  }

  bool MayTry(const std::string& user) {
    const net::SteadyTime since = Now() - std::chrono::minutes(1);
    std::erase_if(tried_, [&](const auto& entry) {
      return entry.second.empty() || entry.second.back() < since;
    });
    std::deque<net::SteadyTime>& times = tried_[user];
    while (!times.empty() && times.front() < since) times.pop_front();
    if (times.size() >= kTriesPerMinute) return false;
    times.push_back(Now());
    return true;
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
  History history_;
  std::uint64_t seen_ = 0;               // ClusterFeed::version of the last picture
  bool is_dirty_ = true;                 // something changed that the version does not show
  std::atomic<bool> is_wanted_ = false;  // somebody has asked, or it begins at once
  bool has_started_ = false;
  bool has_begun_ = false;
  std::deque<EarlyQuestion> early_;
  net::SteadyTime last_look_{};
  std::unique_ptr<Reviewer> reviewer_;  // none: a token of our own, or none at all
  net::SteadyTime next_review_{};
  std::vector<Watched> watched_;
  std::map<std::string, std::unique_ptr<Audience>> audiences_;  // by Scope::Key
  Namespaces namespaces_;                                       // that there are
  std::shared_ptr<const StoryCase> case_;
  std::uint64_t case_version_ = 0;
  net::SteadyTime case_used_{};
  std::map<std::string, std::deque<net::SteadyTime>> tried_;  // by user
  std::atomic<std::uint64_t> revisions_ = 0;
  std::atomic<std::uint64_t> answers_ = 0;
  std::atomic<std::size_t> viewers_ = 0;
  mutable Mutex gauges_mutex_;
  std::vector<std::pair<std::string, std::int64_t>> gangs_ GUARDED_BY(gauges_mutex_);  // by tier
  std::int64_t stranded_ GUARDED_BY(gauges_mutex_) = 0;

  net::EventLoop loop_;
  std::map<std::string, std::unique_ptr<Stream>> streams_;  // by Scope::Key, "" for everything
  std::uint64_t last_question_ = 0;
  std::map<std::uint64_t, std::shared_ptr<net::Exchange>> waiting_;
  std::unique_ptr<net::HttpServer> server_;
  std::uint16_t port_ = 0;

  // Last: their threads are over before the rest goes.
  Stories stories_{mailbox_};
  Worker tries_{"page-what-if", kTriesWaiting};
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
