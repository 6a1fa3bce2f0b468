#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "device_plugin/gpu_agent.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"
#include "tests/agent/fake_kubelet.h"
#include "tests/support/api_cluster.h"

namespace strata::testing {

inline constexpr const char* kNodeName = "gpu-node";

// All of `strata-agent run` on one machine: a driver and a kubelet of our own, and our API server.
class GpuAgentSetup : public ::testing::Test {
 protected:
  using Json = nlohmann::json;
  enum class PodsApi : std::uint8_t { kNo, kYes };

  GpuAgentSetup(const std::string& machine, PodsApi pods_api)
      : log_("agent", kube::SystemClock(), {&lines_}), connection_(api_.Connect()) {
    std::string name =
        std::filesystem::is_directory("/dev/shm") ? "/dev/shm/agent.XXXXXX" : "/tmp/agent.XXXXXX";
    folder_ = mkdtemp(name.data());
    std::filesystem::create_directory(folder_ + "/plugins");
    setenv("STRATA_FAKE_NVML", machine.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    Create(kube::kNodes, "", {{"metadata", {{"name", kNodeName}}}});
    const std::string pods = pods_api == PodsApi::kYes ? folder_ + "/pods-api.sock" : "";
    kubelet_ = std::make_unique<FakeKubelet>(
        FakeKubelet::Paths{folder_ + "/plugins", pods, folder_ + "/resources.sock"},
        FakeKubelet::Kind::kFrom137,
        1);
    kubelet_->Start();
  }
  ~GpuAgentSetup() override {
    StopAgent();
    kubelet_.reset();
    if (HasFailure()) {
      for (const std::string& line : lines_.Last(30).lines) ADD_FAILURE() << line;
    }
    std::filesystem::remove_all(folder_);
  }

  void StartAgent(kube::Client& agents_client) {
    device_plugin::GpuAgent::Options options;
    options.node_agent.node = kNodeName;
    options.node_agent.version = "test";
    options.node_agent.gpus.nvml = FAKE_NVML;
    options.plugin.node = kNodeName;
    options.plugin.registrar.folder = folder_ + "/plugins";
    options.plugin.registrar.times.min_backoff = Duration(5);
    options.plugin.registrar.times.max_backoff = Duration(50);
    options.plugin.pods_api_socket = folder_ + "/pods-api.sock";
    options.plugin.pod_resources_socket = folder_ + "/resources.sock";
    options.plugin.journal = folder_ + "/journal";
    options.plugin.reconcile_every = std::chrono::hours(1);
    options.look_for_slices = Duration(20);
    agent_ = std::make_unique<device_plugin::GpuAgent>(
        agents_client, std::move(options), log_, kube::SystemClock());
    worker_ = std::jthread([this](const std::stop_token& stop) { ended_ = agent_->Run(stop); });
  }

  void StopAgent() {
    worker_.request_stop();
    if (worker_.joinable()) worker_.join();
    agent_.reset();
  }

  // The kind of NVIDIA's DRA driver, which our API server does not have by itself.
  void DefineResourceSlices() {
    const Json text = {{"type", "string"}};
    const Json spec = {{"type", "object"}, {"properties", {{"driver", text}, {"nodeName", text}}}};
    const Json version = {
        {"name", "v1"},
        {"served", true},
        {"storage", true},
        {"schema", {{"openAPIV3Schema", {{"type", "object"}, {"properties", {{"spec", spec}}}}}}},
        {"selectableFields",
         Json::array({{{"jsonPath", ".spec.driver"}}, {{"jsonPath", ".spec.nodeName"}}})}};
    Create({"apiextensions.k8s.io",
            "v1",
            "customresourcedefinitions",
            "CustomResourceDefinition",
            kube::Resource::Scope::kCluster},
           "",
           {{"metadata", {{"name", "resourceslices.resource.k8s.io"}}},
            {"spec",
             {{"group", "resource.k8s.io"},
              {"scope", "Cluster"},
              {"names", {{"plural", "resourceslices"}, {"kind", "ResourceSlice"}}},
              {"versions", Json::array({version})}}}});
  }

  kube::Client& client() { return connection_->client(); }
  void Create(const kube::Resource& resource, const std::string& ns, const Json& object) {
    const kube::Reply made =
        client().Do(kube::CreateCall({resource, ns, "", ""}, DumpJson(object)));
    ASSERT_TRUE(made) << made.error().error.message;
  }
  Json Get(const kube::Resource& resource, const std::string& ns, const std::string& name) {
    const kube::Reply got = client().Do(kube::GetCall({resource, ns, name, ""}));
    return got ? ParseJsonOrNull(*got) : Json();
  }
  // The object once it has the annotation; every look at it is an answer of the server.
  Json WaitForAnnotation(const kube::Resource& resource,
                         const std::string& ns,
                         const std::string& name,
                         const std::string& key,
                         const std::string& part) {
    while (true) {
      Json object = Get(resource, ns, name);
      const std::string& value = TextAt(object, {"metadata", "annotations", key});
      if (value.find(part) != std::string::npos) return object;
    }
  }

  // Every look is an answer of the server.
  void WaitForReady() {
    while (!agent_->IsReady()) Get(kube::kNodes, "", kNodeName);
  }

  ApiCluster api_;
  obs::RecentLines lines_{1U << 20U};
  obs::Log log_;
  std::unique_ptr<kube::Connection> connection_;
  std::string folder_;
  std::unique_ptr<FakeKubelet> kubelet_;
  std::unique_ptr<device_plugin::GpuAgent> agent_;
  Status ended_;
  std::jthread worker_;
};

}  // namespace strata::testing
