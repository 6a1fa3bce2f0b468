#include "kube/reflector.h"

#include <utility>

namespace strata::kube {
namespace {

constexpr std::size_t kMaxErrorBody = std::size_t{64} << 10U;
constexpr std::size_t kMaxListBody = std::size_t{2} << 30U;
constexpr Duration kVersionLimit = std::chrono::seconds(5);

}  // namespace

// One answer, taken as it comes.
class Reflector::Answer final : public net::Receiver {
 public:
  explicit Answer(std::shared_ptr<Reflector> owner)
      : owner_(std::move(owner)),
        stream_(owner_->state_.asking() != ReflectorState::Asking::kPage),
        heard_(owner_->transport_.Now()) {}

  void OnHead(net::HttpResponse head) override { head_ = std::move(head); }

  Wish OnBody(std::string_view piece) override {
    if (owner_->stopped_ || owner_->is_dropped_) return Wish::kCancel;
    heard_ = owner_->transport_.Now();
    if (stream_ && head_.status == 200) {
      status_ = owner_->TakePiece(piece, lines_);
      return status_ ? Wish::kMore : Wish::kCancel;
    }
    const std::size_t max = head_.status == 200 ? kMaxListBody : kMaxErrorBody;
    if (body_.size() + piece.size() > max) return Wish::kCancel;
    body_ += piece;
    return Wish::kMore;
  }

  void OnEnd(net::Outcome outcome) override {
    if (owner_->stopped_) return;
    owner_->under_way_ = false;
    if (std::exchange(owner_->is_dropped_, false)) return owner_->Ask();
    owner_->is_dead_ = !outcome && IsDead(outcome.error());
    owner_->Finish(ReadEnd(outcome));
  }

 private:
  // The server took the request, and nothing came back.
  [[nodiscard]] bool IsDead(const net::TransportError& error) const {
    using net::TransportError;
    if (error.cause != TransportError::Cause::kTimeout) return false;
    if (error.sent == TransportError::Sent::kNo) return false;
    return head_.status == 0 || owner_->transport_.Now() - heard_ >= owner_->patience_.silence;
  }

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
  net::SteadyTime heard_;  // when something last came
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
  under_way_ = true;
  request_ = transport_.Send(std::move(request), std::make_shared<Answer>(shared_from_this()));
  if (state_.asking() == ReflectorState::Asking::kInitialEvents) WatchForSilence(0);
}

void Reflector::CatchUp() {
  if (stopped_) return;
  const WatchSpec& spec = state_.spec();
  const ListOptions options{spec.label_selector, spec.field_selector, 1, ""};
  Call call = ListCall(spec.resource, spec.ns, options);
  call.timeout = kVersionLimit;
  call.repeat = Repeat::kNever;
  client_.Start(std::move(call),
                [self = shared_from_this()](Reply reply) { self->TakeVersion(std::move(reply)); });
}

// Without a version, only a new list is known to be new enough.
void Reflector::TakeVersion(Reply reply) {
  if (stopped_) return;
  if (!reply) Report(WatchTrouble::Kind::kFailed, reply.error().error.message, reply.error());
  std::string version;
  if (reply) {
    if (const Result<ListPage> page = CutList(*reply)) version = page->version;
  }
  std::vector<Delta> deltas;
  state_.CatchUpTo(std::move(version), deltas);
  Tell(std::move(deltas));
  ListAgainIfBehind();
}

void Reflector::ListAgainIfBehind() {
  if (!state_.IsBehind()) return;
  transport_.After(patience_.behind, [self = shared_from_this()] {
    if (self->stopped_ || !self->state_.IsBehind()) return;
    if (self->state_.asking() == ReflectorState::Asking::kChanges) {
      self->state_.LookAtEverything();
      self->transport_.CancelTimer(self->silence_timer_);
      self->is_dropped_ = self->under_way_;
      if (self->under_way_) self->transport_.Cancel(self->request_);
    }
    self->ListAgainIfBehind();
  });
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
  NoteSight();
  for (const std::string& skipped : state_.TakeSkipped()) {
    Report(WatchTrouble::Kind::kObjectSkipped, skipped);
  }
  if (!deltas.empty()) hooks_.deltas(std::move(deltas));
}

void Reflector::NoteSight() {
  if (!overdue_ || state_.asking() != ReflectorState::Asking::kChanges) return;
  overdue_ = false;
  if (hooks_.sight) hooks_.sight(state_.source(), Sight::kRegained);
}

void Reflector::Report(WatchTrouble::Kind kind, std::string message, Failure failure) {
  if (!hooks_.trouble) return;
  hooks_.trouble({.kind = kind,
                  .source = state_.source(),
                  .resource = std::string(state_.spec().resource.plural),
                  .message = std::move(message),
                  .failure = std::move(failure)});
}

void Reflector::Finish(const ReflectorState::End& end) {
  transport_.CancelTimer(silence_timer_);
  if (end.failure.http_status == 401) client_.RenewCredentials();
  if (end.kind != ReflectorState::End::Kind::kComplete) {
    Report(WatchTrouble::Kind::kFailed, end.failure.error.message, end.failure);
  }
  if (std::exchange(is_dead_, false)) {
    if (hooks_.sight && !std::exchange(overdue_, true)) hooks_.sight(state_.source(), Sight::kLost);
    transport_.CloseConnections();
  }
  const Duration wait = state_.TakeEnd(end, random_);
  if (wait.count() <= 0) return Ask();
  transport_.After(wait, [self = shared_from_this()] { self->Ask(); });
}

}  // namespace strata::kube
