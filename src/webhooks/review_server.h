#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "admission/admission.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kube/failure.h"
#include "kube/informers.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "obs/log.h"
#include "obs/metric_families.h"
#include "webhooks/admission_conf.h"
#include "webhooks/asked_view.h"
#include "webhooks/cluster_view.h"
#include "webhooks/webhook.h"

namespace strata::webhooks {

// What is asked, and what was answered: for /metrics. Thread-safe.
class ReviewCounters {
 public:
  enum class Outcome : std::uint8_t { kAllowed, kRefused, kMalformed };

  void Count(std::string_view path, Outcome outcome);
  [[nodiscard]] prometheus::MetricFamily Metrics() const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::array<std::uint64_t, 3>, std::less<>> counts_ GUARDED_BY(mutex_);
};

struct ReviewServerOptions {
  std::vector<const Webhook*> webhooks;
  std::vector<std::string> scheduler_names;
  std::string host;
  std::uint16_t port = 0;
  net::ServerCertificate certificate;
  admission::UsedQueues used_queues = admission::UsedQueues::kMayGo;
};

// Lets a review pass, and what has no body: nothing tells an API server from any other caller but
// that it asks for a review.
[[nodiscard]] net::HeadVerdict CheckReviewHead(const net::HttpRequest& head);

// The answer to one request that passed: a review under the path of a webhook, or a page that says
// how we are
// (/healthz, /livez, /readyz). Pure except for counting. A request for a webhook that is not
// among `webhooks` comes from a configuration that was turned off: nothing is rejected there.
struct ReviewPages {
  const std::vector<const Webhook*>& webhooks;
  const std::vector<std::string>& scheduler_names;
  const ClusterView& view;
  const AdmissionConf& conf;
  ReviewCounters& counters;
  bool ending = false;  // it still answers, and is no longer ready
  admission::UsedQueues used_queues = admission::UsedQueues::kMayGo;
  // What is known beside the view. Where the answer sets `next`, it is not to be sent: that object
  // is to be asked for first. None: it is final.
  AskedObjects* asked = nullptr;
};
[[nodiscard]] net::HttpResponse AnswerRequest(const net::HttpRequest& request,
                                              const ReviewPages& pages,
                                              Time now);

// Answers reviews over TLS on a thread of its own, on which also lives what it knows of the
// cluster.
class ReviewServer {
 public:
  // Listens at once, and begins to look at the cluster. All that it is given must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<ReviewServer>> Start(kube::Client& client,
                                                                   ReviewServerOptions options,
                                                                   obs::Log& log,
                                                                   const Clock& clock);
  ReviewServer(const ReviewServer&) = delete;
  ReviewServer& operator=(const ReviewServer&) = delete;
  // Cuts what is under way off.
  ~ReviewServer();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // Whether it has seen the cluster. Before that it answers 503.
  [[nodiscard]] bool IsSynced() const { return synced_; }
  // Whether reviews are to be sent here.
  [[nodiscard]] bool IsReady() const { return synced_ && !ending_; }
  [[nodiscard]] prometheus::MetricFamily Metrics() const { return counters_.Metrics(); }

  // For connections and reviews from now on.
  void SetCertificate(net::ServerCertificate certificate);
  void SetConf(AdmissionConf conf);
  // From now on it is not ready, but goes on answering: API servers take a moment to
  // hear of that.
  void BeginToEnd() { ending_ = true; }
  // Takes no more connections and answers what is under way, waiting for that at most `limit`.
  void Drain(Duration limit);

 private:
  ReviewServer(kube::Client& client,
               ReviewServerOptions options,
               obs::Log& log,
               const Clock& clock);
  Status Open();
  void TakeDeltas();

  // A review that waits for what the API server says about one object.
  struct Waiting {
    std::shared_ptr<net::Exchange> exchange;
    AskedObjects asked;
  };
  // The way back to the loop for answers of the API server, which may come when it is gone.
  struct Door {
    Mutex mutex;
    net::EventLoop* loop GUARDED_BY(mutex) = nullptr;
  };
  void Answer(Waiting review);
  void AskFor(const admission::ObjectKey& key, Waiting review);
  void TakeReply(std::uint64_t number, const kube::Reply& reply);

  kube::Client& client_;
  const ReviewServerOptions options_;
  obs::Log& log_;
  const Clock& clock_;
  std::uint16_t port_ = 0;
  std::atomic<bool> synced_ = false;
  std::atomic<bool> ending_ = false;
  ReviewCounters counters_;

  net::EventLoop loop_;
  // On the loop.
  ClusterView view_;
  AdmissionConf conf_;
  std::unique_ptr<net::HttpServer> server_;
  std::map<std::uint64_t, Waiting> waiting_;
  std::uint64_t last_waiting_ = 0;
  const std::shared_ptr<Door> door_ = std::make_shared<Door>();

  kube::DeltaQueue deltas_;
  std::unique_ptr<kube::Informers> informers_;
  std::thread thread_;
};

}  // namespace strata::webhooks
