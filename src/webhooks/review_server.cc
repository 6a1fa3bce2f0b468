#include "webhooks/review_server.h"

#include <algorithm>
#include <future>
#include <utility>

#include "base/ascii.h"
#include "kube/call.h"
#include "webhooks/admit.h"
#include "webhooks/review.h"

namespace strata::webhooks {
namespace {

// A review holds an object and its previous version, 3 MiB each at most, and what is around them.
constexpr std::size_t kMaxReviewBytes = std::size_t{8} << 20U;
// How long a review waits for the API server, which itself waits for ten seconds by default.
constexpr Duration kAskTimeout = std::chrono::seconds(3);
constexpr std::array<std::string_view, 3> kOutcomes = {"allowed", "refused", "malformed"};

net::HttpResponse TextPage(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::move(body)};
}

net::HttpResponse HealthPage(const std::string& path, const ReviewPages& pages) {
  if (path == "/healthz" || path == "/livez") return TextPage(200, "ok");
  if (path != "/readyz") return TextPage(404, "404 page not found\n");
  if (pages.ending) return TextPage(503, "shutting down\n");
  return pages.view.IsSynced() ? TextPage(200, "ok")
                               : TextPage(503, "the cluster has not been seen yet\n");
}

// "application/json; charset=utf-8" is JSON, too.
bool IsJson(std::string_view content_type) {
  return LowerCase(Trim(content_type.substr(0, content_type.find(';')))) == "application/json";
}

// `webhook` is null for one that is not enabled.
net::HttpResponse AnswerReview(const Webhook* webhook,
                               const net::HttpRequest& request,
                               const ReviewPages& pages,
                               Time now) {
  using Outcome = ReviewCounters::Outcome;
  // Refusing what is right would be worse than letting the API server ask again.
  if (webhook != nullptr && !pages.view.IsSynced()) {
    return TextPage(503, "the cluster has not been seen yet\n");
  }
  const Result<Review> review = ParseReview(request.body);
  if (!review) {
    pages.counters.Count(request.path, Outcome::kMalformed);
    return TextPage(400, review.error().message + "\n");
  }
  Verdict verdict;
  if (webhook != nullptr) {
    const AskedObjects nothing;
    const AskedView view(pages.view, pages.asked == nullptr ? nothing : *pages.asked);
    verdict =
        Admit(*webhook, *review, {view, pages.conf, pages.scheduler_names, now, pages.used_queues});
    if (pages.asked != nullptr && verdict.refusal && view.missed()) {
      pages.asked->next = view.missed();
      return TextPage(503, "the API server is to be asked first\n");
    }
  }
  pages.counters.Count(request.path, verdict.refusal ? Outcome::kRefused : Outcome::kAllowed);
  return {.status = 200,
          .headers = {{"Content-Type", "application/json"}},
          .body = AnswerText(review->uid, verdict)};
}

}  // namespace

net::HeadVerdict CheckReviewHead(const net::HttpRequest& head) {
  net::HeadVerdict verdict{.caller = net::HeadVerdict::Caller::kStranger, .refusal = {}};
  if (!IsWebhookPath(head.path)) return verdict;
  if (head.method != "POST") {
    verdict.refusal = TextPage(405, "want POST\n");
  } else if (!IsJson(head.HeaderValue("Content-Type"))) {
    verdict.refusal = TextPage(415, "want JSON\n");
  } else {
    verdict.caller = net::HeadVerdict::Caller::kKnown;
  }
  return verdict;
}

void ReviewCounters::Count(std::string_view path, Outcome outcome) {
  const MutexLock lock(mutex_);
  ++counts_[std::string(path)][static_cast<std::size_t>(outcome)];
}

prometheus::MetricFamily ReviewCounters::Metrics() const {
  auto family =
      obs::CounterFamily("strata_webhook_reviews_total", "Reviews answered, by path and outcome.");
  const MutexLock lock(mutex_);
  for (const auto& [path, counts] : counts_) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      obs::AddSample(family,
                     {{"outcome", std::string(kOutcomes[i])}, {"path", path}},
                     static_cast<double>(counts[i]));
    }
  }
  return family;
}

net::HttpResponse AnswerRequest(const net::HttpRequest& request,
                                const ReviewPages& pages,
                                Time now) {
  const auto webhook =
      std::find_if(pages.webhooks.begin(), pages.webhooks.end(), [&](const Webhook* candidate) {
        return candidate->path == request.path;
      });
  if (webhook != pages.webhooks.end()) return AnswerReview(*webhook, request, pages, now);
  if (IsWebhookPath(request.path)) return AnswerReview(nullptr, request, pages, now);
  return HealthPage(request.path, pages);
}

ReviewServer::ReviewServer(kube::Client& client,
                           ReviewServerOptions options,
                           obs::Log& log,
                           const Clock& clock)
    : client_(client),
      options_(std::move(options)),
      log_(log),
      clock_(clock),
      view_(WatchedBy(options_.webhooks)) {}

Result<std::unique_ptr<ReviewServer>> ReviewServer::Start(kube::Client& client,
                                                          ReviewServerOptions options,
                                                          obs::Log& log,
                                                          const Clock& clock) {
  std::unique_ptr<ReviewServer> server(new ReviewServer(client, std::move(options), log, clock));
  TRY(server->Open());
  return Result<std::unique_ptr<ReviewServer>>(std::move(server));
}

Status ReviewServer::Open() {
  net::HttpServerOptions http;
  http.host = options_.host;
  http.port = options_.port;
  http.certificate = options_.certificate;
  http.max_body_bytes = kMaxReviewBytes;
  http.check_head = CheckReviewHead;
  http.refusal = [](int status) { return TextPage(status, "refused\n"); };
  TRY_ASSIGN(server_,
             net::HttpServer::Listen(
                 loop_, std::move(http), [this](const std::shared_ptr<net::Exchange>& exchange) {
                   Answer({exchange, {}});
                 }));
  port_ = server_->port();
  {
    const MutexLock lock(door_->mutex);
    door_->loop = &loop_;
  }
  synced_ = view_.IsSynced();
  thread_ = std::thread([this] { loop_.Run(); });
  deltas_.SetWake([this] { loop_.Post([this] { TakeDeltas(); }); });
  kube::Informers::Options watching;
  watching.trouble = [this](const kube::WatchTrouble& trouble) {
    log_.Warning("watch failed, retrying", {{"err", trouble.Text()}});
  };
  informers_ = std::make_unique<kube::Informers>(client_, deltas_, std::move(watching));
  for (const kube::Resource& resource : WatchedBy(options_.webhooks)) {
    informers_->Add({resource, "", "", ""});
  }
  return {};
}

ReviewServer::~ReviewServer() {
  informers_.reset();
  deltas_.SetWake({});
  {
    const MutexLock lock(door_->mutex);
    door_->loop = nullptr;
  }
  if (!thread_.joinable()) return;
  loop_.Post([this] {
    waiting_.clear();
    server_.reset();
    loop_.Stop();
  });
  thread_.join();
}

void ReviewServer::Answer(Waiting review) {
  const ReviewPages pages{options_.webhooks,
                          options_.scheduler_names,
                          view_,
                          conf_,
                          counters_,
                          ending_,
                          options_.used_queues,
                          &review.asked};
  net::HttpResponse response = AnswerRequest(review.exchange->request(), pages, clock_.Now());
  if (!review.asked.next) return review.exchange->Respond(std::move(response));
  const admission::ObjectKey key = *review.asked.next;
  AskFor(key, std::move(review));
}

void ReviewServer::AskFor(const admission::ObjectKey& key, Waiting review) {
  const std::uint64_t number = ++last_waiting_;
  waiting_.emplace(number, std::move(review));
  // Rules miss queues only.
  kube::Call call = kube::GetCall({kube::kQueues, "", key.name, ""});
  call.timeout = kAskTimeout;
  call.repeat = kube::Repeat::kNever;
  client_.Start(std::move(call), [this, door = door_, number](kube::Reply reply) {
    const MutexLock lock(door->mutex);
    if (door->loop == nullptr) return;
    door->loop->Post([this, number, reply = std::move(reply)] { TakeReply(number, reply); });
  });
}

void ReviewServer::TakeReply(std::uint64_t number, const kube::Reply& reply) {
  auto review = waiting_.extract(number);
  if (review.empty()) return;
  AskedObjects& asked = review.mapped().asked;
  const admission::ObjectKey key = *std::exchange(asked.next, std::nullopt);
  admission::ObjectRef& answer = asked.answers[key];
  if (!reply && reply.error().http_status != 404) {  // nobody knows whether it is there
    return review.mapped().exchange->Respond(
        TextPage(503, "the API server did not answer: " + reply.error().error.message + "\n"));
  }
  if (reply) answer = KeepObject(kube::kQueues, key, *reply).value_or(nullptr);
  Answer(std::move(review.mapped()));
}

void ReviewServer::TakeDeltas() {
  for (const kube::Delta& delta : deltas_.Take()) {
    if (const Status taken = view_.Take(delta); !taken) {
      log_.Warning("object skipped: cannot be parsed",
                   {{"name", delta.key.name}, {"err", taken.error().message}});
    }
  }
  synced_ = view_.IsSynced();
}

void ReviewServer::SetCertificate(net::ServerCertificate certificate) {
  loop_.Post([this, certificate = std::move(certificate)] {
    if (const Status set = server_->SetCertificate(certificate); !set) {
      log_.Error("invalid certificate, keeping the previous one", {{"err", set.error().message}});
    }
  });
}

void ReviewServer::SetConf(AdmissionConf conf) {
  loop_.Post([this, conf = std::move(conf)] { conf_ = conf; });
}

void ReviewServer::Drain(Duration limit) {
  const auto done = std::make_shared<std::promise<void>>();
  loop_.Post([this, done] { server_->Drain([done] { done->set_value(); }); });
  (void)done->get_future().wait_for(limit);
}

}  // namespace strata::webhooks
