#include "device_plugin/dra_slices.h"

#include <chrono>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/mutex.h"
#include "json/access.h"
#include "json/parse.h"
#include "kube/call.h"

namespace strata::device_plugin {
namespace {

constexpr kube::Resource kResourceSlices{
    "resource.k8s.io", "v1", "resourceslices", "ResourceSlice", kube::Resource::Scope::kCluster};
constexpr Duration kRetry = std::chrono::seconds(5);

struct PendingAnswer {
  Mutex mutex;
  CondVar changed;
  std::optional<kube::Reply> reply GUARDED_BY(mutex);
};

// Nothing when it was stopped before there was an answer.
std::optional<kube::Reply> CallOrStop(kube::Client& client,
                                      kube::Call call,
                                      const std::stop_token& stop) {
  const auto pending = std::make_shared<PendingAnswer>();
  const std::stop_callback wake(stop, [pending] {
    const MutexLock lock(pending->mutex);
    pending->changed.NotifyAll();
  });
  client.Start(std::move(call), [pending](kube::Reply reply) {
    const MutexLock lock(pending->mutex);
    pending->reply = std::move(reply);
    pending->changed.NotifyAll();
  });
  const MutexLock lock(pending->mutex);
  while (!pending->reply && !stop.stop_requested()) pending->changed.Wait(pending->mutex);
  return std::move(pending->reply);
}

void WaitOrStop(Duration limit, const std::stop_token& stop) {
  Mutex mutex;
  CondVar stopped;
  const std::stop_callback wake(stop, [&] {
    const MutexLock lock(mutex);
    stopped.NotifyAll();
  });
  const auto end = std::chrono::steady_clock::now() + limit;
  const MutexLock lock(mutex);
  while (!stop.stop_requested() && stopped.WaitUntil(mutex, end)) {
  }
}

}  // namespace

DraSlices::DraSlices(kube::Client& client,
                     std::string node,
                     Duration look_again,
                     const obs::Log& log)
    : client_(client), node_(std::move(node)), look_again_(look_again), log_(log) {}

std::optional<DraSlices::Found> DraSlices::Ask(const std::stop_token& stop) {
  constexpr int kForbidden = 403;
  kube::ListOptions options;
  options.field_selector = "spec.driver=gpu.nvidia.com,spec.nodeName=" + node_;
  options.limit = 1;
  while (!stop.stop_requested()) {
    const std::optional<kube::Reply> reply =
        CallOrStop(client_, kube::ListCall(kResourceSlices, "", options), stop);
    if (!reply) break;
    if (*reply) {
      const bool some = !ListAt(ParseJsonOrNull(**reply), {"items"}).empty();
      return some ? Found::kSome : Found::kNone;
    }
    const kube::Failure& failure = reply->error();
    if (failure.error.code == Code::kNotFound) return Found::kNone;
    if (failure.http_status == kForbidden) {
      if (!std::exchange(told_forbidden_, true)) {
        log_.Warning("ResourceSlices may not be listed: NVIDIA's DRA driver is not looked for",
                     {{"problem", failure.error.message}});
      }
      return Found::kNone;
    }
    log_.Warning("ResourceSlices cannot be listed, trying again",
                 {{"problem", failure.error.message}});
    WaitOrStop(kRetry, stop);
  }
  return std::nullopt;
}

bool DraSlices::WaitForChange(Found known, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    WaitOrStop(look_again_, stop);
    const std::optional<Found> found = Ask(stop);
    if (found && *found != known) return true;
  }
  return false;
}

}  // namespace strata::device_plugin
