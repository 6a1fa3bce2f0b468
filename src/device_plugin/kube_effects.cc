#include "device_plugin/kube_effects.h"

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "agent/publish.h"
#include "base/mutex.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::device_plugin {
namespace {

constexpr int kMaxTries = 5;  // to release a lock on a Node that others write, too

kube::ResourcePath PathOfPod(const std::string& ns, const std::string& name) {
  return {.resource = kube::kPods, .ns = ns, .name = name, .subresource = {}};
}
kube::ResourcePath PathOfNode(const std::string& name) {
  return {.resource = kube::kNodes, .ns = {}, .name = name, .subresource = {}};
}

}  // namespace

class KubeEffects::Calls : public std::enable_shared_from_this<Calls> {
 public:
  Calls(kube::Client& client, std::string node, obs::Log& log)
      : client_(client), node_(std::move(node)), log_(log) {}

  // One settlement of a pod at a time, and of those that wait the newest: it says what the others
  // say. Two at a time might be written in the wrong order.
  void Settle(const agent::Settlement& settlement) {
    {
      const MutexLock lock(mutex_);
      const auto [it, idle] = under_way_.try_emplace(settlement.uid);
      if (!idle) {
        it->second = settlement;
        return;
      }
    }
    Begin(settlement);
  }

  using Done = std::function<void()>;
  void PatchPod(const std::string& ns, const std::string& pod, std::string patch, Done done) {
    client_.Start(kube::PatchCall(PathOfPod(ns, pod), kube::PatchOptions{}, std::move(patch)),
                  [self = shared_from_this(), done = std::move(done)](const kube::Reply& reply) {
                    const bool gone = !reply && reply.error().http_status == 404;
                    if (!reply && !gone) self->Tell("the record of a pod is not written", reply);
                    done();
                  });
  }

 private:
  // The lock says which patch the pod gets.
  void Begin(const agent::Settlement& settlement) {
    client_.Start(kube::GetCall(PathOfNode(node_)),
                  [self = shared_from_this(), settlement](const kube::Reply& node) {
                    if (node) return self->Write(settlement, *node);
                    self->Tell("the Node cannot be read", node);
                    self->End(settlement.uid);
                  });
  }

  void Write(const agent::Settlement& settlement, const std::string& node) {
    const agent::NodeLocked locked =
        agent::LockedFor(settlement, agent::ReadNodeNotes(node).annotations);
    if (locked == agent::NodeLocked::kYes && settlement.done()) Release(settlement, node, 1);
    std::string patch = PatchOf(settlement, locked);
    if (patch.empty()) return End(settlement.uid);
    PatchPod(settlement.ns,
             settlement.pod,
             std::move(patch),
             [self = shared_from_this(), uid = settlement.uid] { self->End(uid); });
  }

  void End(const std::string& uid) {
    std::optional<agent::Settlement> next;
    {
      const MutexLock lock(mutex_);
      const auto it = under_way_.find(uid);
      next = std::exchange(it->second, std::nullopt);
      if (!next) under_way_.erase(it);
    }
    if (next) Begin(*next);
  }

  // Apart from the patch of the pod. Not where the Node has changed since it was read: then the
  // lock may be another one, and is looked at again.
  void Release(const agent::Settlement& settlement, const std::string& node, int tries) {
    const std::string version = TextAt(ParseJsonOrNull(node), {"metadata", "resourceVersion"});
    if (version.empty()) return;
    client_.Start(kube::PatchCall(
                      PathOfNode(node_), kube::PatchOptions{}, agent::PatchToReleaseLock(version)),
                  [self = shared_from_this(), settlement, tries](const kube::Reply& done) {
                    if (done) return;
                    if (done.error().http_status == 409 && tries < kMaxTries) {
                      return self->ReleaseAgain(settlement, tries + 1);
                    }
                    self->Tell("the lock of the Node is not released", done);
                  });
  }

  void ReleaseAgain(const agent::Settlement& settlement, int tries) {
    client_.Start(kube::GetCall(PathOfNode(node_)),
                  [self = shared_from_this(), settlement, tries](const kube::Reply& node) {
                    if (!node) return self->Tell("the lock of the Node is not released", node);
                    const Labels annotations = agent::ReadNodeNotes(*node).annotations;
                    const bool locked =
                        agent::LockedFor(settlement, annotations) == agent::NodeLocked::kYes;
                    if (locked) self->Release(settlement, *node, tries);
                  });
  }

  void Tell(const char* what, const kube::Reply& reply) {
    log_.Warning(what, {{"node", node_}, {"problem", reply.error().error.message}});
  }

  kube::Client& client_;
  const std::string node_;
  obs::Log& log_;
  Mutex mutex_;
  // By uid of the pod: what is to be settled when the present one is.
  std::map<std::string, std::optional<agent::Settlement>> under_way_ GUARDED_BY(mutex_);
};

KubeEffects::KubeEffects(kube::Client& client, std::string node, obs::Log& log, const Clock& clock)
    : node_(std::move(node)),
      calls_(std::make_shared<Calls>(client, node_, log)),
      events_(client, {.component = "strata-agent"}, clock) {}

void KubeEffects::Settle(const agent::Settlement& settlement) {
  const bool empty = !settlement.done() && settlement.to_allocate.empty();
  if (!empty) calls_->Settle(settlement);
}

void KubeEffects::Correct(const agent::RecordCorrection& correction) {
  calls_->PatchPod(
      correction.ns,
      correction.pod,
      DumpJson({{"metadata", {{"uid", correction.uid}, {"annotations", correction.annotations}}}}),
      [] {});
}

void KubeEffects::Report(const PluginEvent& event) {
  const bool of_node = event.pod.empty();
  events_.Record({.about = {.kind = of_node ? "Node" : "Pod",
                            .api_version = "v1",
                            .ns = event.ns,
                            .name = of_node ? node_ : event.pod,
                            .uid = of_node ? node_ : event.uid,
                            .version = {}},
                  .type = kube::EventNote::Type::kWarning,
                  .reason = event.reason,
                  .message = event.message});
}

}  // namespace strata::device_plugin
