#include "webhooks/ask.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/mutex.h"

namespace strata::webhooks {
namespace {

struct Waiting {
  Mutex mutex;
  StoppableCondVar changed;
  std::optional<kube::Reply> reply GUARDED_BY(mutex);
};

kube::Reply WaitFor(Waiting& waiting, const std::stop_token& stop) {
  const MutexLock lock(waiting.mutex);
  while (!waiting.reply && waiting.changed.Wait(waiting.mutex, stop)) {
  }
  if (waiting.reply) return *std::move(waiting.reply);
  kube::Failure stopped;
  stopped.error = {Code::kUnavailable, "asked to stop"};
  return tl::unexpected(std::move(stopped));
}

}  // namespace

Ask AskUntil(kube::Client& client, std::stop_token stop) {
  return [&client, stop = std::move(stop)](kube::Call call) {
    const auto waiting = std::make_shared<Waiting>();
    client.Start(std::move(call), [waiting](kube::Reply reply) {
      {
        const MutexLock lock(waiting->mutex);
        waiting->reply = std::move(reply);
      }
      waiting->changed.NotifyAll();
    });
    return WaitFor(*waiting, stop);
  };
}

}  // namespace strata::webhooks
