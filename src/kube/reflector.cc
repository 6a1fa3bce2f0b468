#include "kube/reflector.h"

#include <utility>

namespace strata::kube {
namespace {

constexpr std::size_t kMostErrorBody = std::size_t{64} << 10U;
constexpr std::size_t kMostListBody = std::size_t{2} << 30U;

}  // namespace

// One answer, taken as it comes.
class Reflector::Answer final : public net::Receiver {
 public:
  explicit Answer(std::shared_ptr<Reflector> owner)
      : owner_(std::move(owner)),
        stream_(owner_->state_.asking() != ReflectorState::Asking::kPage) {}

  void OnHead(net::HttpResponse head) override { head_ = std::move(head); }

  Wish OnBody(std::string_view piece) override {
    if (owner_->stopped_) return Wish::kCancel;
    if (stream_ && head_.status == 200) {
      status_ = owner_->TakePiece(piece, lines_);
      return status_ ? Wish::kMore : Wish::kCancel;
    }
    const std::size_t most = head_.status == 200 ? kMostListBody : kMostErrorBody;
    if (body_.size() + piece.size() > most) return Wish::kCancel;
    body_ += piece;
    return Wish::kMore;
  }

  void OnEnd(net::Outcome outcome) override {
    if (owner_->stopped_) return;
    owner_->Finish(ReadEnd(outcome));
  }

 private:
  ReflectorState::End Unusable() const {
    Failure failure;
    failure.error = status_.error();
    return {ReflectorState::End::Kind::kUnusable, std::move(failure)};
  }

  ReflectorState::End ReadEnd(const net::Outcome& outcome) {
    using Kind = ReflectorState::End::Kind;
    if (!status_) return Unusable();
    if (head_.status != 200 && head_.status != 0) {
      return {Kind::kRefused, ReadFailure(head_.status, head_.headers, body_)};
    }
    if (!outcome) {
      const bool silent =
          owner_->too_silent_ || outcome.error().cause == net::TransportError::Cause::kTimeout;
      const Kind cut = head_.status == 0 ? Kind::kRefused : Kind::kCut;
      return {silent ? Kind::kSilent : cut, ReadFailure(outcome.error())};
    }
    if (!stream_) {
      status_ = owner_->TakeBody(std::move(body_));
      if (!status_) return Unusable();
    }
    return {Kind::kComplete, {}};
  }

  std::shared_ptr<Reflector> owner_;
  bool stream_;
  net::HttpResponse head_{0, {}, ""};
  net::LineSplitter lines_;
  std::string body_;
  Status status_;
};

Reflector::Reflector(
    Client& client, ReflectorState state, Hooks hooks, Random random, Patience patience)
    : client_(client),
      transport_(client.reads()),
      state_(std::move(state)),
      hooks_(std::move(hooks)),
      random_(std::move(random)),
      patience_(patience) {}

void Reflector::Start() {
  if (!stopped_) Ask();
}

void Reflector::Stop() {
  stopped_ = true;
  transport_.CancelTimer(silence_timer_);
  transport_.Cancel(request_);
}

void Reflector::Ask() {
  if (stopped_) return;
  net::ClientRequest request = client_.Request(state_.NextCall(random_));
  request.limits.silence = patience_.silence;
  if (state_.asking() != ReflectorState::Asking::kPage) {
    // Kubernetes 1.37 sends a compressed watch as one gzip stream after the other, and libcurl
    // reads the first of them only.
    request.message.headers.push_back({"Accept-Encoding", "identity"});
  }
  too_silent_ = false;
  lines_ = 0;
  request_ = transport_.Send(std::move(request), std::make_shared<Answer>(shared_from_this()));
  if (state_.asking() == ReflectorState::Asking::kInitialEvents) WatchForSilence(0);
}

void Reflector::WatchForSilence(std::uint64_t lines_before) {
  silence_timer_ = transport_.After(patience_.initial, [self = shared_from_this(), lines_before] {
    const bool initial = self->state_.asking() == ReflectorState::Asking::kInitialEvents;
    if (self->stopped_ || !initial) return;
    if (self->lines_ > lines_before) return self->WatchForSilence(self->lines_);
    self->too_silent_ = true;
    self->transport_.Cancel(self->request_);
  });
}

Status Reflector::TakePiece(std::string_view piece, net::LineSplitter& lines) {
  std::vector<Delta> deltas;
  Status status;
  const bool more = lines.Feed(piece, [&](std::string line) {
    ++lines_;
    status = state_.TakeLine(std::move(line), deltas);
    return status.has_value();
  });
  Tell(std::move(deltas));
  if (!more && status) return Fail(Code::kInvalidArgument, "a line of the watch has no end");
  return status;
}

Status Reflector::TakeBody(std::string body) {
  std::vector<Delta> deltas;
  Status status = state_.TakePage(std::move(body), deltas);
  Tell(std::move(deltas));
  return status;
}

void Reflector::Tell(std::vector<Delta> deltas) {
  for (const std::string& skipped : state_.TakeSkipped()) {
    if (hooks_.trouble) hooks_.trouble(std::string(state_.spec().resource.plural) + ": " + skipped);
  }
  if (!deltas.empty()) hooks_.deltas(std::move(deltas));
}

void Reflector::Finish(const ReflectorState::End& end) {
  transport_.CancelTimer(silence_timer_);
  if (end.failure.http_status == 401) client_.RenewCredentials();
  if (end.kind != ReflectorState::End::Kind::kComplete && hooks_.trouble) {
    hooks_.trouble(std::string(state_.spec().resource.plural) + ": " + end.failure.error.message);
  }
  const Duration wait = state_.TakeEnd(end, random_);
  if (wait.count() <= 0) return Ask();
  transport_.After(wait, [self = shared_from_this()] { self->Ask(); });
}

}  // namespace strata::kube
