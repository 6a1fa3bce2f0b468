#include "apps/component_logs.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "apps/system_objects.h"

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

// Shared with the threads that write lines, who may still hold it when the reader has gone.
struct Doorbell {
  Doorbell(net::EventLoop& the_loop, std::function<void()> the_wake)
      : loop(the_loop), wake(std::move(the_wake)) {}

  net::EventLoop& loop;
  const std::function<void()> wake;    // called on the loop only
  std::atomic<bool> has_rung = false;  // and was not heard yet: one task, however many lines
};

class EmptyLog final : public apiserver::LogStream {
 public:
  More Read(std::string&) override { return More::kEnd; }
};

class GrowingLog final : public apiserver::LogStream {
 public:
  GrowingLog(const obs::RecentLines& lines, std::size_t first, std::shared_ptr<Doorbell> bell)
      : lines_(lines), bell_(std::move(bell)) {
    begin_ = lines.Last(first);
  }
  void Listen(obs::RecentLines& lines) {
    token_ = lines.Subscribe([weak = std::weak_ptr(bell_)] {
      const auto bell = weak.lock();
      if (bell == nullptr || bell->has_rung.exchange(true)) return;
      bell->loop.Post([weak] {
        const auto heard = weak.lock();
        if (heard == nullptr) return;
        heard->has_rung = false;
        heard->wake();
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
  std::shared_ptr<Doorbell> bell_;
  obs::RecentLines::Read begin_;
  obs::RecentLines::Token token_;
};

}  // namespace

obs::RecentLines& ComponentLogs::Of(const std::string& pod) {
  return by_pod_.try_emplace(pod, kKeptBytes).first->second;
}

void ComponentLogs::ShowBy(apiserver::ApiServerOptions& server, net::EventLoop& loop) {
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
        *lines, LinesWanted(request), std::make_shared<Doorbell>(loop, std::move(wake)));
    source->Listen(*lines);
    return source;
  };
}

}  // namespace strata
