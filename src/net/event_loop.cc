#include "net/event_loop.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "net/event_loop_impl.h"

namespace strata::net {
namespace {

using boost::system::error_code;

void WaitForSignal(boost::asio::signal_set& signals, std::function<void()> callback) {
  signals.async_wait([&signals, callback = std::move(callback)](error_code error, int) mutable {
    if (error) return;
    callback();
    WaitForSignal(signals, std::move(callback));
  });
}

}  // namespace

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}

EventLoop::~EventLoop() = default;

void EventLoop::Run() {
  impl_->context.run();
  impl_->context.restart();  // so that Run can be called again
}

void EventLoop::Stop() {
  impl_->context.stop();
}

void EventLoop::Post(std::function<void()> callback) {
  boost::asio::post(impl_->context, std::move(callback));
}

TimerId EventLoop::After(Duration delay, std::function<void()> callback) {
  const std::uint64_t id = impl_->next_timer++;
  auto& timer = impl_->timers.try_emplace(id, impl_->context, delay).first->second;
  timer.async_wait([impl = impl_.get(), id, callback = std::move(callback)](error_code) {
    // Cancelling removes the timer, but cannot call back a completion that is queued already.
    if (impl->timers.erase(id) == 0) return;
    callback();
  });
  return TimerId{id};
}

void EventLoop::Cancel(TimerId timer) {
  impl_->timers.erase(static_cast<std::uint64_t>(timer));
}

void EventLoop::OnSignals(std::initializer_list<int> signals, std::function<void()> callback) {
  auto& set = impl_->signals.emplace_back(impl_->context);
  for (const int signal : signals) {
    error_code ignored;  // fails only for numbers that are not signals
    set.add(signal, ignored);
  }
  WaitForSignal(set, std::move(callback));
}

}  // namespace strata::net
