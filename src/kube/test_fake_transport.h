#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/transport.h"

namespace strata::kube {

// A transport without a network, in a time of its own that passes only by Advance. The test that
// plays the server sets `on_request` and answers by Head, Body and End. Limits are kept as the real
// one does.
class FakeTransport final : public net::Transport {
 public:
  std::function<void(net::RequestId, const net::ClientRequest&)> on_request;
  std::vector<net::ClientRequest> sent;
  int closings = 0;  // calls of CloseConnections

  [[nodiscard]] net::SteadyTime Now() const override { return now_; }
  [[nodiscard]] bool OnThread() const override { return true; }
  void Post(std::function<void()> task) override { After(Duration(0), std::move(task)); }
  net::TimerId After(Duration delay, std::function<void()> task) override {
    const net::TimerId id{++last_timer_};
    timers_.emplace(std::pair(now_ + delay, id), std::move(task));
    return id;
  }
  void CancelTimer(net::TimerId timer) override {
    std::erase_if(timers_, [timer](const auto& entry) { return entry.first.second == timer; });
  }
  net::RequestId Send(net::ClientRequest request,
                      std::shared_ptr<net::Receiver> receiver) override {
    const net::RequestId id{++last_request_};
    active_[id] = {std::move(receiver), request.limits.silence, now_};
    Post([this, id, request] {
      sent.push_back(request);
      if (active_.contains(id) && on_request) on_request(id, request);
    });
    if (request.limits.total.count() > 0) {
      After(request.limits.total, [this, id] { Break(id, Cause::kTimeout); });
    }
    if (request.limits.silence.count() > 0) ListenAgain(id);
    return id;
  }
  void Cancel(net::RequestId request) override {
    Post([this, request] { Break(request, Cause::kCancelled); });
  }

  void CloseConnections() override {
    ++closings;
    Post([this] {
      std::vector<net::RequestId> open;
      for (const auto& [id, active] : active_) open.push_back(id);
      for (const net::RequestId id : open) Break(id, Cause::kConnection);
    });
  }

  // What the server does. Nothing for a request that has ended.
  void Head(net::RequestId id, int status, std::vector<net::Header> headers = {}) {
    if (Active* active = Find(id)) active->receiver->OnHead({status, std::move(headers), ""});
  }
  void Body(net::RequestId id, std::string_view piece) {
    Active* const active = Find(id);
    if (active == nullptr || piece.empty()) return;
    active->heard = now_;
    const std::shared_ptr<net::Receiver> receiver = active->receiver;
    if (receiver->OnBody(piece) == net::Receiver::Wish::kCancel) Break(id, Cause::kCancelled);
  }
  void End(net::RequestId id) { Finish(id, {}); }
  using Cause = net::TransportError::Cause;
  using Sent = net::TransportError::Sent;
  void Break(net::RequestId id, Cause cause, Sent was_sent = Sent::kMaybe) {
    Finish(id, tl::unexpected(net::TransportError{cause, was_sent, "broken"}));
  }
  void Respond(net::RequestId id,
               int status,
               std::string_view body,
               std::vector<net::Header> headers = {}) {
    Head(id, status, std::move(headers));
    Body(id, body);
    End(id);
  }
  [[nodiscard]] bool IsActive(net::RequestId id) const { return active_.contains(id); }
  [[nodiscard]] std::size_t under_way() const { return active_.size(); }
  // All requests up to this one were handed over.
  [[nodiscard]] net::RequestId last_request() const { return net::RequestId{last_request_}; }

  // When something is due next; none: nothing is.
  [[nodiscard]] std::optional<net::SteadyTime> next_timer() const {
    return timers_.empty() ? std::nullopt : std::optional(timers_.begin()->first.first);
  }
  // Lets time pass while nothing runs, as in a process that is stopped: what became due runs late,
  // by the next Advance.
  void Suspend(Duration time) { now_ += time; }
  // Lets time pass, running what is due in order.
  void Advance(Duration time) {
    const net::SteadyTime end = now_ + time;
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      const auto first = timers_.begin();
      now_ = std::max(now_, first->first.first);
      const std::function<void()> task = std::move(first->second);
      timers_.erase(first);
      task();
    }
    now_ = end;
  }

 private:
  struct Active {
    std::shared_ptr<net::Receiver> receiver;
    Duration silence;
    net::SteadyTime heard;
  };

  Active* Find(net::RequestId id) {
    const auto found = active_.find(id);
    return found == active_.end() ? nullptr : &found->second;
  }
  void Finish(net::RequestId id, net::Outcome outcome) {
    const auto found = active_.find(id);
    if (found == active_.end()) return;
    const std::shared_ptr<net::Receiver> receiver = std::move(found->second.receiver);
    active_.erase(found);
    receiver->OnEnd(std::move(outcome));
  }
  void ListenAgain(net::RequestId id) {
    const Active* const active = Find(id);
    if (active == nullptr) return;
    After(active->heard + active->silence - now_, [this, id] {
      const Active* const still = Find(id);
      if (still == nullptr) return;
      if (now_ - still->heard >= still->silence) return Break(id, Cause::kTimeout);
      ListenAgain(id);
    });
  }

  net::SteadyTime now_{};
  std::map<std::pair<net::SteadyTime, net::TimerId>, std::function<void()>> timers_;
  std::map<net::RequestId, Active> active_;
  std::uint64_t last_timer_ = 0;
  std::uint64_t last_request_ = 0;
};

}  // namespace strata::kube
