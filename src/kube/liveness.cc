#include "kube/liveness.h"

#include <fmt/format.h>

namespace strata::kube {
namespace {

// A thread of the client never blocks.
constexpr Duration kTransportLimit = std::chrono::seconds(30);

void Probe(net::Transport& transport,
           const std::shared_ptr<Heartbeat>& heartbeat,
           net::SteadyTime now) {
  heartbeat->Begin(now);
  transport.Post([heartbeat] { heartbeat->End(); });
}

}  // namespace

std::optional<Duration> Heartbeat::LateFor(net::SteadyTime now) const {
  const Duration::rep since = since_;
  if (since == kWaiting) return std::nullopt;
  const Duration busy = now.time_since_epoch() - Duration(since);
  return busy > limit_ ? std::optional(busy) : std::nullopt;
}

Liveness::Liveness(Client& client)
    : client_(client),
      reads_(std::make_shared<Heartbeat>("reads", kTransportLimit)),
      writes_(std::make_shared<Heartbeat>("writes", kTransportLimit)),
      heartbeats_({reads_, writes_}) {}

std::shared_ptr<Heartbeat> Liveness::Add(std::string thread, Duration limit) {
  auto heartbeat = std::make_shared<Heartbeat>(std::move(thread), limit);
  const MutexLock lock(mutex_);
  heartbeats_.push_back(heartbeat);
  return heartbeat;
}

std::string Liveness::LateThread() {
  const net::SteadyTime now = client_.writes().Now();
  std::string late;
  {
    const MutexLock lock(mutex_);
    for (const std::shared_ptr<Heartbeat>& heartbeat : heartbeats_) {
      const std::optional<Duration> busy = heartbeat->LateFor(now);
      if (!busy) continue;
      late = fmt::format("thread {} has not responded for {} s",
                         heartbeat->thread(),
                         std::chrono::duration_cast<std::chrono::seconds>(*busy).count());
      break;
    }
  }
  Probe(client_.reads(), reads_, now);
  Probe(client_.writes(), writes_, now);
  return late;
}

}  // namespace strata::kube
