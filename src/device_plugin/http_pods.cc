#include "device_plugin/http_pods.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/mutex.h"
#include "convert/node_lock.h"
#include "json/access.h"
#include "json/parse.h"
#include "kube/call.h"

namespace strata::device_plugin {
namespace {

using SteadyClock = std::chrono::steady_clock;

// An answer that another thread waits for, or has given up.
struct PendingReply {
  Mutex mutex;
  CondVar arrived;
  std::optional<kube::Reply> reply GUARDED_BY(mutex);
};

Result<std::string> CallUntil(kube::Client& client, kube::Call call, SteadyClock::time_point end) {
  const auto pending = std::make_shared<PendingReply>();
  call.timeout = std::chrono::ceil<Duration>(
      std::max(end - SteadyClock::now(), SteadyClock::duration::zero()));
  if (call.timeout.count() == 0) return Fail(Code::kUnavailable, call.path + ": no time left");
  call.repeat = kube::Repeat::kNever;  // nobody waits for a later answer
  const std::string path = call.path;
  client.Start(std::move(call), [pending](kube::Reply reply) {
    const MutexLock lock(pending->mutex);
    pending->reply = std::move(reply);
    pending->arrived.NotifyAll();
  });
  const MutexLock lock(pending->mutex);
  while (!pending->reply) {
    if (pending->arrived.WaitUntil(pending->mutex, end)) continue;
    if (!pending->reply) return Fail(Code::kUnavailable, path + ": no answer in time");
  }
  if (!*pending->reply) {
    return tl::unexpected(std::move(pending->reply->error().error).Context(path));
  }
  return std::move(**pending->reply);
}

Labels AnnotationsOf(const std::string& node) {
  Labels annotations;
  const nlohmann::json object = ParseJsonOrNull(node);
  for (const auto& [key, value] : ObjectAt(object, {"metadata", "annotations"}).items()) {
    if (value.is_string()) annotations.emplace(key, value.get<std::string>());
  }
  return annotations;
}

}  // namespace

JsonPodSource::Fetch FetchFromKubelet(kube::Client& kubelet) {
  return [&kubelet](Duration limit) -> Result<JsonPodSource::Answer> {
    kube::Call call;
    call.method = "GET";
    call.path = "/pods";
    TRY_ASSIGN(std::string pods, CallUntil(kubelet, std::move(call), SteadyClock::now() + limit));
    return JsonPodSource::Answer{.pod_list = std::move(pods), .lock_owner = std::nullopt};
  };
}

JsonPodSource::Fetch FetchFromApiServer(kube::Client& client, std::string node) {
  return [&client, node = std::move(node)](Duration limit) -> Result<JsonPodSource::Answer> {
    const auto end = SteadyClock::now() + limit;
    // The lock first: its owner is bound before the list is made, so the list has it.
    TRY_ASSIGN(const std::string object,
               CallUntil(client, kube::GetCall({kube::kNodes, "", node, ""}), end));
    const auto lock = ReadNodeLock(AnnotationsOf(object), GpuDialect::kHami);
    kube::ListOptions options;
    options.field_selector = "spec.nodeName=" + node;
    TRY_ASSIGN(std::string pods, CallUntil(client, kube::ListCall(kube::kPods, "", options), end));
    return JsonPodSource::Answer{.pod_list = std::move(pods),
                                 .lock_owner = lock ? lock->owner : std::string()};
  };
}

}  // namespace strata::device_plugin
