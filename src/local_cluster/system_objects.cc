#include "local_cluster/system_objects.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "json/dump.h"
#include "kube/call.h"
#include "kube/resource.h"

namespace strata {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kSchedulerConf = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
    arguments:
      binpack.resources: nvidia.com/gpu
  - name: network-topology-aware
    arguments:
      hypernode.binpack.resources: nvidia.com/gpu
      hypernode.search.second.max-steps: 20000
      hypernode.search.fewest-leaves.enable: true
      hypernode.search.rank-order.enable: true
  - name: deviceshare
)";

constexpr std::string_view kControllerConf = R"(networkTopologyDiscovery: []
)";

kube::ResourcePath InSystem(const kube::Resource& resource,
                            std::string name,
                            std::string sub = {}) {
  return {resource, std::string(kSystemNamespace), std::move(name), std::move(sub)};
}

Status CreateIfMissing(kube::Client& client, const kube::ResourcePath& path, const Json& object) {
  const kube::Reply reply = client.Do(kube::CreateCall(path, DumpJson(object)));
  if (reply || reply.error().AlreadyExists()) return {};
  return tl::unexpected(reply.error().error);
}

struct ConfKey {
  const char* name;  // of the ConfigMap
  const char* key;
  std::string_view text;
};

Status CreateConfigMap(kube::Client& client, const ConfKey& conf) {
  const Json object = {{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", Json::object({{"name", conf.name}})},
                       {"data", Json::object({{conf.key, conf.text}})}};
  return CreateIfMissing(client, InSystem(kube::kConfigMaps, ""), object);
}

Json PodOf(const std::string& name) {
  const Json container = {{"name", name}, {"image", "strata:" STRATA_VERSION}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"labels", Json::object({{"app", name}})}}},
          // No scheduler has this name, so none places the pod.
          {"spec", {{"schedulerName", "strata-up"}, {"containers", Json::array({container})}}}};
}

Json StatusOf(const std::string& name, Time now) {
  const std::string stamp = FormatTimestamp(std::chrono::floor<std::chrono::seconds>(now));
  Json conditions = Json::array();
  for (const char* type : {"PodScheduled", "Initialized", "ContainersReady", "Ready"}) {
    conditions.push_back({{"type", type}, {"status", "True"}, {"lastTransitionTime", stamp}});
  }
  const Json running = Json::object({{"startedAt", stamp}});
  const Json container = {{"name", name},
                          {"image", "strata:" STRATA_VERSION},
                          {"imageID", ""},
                          {"ready", true},
                          {"started", true},
                          {"restartCount", 0},
                          {"state", Json::object({{"running", running}})}};
  return {{"phase", "Running"},
          {"startTime", stamp},
          {"conditions", std::move(conditions)},
          {"containerStatuses", Json::array({container})}};
}

Status CreatePod(kube::Client& client, const std::string& name, Time now) {
  TRY(CreateIfMissing(client, InSystem(kube::kPods, ""), PodOf(name)));
  const Json patch = Json::object({{"status", StatusOf(name, now)}});
  const kube::Reply reply =
      client.Do(kube::PatchCall(InSystem(kube::kPods, name, "status"), {}, DumpJson(patch)));
  if (!reply) return tl::unexpected(reply.error().error);
  return {};
}

}  // namespace

std::string_view DefaultSchedulerConf() {
  return kSchedulerConf;
}

std::string_view DefaultControllerConf() {
  return kControllerConf;
}

Status CreateSystemObjects(kube::Client& client, Time now) {
  TRY(CreateConfigMap(client,
                      {"volcano-scheduler-configmap", "volcano-scheduler.conf", kSchedulerConf}));
  TRY(CreateConfigMap(
      client, {"volcano-controller-configmap", "volcano-controller.conf", kControllerConf}));
  TRY(CreatePod(client, kSchedulerPod, now));
  return CreatePod(client, kControllersPod, now);
}

}  // namespace strata
