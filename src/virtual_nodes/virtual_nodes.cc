#include "virtual_nodes/virtual_nodes.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/delta.h"
#include "kube/informers.h"
#include "virtual_nodes/kubelets.h"

namespace strata::virtual_nodes {
namespace {

constexpr int kMostUnderWay = 32;

// What other threads tell the one that works.
class Inbox {
 public:
  struct Finished {
    std::string key;
    kube::Reply reply;
  };

  void Ring() {
    {
      const std::lock_guard lock(mutex_);
      rung_ = true;
    }
    changed_.notify_one();
  }
  void Put(Finished finished) {
    {
      const std::lock_guard lock(mutex_);
      finished_.push_back(std::move(finished));
      rung_ = true;
    }
    changed_.notify_one();
  }
  // What has finished, waiting for a ring at most `limit`.
  std::vector<Finished> Wait(Duration limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [this] { return rung_; });
    rung_ = false;
    return std::exchange(finished_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
  std::vector<Finished> finished_;
};

Kubelets::Outcome OutcomeOf(const kube::Reply& reply) {
  if (reply) return Kubelets::Outcome::kDone;
  const int status = reply.error().http_status;
  return status == 404 || status == 409 ? Kubelets::Outcome::kStale : Kubelets::Outcome::kFailed;
}

}  // namespace

class VirtualNodes::Impl {
 public:
  Impl(kube::Client& client, Options options, obs::Log& log, const Clock& clock)
      : client_(client),
        options_(std::move(options)),
        log_(log),
        clock_(clock),
        kubelets_(options_.reach) {}

  Status Run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { inbox_->Ring(); });
    deltas_.SetWake([this] { inbox_->Ring(); });
    kube::Informers informers(client_, deltas_, InformerOptions());
    informers.Add(
        {.resource = kube::kNodes, .space = {}, .label_selector = {}, .field_selector = {}});
    informers.Add({.resource = kube::kPods,
                   .space = {},
                   .label_selector = {},
                   .field_selector = "spec.nodeName!="});
    while (!stop.stop_requested()) Turn(inbox_->Wait(TimeToWait()));
    return {};
  }

 private:
  kube::Informers::Options InformerOptions() {
    kube::Informers::Options options;
    options.trouble = [this](const std::string& trouble) {
      log_.Warning("cannot watch", {{"trouble", trouble}});
    };
    return options;
  }

  Kubelets::Moment Now() const { return {clock_.Now(), client_.writes().Now()}; }

  Duration TimeToWait() const {
    constexpr Duration kLong = std::chrono::hours(1);
    if (under_way_ >= kMostUnderWay) return kLong;  // every answer wakes
    const auto due = kubelets_.NextDue();
    if (!due) return kLong;
    return std::clamp(*due - client_.writes().Now(), Duration(0), kLong);
  }

  void Turn(const std::vector<Inbox::Finished>& finished) {
    TakeFinished(finished);
    for (const kube::Delta& delta : deltas_.Take()) {
      if (const Status taken = kubelets_.Take(delta); !taken) {
        log_.Warning("left alone, it cannot be read",
                     {{"object", delta.key.space + "/" + delta.key.name},
                      {"problem", taken.error().message}});
      }
    }
    while (under_way_ < kMostUnderWay) {
      std::optional<Kubelets::Work> work = kubelets_.Next(Now());
      if (!work) break;
      Start(std::move(*work));
    }
    if (!is_ready_ && kubelets_.IsSettled()) {
      is_ready_ = true;
      if (options_.ready) options_.ready();
    }
  }

  void Start(Kubelets::Work work) {
    ++under_way_;
    if (log_.On(4)) log_.Info("write", {{"object", work.key}, {"method", work.call.method}});
    client_.Start(std::move(work.call),
                  [inbox = inbox_, key = std::move(work.key)](kube::Reply reply) {
                    inbox->Put({key, std::move(reply)});
                  });
  }

  void TakeFinished(const std::vector<Inbox::Finished>& finished) {
    for (const Inbox::Finished& one : finished) {
      --under_way_;
      const Kubelets::Outcome outcome = OutcomeOf(one.reply);
      if (outcome == Kubelets::Outcome::kFailed) {
        log_.Warning("write failed, will try again",
                     {{"object", one.key}, {"problem", one.reply.error().error.message}});
      }
      kubelets_.Finish(one.key, outcome, Now());
    }
  }

  kube::Client& client_;
  const Options options_;
  obs::Log& log_;
  const Clock& clock_;
  Kubelets kubelets_;
  // Shared with answers that come when nobody works any more.
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  kube::DeltaQueue deltas_;
  int under_way_ = 0;
  bool is_ready_ = false;
};

VirtualNodes::VirtualNodes(kube::Client& client, Options options, obs::Log& log, const Clock& clock)
    : impl_(std::make_unique<Impl>(client, std::move(options), log, clock)) {}
VirtualNodes::~VirtualNodes() = default;

Status VirtualNodes::Run(const std::stop_token& stop) {
  return impl_->Run(stop);
}

}  // namespace strata::virtual_nodes
