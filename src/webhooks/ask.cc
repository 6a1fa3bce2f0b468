#include "webhooks/ask.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace strata::webhooks {
namespace {

struct Waiting {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::optional<kube::Reply> reply;
};

kube::Reply WaitFor(Waiting& waiting, const std::stop_token& stop) {
  std::unique_lock lock(waiting.mutex);
  if (waiting.changed.wait(lock, stop, [&] { return waiting.reply.has_value(); })) {
    return *std::move(waiting.reply);
  }
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
        const std::lock_guard lock(waiting->mutex);
        waiting->reply = std::move(reply);
      }
      waiting->changed.notify_all();
    });
    return WaitFor(*waiting, stop);
  };
}

}  // namespace strata::webhooks
