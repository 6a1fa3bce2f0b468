#include "virtual_nodes/virtual_nodes.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kube/delta.h"
#include "kube/informers.h"
#include "kube/mailbox.h"
#include "virtual_nodes/kubelets.h"

namespace strata::virtual_nodes {
namespace {

constexpr int kMaxUnderWay = 32;

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
    const std::stop_callback wake(stop, [this] { mailbox_->Wake(); });
    deltas_.SetWake([this] { mailbox_->Wake(); });
    kube::Informers informers(client_, deltas_, InformerOptions());
    informers.Add({.resource = kube::kNodes, .ns = {}, .label_selector = {}, .field_selector = {}});
    informers.Add({.resource = kube::kPods,
                   .ns = {},
                   .label_selector = {},
                   .field_selector = "spec.nodeName!="});
    while (!stop.stop_requested()) {
      mailbox_->Serve(TimeToWait());
      Turn();
    }
    return {};
  }

 private:
  kube::Informers::Options InformerOptions() {
    kube::Informers::Options options;
    options.trouble = [this](const kube::WatchTrouble& trouble) {
      log_.Warning("watch failed, retrying", {{"trouble", trouble.Text()}});
    };
    return options;
  }

  Kubelets::Moment Now() const { return {clock_.Now(), client_.writes().Now()}; }

  Duration TimeToWait() const {
    constexpr Duration kLong = std::chrono::hours(1);
    if (under_way_ >= kMaxUnderWay) return kLong;  // every answer wakes
    const auto due = kubelets_.NextDue();
    if (!due) return kLong;
    return std::clamp(*due - client_.writes().Now(), Duration(0), kLong);
  }

  void Turn() {
    for (const kube::Delta& delta : deltas_.Take()) {
      if (const Status taken = kubelets_.Take(delta); !taken) {
        log_.Warning(
            "object skipped: cannot be parsed",
            {{"object", delta.key.ns + "/" + delta.key.name}, {"problem", taken.error().message}});
      }
    }
    while (under_way_ < kMaxUnderWay) {
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
                  [this, mailbox = mailbox_, key = std::move(work.key)](kube::Reply reply) {
                    mailbox->Post([this, key, reply = std::move(reply)] { Finish(key, reply); });
                  });
  }

  void Finish(const std::string& key, const kube::Reply& reply) {
    --under_way_;
    const Kubelets::Outcome outcome = OutcomeOf(reply);
    if (outcome == Kubelets::Outcome::kFailed) {
      log_.Warning("write failed, retrying",
                   {{"object", key}, {"problem", reply.error().error.message}});
    }
    kubelets_.Finish(key, outcome, Now());
  }

  kube::Client& client_;
  const Options options_;
  obs::Log& log_;
  const Clock& clock_;
  Kubelets kubelets_;
  // Shared with answers that come when nobody works any more.
  const std::shared_ptr<kube::Mailbox> mailbox_ = std::make_shared<kube::Mailbox>();
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
