#include "local_cluster/component_logs.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "local_cluster/system_objects.h"

namespace strata {
namespace {

using apiserver::LogRequest;

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line) += '\n';
  return text;
}

std::size_t LinesWanted(const LogRequest& request) {
  if (!request.tail_lines) return std::numeric_limits<std::size_t>::max();
  return *request.tail_lines < 0 ? 0 : static_cast<std::size_t>(*request.tail_lines);
}

// Wakes a reader on the loop when there are new lines. Shared with the threads that write lines,
// which may hold it longer than the reader lives.
struct Waker {
  Waker(net::EventLoop& the_loop, std::function<void()> the_wake)
      : loop(the_loop), wake(std::move(the_wake)) {}

  net::EventLoop& loop;
  const std::function<void()> wake;  // called on the loop only
  std::atomic<bool> wake_pending =
      false;  // a wake is posted and has not run yet; so there is one task for any number of lines
};

class EmptyLog final : public apiserver::LogStream {
 public:
  More Read(std::string&) override { return More::kEnd; }
};

class GrowingLog final : public apiserver::LogStream {
 public:
  GrowingLog(const obs::RecentLines& lines, std::size_t first, std::shared_ptr<Waker> waker)
      : lines_(lines), waker_(std::move(waker)) {
    begin_ = lines.Last(first);
  }
  void Listen(obs::RecentLines& lines) {
    token_ = lines.Subscribe([weak = std::weak_ptr(waker_)] {
      const auto waker = weak.lock();
      if (waker == nullptr || waker->wake_pending.exchange(true)) return;
      waker->loop.Post([weak] {
        const auto alive = weak.lock();
        if (alive == nullptr) return;
        alive->wake_pending = false;
        alive->wake();
      });
    });
  }

  More Read(std::string& out) override {
    out += Joined(begin_.lines);
    obs::RecentLines::Read more = lines_.Since(begin_.next);
    out += Joined(more.lines);
    begin_ = {.lines = {}, .next = more.next};
    return More::kLater;
  }

 private:
  const obs::RecentLines& lines_;
  std::shared_ptr<Waker> waker_;
  obs::RecentLines::Read begin_;
  obs::RecentLines::Token token_;
};

}  // namespace

obs::RecentLines& ComponentLogs::Of(const std::string& pod) {
  return by_pod_.try_emplace(pod, kKeptBytes).first->second;
}

void ComponentLogs::ServeBy(apiserver::ApiServerOptions& server, net::EventLoop& loop) {
  const auto find = [this](const LogRequest& request) {
    const auto found = by_pod_.find(request.pod);
    const bool ours = request.ns == kSystemNamespace && !request.previous;
    return ours && found != by_pod_.end() ? &found->second : nullptr;
  };
  server.logs = [find](const LogRequest& request) -> apiserver::ApiResult<std::string> {
    const obs::RecentLines* lines = find(request);
    return lines == nullptr ? std::string() : Joined(lines->Last(LinesWanted(request)).lines);
  };
  server.follow_logs = [find, &loop](const LogRequest& request, std::function<void()> wake)
      -> apiserver::ApiResult<std::unique_ptr<apiserver::LogStream>> {
    obs::RecentLines* lines = find(request);
    if (lines == nullptr) return std::make_unique<EmptyLog>();
    auto source = std::make_unique<GrowingLog>(
        *lines, LinesWanted(request), std::make_shared<Waker>(loop, std::move(wake)));
    source->Listen(*lines);
    return source;
  };
}

}  // namespace strata
