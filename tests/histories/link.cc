#include "tests/histories/link.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace strata::histories {
namespace {

using Way = Fate::Way;
using Sent = net::TransportError::Sent;
using Cause = net::TransportError::Cause;

net::HttpResponse StatusAnswer(const Fate& fate) {
  net::HttpResponse answer;
  answer.status = fate.status;
  if (fate.retry_after > 0)
    answer.headers.push_back({"Retry-After", std::to_string(fate.retry_after)});
  const char* reason = fate.status == 409 ? "Conflict" : fate.status == 410 ? "Expired" : "";
  answer.body = fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","status":"Failure","message":"injected","reason":"{}","code":{}}})",
      reason,
      fate.status);
  return answer;
}

constexpr std::string_view kExpired =
    R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure",)"
    R"("message":"too old","reason":"Expired","code":410}})"
    "\n";

}  // namespace

// The server's side of a request.
class Link::LinkExchange final : public net::Exchange,
                                 public std::enable_shared_from_this<LinkExchange> {
 public:
  LinkExchange(std::shared_ptr<Link> link, net::RequestId id, net::HttpRequest request, Fate fate)
      : link_(std::move(link)), id_(id), request_(std::move(request)), fate_(std::move(fate)) {}

  [[nodiscard]] const net::HttpRequest& request() const override { return request_; }
  void Respond(net::HttpResponse response) override {
    status_ = response.status;
    link_->Answer(id_, fate_, std::move(response));
  }
  void RespondStream(net::HttpResponse head, std::unique_ptr<net::BodySource> source) override {
    status_ = head.status;
    if (fate_.way == Way::kLostAnswer) {
      return link_->Break(id_, fate_.answer_delay, Sent::kMaybe);
    }
    source_ = std::move(source);
    link_->streams_.emplace(id_, shared_from_this());
    link_->Bring(id_, fate_.answer_delay, [id = id_, head](kube::FakeTransport& transport) {
      transport.Head(id, head.status, head.headers);
    });
    Wake();
  }
  void Wake() override {
    const auto self = shared_from_this();
    while (source_ != nullptr) {
      if (!link_->IsWanted(id_)) return link_->Drop(id_);
      std::string piece;
      const net::BodySource::More more = source_->Pull(piece);
      if (!piece.empty() && !silent_) {
        link_->Bring(id_, fate_.answer_delay, [id = id_, piece](kube::FakeTransport& transport) {
          transport.Body(id, piece);
        });
      }
      if (more == net::BodySource::More::kLater) return;
      if (more == net::BodySource::More::kReady) continue;
      link_->Bring(id_, fate_.answer_delay, [id = id_](auto& transport) { transport.End(id); });
      link_->Drop(id_);
    }
  }
  void Drop() { source_.reset(); }
  void FallSilent() { silent_ = true; }
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] bool silent() const { return silent_; }

 private:
  const std::shared_ptr<Link> link_;
  const net::RequestId id_;
  const net::HttpRequest request_;
  const Fate fate_;
  int status_ = 0;
  bool silent_ = false;
  std::unique_ptr<net::BodySource> source_;
};

void Link::Send(net::RequestId id, const net::ClientRequest& request) {
  if (closed_) return;
  const Fate fate = world_.faults.Decide(ends_.name, request.message);
  if (fate.way != Way::kArrives) {
    world_.trace.Say(ends_.name,
                     fmt::format("{} {}: {} {} {}",
                                 request.message.method,
                                 request.message.path,
                                 NameOf(fate.way),
                                 fate.status,
                                 fate.retry_after));
    if (request.message.path.ends_with("/binding")) {
      world_.on_bind_trouble();
      if (fate.way == Way::kNotSent || fate.retry_after > 0) ends_.before_retry();
    }
  }
  switch (fate.way) {
    case Way::kNotSent:
      return Break(id, fate.answer_delay, Sent::kNo);
    case Way::kCut:
      return Break(id, fate.answer_delay, Sent::kMaybe);
    case Way::kRefused:
      return Answer(id, fate, StatusAnswer(fate));
    case Way::kLateEffect:
      Break(id, fate.answer_delay, Sent::kMaybe);
      [[fallthrough]];
    default:
      world_.timeline.After(fate.request_delay,
                            [self = shared_from_this(), id, message = request.message, fate] {
                              self->Arrive(id, message, fate);
                            });
  }
}

void Link::Arrive(net::RequestId id, const net::HttpRequest& request, const Fate& fate) {
  const auto exchange = std::make_shared<LinkExchange>(shared_from_this(), id, request, fate);
  if (request.path.ends_with("/binding")) {
    world_.before_bind(ends_.process);
    if (closed_) world_.late_bind(request.path);
  }
  world_.server.Handle(exchange);
  if (fate.stream_life > Duration(0)) {
    world_.timeline.After(fate.stream_life,
                          [self = shared_from_this(), id, fate] { self->EndStream(id, fate); });
  }
  const bool matters = request.path.ends_with("/binding") || request.path.ends_with("/pods");
  if (matters && exchange->status() == 201 && !closed_) ends_.after_effect();
}

void Link::EndStream(net::RequestId id, const Fate& fate) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  if (fate.ending == Fate::Ending::kSilence) {
    world_.trace.Say(ends_.name, found->second->request().path + ": the watch falls silent");
    return found->second->FallSilent();
  }
  if (fate.ending == Fate::Ending::kExpired) {
    Bring(id, Duration(0), [id](auto& transport) { transport.Body(id, kExpired); });
    Bring(id, Duration(0), [id](auto& transport) { transport.End(id); });
  } else {
    Break(id, Duration(0), Sent::kMaybe);
  }
  Drop(id);
}

void Link::Answer(net::RequestId id, const Fate& fate, net::HttpResponse answer) {
  if (fate.way == Way::kLateEffect) return;
  if (fate.way == Way::kLostAnswer) return Break(id, fate.answer_delay, Sent::kMaybe);
  if (fate.way == Way::kErrorAfter) answer = StatusAnswer(fate);
  Bring(id, fate.answer_delay, [id, answer = std::move(answer)](kube::FakeTransport& transport) {
    transport.Respond(id, answer.status, answer.body, answer.headers);
  });
}

void Link::Break(net::RequestId id, Duration delay, Sent sent) {
  Bring(id, delay, [id, sent](kube::FakeTransport& transport) {
    transport.Break(id, Cause::kConnection, sent);
  });
}

void Link::Bring(net::RequestId id,
                 Duration delay,
                 std::function<void(kube::FakeTransport&)> what) {
  const net::SteadyTime now = world_.timeline.now();
  net::SteadyTime& last = arrives_[id];
  last = std::max(last, now + delay);
  world_.timeline.After(last - now, [self = shared_from_this(), id, what = std::move(what)] {
    if (self->closed_) return;
    self->ends_.deliver([self, id, what] {
      if (self->IsWanted(id)) what(self->ends_.transport);
      if (!self->IsWanted(id)) {
        self->Drop(id);
        self->arrives_.erase(id);
      }
    });
  });
}

bool Link::IsWanted(net::RequestId id) const {
  return !closed_ && ends_.transport.IsActive(id);
}

void Link::Drop(net::RequestId id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const std::shared_ptr<LinkExchange> exchange = std::move(found->second);
  streams_.erase(found);
  exchange->Drop();
}

void Link::SilenceWatch(std::string_view path) {
  for (const auto& [id, exchange] : streams_) {
    if (exchange->request().path != path) continue;
    world_.trace.Say(ends_.name, fmt::format("{}: the watch falls silent", path));
    exchange->FallSilent();
  }
}

bool Link::HasSilentWatch() const {
  return std::any_of(streams_.begin(), streams_.end(), [this](const auto& stream) {
    return stream.second->silent() && IsWanted(stream.first);
  });
}

void Link::Close() {
  closed_ = true;
  while (!streams_.empty()) Drop(streams_.begin()->first);
}

}  // namespace strata::histories
